"""An app without rag-otel: it emits OpenTelemetry spans, and the collector evaluates and forwards them.

    rag-otel collect --backend http://localhost:6006          # Phoenix, or any OTLP backend
    OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 python examples/collector/app.py

The attributes are those of OpenInference's instrumentations for LangChain, LlamaIndex and Haystack. Apps in other
languages use the same ones. docs/dialects.md lists the other supported dialects.
"""

from __future__ import annotations

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

QUESTION = "How high is the tower?"
PASSAGE = "The tower is 330 metres high and was finished in 1889."
ANSWERS = ("The tower is 330 metres high.", "The tower is 512 metres high and stands in Lyon.")


def ask(tracer: trace.Tracer, question: str, answer: str) -> str:
    """Emits the spans of one question: a retriever span below a chain span."""
    with tracer.start_as_current_span("answer") as chain:
        with tracer.start_as_current_span("retrieve") as retriever:
            retriever.set_attribute("openinference.span.kind", "RETRIEVER")
            retriever.set_attribute("input.value", question)
            retriever.set_attribute("retrieval.documents.0.document.id", "guide-7")
            retriever.set_attribute("retrieval.documents.0.document.content", PASSAGE)
        chain.set_attribute("openinference.span.kind", "CHAIN")
        chain.set_attribute("input.value", question)
        chain.set_attribute("output.value", answer)
    return answer


if __name__ == "__main__":
    provider = TracerProvider(resource=Resource.create({"service.name": "tower-guide"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))  # reads OTEL_EXPORTER_OTLP_ENDPOINT
    for each in ANSWERS:
        print(ask(provider.get_tracer("openinference.instrumentation.tower"), QUESTION, each))
    provider.shutdown()
