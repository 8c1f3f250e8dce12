"""Reads rows from objects: lists of dicts, dicts of columns, data frames of pandas and polars, Arrow tables, Hugging
Face data sets, and lists of samples of other libraries (pydantic models and dataclasses).

The objects are recognised by their methods, so none of these libraries is imported here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rag_otel.errors import InputError
from rag_otel.formats.rows import FileRow
from rag_otel_evaluators.offline.dataset_files import read_records


def records_of(dataset: Any) -> list[FileRow]:
    """Returns all rows in order. A row that is not a mapping becomes a record with a problem.

    Raises InputError for an object without rows (of several splits, choose one). For a path, raises the same errors as
    `read_records`.
    """
    if isinstance(dataset, (str, Path)):
        return read_records(Path(dataset))
    return [_record(number, row) for number, row in enumerate(_rows(dataset), start=1)]


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


def _record(number: int, row: Any) -> FileRow:
    if hasattr(row, "model_dump"):  # pydantic: samples of Ragas, test cases of DeepEval
        row = row.model_dump()
    elif dataclasses.is_dataclass(row) and not isinstance(row, type):
        row = {field.name: getattr(row, field.name) for field in dataclasses.fields(row)}
    if isinstance(row, Mapping):
        return FileRow(number, row)
    return FileRow(number, None, f"row {number} is not a mapping but a {type(row).__name__}")
