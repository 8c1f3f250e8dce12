"""Calls that are not sampled: the function runs, nothing is recorded, and spans below it are not sampled either."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace.sampling import (
    ALWAYS_OFF,
    ALWAYS_ON,
    DEFAULT_OFF,
    Decision,
    ParentBased,
    Sampler,
    SamplingResult,
)
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, SpanKind, TraceFlags

from rag_otel import observe, record_chunks
from rag_otel.observing.tracing import use_tracer
from tests.observing.conftest import Recorder

PARENT = NonRecordingSpan(SpanContext(trace_id=7, span_id=7, is_remote=True, trace_flags=TraceFlags(0)))


@observe
def plain(question: str) -> dict[str, Any]:
    record_chunks(["never kept"])
    return {"answer": question, "stream": (item for item in "ab")}


@observe
async def coroutine(question: str) -> str:
    return question


@observe
def generator(question: str) -> Iterator[str]:
    yield question


@observe
async def async_generator(question: str) -> AsyncIterator[str]:
    yield question


def _call_all() -> None:
    result = plain("why")
    assert (result["answer"], list(result["stream"])) == ("why", ["a", "b"])
    assert list(generator("why")) == ["why"]

    async def main() -> None:
        assert await coroutine("why") == "why"
        assert [item async for item in async_generator("why")] == ["why"]

    asyncio.run(main())


@pytest.mark.parametrize("sampler", [DEFAULT_OFF, ALWAYS_OFF])
def test_unsampled_calls_of_every_kind_behave_as_before(recorder: Recorder, sampler: Sampler) -> None:
    """Results, streams and exceptions are those of the function, and nothing is recorded."""
    recorder.use(sampler=sampler)
    _call_all()
    with trace.use_span(PARENT):
        _call_all()
    assert recorder.spans == []


def test_an_unsampled_parent_leaves_the_call_out(recorder: Recorder) -> None:
    """The default sampler follows the parent. The parent stays current for called code."""
    seen = []

    @observe
    def answer(question: str) -> str:
        seen.append(trace.get_current_span())
        return "yes"

    with trace.use_span(PARENT):
        answer("why")
    assert seen == [PARENT]
    assert recorder.spans == []


def test_a_sampler_that_does_not_follow_the_parent_is_asked(recorder: Recorder) -> None:
    """Such a sampler may record a call below an unsampled parent, so it decides."""
    for sampler in (ALWAYS_ON, ParentBased(ALWAYS_OFF, remote_parent_not_sampled=ALWAYS_ON)):
        recorder.use(sampler=sampler)
        with trace.use_span(PARENT):
            coroutine_free = observe(lambda question: "yes")
            coroutine_free("why")
    assert len(recorder.spans) == 2


class _ByName(Sampler):
    """Does not sample spans of one name. Other spans follow their parent."""

    def should_sample(
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        attributes: Any = None,
        links: Sequence[Link] | None = None,
        *more: Any,
    ) -> SamplingResult:
        parent = trace.get_current_span(parent_context).get_span_context()
        dropped = name == "dropped" or (parent.is_valid and not parent.trace_flags.sampled)
        return SamplingResult(Decision.DROP if dropped else Decision.RECORD_AND_SAMPLE)

    def get_description(self) -> str:
        return "by name"


@pytest.mark.parametrize("kind", ["function", "coroutine", "generator", "async generator"])
def test_what_a_left_out_call_calls_is_left_out_too(recorder: Recorder, kind: str) -> None:
    """Children of an unsampled root span must not start their own traces."""
    recorder.use(sampler=_ByName())
    tracer = recorder.provider.get_tracer("app")

    def inside() -> str:
        with tracer.start_as_current_span("llm"):
            return "yes"

    @observe(name="dropped")
    def function(question: str) -> str:
        return inside()

    @observe(name="dropped")
    async def coroutine(question: str) -> str:
        return inside()

    @observe(name="dropped")
    def generator(question: str) -> Iterator[str]:
        yield inside()

    @observe(name="dropped")
    async def async_generator(question: str) -> AsyncIterator[str]:
        yield inside()

    async def consume() -> list[str]:
        return [item async for item in async_generator("why")]

    calls = {
        "function": lambda: [function("why")],
        "coroutine": lambda: [asyncio.run(coroutine("why"))],
        "generator": lambda: list(generator("why")),
        "async generator": lambda: asyncio.run(consume()),
    }
    assert calls[kind]() == ["yes"]
    assert recorder.spans == []
    inside()
    assert recorder.span.name == "llm"


def test_without_an_sdk_nothing_changes(recorder: Recorder) -> None:
    """The API's tracer creates no spans, and the parent stays current."""
    use_tracer(trace.NoOpTracer())
    seen = []

    @observe
    def answer(question: str) -> str:
        seen.append(trace.get_current_span())
        return "yes"

    with recorder.provider.get_tracer("app").start_as_current_span("request") as request:
        assert answer("why") == "yes"
    assert seen == [request]
    _call_all()
