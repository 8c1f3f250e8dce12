"""`rag_otel_evaluators.evaluate(dataset, metrics=[...])`: evaluates every row of a data set."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, TypeAlias

from tqdm.auto import tqdm

from rag_otel.errors import ConfigurationError
from rag_otel.protocols import Evaluator
from rag_otel.semconv import check_metric_name
from rag_otel_evaluators.build import build_evaluators, rows_at_once
from rag_otel_evaluators.metrics.functions import FunctionMetric
from rag_otel_evaluators.offline.config import make_config
from rag_otel_evaluators.offline.dataset_objects import records_of
from rag_otel_evaluators.offline.datasets import Column, read_rows
from rag_otel_evaluators.offline.results import Results
from rag_otel_evaluators.offline.rows import CONCURRENCY, column_needs, evaluate_rows

Metric: TypeAlias = str | Evaluator | Callable[..., Any]
"""A metric's name, an evaluator, or a function with parameters among question, chunks, response and reference."""


def evaluate(
    dataset: Any,
    metrics: Sequence[Metric] = ("faithfulness",),
    *,
    columns: Mapping[str, Column] | None = None,
    judge: str | Mapping[str, Any] = "embedded",
    embedder: str | Mapping[str, Any] | None = None,
    language: str = "en",
    prompts: str | Path | None = None,
    concurrency: int = CONCURRENCY,
    budget_usd: float | None = None,
    cache: str | Path | None = None,
    progress: bool | None = None,
) -> Results:
    """Evaluates every row of `dataset`. A row that cannot be evaluated has a reason instead of a score.

    `dataset`: a list of dicts, a data frame of pandas or polars, an Arrow table, a Hugging Face data set, or a path to
    a JSON Lines, CSV or Parquet file.
    `columns`: field (question, contexts, response, reference) -> column name, path into nested objects, or function of
    the row. Common names are recognised without it.
    `judge` and `embedder`: a name, or the settings of `JudgeConfig` and `ModelConfig`, for the metrics given by name.
    `budget_usd`: maximum cost in US dollars. Rows after the limit have the reason `budget`.
    `cache`: a file that caches judges' answers, so that no call is paid for twice.
    `progress`: whether to show a progress bar. None: only on a terminal.

    Blocks until all rows are evaluated. Works in a notebook too. Raises ConfigurationError for wrong settings,
    InputError if the data cannot be read, ValueError for an evaluator with an invalid name.
    """
    with ExitStack() as resources:
        named = [metric for metric in metrics if isinstance(metric, str)]
        values: dict[str, Any] = {"judge": judge, "embedder": embedder, "language": language, "prompts": prompts}
        values |= {
            "budget_usd": budget_usd,
            "concurrency": concurrency,
            "cache": False if cache is None else Path(cache),
        }
        config = make_config({**values, "metrics": named or ["faithfulness"]}, source="evaluate")
        made = build_evaluators(config, resources, cache_path=config.cache_path) if named else ()
        built = {each.name: each for each in made}
        evaluators = [built[metric] if isinstance(metric, str) else _as_evaluator(metric) for metric in metrics]
        names = tuple(evaluator.name for evaluator in evaluators)
        if not names or len(set(names)) < len(names):
            raise ConfigurationError(
                f"metrics: give at least one, with different names, not {', '.join(names) or 'none'}"
            )
        rows = read_rows(records_of(dataset), columns=columns, needs=column_needs(evaluators))
        shown = sys.stderr.isatty() if progress is None else progress
        run = evaluate_rows(rows, evaluators, concurrency=rows_at_once(config), budget_usd=config.budget_usd)
        judged = resources.enter_context(closing(run))
        results = tuple(tqdm(judged, total=len(rows), desc="evaluating", disable=not shown, leave=False))
    return Results(results=results, metrics=names)


def _as_evaluator(metric: Evaluator | Callable[..., Any]) -> Evaluator:
    if isinstance(metric, Evaluator):
        check_metric_name(metric.name)
        return metric
    if callable(metric):
        return FunctionMetric(metric)
    raise ConfigurationError(f"a metric must be a name, an evaluator or a function, not {metric!r}")
