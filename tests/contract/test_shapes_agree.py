"""Contract: processor, collector, backfill and files give the same result for the same evaluator, convention and
limit."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from rag_otel.errors import PermanentError, RetryableError
from rag_otel.model import Evaluation, RagTrace, SpanRecord
from rag_otel.pipeline import Pipeline
from rag_otel.protocols import Convention, Evaluator
from rag_otel.safety.guard import RAISE_ENV, counters
from rag_otel.sampling.amount import EvaluationCap, RatioSampler
from rag_otel_collectors.conventions import default_conventions
from tests.contract import shapes

NEVER_S = 3600.0
LONG_S = 30.0
SHORT_S = 0.05
ERROR = "rag_otel.errors."


class Scripted:
    """An evaluator that raises, returns or waits as the test specifies."""

    name = "faithfulness"
    version = "7"
    judge_name = "scripted"

    def __init__(self, outcome: object) -> None:
        self.outcome = outcome

    async def evaluate(self, **given: object) -> Any:
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        if self.outcome == "hang":
            await asyncio.sleep(NEVER_S)
        return self.outcome


def a_pipeline(
    evaluator: Evaluator | None = None,
    *,
    first: Sequence[Convention] = (),
    cap: EvaluationCap | None = None,
    timeout_s: float = LONG_S,
) -> Pipeline:
    return Pipeline(
        conventions=(*first, *default_conventions()),
        sampler=RatioSampler(1.0),
        evaluators=(evaluator or Scripted(Evaluation(name="faithfulness", score=1.0)),),
        cap=cap,
        timeout_s=timeout_s,
    )


CASES = {
    "result": (Evaluation(name="faithfulness", score=0.5), (None, None, False)),
    "timeout_error": (TimeoutError("slow"), ("timeout", "builtins.TimeoutError", True)),
    "retryable": (RetryableError("busy"), ("judge_error", ERROR + "RetryableError", True)),
    "permanent": (PermanentError("wrong key"), ("judge_error", ERROR + "PermanentError", False)),
    "cancelled": (asyncio.CancelledError("inside"), ("judge_error", "builtins.RuntimeError", False)),
    "number": (0.5, ("judge_error", "builtins.TypeError", False)),
    "none": (None, ("judge_error", "builtins.TypeError", False)),
    "nan": (float("nan"), ("judge_error", "builtins.TypeError", False)),
    "text": ("0.9", ("judge_error", "builtins.TypeError", False)),
    "hang": ("hang", ("timeout", "builtins.TimeoutError", True)),
}


@pytest.mark.parametrize("case", CASES)
def test_every_shape_makes_the_same_of_an_evaluator(case: str) -> None:
    """All fields are equal except the duration."""
    outcome, expected = CASES[case]
    timeout_s = SHORT_S if outcome == "hang" else LONG_S
    found = {}
    for shape in (shapes.processor, shapes.collector, shapes.backfill):
        (result,) = shape(a_pipeline(Scripted(outcome), timeout_s=timeout_s)).results
        (found[shape.__name__],) = result.evaluations
    (found["files"],) = shapes.files([Scripted(outcome)], timeout_s=timeout_s)
    for shape_name, evaluation in found.items():
        got = (evaluation.reason_code, evaluation.error_type, evaluation.error_retryable)
        assert got == expected, shape_name
        assert dataclasses.replace(evaluation, duration_s=0) == dataclasses.replace(found["files"], duration_s=0)
        if evaluation.error_type is not None:
            assert (evaluation.version, evaluation.judge, evaluation.evaluator) == ("7", "scripted", "Scripted")


class Broken:
    """A convention whose `read` always raises."""

    name = "broken"

    def owns(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        return False

    def retrieves(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        return False

    def read(self, spans: Sequence[SpanRecord]) -> list[RagTrace]:
        raise RuntimeError("a defect of the convention")


class Twice(Broken):
    """Reads the same traces as OpenInference, with another convention name and another answer."""

    name = "twice"

    def read(self, spans: Sequence[SpanRecord]) -> list[RagTrace]:
        found = [trace for convention in default_conventions() for trace in convention.read(spans)]
        return [dataclasses.replace(trace, convention=self.name) for trace in found + found]


def test_a_convention_that_raises_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """In every shape the error is counted, and the next convention reads the trace."""
    monkeypatch.setenv(RAISE_ENV, "0")
    before = counters.get("internal_error.pipeline.read")
    seen = [shape(a_pipeline(first=[Broken()])) for shape in (shapes.processor, shapes.collector, shapes.backfill)]
    assert [[result.trace.convention for result in each.results] for each in seen] == [["openinference"]] * 3
    assert [line["convention"] for line in shapes.inspected(a_pipeline(first=[Broken()]))] == ["openinference"]
    assert counters.get("internal_error.pipeline.read") == before + 4


def test_a_target_is_read_once() -> None:
    """In every shape, of several RAG traces with the same target the first one is used."""
    seen = [shape(a_pipeline(first=[Twice()])) for shape in (shapes.processor, shapes.collector, shapes.backfill)]
    assert [[result.trace.convention for result in each.results] for each in seen] == [["twice"]] * 3
    assert [line["convention"] for line in shapes.inspected(a_pipeline(first=[Twice()]))] == ["twice"]


@pytest.mark.parametrize("shape", [shapes.processor, shapes.collector])
def test_a_trace_that_cannot_be_evaluated_takes_nothing_from_the_cap(shape: Any) -> None:
    """With a limit of one: the unevaluable trace is reported, the next is evaluated, the third is rate limited."""
    seen = shape(a_pipeline(cap=EvaluationCap(1, burst=1, clock=lambda: 0.0)), [False, True, True])
    assert seen.statuses == [("skipped", "no_response"), ("evaluated", None), ("skipped", "rate_limited")]
