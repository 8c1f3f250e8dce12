"""Reads rows from CSV and TSV files, as `rag-otel evaluate` writes them: a cell is a number, a text, or JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from rag_otel.errors import InputError
from rag_otel.safety.csv_limit import next_row

_SEPARATORS: Final = {".csv": ",", ".tsv": "\t"}


def is_csv(path: str) -> bool:
    """Whether the file's ending says so."""
    return Path(path).suffix.lower() in _SEPARATORS


def read_csv(path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """(place, row) of every row; an empty cell is None. Raises InputError that names file and line."""
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, delimiter=_separator(path, file.readline()))
            file.seek(0)
            while (row := next_row(reader)) is not None:
                named = {name: _value(cell) for name, cell in row.items() if isinstance(name, str)}
                yield f"{path}, line {reader.line_num}", named
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except csv.Error as error:
        raise InputError(f"{path}: is not CSV: {error}") from None


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
