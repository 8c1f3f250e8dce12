"""Texts of chunks that a trace names by id alone: fetched by the application's code, guarded and with a deadline."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import rag_otel
from rag_otel.errors import ConfigurationError
from rag_otel.evaluation.chunk_texts import ChunkTexts, resolver_named
from rag_otel.model import Chunk, RagTrace, SpanRef, UnevaluableReason
from rag_otel.safety.guard import counters
from testkit.polling import eventually

TEXTS = {"d1": "Paris is the capital of France.", "d2": "France is in Europe."}
TARGET = SpanRef(trace_id="a" * 32, span_id="b" * 16)


def a_trace(*chunks: Chunk, **changes: Any) -> RagTrace:
    """A trace that names its chunks by id alone."""
    named = tuple(Chunk(id=chunk_id, text="", position=rank) for rank, chunk_id in enumerate(TEXTS))
    fields: dict[str, Any] = {
        "target": TARGET,
        "question": "q",
        "response": "r",
        "chunks": chunks or named,
        "unevaluable_reason": UnevaluableReason.NO_CHUNK_TEXT,
    }
    return RagTrace(**fields | changes)


async def fetch(ids: Sequence[str]) -> dict[str, str]:
    return {chunk_id: TEXTS[chunk_id] for chunk_id in ids if chunk_id in TEXTS}


def fetch_in_order(ids: Sequence[str]) -> list[str | None]:
    return [TEXTS.get(chunk_id) for chunk_id in ids]


class NoFunction:
    """A resolver that is an object, as clients of stores are."""

    def __call__(self, ids: Sequence[str]) -> Any:
        return fetch(ids)


@pytest.mark.parametrize("resolver", [fetch, fetch_in_order, NoFunction(), lambda ids: TEXTS])
async def test_texts_are_filled_in(resolver: Any) -> None:
    """Async functions, plain ones, objects; mappings and lists: the trace can then be evaluated, and says whence."""
    trace = await ChunkTexts(resolver).complete(a_trace())
    assert [chunk.text for chunk in trace.chunks] == list(TEXTS.values())
    assert trace.evaluable
    assert [source.attribute for source in trace.sources] == ["chunk_resolver"]


async def test_what_else_is_missing_is_told() -> None:
    """With its texts a trace may still lack a question or an answer."""
    texts = ChunkTexts(fetch)
    assert (await texts.complete(a_trace(question=None))).unevaluable_reason is UnevaluableReason.NO_QUESTION
    assert (await texts.complete(a_trace(response=None))).unevaluable_reason is UnevaluableReason.NO_RESPONSE


@pytest.mark.parametrize(
    "trace",
    [
        a_trace(unevaluable_reason=None),
        a_trace(unevaluable_reason=UnevaluableReason.ERROR),
        a_trace(unevaluable_reason=UnevaluableReason.REDACTED),
        a_trace(Chunk(id="0", text="", position=0, has_id=False)),
        a_trace(chunks=()),
    ],
)
async def test_nothing_is_asked_in_vain(trace: RagTrace) -> None:
    """A trace that misses no text, failed, was hidden, or whose chunks have no ids of the store's is left alone."""
    asked: list[Any] = []
    assert await ChunkTexts(lambda ids: asked.append(ids) or {}).complete(trace) is trace
    assert asked == []


def _raise(ids: Sequence[str]) -> Any:
    raise LookupError("store is away")


def _exit(ids: Sequence[str]) -> Any:
    raise SystemExit(1)


@pytest.mark.parametrize(
    "resolver", [_raise, _exit, lambda ids: None, lambda ids: ["one"], lambda ids: 7, lambda ids: {}]
)
async def test_a_failing_resolver_leaves_the_trace_as_it_was(resolver: Any) -> None:
    """An exception, nonsense, or texts that are not there: still not evaluable, with the same reason."""
    trace = a_trace()
    assert await ChunkTexts(resolver).complete(trace) is trace


async def test_a_hanging_resolver_costs_its_deadline_alone() -> None:
    """A call that never returns is waited for no longer, and at most eight of them are under way."""
    held = threading.Event()
    calls: list[Any] = []

    def hang(ids: Sequence[str]) -> Any:
        calls.append(ids)
        held.wait(60)
        return TEXTS

    texts, trace = ChunkTexts(hang, timeout_s=0.05), a_trace()
    before = counters.get("chunk_resolver.timeout")
    assert all(result is trace for result in await asyncio.gather(*(texts.complete(trace) for _ in range(12))))
    eventually(lambda: len(calls) == 8)
    assert counters.get("chunk_resolver.timeout") == before + 12
    held.set()


def test_resolver_by_name() -> None:
    """`module:function`; what cannot be found, or called, is refused by name."""
    assert resolver_named(f"{__name__}:fetch") is fetch
    for name in ("fetch", "no.such:fetch", f"{__name__}:nothing", f"{__name__}:TARGET"):
        with pytest.raises(ConfigurationError, match="chunk_resolver"):
            resolver_named(name)


def test_in_process() -> None:
    """A retrieval by the GenAI conventions has ids alone: the resolver is asked on the worker, and makes no spans."""
    provider, exporter = TracerProvider(shutdown_on_exit=False), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    threads: list[str] = []

    def traced_fetch(ids: Sequence[str]) -> dict[str, str]:
        threads.append(threading.current_thread().name)
        with provider.get_tracer("store").start_as_current_span("SELECT"):
            return TEXTS

    rag_otel.instrument(provider, spans=rag_otel.SpanSettings(chunk_resolver=traced_fetch, annotations=False))
    tracer = provider.get_tracer("opentelemetry.instrumentation.genai.langchain")
    chat = '[{"role": "%s", "parts": [{"type": "text", "content": "%s"}]}]'
    with tracer.start_as_current_span("workflow", attributes={"gen_ai.operation.name": "invoke_workflow"}):
        found = {"gen_ai.retrieval.query.text": "q", "gen_ai.retrieval.documents": '[{"id": "d1"}, {"id": "d2"}]'}
        with tracer.start_as_current_span("retrieval", attributes={"gen_ai.operation.name": "retrieval", **found}):
            pass
        said = {"gen_ai.output.messages": chat % ("assistant", "Paris is the capital of France.")}
        with tracer.start_as_current_span("chat", attributes={"gen_ai.operation.name": "chat", **said}):
            pass
    assert rag_otel.flush(timeout=60)
    rag_otel.uninstrument()
    spans = {span.name: dict(span.attributes or {}) for span in exporter.get_finished_spans()}
    assert spans.keys() == {"workflow", "retrieval", "chat"}
    assert spans["workflow"]["rag.evaluation.status"] == "evaluated"
    assert spans["workflow"]["rag.evaluation.faithfulness.claims.0.chunk_ids"] == ("d1",)
    assert threads == ["rag-otel-blocking"]
