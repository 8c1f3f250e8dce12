"""A program that calls `phoenix.otel.register()` after `instrument()`; its argument is Phoenix's address."""

from __future__ import annotations

import sys

from opentelemetry import trace

import rag_otel
from tests.support.phoenix_otel import register


@rag_otel.observe
def answer(question: str) -> dict[str, object]:
    with trace.get_tracer("app").start_as_current_span("child"):
        pass
    return {"answer": "It is 330 metres high.", "documents": ["The tower is 330 metres high."]}


if __name__ == "__main__":
    rag_otel.instrument(alerts=rag_otel.AlertSettings(rules=()), drift=False)
    provider = register(endpoint=f"{sys.argv[1]}/v1/traces", protocol="http/protobuf", batch=True, verbose=False)
    assert trace.get_tracer_provider() is provider
    for n in range(10):
        answer(f"question {n}")
    assert rag_otel.flush(timeout=60)
    provider.force_flush()
