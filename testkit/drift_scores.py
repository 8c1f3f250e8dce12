"""Seeded streams and results for the drift tests."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from rag_otel.drift.alarm_groups import AlarmGroups
from rag_otel.drift.event import DriftEvent
from rag_otel.drift.family import Family
from rag_otel.drift.observation import Observation
from rag_otel.model import (
    EvaluatedTrace,
    Evaluation,
    EvaluationStatus,
    RagTrace,
    SamplingDecision,
    SpanRef,
)

START_S = 1_800_000_000.0


def scores(mean: float, seed: int) -> Iterator[float]:
    """Scores of that mean without end: 1, or evenly among .5, .6, .7."""
    rng = random.Random(seed)
    while True:
        yield 1.0 if rng.random() < (mean - 0.6) / 0.4 else rng.choice((0.5, 0.6, 0.7))


def seen(index: int, score: float, *slices: str, probability: float = 1.0, **signals: float) -> Observation:
    """A faithfulness score a minute after the one before."""
    values = {"score": score, **signals}
    return Observation(
        time_s=START_S + 60 * index,
        probability=probability,
        slices=slices,
        values=tuple((f"faithfulness.{name}", value) for name, value in values.items()),
    )


def feed(family: Family, mean: float, count: int, *slices: str, at: int = 0, seed: int = 0) -> list[DriftEvent]:
    """Observations `at` .. `at + count` of that mean; what turned."""
    source = scores(mean, seed)
    return [event for index in range(at, at + count) for event in family.observe(seen(index, next(source), *slices))]


def told(family: Family, values: list[Observation]) -> list[tuple[int, DriftEvent]]:
    """What is told of them: (place, event)."""
    problems, found = AlarmGroups(), []
    for index, each in enumerate(values):
        for event in family.observe(each):
            key = problems.close(event) if event.resolved else problems.open(event)
            if key is not None:
                found.append((index, event))
    return found


def result(index: int, score: float | None, **changes: Any) -> EvaluatedTrace:
    """A finished result, a minute after the one before."""
    fields: dict[str, Any] = {"service": "shop", "route": "/ask", "model": "large"}
    fields |= {name: value for name, value in changes.items() if name in {*fields, "tags", "capture_content"}}
    evaluation: dict[str, Any] = {"evaluator": "Faithfulness", "version": "1", "judge": "embedded"}
    evaluation |= {name: value for name, value in changes.items() if name in {*evaluation, "risk", "reason_code"}}
    return EvaluatedTrace(
        trace=RagTrace(
            target=SpanRef(trace_id=f"{index + 1:032x}", span_id=f"{index + 1:016x}"),
            question="What does the moon orbit?",
            response=f"Answer {index}",
            start_ns=int((START_S + 60 * index) * 1e9),
            **fields,
        ),
        decision=SamplingDecision(sampled=True, reason="always", probability=changes.get("probability", 1.0)),
        evaluations=(Evaluation(name="faithfulness", score=score, **evaluation),),
        status=EvaluationStatus.EVALUATED,
    )


def results(mean: float, count: int, *, at: int = 0, seed: int = 0, **changes: Any) -> list[EvaluatedTrace]:
    """Results `at` .. `at + count` whose scores have that mean."""
    source = scores(mean, seed)
    return [result(index, next(source), **changes) for index in range(at, at + count)]
