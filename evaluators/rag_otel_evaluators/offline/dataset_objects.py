"""Rows out of what a notebook has at hand: lists of dicts, pandas, polars, Arrow, Hugging Face data sets, a file.

All but the file are known by their shape, so that none of these libraries is imported here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rag_otel.errors import InputError
from rag_otel_evaluators.offline.dataset_files import read_records
from rag_otel_evaluators.offline.datasets import Record


def records_of(dataset: Any) -> list[Record]:
    """Every row, in order; one that is no mapping is a record with a problem.

    Raises InputError for what has no rows (for several splits: choose one), and as `read_records` does for a path.
    """
    if isinstance(dataset, (str, Path)):
        return read_records(Path(dataset))
    return [_record(number, row) for number, row in enumerate(_rows(dataset), start=1)]


def _rows(dataset: Any) -> Iterable[Any]:
    if isinstance(dataset, Mapping):
        raise InputError(
            f"a mapping of {', '.join(map(str, list(dataset)[:5]))} is no table: give one split of a data set, "
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
            f"{type(dataset).__name__} is no table: give a path, a list of dicts, a data frame or the like"
        )
    return rows


def _record(number: int, row: Any) -> Record:
    if isinstance(row, Mapping):
        return Record(number=number, values=row)
    return Record(number=number, values=None, problem=f"row {number} is no mapping but a {type(row).__name__}")
