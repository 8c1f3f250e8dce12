"""Writes rows to a file. The extension selects the format: CSV, Parquet, or JSON Lines for any other extension.

JSON Lines and CSV are written line by line. The columns of the input are written unchanged. Objects and lists in a CSV
cell, and the details of results in a Parquet column, are written as JSON text.
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
from rag_otel.formats.rows import CSV_ENDINGS
from rag_otel_evaluators.offline.dataset_rows import PARQUET_ENDINGS, import_parquet, read_table
from rag_otel_evaluators.offline.datasets import Row


class RowWriter(Protocol):
    """Writes rows in order."""

    def write(self, values: Mapping[str, Any], results: Mapping[str, Any]) -> None:
        """Writes a row. If a column of `results` has the same name as one of `values`, it replaces that one."""
        ...


@contextmanager
def open_writer(
    output: str, *, source: Path | None, rows: Sequence[Row], results: Sequence[str]
) -> Iterator[RowWriter]:
    """Opens a writer to the file `output`. `-` is JSON Lines on standard output.

    `rows` are the rows that will be written, `results` the names of the columns that are added, `source` the input
    file. Raises ConfigurationError if the file cannot be written, or is the input file.
    """
    if output == "-":
        yield JsonlWriter(sys.stdout)
        return
    path = Path(output)
    if source is not None and path.exists() and source.exists() and path.samefile(source):
        raise ConfigurationError(f"output: {output} is also the input file; name another file")
    ending = path.suffix.lower()
    try:
        if ending in PARQUET_ENDINGS:
            yield from _parquet_writer(path, results, source)
            return
        # A lone surrogate in the input cannot be encoded in UTF-8. Its escape sequence is valid JSON.
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
    with path.open("ab"):  # fails before anything is evaluated if the file cannot be written
        pass
    try:
        yield writer
        writer.close()
    finally:
        if not path.stat().st_size:
            path.unlink()


class JsonlWriter:
    """Writes one JSON object per line, immediately."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, values: Mapping[str, Any], results: Mapping[str, Any]) -> None:
        row = plain({**values, **results})
        try:
            self._file.write(_json(row) + "\n")
        except UnicodeEncodeError:  # standard output lacks a character: its escape sequence is valid JSON
            self._file.write(json.dumps(row, allow_nan=False) + "\n")


class CsvWriter:
    """Writes one line per row. None becomes an empty cell."""

    def __init__(self, file: TextIO, columns: Sequence[str], delimiter: str = ",") -> None:
        self._columns = columns
        self._writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        self._writer.writerow(columns)

    def write(self, values: Mapping[str, Any], results: Mapping[str, Any]) -> None:
        row = {str(name): value for name, value in plain({**values, **results}).items()}
        self._writer.writerow([_cell(row.get(column)) for column in self._columns])


class ParquetWriter:
    """Writes all rows on `close`. If the input is Parquet, its columns keep their types."""

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
        """Writes the file."""
        import pyarrow

        if self._source is not None and self._source.suffix.lower() in PARQUET_ENDINGS:
            table = read_table(self._source)
        else:
            names = dict.fromkeys(name for row in self._values for name in row)
            table = pyarrow.table({str(name): _arrow_column([row.get(name) for row in self._values]) for name in names})
        for name in self._results:
            if name in table.column_names:
                table = table.drop_columns([name])
            table = table.append_column(name, result_column(name, [row.get(name) for row in self._rows]))
        import_parquet().write_table(table, self._path)


def _arrow_column(values: list[Any]) -> Any:
    """A column with the type that Arrow infers. JSON text if the rows have different types."""
    import pyarrow

    try:
        return pyarrow.array(values)
    except (ValueError, TypeError, OverflowError, NotImplementedError):  # Arrow's errors are some of these
        return _text_column([None if value is None else _cell(plain(value)) for value in values])


def result_column(name: str, values: list[Any]) -> Any:
    """A column of results, see `results.result_columns`: scores as float64, details as JSON text. The type depends on
    the name alone, so that all parts of a data set have the same."""
    import pyarrow

    if name.endswith("_detail"):
        return _text_column([None if value is None else _json(value) for value in values])
    return pyarrow.array(values, pyarrow.float64())


def _text_column(values: list[Any]) -> Any:
    import pyarrow

    texts = [None if v is None else str(v).encode("utf-8", "backslashreplace").decode() for v in values]
    return pyarrow.array(texts, pyarrow.string())


def plain(value: Any) -> Any:
    """Converts `value` to JSON types. NaN and infinity become None, dates and other objects become text."""
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
    """The value of a CSV cell: objects and lists as JSON text."""
    return _json(value) if isinstance(value, (dict, list)) else value
