"""Evaluates parts of a large data set: `evaluate_partition` for a data frame, `evaluate_file` for a Parquet file.

Dask, Ray and the like call these functions in many processes: `frame.map_partitions(evaluate_partition)`,
`dataset.map_batches(evaluate_partition, batch_format="pyarrow")`. Nothing is shared between two calls but the
evaluators, which every process builds once for the same settings.
"""

from __future__ import annotations

import contextlib
import os
import pickle
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypedDict

from rag_otel.errors import InputError
from rag_otel.evaluation.calibration import calibration_of
from rag_otel.protocols import Evaluator
from rag_otel_evaluators.build import rows_at_once
from rag_otel_evaluators.metrics.registry import DescribedMetric
from rag_otel_evaluators.offline.dataset_rows import import_parquet, records_of
from rag_otel_evaluators.offline.dataset_writers import result_column
from rag_otel_evaluators.offline.datasets import Column, Row, read_rows
from rag_otel_evaluators.offline.evaluate import (
    AnyMetric,
    AnyMetrics,
    build_named,
    evaluation_settings,
    evaluators_of,
    listed,
)
from rag_otel_evaluators.offline.results import as_columns, result_columns
from rag_otel_evaluators.offline.rows import CONCURRENCY, Calibrate, aevaluate_rows, column_needs
from rag_otel_evaluators.sync import run_sync

_BATCH_ROWS: Final = 1000
_KINDS_KEPT: Final = 4
"""Sets of evaluators that a process keeps."""


def evaluate_partition(
    partition: Any,
    metrics: AnyMetrics = ("faithfulness",),
    *,
    columns: Mapping[str, Column] | None = None,
    judge: str | Mapping[str, Any] = "embedded",
    embedder: str | Mapping[str, Any] | None = None,
    language: str = "en",
    prompts: str | Path | None = None,
    concurrency: int = CONCURRENCY,
    cache: str | Path | None = None,
    calibration_file: str | Path | None = None,
) -> Any:
    """Evaluates every row of a part of a data set and returns the part with the columns of the results.

    `partition`: a pandas data frame or an Arrow table. The result is of the same kind. It has all columns, rows and the
    index of the partition, and for each metric `<metric>` (float64, 0..1) and `<metric>_detail` (JSON text). The types
    never depend on the rows. A row that cannot be evaluated has a reason in its detail and no score.

    The other arguments are those of `rag_otel_evaluators.evaluate`. The evaluators are built once for each process, and
    limits of a judge count for one process. An empty partition is returned with the new columns; nothing is built, and
    only the columns that `columns` names are checked. Raises ConfigurationError for wrong settings or columns.
    """
    metrics = listed(metrics)
    settings = evaluation_settings(judge, embedder, language, prompts, concurrency, None, cache, calibration_file)
    names = [str(name) for name in (partition.columns if _is_pandas(partition) else partition.column_names)]
    if not len(partition):
        read_rows((), columns=columns, needs={}, names=names)
        return _with_columns(partition, {name: [] for name in result_columns(map(_name, metrics))})
    built = _built(os.getpid(), pickle.dumps((_buildable(metrics), settings)))
    evaluators = evaluators_of(metrics, built.evaluators)
    rows = read_rows(records_of(partition), columns=columns, needs=column_needs(evaluators), names=names)
    results = run_sync(_evaluated(rows, evaluators, built))
    added = result_columns(evaluator.name for evaluator in evaluators)
    return _with_columns(partition, {name: [each[name] for each in results] for name in added})


class FileOutcome(TypedDict):
    """What `evaluate_file` did."""

    source: str
    output: str
    rows: int
    """Rows that were evaluated now. 0 if the output was there."""
    skipped: bool
    """The output was there before."""
    problem: str | None
    """Why there is no output. None if there is."""


def evaluate_file(
    source: str | Path, output: str | Path, metrics: AnyMetrics = ("faithfulness",), **settings: Any
) -> FileOutcome:
    """Evaluates a Parquet file with `evaluate_partition` and writes its rows with their results to the file `output`.

    If `output` exists, nothing is done: to resume, call the function again for all files. `output` appears when it is
    complete. The file is read in batches of 1,000 rows, so memory does not depend on its size. `settings` are those of
    `evaluate_partition`. A file that cannot be read or written has a `problem`. Raises ConfigurationError.
    """
    target = Path(output)
    if target.exists():
        return FileOutcome(source=str(source), output=str(target), rows=0, skipped=True, problem=None)
    rows, problem = 0, None
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        rows = _evaluate_batches(Path(source), unfinished, metrics, settings)
        unfinished.replace(target)
    except (OSError, ValueError, InputError) as error:  # pyarrow's errors are some of these
        problem = f"{type(error).__name__}: {error}"
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink()
    return FileOutcome(source=str(source), output=str(target), rows=rows, skipped=False, problem=problem)


def _evaluate_batches(source: Path, target: Path, metrics: AnyMetrics, settings: Mapping[str, Any]) -> int:
    """Evaluates batch after batch. Returns the number of rows."""
    parquet = import_parquet()
    import pyarrow

    rows = 0
    with parquet.ParquetFile(source) as file:
        empty = evaluate_partition(file.schema_arrow.empty_table(), metrics, **settings)
        with parquet.ParquetWriter(target, empty.schema) as writer:
            for batch in file.iter_batches(batch_size=_BATCH_ROWS):
                table = evaluate_partition(pyarrow.Table.from_batches([batch]), metrics, **settings)
                writer.write_table(table)
                rows += len(table)
    return rows


@dataclass(frozen=True, kw_only=True)
class _Built:
    evaluators: Mapping[str, Evaluator]
    rows_at_once: int
    calibrate: Calibrate | None


@lru_cache(_KINDS_KEPT)
def _built(process: int, pickled: bytes) -> _Built:
    """The evaluators of these metrics and settings. They belong to `process`: a forked child has no thread for them."""
    metrics, settings = pickle.loads(pickled)
    config, evaluators = build_named(metrics, settings, ExitStack())  # a cache is open as long as the process lives
    return _Built(
        evaluators=evaluators, rows_at_once=rows_at_once(config), calibrate=calibration_of(config.calibration_file)
    )


def _buildable(metrics: Sequence[AnyMetric]) -> list[AnyMetric]:
    """Those that need a judge. The others are evaluators or functions already."""
    return [metric for metric in metrics if isinstance(metric, str | DescribedMetric)]


def _name(metric: AnyMetric) -> str:
    if isinstance(metric, str):
        return metric
    return metric.name if isinstance(metric, DescribedMetric) else evaluators_of([metric], {})[0].name


async def _evaluated(rows: Sequence[Row], evaluators: Sequence[Evaluator], built: _Built) -> list[dict[str, Any]]:
    results = aevaluate_rows(rows, evaluators, concurrency=built.rows_at_once, calibrate=built.calibrate)
    return [as_columns(result.evaluations) async for result in results]


def _is_pandas(partition: Any) -> bool:
    return hasattr(partition, "iloc")


def _with_columns(partition: Any, values: Mapping[str, list[Any]]) -> Any:
    """The partition with these columns, which replace those of the same name."""
    import_parquet()
    arrays = {name: result_column(name, column) for name, column in values.items()}
    if _is_pandas(partition):
        return partition.assign(**{name: _pandas_column(array, partition.index) for name, array in arrays.items()})
    for name, array in arrays.items():
        if name in partition.column_names:
            partition = partition.drop_columns([name])
        partition = partition.append_column(name, array)
    return partition


def _pandas_column(array: Any, index: Any) -> Any:
    """Texts have a type of their own, so that pandas infers none from the rows."""
    import pandas
    import pyarrow

    if array.type == pyarrow.string():
        return pandas.Series(array.to_pylist(), index=index, dtype="string[pyarrow]")
    return pandas.Series(array.to_numpy(zero_copy_only=False), index=index, dtype="float64")
