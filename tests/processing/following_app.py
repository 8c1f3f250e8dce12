"""A program that sets its tracer provider after `instrument()`, in the way that its argument names.

It makes 10 observed calls with a child each, and prints what arrived where.
"""

from __future__ import annotations

import sys
import threading

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import rag_otel

proxied = trace.get_tracer("a library that was imported early")


@rag_otel.observe
def answer(question: str) -> dict[str, object]:
    with proxied.start_as_current_span("child"):
        pass
    return {"answer": "It is 330 metres high.", "documents": ["The tower is 330 metres high."]}


def own_provider() -> tuple[TracerProvider, InMemorySpanExporter]:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider, exporter


def main(case: str) -> None:
    rag_otel.instrument(alerts=rag_otel.AlertSettings(rules=()), drift=False)
    if case == "call first":
        answer("before the provider")
    early = trace.get_tracer("a library that took its tracer before the provider")
    provider, exporter = own_provider()
    if case == "private":  # handed around, never global
        rag_otel.instrument(provider, alerts=rag_otel.AlertSettings(rules=()), drift=False)
    else:
        trace.set_tracer_provider(provider)
        assert trace.get_tracer_provider() is provider
    for n in range(10):
        answer(f"question {n}")
        early.start_span("early").end()
        trace.get_tracer("app").start_span("own").end()
    assert rag_otel.flush(timeout=60)
    provider.force_flush()
    spans = exporter.get_finished_spans()
    for name in ("answer", "child", "early", "own"):
        found = [span for span in spans if span.name == name]
        scored = sum("rag.evaluation.faithfulness.score" in (span.attributes or {}) for span in found)
        print(name, len(found), len({span.context.span_id for span in found}), scored)
    print("threads", sorted(each.name for each in threading.enumerate() if each.name == "rag-otel-shutdown"))


if __name__ == "__main__":
    main(sys.argv[1])
