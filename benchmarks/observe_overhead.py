"""What `@observe` adds to a call, beside OpenInference's `chain` decorator and beside nothing.

    python benchmarks/observe_overhead.py

The function returns a dict with an answer of 500 characters and five chunks of 1 kB. Every variant exports through a
`BatchSpanProcessor` to an exporter that discards. Rounds are interleaved, so that other load on the machine hits all
alike; figures are medians over rounds of the added time per call, and their ratio is what counts.

`evaluated` is the whole product: instrumented, with the embedded judge and its default cap, most calls back to back
being over the cap.
"""

from __future__ import annotations

import argparse
import contextvars
import json
import logging
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from openinference.instrumentation import OITracer, TraceConfig
from opentelemetry.context import attach
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import NonRecordingSpan, SpanContext, Tracer, set_span_in_context

import rag_otel
from rag_otel import semconv
from rag_otel.observing.tracing import use_tracer

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
    function(QUESTION)
    started = time.perf_counter()
    for _ in range(calls):
        function(QUESTION)
    return (time.perf_counter() - started) / calls


def variants() -> dict[str, tuple[Answer, Tracer | None]]:
    """Name -> what is called, and the tracer that `@observe` is to use for it."""
    instrumented = provider()
    rag_otel.instrument(instrumented)
    logging.getLogger("rag_otel").setLevel(logging.CRITICAL)  # the alerts of a benchmark
    bare, observed = provider().get_tracer(semconv.SCOPE), rag_otel.observe(answer)
    unsampled = set_span_in_context(NonRecordingSpan(SpanContext(trace_id=1, span_id=1, is_remote=True)))

    def below_unsampled(function: Answer) -> Answer:
        """The function in a context whose span was not sampled; attaching it is no part of the call."""

        context = contextvars.copy_context()
        context.run(attach, unsampled)
        return lambda question: context.run(function, question)

    return {
        "plain": (answer, None),
        "plain, below unsampled": (below_unsampled(answer), None),
        "observe": (observed, bare),
        "observe, evaluated": (observed, instrumented.get_tracer(semconv.SCOPE)),
        "observe, not recorded": (below_unsampled(observed), bare),
        "openinference chain": (OITracer(provider().get_tracer("benchmark"), TraceConfig()).chain(answer), None),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--calls", type=int, default=200, help="calls of each variant a round")
    arguments = parser.parse_args()

    measured = variants()
    seconds: dict[str, list[float]] = {name: [] for name in measured}
    for _ in range(arguments.rounds):
        for name, (function, tracer) in measured.items():
            if tracer is not None:
                use_tracer(tracer)
            seconds[name].append(seconds_per_call(function, arguments.calls))
    median = {name: statistics.median(times) * 1e6 for name, times in seconds.items()}
    added = {name: median[name] - median["plain"] for name in ("observe", "observe, evaluated", "openinference chain")}
    added["observe, not recorded"] = median["observe, not recorded"] - median["plain, below unsampled"]
    for name, microseconds in added.items():
        print(f"{name:24} {microseconds:8.1f} us added")
    ratios = {name: added[name] / added["openinference chain"] for name in ("observe", "observe, evaluated")}
    for name, ratio in ratios.items():
        print(f"{name + ' / chain':24} {ratio:8.2f}   (to reach: 0.60)")
    print(json.dumps({"added_us": added, "ratios": ratios}))


if __name__ == "__main__":
    main()
