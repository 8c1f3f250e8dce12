"""A program with a state folder: it answers questions, tells what it has done, and does as its input says.

    python -m tests.durable.answering_app FOLDER ENDPOINT [--gate FILE] [--hold S] [--delay-ms N]

Commands, a line each: `answer N [CHARACTERS]`, `from N` (the number of the next question), `flood N` (answers in
the background), `fork N` (answers in a child), `flush`, `counters`, `limit BYTES` (no file may grow beyond),
`clock SECONDS` (the time of day jumps), `os._exit`, `exit`. With `--gate`, evaluations wait until the file exists; with
`--poison TEXT`, one of such a question ends the process; with `--unwritten` no result is ever written. With
`--results FILE` each result is a line of that file, and none is written while there is a file FILE.away.
The exporter tries for `--patience` seconds, which the command `patience S` changes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

import rag_otel
from rag_otel.durable import kept_traces
from rag_otel.errors import RetryableError
from rag_otel.model import EvaluatedTrace, Evaluation
from rag_otel.safety.guard import counters


class Gated:
    """An evaluator that waits until a file exists."""

    name, version, judge_name = "gated", "1", "function"

    def __init__(self, gate: Path | None, poison: str | None = None) -> None:
        self._gate = gate
        self._poison = poison

    async def evaluate(self, **given: Any) -> Evaluation:
        if self._poison is not None and self._poison in given["question"]:
            os._exit(9)
        while self._gate is not None and not self._gate.exists():
            await asyncio.sleep(0.01)
        return Evaluation(name=self.name, score=1.0, judge=self.judge_name)


class Results:
    """A destination: one line a result. It can be away."""

    name = "results"

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, batch: Sequence[EvaluatedTrace]) -> None:
        if self._path.with_name(f"{self._path.name}.away").exists():
            raise RetryableError("away")
        with self._path.open("a") as file:
            file.writelines(f"{each.trace.question}\n" for each in batch)


class Unwritten:
    """A writer that is never through with a result."""

    name = "unwritten"

    def write(self, batch: Any) -> None:
        threading.Event().wait()


@rag_otel.observe
def answer(question: str, characters: int = 0) -> dict[str, object]:
    with trace.get_tracer("app").start_as_current_span("retrieve") as span:
        span.set_attribute("db.rows", 1)
    return {
        "answer": f"{question} It is 330 metres high.",
        "documents": ["The tower is 330 metres high." + "." * characters],
    }


def answers(first: int, count: int, characters: int = 0) -> None:
    for number in range(first, first + count):
        answer(f"Question {number}?", characters)


def flood(count: int) -> None:
    for number in range(count):
        answer(f"Question {number}?")
        time.sleep(0.002)


def jump(seconds: float) -> None:
    """The machine's clock is set to another time."""
    now, now_ns = time.time, time.time_ns
    time.time = lambda: now() + seconds
    time.time_ns = lambda: now_ns() + int(seconds * 1e9)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("endpoint")
    parser.add_argument("--gate", type=Path)
    parser.add_argument("--hold", type=float, default=60.0)
    parser.add_argument("--patience", type=float, default=60.0)
    parser.add_argument("--delay-ms", type=int, default=100)
    parser.add_argument("--max-bytes", type=int)
    parser.add_argument("--poison")
    parser.add_argument("--unwritten", action="store_true")
    parser.add_argument("--results", type=Path)
    given = parser.parse_args()
    if given.max_bytes:
        kept_traces.MAX_BYTES = given.max_bytes  # type: ignore[misc]
    provider = TracerProvider()
    exporter = OTLPSpanExporter(endpoint=f"{given.endpoint}/v1/traces", timeout=given.patience)
    provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=given.delay_ms))
    trace.set_tracer_provider(provider)
    instrumentation = rag_otel.instrument(
        metrics=[],
        evaluators=[Gated(given.gate, given.poison)],
        state_folder=given.folder,
        spans=rag_otel.SpanSettings(hold=given.hold),
        drift=False,
        writers=[Unwritten()] if given.unwritten else [] if given.results is None else [Results(given.results)],
        evaluations_per_minute=float("inf"),
    )
    print("ready", flush=True)
    answered = 0
    for line in sys.stdin:
        command, _, number = line.strip().partition(" ")
        if command == "answer":
            count, _, characters = number.partition(" ")
            answers(answered, int(count), int(characters or 0))
            answered += int(count)
        elif command == "from":
            answered = int(number)
        elif command == "flood":
            threading.Thread(target=flood, args=(int(number),), daemon=True).start()
        elif command == "fork":
            if (child := os.fork()) == 0:
                answers(answered, int(number))
                rag_otel.flush(timeout=20)
                os._exit(0)
            os.waitpid(child, 0)
            answered += int(number)
        elif command == "flush":
            rag_otel.flush(timeout=float(number or 10))
        elif command == "patience":
            exporter._timeout = float(number)
        elif command == "clock":
            jump(float(number))
        elif command == "limit":
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (int(number), resource.RLIM_INFINITY))
        elif command == "os._exit":
            os._exit(3)
        elif command == "exit":
            return
        traces = instrumentation.runtime.kept_traces
        left = None if traces is None else traces.unfinished
        print(json.dumps({"done": command, "counters": counters.snapshot(), "left": left}), flush=True)


if __name__ == "__main__":
    main()
