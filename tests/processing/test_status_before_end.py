"""An observed call that is not evaluated has its status before its span ends, so that nothing is copied."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanLimits, TracerProvider

import rag_otel
from rag_otel.model import SamplingDecision, SamplingReason, SpanRef
from rag_otel.observing.tracing import forget_tracer, use_tracer
from rag_otel.processing import held_traces
from rag_otel.processing.processor import RagSpanProcessor
from rag_otel.safety.guard import RAISE_ENV
from rag_otel.sampling.amount import EvaluationCap
from tests.processing.kit import REASON, SCORE, STATUS, Bench, Direct, Exported, attribute, tracer


class AsItEnded(Direct):
    """Keeps the span that the SDK is ending, and the status that it has then."""

    def __init__(self, exporter: Exported) -> None:
        super().__init__(exporter)
        self.statuses: list[Any] = []

    def _on_ending(self, span: Span) -> None:
        self.statuses.append((span.attributes or {}).get(STATUS))


class Once:
    """A sampler that counts how often it is asked."""

    asked = 0

    def decide(self, target: SpanRef) -> SamplingDecision:
        self.asked += 1
        return SamplingDecision(sampled=False, reason="quiet hours", probability=0.25)


class Failing:
    """A sampler that raises."""

    def decide(self, target: SpanRef) -> SamplingDecision:
        raise RuntimeError("no")


@rag_otel.observe
def answer(question: str, chunks: int = 1) -> dict[str, Any]:
    return {"answer": "It is 330 m.", "chunks": [f"The tower is 330 m high, says source {n}." for n in range(chunks)]}


@rag_otel.observe
def search(question: str) -> dict[str, Any]:
    return {"chunks": ["The tower is 330 m high."]}


@rag_otel.observe
def ask(question: str) -> str:
    search(question)
    return "It is 330 m."


@pytest.fixture
def restored() -> Iterator[None]:
    yield
    forget_tracer()


pytestmark = pytest.mark.usefixtures("restored")


def following(bench: Bench, limits: SpanLimits | None = None) -> tuple[AsItEnded, RagSpanProcessor]:
    """Send observed calls to a new provider with this runtime. Returns the processor behind ours, and ours."""
    provider, inner = TracerProvider(span_limits=limits), AsItEnded(Exported())
    ours = RagSpanProcessor(inner, runtime=bench.runtime)
    provider.add_span_processor(ours)
    use_tracer(tracer(provider))
    return inner, ours


def test_a_call_that_is_not_sampled_has_its_status_as_it_ends() -> None:
    inner, _ = following(Bench(ratio=0.0))
    answer("How high is it?")
    span = inner.exporter.one("answer")
    assert inner.statuses == ["skipped"]
    assert attribute(span, STATUS) == "skipped"
    assert attribute(span, REASON) == attribute(span, "rag.sampling.reason") == SamplingReason.NOT_SAMPLED
    assert attribute(span, "output.value") == "It is 330 m."


def test_a_call_over_the_cap_has_its_status_as_it_ends() -> None:
    """The first takes the cap's only token, and its scores are on the copy that leaves."""
    inner, ours = following(Bench(cap=EvaluationCap(60, burst=1, clock=lambda: 0.0)))
    answer("How high is it?")
    assert ours.flush(10)
    answer("How high is it?")
    first, second = inner.exporter.spans
    assert inner.statuses == [None, "skipped"]
    assert attribute(first, SCORE) == 1.0
    assert attribute(second, REASON) == SamplingReason.RATE_LIMITED


def test_a_call_that_finds_no_slot_has_its_status_as_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_traces, "MAX_HELD", 1)
    bench = Bench()
    bench.judge.gate.clear()
    inner, ours = following(bench)
    answer("How high is it?")
    answer("How high is it?")
    assert inner.statuses == [None, "skipped"]
    assert attribute(inner.exporter.one("answer"), REASON) == SamplingReason.QUEUE_FULL
    bench.judge.gate.set()
    assert ours.flush(10)
    assert attribute(inner.exporter.spans[-1], SCORE) == 1.0


def test_the_sampler_is_asked_once() -> None:
    sampler, bench = Once(), Bench()
    object.__setattr__(bench.runtime.pipeline, "sampler", sampler)
    inner, _ = following(bench)
    answer("How high is it?")
    assert sampler.asked == 1
    assert attribute(inner.exporter.one("answer"), REASON) == "quiet hours"
    assert attribute(inner.exporter.one("answer"), "rag.sampling.probability") == 0.25


def test_a_search_inside_a_call_is_no_target() -> None:
    """Whether a call without an answer is a candidate is known when its span has ended."""
    inner, _ = following(Bench(ratio=0.0))
    ask("How high is it?")
    assert attribute(inner.exporter.one("search"), STATUS) is None
    assert attribute(inner.exporter.one("ask"), STATUS) == "skipped"
    assert inner.statuses == [None, "skipped"]


def test_nothing_is_dropped_for_a_status() -> None:
    """A span at its limit of attributes gets its status on a copy, to which the limit does not apply."""
    inner, _ = following(Bench(ratio=0.0), limits=SpanLimits(max_span_attributes=12))
    answer("How high is it?", chunks=30)
    span = inner.exporter.one("answer")
    assert inner.statuses == [None]
    assert attribute(span, STATUS) == "skipped"
    assert attribute(span, "input.value") == "How high is it?"
    assert span.dropped_attributes == 0


def test_a_status_is_not_cut() -> None:
    inner, _ = following(Bench(ratio=0.0), limits=SpanLimits(max_span_attribute_length=5))
    answer("How high is it?")
    span = inner.exporter.one("answer")
    assert attribute(span, "input.value") == "How h"
    assert attribute(span, REASON) == SamplingReason.NOT_SAMPLED


def test_two_processors_do_not_write_on_each_others_span() -> None:
    """Each writes on its own copy, because the two may decide differently."""
    bench = Bench(ratio=0.0)
    provider, first, second = TracerProvider(), AsItEnded(Exported()), AsItEnded(Exported())
    for inner in (first, second):
        provider.add_span_processor(RagSpanProcessor(inner, runtime=bench.runtime))
    use_tracer(tracer(provider))
    answer("How high is it?")
    assert (first.statuses, second.statuses) == ([None], [None])
    assert attribute(first.exporter.one("answer"), STATUS) == "skipped"


def test_a_sampler_that_raises_costs_no_content(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RAISE_ENV, "0")
    bench = Bench()
    object.__setattr__(bench.runtime.pipeline, "sampler", Failing())
    inner, _ = following(bench)
    answer("How high is it?")
    span: ReadableSpan = inner.exporter.one("answer")
    assert attribute(span, "output.value") == "It is 330 m."
    assert attribute(span, STATUS) is None
