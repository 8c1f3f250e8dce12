"""The application that every peer decorates: one variant in one process, told by its name; driven by `run.py`.

    python app.py VARIANT ENDPOINT        # then reads lines "calls pace_ms" and answers with a line of JSON

Every call is one question with five chunks of 1 kB and an answer of 500 characters. What is measured is what the caller
waits for and the CPU time of its thread, a call; and the CPU time of the whole process, in which exporting and judging
on other threads are counted too.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

QUESTION = "Why does the hot water run out so soon?"
ANSWER = "The tank is small, and the heating element is old. " * 10
CHUNKS = [f"{i} " + "The boiler holds eighty litres and heats them in an hour. " * 18 for i in range(5)]
Answer = Callable[[str], dict[str, Any]]


def answer(question: str) -> dict[str, Any]:
    """What the application does: nothing, so that what is measured is the decorator."""
    return {"answer": ANSWER, "chunks": CHUNKS}


def plain(endpoint: str) -> Answer:
    return answer


def _provider(endpoint: str) -> Any:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    made = TracerProvider()
    made.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{endpoint}/v1/traces")))
    return made


def openinference(endpoint: str) -> Answer:
    from openinference.instrumentation import OITracer, TraceConfig

    decorated: Answer = OITracer(_provider(endpoint).get_tracer("benchmark"), TraceConfig()).chain(answer)
    return decorated


def rag_otel_decorator(endpoint: str) -> Answer:
    import rag_otel

    rag_otel.instrument(_provider(endpoint), sample_ratio=0.0)
    return rag_otel.observe(answer)


def rag_otel_judging(endpoint: str) -> Answer:
    import logging

    import rag_otel

    rag_otel.instrument(_provider(endpoint))
    logging.getLogger("rag_otel").setLevel(logging.CRITICAL)  # the alerts of a benchmark
    return rag_otel.observe(answer)


def langfuse(endpoint: str) -> Answer:
    os.environ.update(LANGFUSE_PUBLIC_KEY="pk", LANGFUSE_SECRET_KEY="sk", LANGFUSE_HOST=endpoint)
    from langfuse import get_client, observe

    get_client()
    decorated: Answer = observe(answer)
    return decorated


def openlit(endpoint: str) -> Answer:
    import openlit

    openlit.init(otlp_endpoint=endpoint, disable_metrics=True, disabled_instrumentors=["*"])
    decorated: Answer = openlit.trace(answer)
    return decorated


def mlflow(endpoint: str) -> Answer:
    os.environ["MLFLOW_TRACE_ENABLE_OTLP_DUAL_EXPORT"] = "false"
    os.environ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = f"{endpoint}/v1/traces"
    os.environ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"] = "http/protobuf"
    import mlflow

    decorated: Answer = mlflow.trace(answer)
    return decorated


VARIANTS = {
    each.__name__: each
    for each in (plain, openinference, rag_otel_decorator, rag_otel_judging, langfuse, openlit, mlflow)
}


def measure(function: Answer, calls: int, pace_s: float) -> dict[str, float]:
    """Microseconds of a call: `thread` (CPU time of the calling thread) and `wall`, both medians; `process` (CPU time
    of the process over all calls and the pauses between them, by the number of calls)."""
    thread, wall = [], []
    process = time.process_time_ns()
    for _ in range(calls):
        wall_began, thread_began = time.perf_counter_ns(), time.thread_time_ns()
        function(QUESTION)
        thread.append(time.thread_time_ns() - thread_began)
        wall.append(time.perf_counter_ns() - wall_began)
        time.sleep(pace_s)
    process = time.process_time_ns() - process
    return {
        "thread": statistics.median(thread) / 1000,
        "wall": statistics.median(wall) / 1000,
        "process": process / calls / 1000,
    }


def main() -> None:
    function = VARIANTS[sys.argv[1]](sys.argv[2])
    measure(function, 20, 0.002)
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        calls, pace_ms = line.split()
        print(json.dumps(measure(function, int(calls), float(pace_ms) / 1000)), flush=True)
    os._exit(0)  # what is still to be exported is not measured


if __name__ == "__main__":
    main()
