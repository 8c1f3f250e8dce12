"""Reads CSV rows with long cells, without changing the csv module's limit for the rest of the process."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Final, TypeVar

_LONGEST_CELL: Final = 2**30
"""Characters. The default limit of the csv module (131,072) is shorter than some contexts."""

Row = TypeVar("Row")


def next_row(reader: Iterator[Row]) -> Row | None:
    """The next row of a `csv.reader` or `csv.DictReader`; None at the end. Raises csv.Error as the reader does.

    The limit belongs to the whole process, so the earlier one is restored after every row.
    """
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        return next(reader, None)
    finally:
        csv.field_size_limit(before)
