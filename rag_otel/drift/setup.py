"""The monitor and the watch over the judge, as the settings want them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rag_otel.drift.anchors import load_anchors
from rag_otel.drift.baseline import Baseline
from rag_otel.drift.family import FamilySettings, SeriesKey
from rag_otel.drift.judge_watch import JudgeWatch
from rag_otel.drift.observation import ALL, SCORE, shown
from rag_otel.errors import ConfigurationError
from rag_otel.evaluation.background_worker import BackgroundWorker
from rag_otel.pipeline import Pipeline
from rag_otel.sampling.build import lowest_probability
from rag_otel.settings import Settings


def drift_settings(settings: Settings) -> FamilySettings:
    """The part of the settings that is about drift. Raises ConfigurationError for a baseline that cannot be read."""
    watched = (*settings.metrics, *(each.name for each in settings.evaluators))
    return FamilySettings(
        baseline_count=settings.drift.baseline_count,
        baselines=read_baselines(settings.drift.baseline, watched[0]),
        dimensions=tuple(settings.drift.slices),
        metrics=len(watched),
        # A coin of the application's own may be smaller: detectors notice, and lower their bets.
        least_probability=lowest_probability(settings),
    )


def build_judge_watch(settings: Settings, pipeline: Pipeline, worker: BackgroundWorker) -> JudgeWatch | None:
    """The application's own evaluators over the anchors, on its own worker, within its own cap; None where nobody
    wants it. Raises ConfigurationError for anchors that cannot be read."""
    if not (settings.drift.enabled and settings.drift.judge_watch):
        return None
    cap = pipeline.cap
    return JudgeWatch(
        pipeline.evaluators,
        load_anchors(settings.drift.judge_anchors),
        worker.submit,
        admit=cap.admit if cap is not None else lambda: True,
        timeout_s=settings.judge.timeout,
    )


def read_baselines(given: str | None, metric: str) -> dict[SeriesKey, Baseline]:
    """Frozen baselines by series and slice: of a number (the score of `metric` over all traffic), or of a JSON file
    {series: {slice: {"mean": m, "bound": b}}}, as `rag-otel drift --save-baselines` writes it: means as people know
    them (a risk is a risk), and what they are known to be better than. Raises ConfigurationError."""
    if given is None or not given.strip():
        return {}
    try:
        if (number := _number(given)) is not None:
            return {(f"{metric}.{SCORE}", ALL): Baseline.given(_mean(number))}
        stored: Any = json.loads(Path(given).read_text(encoding="utf-8"))
        return {
            (series, name): _stored_baseline(series, each)
            for series, slices in stored.items()
            for name, each in slices.items()
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ConfigurationError(
            f"drift_baseline (environment: RAG_OTEL_DRIFT_BASELINE) = {given!r}: neither a number within 0..1 nor a "
            f"file of means within 0..1: {error}"
        ) from None


def _stored_baseline(series: str, stored: Any) -> Baseline:
    mean, bound = (stored, stored) if isinstance(stored, int | float) else (stored["mean"], stored["bound"])
    return Baseline.given(shown(series, _mean(float(mean))), shown(series, _mean(float(bound))))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _mean(value: float) -> float:
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{value!r} is not within 0..1")
    return value
