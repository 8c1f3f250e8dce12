"""An app that knows nothing of rag-otel: plain OpenTelemetry spans, judged on their way by the collector.

    rag-otel collect --backend http://localhost:6006          # Phoenix, or any OTLP backend
    OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 python examples/collector/app.py

The attributes are OpenInference's, as its instrumentations of LangChain, LlamaIndex or Haystack write them; an app in
another language does the same. What else is read: docs/dialects.md.
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
    """One question: a retriever's span below a chain's."""
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
