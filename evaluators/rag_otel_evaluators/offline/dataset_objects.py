"""Reads rows from objects: lists of dicts, data frames of pandas and polars, Arrow tables, Hugging Face data sets.

The objects are recognised by their methods, so none of these libraries is imported here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rag_otel.errors import InputError
from rag_otel_evaluators.offline.dataset_files import read_records
from rag_otel_evaluators.offline.datasets import Record


def records_of(dataset: Any) -> list[Record]:
    """Returns all rows in order. A row that is not a mapping becomes a record with a problem.

    Raises InputError for an object without rows (of several splits, choose one). For a path, raises the same errors as
    `read_records`.
    """
    if isinstance(dataset, (str, Path)):
        return read_records(Path(dataset))
    return [_record(number, row) for number, row in enumerate(_rows(dataset), start=1)]


def _rows(dataset: Any) -> Iterable[Any]:
    if isinstance(dataset, Mapping):
        raise InputError(
            f"a mapping of {', '.join(map(str, list(dataset)[:5]))} is not a table: give one split of a data set, "
            "or a list of rows"
        )
    rows: Iterable[Any]
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


def _record(number: int, row: Any) -> Record:
    if isinstance(row, Mapping):
        return Record(number=number, values=row)
    return Record(number=number, values=None, problem=f"row {number} is not a mapping but a {type(row).__name__}")
