"""Rows into a file: JSON Lines, CSV or Parquet, told by the file's ending; line by line where the format allows it.

What an input row held comes out unchanged. Objects and lists stand in a CSV cell, and results' details in a Parquet
column, as JSON text.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TextIO

from rag_otel.errors import ConfigurationError
from rag_otel_evaluators.offline.dataset_files import CSV_ENDINGS, PARQUET_ENDINGS, import_parquet, read_table
from rag_otel_evaluators.offline.datasets import Row


class RowWriter(Protocol):
    """Takes one row after the other, in order."""

    def write(self, values: Mapping[str, Any], results: Mapping[str, Any]) -> None:
        """A row's own columns, and those of its results, which win where the names are the same."""
        ...


@contextmanager
def open_writer(
    output: str, *, source: Path | None, rows: Sequence[Row], results: Sequence[str]
) -> Iterator[RowWriter]:
    """A writer to the file `output`, `-` for JSON Lines on standard output.

    `rows` are those that will be written, `results` the names of the columns that come to them; `source` is the file
    they come from. Raises ConfigurationError for a file that cannot be written, or is the source.
    """
    if output == "-":
        yield JsonlWriter(sys.stdout)
        return
    path = Path(output)
    if source is not None and path.exists() and source.exists() and path.samefile(source):
        raise ConfigurationError(f"output: {output} is the file that is read; name another one")
    ending = path.suffix.lower()
    try:
        if ending in PARQUET_ENDINGS:
            yield from _parquet_writer(path, results, source)
            return
        # A lone surrogate of the input cannot be encoded; as an escape it is what it was, and valid JSON.
        with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            if ending in CSV_ENDINGS:
                delimiter = "\t" if ending == ".tsv" else ","
                names = dict.fromkeys([*(str(name) for row in rows for name in row.values), *results])
                yield CsvWriter(file, list(names), delimiter)
            else:
                yield JsonlWriter(file)
    except OSError as error:
        if error.filename is None:
            raise
        raise ConfigurationError(f"output: {output} cannot be written: {error.strerror}") from error


def _parquet_writer(path: Path, results: Sequence[str], source: Path | None) -> Iterator[RowWriter]:
    writer = ParquetWriter(path, results, source)
    with path.open("ab"):  # a place that cannot be written is known before anything is judged
        pass
    try:
        yield writer
        writer.close()
    finally:
        if not path.stat().st_size:
            path.unlink()


class JsonlWriter:
    """One object a line, as soon as it is there."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, values: Mapping[str, Any], results: Mapping[str, Any]) -> None:
        self._file.write(_json(plain({**values, **results})) + "\n")


class CsvWriter:
    """One line a row; None is an empty cell."""

    def __init__(self, file: TextIO, columns: Sequence[str], delimiter: str = ",") -> None:
        self._columns = columns
        self._writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        self._writer.writerow(columns)

    def write(self, values: Mapping[str, Any], results: Mapping[str, Any]) -> None:
        row = {str(name): value for name, value in plain({**values, **results}).items()}
        self._writer.writerow([_cell(row.get(column)) for column in self._columns])


class ParquetWriter:
    """All rows at once, on `close`. A Parquet source keeps its own columns with their types."""

    def __init__(self, path: Path, results: Sequence[str], source: Path | None) -> None:
        import_parquet()
        self._path = path
        self._results = results
        self._source = source
        self._rows: list[Mapping[str, Any]] = []
        self._values: list[Mapping[str, Any]] = []

    def write(self, values: Mapping[str, Any], results: Mapping[str, Any]) -> None:
        self._values.append(values)
        self._rows.append(results)

    def close(self) -> None:
        """Write the file."""
        import pyarrow

        if self._source is not None and self._source.suffix.lower() in PARQUET_ENDINGS:
            table = read_table(self._source)
        else:
            names = dict.fromkeys(name for row in self._values for name in row)
            table = pyarrow.table({str(name): _arrow_column([row.get(name) for row in self._values]) for name in names})
        for name in self._results:
            if name in table.column_names:
                table = table.drop_columns([name])
            table = table.append_column(name, _result_column([row.get(name) for row in self._rows]))
        import_parquet().write_table(table, self._path)


def _arrow_column(values: list[Any]) -> Any:
    """As Arrow would have it; as JSON text where rows disagree on the type."""
    import pyarrow

    try:
        return pyarrow.array(values)
    except (ValueError, TypeError, OverflowError, NotImplementedError):  # Arrow's errors are some of these
        return _text_column([None if value is None else _cell(plain(value)) for value in values])


def _result_column(values: list[Any]) -> Any:
    """Scores as numbers, details as JSON text; a column without any value still has its type."""
    import pyarrow

    if any(isinstance(value, Mapping) for value in values):
        return _text_column([None if value is None else _json(value) for value in values])
    return pyarrow.array(values, pyarrow.float64())


def _text_column(values: list[Any]) -> Any:
    import pyarrow

    texts = [None if v is None else str(v).encode("utf-8", "backslashreplace").decode() for v in values]
    return pyarrow.array(texts, pyarrow.string())


def plain(value: Any) -> Any:
    """`value` in JSON's own types: numbers that are none become null, dates and the like their text."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # numpy's arrays and numbers
        return plain(value.tolist())
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _cell(value: Any) -> Any:
    """A cell of a CSV file."""
    return _json(value) if isinstance(value, (dict, list)) else value
