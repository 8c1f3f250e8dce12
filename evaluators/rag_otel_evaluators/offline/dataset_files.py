"""Reads rows from a file. The extension selects the format: CSV, Parquet, or JSON Lines for any other extension."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from rag_otel.errors import ConfigurationError, InputError
from rag_otel.formats.rows import CSV_ENDINGS, FileRow, csv_rows, json_lines, open_text

PARQUET_ENDINGS: Final = (".parquet", ".pq")
_SPREADSHEETS: Final = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")


def read_records(path: Path) -> list[FileRow]:
    """Returns all rows of the file in order, without blank lines.

    A line that is not a row becomes a record with a problem. Raises InputError if the file cannot be read or no line of
    it is a row, ConfigurationError if the library for Parquet is not installed.
    """
    ending = path.suffix.lower()
    if ending in _SPREADSHEETS:
        raise InputError(f"{path}: spreadsheets are not read; save it as CSV (UTF-8) and name that file")
    if ending in PARQUET_ENDINGS:
        return _read_parquet(path)
    if ending in CSV_ENDINGS:
        return list(csv_rows(str(path)))
    with open_text(str(path)) as file:
        records = [_record(row) for row, _ in json_lines(file, _without_constants)]
    if records and not any(record.value is not None for record in records):
        raise InputError(f"{path}: no line is a JSON object; expected JSON Lines, one object per line")
    return records


def _record(row: FileRow) -> FileRow:
    if row.problem is not None:
        return FileRow(row.number, None, f"line {row.number} is not JSON: {row.problem}")
    if isinstance(row.value, dict):
        return row
    return FileRow(row.number, None, f"line {row.number} is not a JSON object")


def _without_constants(line: str) -> Any:
    """NaN and Infinity are not valid JSON and could not be written to the output."""
    return json.loads(line, parse_constant=lambda constant: None)


def _read_parquet(path: Path) -> list[FileRow]:
    rows: list[dict[str, Any]] = read_table(path).to_pylist()
    return [FileRow(number, values) for number, values in enumerate(rows, start=1)]


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
