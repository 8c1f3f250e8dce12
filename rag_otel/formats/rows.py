"""Rows of text files: CSV, TSV and JSON Lines, also compressed with gzip, and of standard input."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from rag_otel.errors import InputError

STDIN: Final = "-"
CSV_ENDINGS: Final = (".csv", ".tsv")
_GZIP: Final = b"\x1f\x8b"
_DELIMITERS: Final = ",;\t"
_LONGEST_CELL: Final = 2**30
"""Characters. The default limit of the csv module (131,072) is shorter than some contexts."""
_DECODER: Final = json.JSONDecoder()
_BLANKS: Final = re.compile(r"\s*")

T = TypeVar("T")


class FileRow(NamedTuple):
    """One row as it was read."""

    number: int
    """Number of its first line, counted from 1."""
    value: Any
    """A parsed JSON value, or the cells by column; an empty cell is None. None if the row cannot be read."""
    problem: str | None = None
    """Why it cannot be read."""


@contextmanager
def open_text(path: str, expected: str = "save it as UTF-8") -> Iterator[io.TextIOWrapper]:
    """A file as UTF-8 text, line ends as they are; `-` is standard input. Raises InputError that names the file, also
    for errors while the text is read."""
    name = file_name(path)
    try:
        with open(sys.stdin.fileno(), "rb", closefd=False) if path == STDIN else open(path, "rb") as raw:
            compressed = raw.peek(len(_GZIP))[: len(_GZIP)] == _GZIP
            # Line ends are kept, because a carriage return may be part of a quoted CSV cell.
            unpacked = gzip.GzipFile(fileobj=raw) if compressed else raw
            yield io.TextIOWrapper(unpacked, encoding="utf-8-sig", newline="")
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: not UTF-8 text; {expected} ({error.reason} at byte {error.start})") from None
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{name}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def file_name(path: str) -> str:
    """How errors call a file."""
    return "standard input" if path == STDIN else path


def placed_rows(path: str, expected: str) -> Iterator[tuple[str, Any]]:
    """Yields (place, row) of a CSV or TSV file, whose cells may hold JSON, or else of a file of JSON objects. Raises
    InputError that names the line; `expected` says what should be in the file."""
    if Path(path).suffix.lower() not in CSV_ENDINGS:
        yield from json_values(path, expected)
        return
    for row in csv_rows(path):
        if row.problem is not None:
            raise InputError(f"{path}: {row.problem}")
        yield f"{path}, line {row.number}", {name: _cell(text) for name, text in row.value.items()}


def csv_rows(path: str) -> Iterator[FileRow]:
    """Yields the rows of a CSV or TSV file; a row with too many or too few cells has a problem. Raises InputError."""
    with open_text(path) as file:
        header_line = file.readline()
        file.seek(0)
        usual = "\t" if Path(path).suffix.lower() == ".tsv" else max(_DELIMITERS, key=header_line.count)
        reader = csv.reader(file, delimiter=usual, strict=True)
        try:
            header = _next_row(reader) or []
            if len(set(header)) < len(header):
                duplicate = next(name for name in header if header.count(name) > 1)
                raise InputError(f"{path}: two columns have the name {duplicate!r}")
            started = reader.line_num + 1
            while (cells := _next_row(reader)) is not None:
                if len(cells) == len(header):
                    yield FileRow(started, {name: cell or None for name, cell in zip(header, cells, strict=True)})
                elif cells:
                    problem = f"line {started} has {len(cells)} cells, the header {len(header)}"
                    yield FileRow(started, None, problem)
                started = reader.line_num + 1
        except csv.Error as error:
            raise InputError(f"{path}: is not CSV: line {reader.line_num}: {error}") from error


def json_lines(lines: Iterable[str], read: Callable[[str], Any] = json.loads) -> Iterator[tuple[FileRow, str]]:
    """Yields each line that is not blank: as `read` parses it, and as it is."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield FileRow(number, read(line)), line
            except (ValueError, RecursionError) as error:
                yield FileRow(number, None, getattr(error, "msg", str(error))), line


def json_values(path: str, expected: str) -> Iterator[tuple[str, Any]]:
    """Yields (place, parsed value) of every JSON value in a file: one per line, which is read line by line, or objects
    over several lines, which must fit into memory. Raises InputError that names the line and what was `expected`."""
    name, empty = file_name(path), True
    with open_text(path, expected) as file:
        for row, line in json_lines(file):
            if row.problem is not None:
                if not empty or not line.lstrip().startswith(("{", "[")):
                    raise InputError(f"{name}, line {row.number}: not JSON; {expected} ({row.problem})")
                yield from _over_lines(line + file.read(), name, row.number, expected)
                return
            empty = False
            yield f"{name}, line {row.number}", row.value
    if empty:
        raise InputError(f"{name}: empty; {expected}")


def _over_lines(text: str, name: str, first_line: int, expected: str) -> Iterator[tuple[str, Any]]:
    """Yields the values of a text. They may have any line breaks."""
    position, line = 0, first_line
    while position < len(text):
        try:
            value, end = _DECODER.raw_decode(text, position)
        except json.JSONDecodeError as error:
            line = first_line + error.lineno - 1
            raise InputError(f"{name}, line {line}: not JSON; {expected} ({error.msg})") from None
        except RecursionError:
            raise InputError(f"{name}, line {line}: nested too deeply; {expected}") from None
        yield f"{name}, line {line}", value
        end += len(_BLANKS.match(text, end)[0])  # type: ignore[index]  # the pattern always matches
        line += text.count("\n", position, end)
        position = end


def _next_row(reader: Iterator[T]) -> T | None:
    """The next row of a `csv.reader`; None at the end. The limit of a cell belongs to the whole process, so the earlier
    one is restored after every row."""
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        return next(reader, None)
    finally:
        csv.field_size_limit(before)


def _cell(text: str | None) -> Any:
    """A number, an object or a list where the cell is one, else its text."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
