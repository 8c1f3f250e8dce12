"""A program that ends while something hangs: `bare` without us, else what hangs. It prints when its end began."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

import rag_otel
from rag_otel_evaluators.metrics.functions import function_evaluator


class Exporter(SpanExporter):
    """Hangs, or tells what it exports."""

    def __init__(self, *, hangs: bool) -> None:
        self._hangs = hangs

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        if self._hangs:
            time.sleep(3600)
        for span in spans:
            attributes = span.attributes or {}
            print("exported", attributes.get("rag.evaluation.status"), attributes.get("rag.evaluation.quick.score"))
        return SpanExportResult.SUCCESS


class Processor(BatchSpanProcessor):
    """Waits for a hanging exporter as the SDK does, but two seconds in place of thirty."""

    def shutdown(self) -> None:
        self._batch_processor.shutdown(timeout_millis=2000)


class Hanging:
    """An evaluator whose answer never comes."""

    name, version, judge_name = "hanging", "1", "function"

    async def evaluate(self, **_: Any) -> None:
        await asyncio.sleep(3600)


@function_evaluator
def hanging_function(response: str) -> float:
    time.sleep(3600)
    return 0.0


@function_evaluator
def quick(response: str) -> float:
    return 0.5


EVALUATORS: dict[str, list[Any]] = {"evaluator": [Hanging()], "function": [hanging_function], "nothing": [quick]}


@rag_otel.observe
def answer(question: str) -> dict[str, object]:
    return {"answer": "It is 330 metres high.", "documents": ["The tower is 330 metres high."]}


def main(case: str) -> None:
    provider = TracerProvider()
    provider.add_span_processor(Processor(Exporter(hangs=case in ("bare", "exporter")), schedule_delay_millis=100))
    trace.set_tracer_provider(provider)
    if case == "bare":
        for _ in range(20):
            provider.get_tracer("app").start_span("answer").end()
    else:
        rag_otel.instrument(evaluators=EVALUATORS.get(case, []), alerts=rag_otel.AlertSettings(rules=()), drift=False)
        for _ in range(20):
            answer("How high is it?")
    if case in ("bare", "exporter"):
        time.sleep(0.5)  # the exporter is at it
    print("ends", time.time(), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
