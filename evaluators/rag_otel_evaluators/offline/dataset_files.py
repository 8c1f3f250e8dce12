"""Reads rows from a file. The extension selects the format: CSV, Parquet, or JSON Lines for any other extension."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from rag_otel.errors import ConfigurationError, InputError
from rag_otel.safety.csv_limit import next_row
from rag_otel_evaluators.offline.datasets import Record

CSV_ENDINGS: Final = (".csv", ".tsv")
PARQUET_ENDINGS: Final = (".parquet", ".pq")
_SPREADSHEETS: Final = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")
_DELIMITERS: Final = ",;\t"


def read_records(path: Path) -> list[Record]:
    """Returns all rows of the file in order, without blank lines.

    A line that is not a row becomes a record with a problem. Raises InputError if the file cannot be read or no line of
    it is a row, ConfigurationError if the library for Parquet is not installed.
    """
    ending = path.suffix.lower()
    if ending in _SPREADSHEETS:
        raise InputError(f"{path}: spreadsheets are not read; save it as CSV (UTF-8) and name that file")
    if ending in PARQUET_ENDINGS:
        return _read_parquet(path)
    text = _read_text(path)
    if ending in CSV_ENDINGS:
        return list(_read_csv(path, text))
    records = list(_read_jsonl(text))
    if records and not any(record.values is not None for record in records):
        raise InputError(f"{path}: no line is a JSON object; expected JSON Lines, one object per line")
    return records


def _read_text(path: Path) -> str:
    try:
        # Line ends are kept, because a carriage return may be part of a quoted CSV cell.
        with path.open(encoding="utf-8-sig", newline="") as file:
            return file.read()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text: {error}") from error


def _read_jsonl(text: str) -> Iterator[Record]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            # NaN and Infinity are not valid JSON and could not be written to the output.
            values = json.loads(line, parse_constant=lambda constant: None)
        except (ValueError, RecursionError) as error:
            yield Record(number=number, values=None, problem=f"line {number} is not JSON: {error}")
            continue
        if isinstance(values, dict):
            yield Record(number=number, values=values)
        else:
            yield Record(number=number, values=None, problem=f"line {number} is not a JSON object")


def _read_csv(path: Path, text: str) -> Iterator[Record]:
    """Reads CSV. An empty cell is a missing value."""
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(path, text), strict=True)
        header = next_row(reader) or []
        if len(set(header)) < len(header):
            duplicate = next(name for name in header if header.count(name) > 1)
            raise InputError(f"{path}: two columns have the name {duplicate!r}")
        started = reader.line_num + 1
        while (cells := next_row(reader)) is not None:
            if len(cells) == len(header):
                yield Record(number=started, values={k: v or None for k, v in zip(header, cells, strict=True)})
            elif cells:
                problem = f"line {started} has {len(cells)} cells, the header {len(header)}"
                yield Record(number=started, values=None, problem=problem)
            started = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{path}: is not CSV: line {reader.line_num}: {error}") from error


def _delimiter(path: Path, text: str) -> str:
    """The delimiter that is most frequent in the header line."""
    header = text.partition("\n")[0]
    return "\t" if path.suffix.lower() == ".tsv" else max(_DELIMITERS, key=header.count)


def _read_parquet(path: Path) -> list[Record]:
    rows: list[dict[str, Any]] = read_table(path).to_pylist()
    return [Record(number=number, values=values) for number, values in enumerate(rows, start=1)]


def read_table(path: Path) -> Any:
    """Reads the file as a `pyarrow.Table`. Raises the same errors as `read_records`."""
    parquet = import_parquet()
    try:
        return parquet.read_table(path)
    except FileNotFoundError as error:
        raise InputError(f"{path}: cannot be read: no such file") from error
    except (OSError, ValueError) as error:  # ArrowInvalid is a ValueError
        raise InputError(f"{path}: is not Parquet: {error}") from error


def import_parquet() -> Any:
    """Imports `pyarrow.parquet`. Raises ConfigurationError if it is not installed."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ConfigurationError(
            f"Parquet files need pyarrow ({error}); install it with: pip install 'rag-otel[files]'"
        ) from None
    return pyarrow.parquet
