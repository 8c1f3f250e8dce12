"""A real framework under a real instrumentation, evaluated in process: what left, and what can be read out of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import rag_otel
from rag_otel import semconv
from rag_otel.evaluation.conversation import ConversationContext
from rag_otel.model import RagTrace, SpanRecord
from rag_otel.processing.sdk_spans import span_record
from rag_otel_collectors.conventions import default_conventions
from testkit.settings import grouped

QUESTION = "What is the capital of France?"
ANSWER = "The capital of France is Paris."
TEXTS = {"d1": "Paris is the capital of France.", "d2": "France is in Europe."}
SCORE = "rag.evaluation.faithfulness.score"


@dataclass
class Run:
    """One provider under evaluation, and what it exported."""

    provider: TracerProvider
    exporter: InMemorySpanExporter = field(default_factory=InMemorySpanExporter)
    instrumentors: list[Any] = field(default_factory=list)

    def under(self, instrumentor: Any, **options: Any) -> None:
        """Instrument until the end of the run."""
        self.instrumentors.append(instrumentor)
        instrumentor.instrument(tracer_provider=self.provider, **options)

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        """What has left, once all evaluations are done."""
        assert rag_otel.flush(timeout=60)
        spans: tuple[ReadableSpan, ...] = self.exporter.get_finished_spans()
        return spans

    def statuses(self) -> dict[str, tuple[Any, Any, Any]]:
        """Span name -> (status, reason, faithfulness) of every span that has a status."""
        marked = (dict(span.attributes or {}) | {"name": span.name} for span in self.spans)
        keys = (semconv.STATUS, semconv.STATUS_REASON, SCORE)
        return {span["name"]: tuple(map(span.get, keys)) for span in marked if semconv.STATUS in span}

    def read(self, conversation: ConversationContext = "none") -> list[RagTrace]:
        """The RAG traces in what has left, as a collector would read them, by start."""
        by_trace: dict[str, list[SpanRecord]] = {}
        for record in map(span_record, self.spans):
            by_trace.setdefault(record.trace_id, []).append(record)
        conventions = default_conventions(conversation=conversation)
        found = (trace for records in by_trace.values() for each in conventions for trace in each.read(records))
        return sorted(found, key=lambda trace: trace.start_ns)

    def read_one(self) -> RagTrace:
        """The only RAG trace."""
        (trace,) = self.read()
        return trace


def a_run() -> Run:
    """A provider that exports to memory."""
    run = Run(TracerProvider(shutdown_on_exit=False))
    run.provider.add_span_processor(SimpleSpanProcessor(run.exporter))
    return run


@contextmanager
def running(run: Run | None = None, **settings: Any) -> Iterator[Run]:
    """A provider, by default a new one, that is evaluated by the embedded judge until the block ends."""
    run = run or a_run()
    run.exporter.clear()
    rag_otel.instrument(run.provider, **grouped(annotations=False, **settings))
    try:
        yield run
    finally:
        while run.instrumentors:
            run.instrumentors.pop().uninstrument()
        rag_otel.uninstrument()


def told(trace: RagTrace) -> tuple[Any, ...]:
    """What matters of a trace: dialect, question, texts, answer, reason."""
    texts = [chunk.text for chunk in trace.chunks]
    return trace.convention, trace.question, texts, trace.response, trace.unevaluable_reason
