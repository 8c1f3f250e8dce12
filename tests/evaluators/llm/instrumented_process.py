"""A process that is instrumented with a cache of the judge's answers, and asks the same as others do: for tests.

python -m tests.evaluators.llm.instrumented_process URL STORE QUESTIONS

Prints the calls and the cached calls that stand on its spans.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import Any

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import rag_otel


def instrumented_answers(url: str, store: str, questions: int) -> list[Mapping[str, Any]]:
    """The attributes of the spans of so many answers, judged at `url` with the cache `store`."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    judge = rag_otel.JudgeSettings(model="openai/local", api_base=url, cache=store)
    rag_otel.instrument(provider, judge=judge, evaluations_per_minute=math.inf, spans=rag_otel.SpanSettings(hold=600.0))

    @rag_otel.observe
    def answer(question: str) -> dict[str, object]:
        return {"answer": "The tower is high.", "chunks": [{"id": "1", "text": "The tower is high."}]}

    for number in range(questions):
        answer(f"How high is tower {number}?")
    assert rag_otel.flush(timeout=600)
    rag_otel.uninstrument()
    return [dict(span.attributes or {}) for span in exporter.get_finished_spans() if span.name == "answer"]


def total(spans: list[Mapping[str, Any]], name: str) -> int:
    """The sum of a number that stands on some of the spans."""
    return sum(int(span.get(f"rag.evaluation.faithfulness.{name}", 0)) for span in spans)


if __name__ == "__main__":
    found = instrumented_answers(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    assert all("rag.evaluation.faithfulness.score" in span for span in found), found
    print(len(found), total(found, "cached_calls"), flush=True)
