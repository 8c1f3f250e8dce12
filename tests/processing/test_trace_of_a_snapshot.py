"""An observed call whose span says nothing else is not read from its span: its trace is made of the snapshot."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import trace as trace_api
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, TraceState

import rag_otel
from rag_otel.model import Chunk, RagTrace, SpanRef
from rag_otel.observing.tracing import forget_tracer, use_tracer
from rag_otel.processing.processor import RagSpanProcessor
from tests.processing.kit import Bench, Direct, Exported, tracer

DOCUMENTS = [{"id": "wiki-7", "text": "The tower is 330 m high.", "score": 0.8}, "It stands in Paris."]
HISTORY = [{"role": "user", "content": "Which tower?"}, {"role": "assistant", "content": "The one in Paris."}]
STATE = TraceState([("ot", "th:8")])
UPSTREAM = NonRecordingSpan(
    SpanContext(trace_id=7, span_id=7, is_remote=True, trace_flags=TraceFlags(1), trace_state=STATE)
)


@pytest.fixture(autouse=True)
def _picked_again() -> Iterator[None]:
    yield
    forget_tracer()


def trace_of_a_call(documents: list[Any], **attributes: str) -> RagTrace:
    """The trace of one call; with `attributes` of the application's on its span, that span is read."""
    bench, provider = Bench(), TracerProvider(resource=Resource({"service.name": "towers"}))
    ours = RagSpanProcessor(Direct(Exported()), runtime=bench.runtime)
    provider.add_span_processor(ours)
    use_tracer(tracer(provider))

    @rag_otel.observe(name="answer", history="history", tags={"tier": "tier"}, reference="reference")
    def answer(question: str, history: Any, tier: str = "gold", reference: str = "330 m") -> dict[str, Any]:
        trace_api.get_current_span().set_attributes(attributes)
        rag_otel.record_memory("She likes metres.")
        return {"answer": "It is 330 m.", "documents": documents}

    with trace_api.use_span(UPSTREAM), rag_otel.using(session_id="s-1", user_id="u-1"):
        answer("How high is it?", HISTORY)
    assert ours.wait_until_evaluated(30)
    assert bench.runtime.delivery.flush(30)
    (result,) = bench.results.all
    return result.trace


def comparable(trace: RagTrace) -> RagTrace:
    """Without what differs from call to call, and without where the parts were read."""
    nowhere = SpanRef(trace_id="0" * 32, span_id="0" * 16)
    at = None if trace.chunk_span is None else dataclasses.replace(trace.chunk_span, span_id=nowhere.span_id)
    chunk_span_is_target = trace.chunk_span == trace.target
    assert at is None or chunk_span_is_target
    return dataclasses.replace(trace, target=nowhere, chunk_span=at, start_ns=0, duration_ns=0, sources=(), root=None)


@pytest.mark.parametrize("documents", [DOCUMENTS, []])
def test_it_is_what_the_span_says(documents: list[Any]) -> None:
    made, read = trace_of_a_call(documents), trace_of_a_call(documents, **{"app.version": "7"})
    assert not made.sources
    assert read.sources
    assert comparable(made) == comparable(read)


def test_what_the_application_says_on_the_span_counts() -> None:
    made = trace_of_a_call(DOCUMENTS, **{"gen_ai.response.id": "r-1"})
    assert made.response_id == "r-1"
    assert made.chunks[0] == Chunk(id="wiki-7", text="The tower is 330 m high.", position=0, score=0.8)
