"""`rag_otel_evaluators.evaluate(dataset, metrics=[...])` and its async form `aevaluate`: evaluate every row of a data
set."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, aclosing, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from tqdm.auto import tqdm

from rag_otel.errors import ConfigurationError
from rag_otel.evaluation.calibration import calibration_of
from rag_otel.evaluation.directions import learn_directions
from rag_otel.protocols import Evaluator
from rag_otel.semconv import check_metric_name
from rag_otel_evaluators.build import build_evaluators, rows_at_once
from rag_otel_evaluators.metrics.functions import FunctionMetric
from rag_otel_evaluators.metrics.registry import RAGAS_NAMES, DescribedMetric, ragas_advice
from rag_otel_evaluators.offline.config import EvaluationConfig, make_config
from rag_otel_evaluators.offline.dataset_rows import records_of
from rag_otel_evaluators.offline.datasets import Column, Row, read_rows
from rag_otel_evaluators.offline.results import Result, Results
from rag_otel_evaluators.offline.rows import CONCURRENCY, aevaluate_rows, column_needs, evaluate_rows

AnyMetric: TypeAlias = str | DescribedMetric | Evaluator | Callable[..., Any]
"""A metric's name, an aspect or a rubric, an evaluator, or a function with parameters among question, chunks, response
and reference."""
AnyMetrics: TypeAlias = AnyMetric | Sequence[AnyMetric]
"""One metric, or several; names may also stand in one text, separated by commas."""


def evaluate(
    dataset: Any,
    metrics: AnyMetrics = ("faithfulness",),
    *,
    columns: Mapping[str, Column] | None = None,
    judge: str | Mapping[str, Any] = "embedded",
    embedder: str | Mapping[str, Any] | None = None,
    language: str = "en",
    prompts: str | Path | None = None,
    concurrency: int = CONCURRENCY,
    budget_usd: float | None = None,
    cache: str | Path | None = None,
    calibration_file: str | Path | None = None,
    progress: bool | None = None,
) -> Results:
    """Evaluates every row of `dataset`. A row that cannot be evaluated has a reason instead of a score.

    `dataset`: a list of dicts, a dict of columns, a data frame of pandas or polars, an Arrow table, a Hugging Face data
    set, a list of pydantic models or dataclasses, or a path to a JSON Lines, CSV or Parquet file.
    `columns`: field (question, contexts, response, reference, ...) -> column name, path into nested objects, or a
    function of the row. Common names are recognised without it.
    `judge` and `embedder`: a name, or the settings of `JudgeConfig` and `ModelConfig`, for the metrics given by name.
    `budget_usd`: maximum cost in US dollars. Rows after the limit have the reason `budget`.
    `cache`: a file that caches judges' answers, so that no call is paid for twice.
    `calibration_file`: a file of `rag-otel labels calibrate`, applied to the results that it was fitted to.
    `progress`: whether to show a progress bar. None: only on a terminal.

    Blocks until all rows are evaluated, on a loop of its own: it works while an event loop is running, but that loop
    waits meanwhile. In async code use `aevaluate`. Raises ConfigurationError for wrong settings, InputError if the data
    cannot be read, ValueError for an evaluator with an invalid name.
    """
    with ExitStack() as resources:
        settings = evaluation_settings(
            judge, embedder, language, prompts, concurrency, budget_usd, cache, calibration_file
        )
        task = _prepare(dataset, listed(metrics), columns, settings, resources)
        rows = resources.enter_context(closing(evaluate_rows(task.rows, task.evaluators, **task.limits)))
        return task.results(tuple(tqdm(rows, **task.bar(progress))))


async def aevaluate(
    dataset: Any,
    metrics: AnyMetrics = ("faithfulness",),
    *,
    columns: Mapping[str, Column] | None = None,
    judge: str | Mapping[str, Any] = "embedded",
    embedder: str | Mapping[str, Any] | None = None,
    language: str = "en",
    prompts: str | Path | None = None,
    concurrency: int = CONCURRENCY,
    budget_usd: float | None = None,
    cache: str | Path | None = None,
    calibration_file: str | Path | None = None,
    progress: bool | None = None,
) -> Results:
    """`evaluate` for async code: the same arguments, results and errors. The running event loop stays responsive.

    Metrics run on the running loop. Reading the data and loading models happen on a thread. A cancellation cancels the
    running evaluations.
    """
    with ExitStack() as resources:
        settings = evaluation_settings(
            judge, embedder, language, prompts, concurrency, budget_usd, cache, calibration_file
        )
        task = await asyncio.to_thread(_prepare, dataset, listed(metrics), columns, settings, resources)
        results: list[Result] = []
        with tqdm(**task.bar(progress)) as bar:
            async with aclosing(aevaluate_rows(task.rows, task.evaluators, **task.limits)) as rows:
                async for result in rows:
                    results.append(result)
                    bar.update()
        return task.results(tuple(results))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """The rows of a data set and what evaluates them."""

    rows: Sequence[Row]
    evaluators: Sequence[Evaluator]
    limits: Mapping[str, Any]
    """Further arguments of `evaluate_rows`."""

    def bar(self, progress: bool | None) -> dict[str, Any]:
        """The arguments of the progress bar."""
        shown = sys.stderr.isatty() if progress is None else progress
        return {"total": len(self.rows), "desc": "evaluating", "disable": not shown, "leave": False}

    def results(self, results: tuple[Result, ...]) -> Results:
        return Results(results=results, metrics=tuple(evaluator.name for evaluator in self.evaluators))


def evaluation_settings(
    judge: str | Mapping[str, Any],
    embedder: str | Mapping[str, Any] | None,
    language: str,
    prompts: str | Path | None,
    concurrency: int,
    budget_usd: float | None,
    cache: str | Path | None,
    calibration_file: str | Path | None,
) -> dict[str, Any]:
    """The arguments as settings of `EvaluationConfig`."""
    return {
        "judge": judge,
        "embedder": embedder,
        "language": language,
        "prompts": prompts,
        "budget_usd": budget_usd,
        "concurrency": concurrency,
        "cache": False if cache is None else Path(cache),
        "calibration_file": calibration_file,
    }


def _prepare(
    dataset: Any,
    metrics: Sequence[AnyMetric],
    columns: Mapping[str, Column] | None,
    settings: Mapping[str, Any],
    resources: ExitStack,
) -> _Task:
    """Builds the evaluators and reads the rows. What must be closed is added to `resources`."""
    config, built = build_named(metrics, settings, resources)
    evaluators = evaluators_of(metrics, built)
    learn_directions(evaluators)
    return _Task(
        rows=read_rows(records_of(dataset), columns=columns, needs=column_needs(evaluators)),
        evaluators=evaluators,
        limits={
            "concurrency": rows_at_once(config),
            "budget_usd": config.budget_usd,
            "calibrate": calibration_of(config.calibration_file),
        },
    )


def listed(metrics: AnyMetrics) -> Sequence[AnyMetric]:
    """The metrics, however they were given. Names of Ragas become those of the same metrics here."""
    if isinstance(metrics, str):
        metrics = [name.strip() for name in metrics.split(",") if name.strip()]
    given = metrics if isinstance(metrics, Iterable) else (metrics,)
    return tuple(RAGAS_NAMES.get(each, each) if isinstance(each, str) else each for each in given)


def build_named(
    metrics: Sequence[AnyMetric], settings: Mapping[str, Any], resources: ExitStack
) -> tuple[EvaluationConfig, Mapping[str, Evaluator]]:
    """The settings, checked, and the evaluators of the metrics that are given by name or described, by their names."""
    named = [metric for metric in metrics if isinstance(metric, str)]
    config = make_config({**settings, "metrics": named or ["faithfulness"]}, source="evaluate")
    described = [each for each in metrics if isinstance(each, DescribedMetric) and not isinstance(each, type)]
    if not named and not described:
        return config, {}
    made = build_evaluators(config, resources, described=described, cache_path=config.cache_path)
    return config, {each.name: each for each in made}


def evaluators_of(metrics: Sequence[AnyMetric], built: Mapping[str, Evaluator]) -> list[Evaluator]:
    """One evaluator for each metric, in order. Raises ConfigurationError if there is none or a name is there twice."""
    evaluators = [_as_evaluator(metric, built) for metric in metrics]
    names = tuple(evaluator.name for evaluator in evaluators)
    if not names or len(set(names)) < len(names):
        raise ConfigurationError(f"metrics: give at least one, with different names, not {', '.join(names) or 'none'}")
    return evaluators


def _as_evaluator(metric: AnyMetric, built: Mapping[str, Evaluator]) -> Evaluator:
    if isinstance(metric, str):
        return built[metric]
    if isinstance(metric, type):
        hint = ragas_advice(metric.__name__) or "give an object of it, or the name of a metric"
        raise ConfigurationError(f"{metric.__name__} is a class: {hint}")
    if isinstance(metric, DescribedMetric):
        return built[metric.name]
    if isinstance(metric, Evaluator):
        check_metric_name(metric.name)
        return metric
    if callable(metric):
        return FunctionMetric(metric)
    hint = ragas_advice(type(metric).__name__)
    problem = f"a metric must be a name, an evaluator or a function, not {metric!r}"
    raise ConfigurationError(problem if hint is None else f"{problem}; {hint}")
