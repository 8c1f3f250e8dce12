"""Reads rows from files and from objects.

Of a file the extension selects the format: CSV, Parquet, or JSON Lines for any other extension. Objects are lists of
dicts, dicts of columns, data frames of pandas and polars, Arrow tables, Hugging Face data sets, and lists of samples of
other libraries (pydantic models and dataclasses). They are recognised by their methods, so none of these libraries is
imported here.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
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
        records = [_of_line(row) for row, _ in json_lines(file, _without_constants)]
    if records and not any(record.value is not None for record in records):
        raise InputError(f"{path}: no line is a JSON object; expected JSON Lines, one object per line")
    return records


def _of_line(row: FileRow) -> FileRow:
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


def records_of(dataset: Any) -> list[FileRow]:
    """Returns all rows in order. A row that is not a mapping becomes a record with a problem.

    Raises InputError for an object without rows (of several splits, choose one). For a path, raises the same errors as
    `read_records`.
    """
    if isinstance(dataset, (str, Path)):
        return read_records(Path(dataset))
    return [_of_item(number, row) for number, row in enumerate(_rows(dataset), start=1)]


def _rows(dataset: Any) -> Iterable[Any]:
    rows: Iterable[Any]
    if isinstance(dataset, Mapping):
        return _rows_of_columns(dataset)
    if hasattr(dataset, "iloc") and hasattr(dataset, "to_dict"):  # pandas
        rows = dataset.astype(object).where(dataset.notna(), None).to_dict(orient="records")
    elif hasattr(dataset, "iter_rows"):  # polars
        rows = dataset.iter_rows(named=True)
    elif hasattr(dataset, "to_pylist"):  # Arrow
        rows = dataset.to_pylist()
    elif isinstance(dataset, Iterable):  # lists, generators, Hugging Face
        rows = dataset
    else:
        raise InputError(
            f"{type(dataset).__name__} is not a table: give a path, a list of dicts, a data frame or similar"
        )
    return rows


def _rows_of_columns(columns: Mapping[Any, Any]) -> list[dict[str, Any]]:
    """The rows of a table that is given column by column: `{"question": [...], "contexts": [...]}`.

    Raises InputError if the values are not columns (several splits of a data set) or have unequal lengths.
    """
    values = {str(name): values for name, column in columns.items() if (values := _column(column)) is not None}
    if not values or len(values) < len(columns) or all(_is_split(column) for column in values.values()):
        raise InputError(
            f"a mapping of {', '.join(map(str, list(columns)[:5])) or 'nothing'} is not a table: give a list for every "
            "column, one split of a data set, or a list of rows"
        )
    if len({len(column) for column in values.values()}) > 1:
        counts = ", ".join(f"{name} has {len(column)}" for name, column in values.items())
        raise InputError(f"the columns have unequal lengths: {counts}; give one value per row in every column")
    return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]


def _column(value: Any) -> Sequence[Any] | None:
    """The values of a column. None for what is no column: a text, a single value, a data set."""
    if hasattr(value, "tolist") and not hasattr(value, "iloc"):  # numpy
        value = value.tolist()
    elif hasattr(value, "iloc") and not hasattr(value, "columns"):  # a column of pandas
        value = value.astype(object).where(value.notna(), None).tolist()
    return value if isinstance(value, (list, tuple)) else None


def _is_split(column: Sequence[Any]) -> bool:
    return bool(column) and all(isinstance(each, Mapping) for each in column)


def _of_item(number: int, row: Any) -> FileRow:
    if hasattr(row, "model_dump"):  # pydantic: samples of Ragas, test cases of DeepEval
        row = row.model_dump()
    elif dataclasses.is_dataclass(row) and not isinstance(row, type):
        row = {field.name: getattr(row, field.name) for field in dataclasses.fields(row)}
    if isinstance(row, Mapping):
        return FileRow(number, row)
    return FileRow(number, None, f"row {number} is not a mapping but a {type(row).__name__}")
