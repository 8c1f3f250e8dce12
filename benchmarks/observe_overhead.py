"""What `@observe` adds to a call, beside OpenInference's `chain` decorator and beside nothing.

    python benchmarks/observe_overhead.py

The function returns a dict with an answer of 500 characters and five chunks of 1 kB. Every variant exports through a
`BatchSpanProcessor` to an exporter that discards. Rounds are interleaved, so that other load on the machine hits all
alike; figures are medians over rounds of the added time per call, and their ratio is what counts.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from openinference.instrumentation import OITracer, TraceConfig
from opentelemetry.context import attach, detach
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import NonRecordingSpan, SpanContext, set_span_in_context

from rag_otel import observe, runtime, semconv

QUESTION = "Why does the hot water run out so soon?"
ANSWER = "The tank is small, and the heating element is old. " * 10
CHUNKS = [f"{i} " + "The boiler holds eighty litres and heats them in an hour. " * 18 for i in range(5)]
Answer = Callable[[str], dict[str, Any]]


class Discarding(SpanExporter):
    """The same exporter for all: costs nothing, keeps nothing."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.SUCCESS


def answer(question: str) -> dict[str, Any]:
    """The application's function."""
    return {"answer": ANSWER, "chunks": CHUNKS}


def provider() -> TracerProvider:
    made = TracerProvider()
    made.add_span_processor(BatchSpanProcessor(Discarding(), max_queue_size=65536))
    return made


def seconds_per_call(function: Answer, calls: int) -> float:
    started = time.perf_counter()
    for _ in range(calls):
        function(QUESTION)
    return (time.perf_counter() - started) / calls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--calls", type=int, default=300, help="calls of each variant a round")
    arguments = parser.parse_args()

    tracer = provider().get_tracer(semconv.SCOPE)
    runtime.set_tracer_source(lambda: tracer)
    variants: dict[str, Answer] = {
        "plain": answer,
        "observe": observe(answer),
        "openinference chain": OITracer(provider().get_tracer("benchmark"), TraceConfig()).chain(answer),
    }
    unsampled = NonRecordingSpan(SpanContext(trace_id=1, span_id=1, is_remote=True))
    seconds: dict[str, list[float]] = {name: [] for name in (*variants, "observe, not recorded")}
    for _ in range(arguments.rounds):
        for name, function in variants.items():
            seconds[name].append(seconds_per_call(function, arguments.calls))
        token = attach(set_span_in_context(unsampled))
        seconds["observe, not recorded"].append(seconds_per_call(variants["observe"], arguments.calls))
        detach(token)
    plain = statistics.median(seconds["plain"])
    added = {name: (statistics.median(times) - plain) * 1e6 for name, times in seconds.items() if name != "plain"}
    for name, microseconds in added.items():
        print(f"{name:24} {microseconds:8.1f} us added")
    ratio = added["observe"] / added["openinference chain"]
    print(f"{'observe / chain':24} {ratio:8.2f}   (to reach: 0.60)")
    print(json.dumps({"added_us": {name: round(value, 2) for name, value in added.items()}, "ratio": round(ratio, 3)}))


if __name__ == "__main__":
    main()
