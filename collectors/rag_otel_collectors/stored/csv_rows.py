"""Reads rows from CSV and TSV files, as `rag-otel evaluate` writes them: a cell is a number, a text, or JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from rag_otel.errors import InputError

_SEPARATORS: Final = {".csv": ",", ".tsv": "\t"}
_LONGEST_CELL: Final = 2**30
"""Characters; the csv module's own bound (131,072) is shorter than some contexts."""


def is_csv(path: str) -> bool:
    """Whether the file's ending says so."""
    return Path(path).suffix.lower() in _SEPARATORS


def read_csv(path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """(place, row) of every row; an empty cell is None. Raises InputError that names file and line."""
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, delimiter=_separator(path, file.readline()))
            file.seek(0)
            while (row := _next_row(reader)) is not None:
                named = {name: _value(cell) for name, cell in row.items() if isinstance(name, str)}
                yield f"{path}, line {reader.line_num}", named
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except csv.Error as error:
        raise InputError(f"{path}: is not CSV: {error}") from None


def _next_row(reader: csv.DictReader[str]) -> dict[str | Any, Any] | None:
    """The next row; None at the end. The module's bound is global, so it is put back after every row."""
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        return next(reader, None)
    finally:
        csv.field_size_limit(before)


def _separator(path: str, header: str) -> str:
    usual = _SEPARATORS[Path(path).suffix.lower()]
    return ";" if usual == "," and header.count(";") > header.count(",") else usual


def _value(cell: Any) -> Any:
    """A number, an object or a list where the cell is one, else its text."""
    if not isinstance(cell, str) or not cell:
        return None
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return cell
