"""What keeping traces on disk costs the request path, and what a SIGKILL can still lose.

    python benchmarks/kept_traces.py

Hand-over: what a trace pays on the request path while 200 come a second, and an empty call at the same moments. Window:
a program that answers all the time is killed, again and again; the age of the oldest trace that had been answered and
is not in the folder. Once with a busy second thread too, which wants the interpreter as much.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

import rag_otel
from rag_otel.durable.journal import Journal
from rag_otel.durable.kept_traces import KeptTraces
from rag_otel.durable.trace_records import KEY_BYTES, is_value
from rag_otel.processing import held_traces
from rag_otel.processing.held_traces import HeldTraces
from rag_otel.processing.hold import Slot

CHUNKS = [f"Passage {number}. " + "The tower is 330 metres high and stands in Paris. " * 12 for number in range(5)]


class Nowhere(SpanExporter):
    """Never exports: what is in the folder stays there."""

    def export(self, spans: Any) -> SpanExportResult:
        return SpanExportResult.SUCCESS


class Never:
    """An evaluator whose answer never comes."""

    name, version, judge_name = "never", "1", "function"

    async def evaluate(self, **_: Any) -> None:
        await asyncio.sleep(3600)


@rag_otel.observe
def answer(question: str) -> dict[str, object]:
    return {"answer": "The tower is 330 metres high.", "documents": CHUNKS}


def busy() -> None:
    """Wants the interpreter all the time."""
    while True:
        sum(range(500))


def set_up(folder: str) -> None:
    from opentelemetry import trace

    # More than an application may hold, so that none is turned away.
    held_traces.MAX_HELD, held_traces.MAX_HELD_BYTES = 100_000, 2**30  # type: ignore[misc]
    provider = TracerProvider()
    processor = BatchSpanProcessor(Nowhere(), max_queue_size=200_000, schedule_delay_millis=3_600_000)
    provider.add_span_processor(processor)
    trace.set_tracer_provider(provider)
    rag_otel.instrument(
        metrics=[],
        evaluators=[Never()],
        state_folder=folder,
        spans=rag_otel.SpanSettings(hold=600),
        evaluations_per_minute=float("inf"),
        drift=False,
    )


def child(folder: str, threads: int) -> None:
    """Answers 200 questions a second and says when each was answered."""
    set_up(folder)
    time.sleep(1.0)
    for _ in range(threads):
        threading.Thread(target=busy, daemon=True).start()
    number = 0
    while True:
        answer(f"Question {number}?")
        os.write(1, f"{number} {time.monotonic()}\n".encode())
        number += 1
        time.sleep(0.005)


def window(rounds: int, threads: int) -> list[float]:
    """Milliseconds that were lost, for each kill."""
    lost = []
    for number in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            program = [sys.executable, __file__, "--child", folder, "--threads", str(threads)]
            process = subprocess.Popen(program, stdout=subprocess.PIPE)
            assert process.stdout is not None
            answered = [process.stdout.readline() for _ in range(200 + number * 7)]
            process.kill()
            killed = time.monotonic()
            answered += process.stdout.readlines()
            process.wait()
            times = {int(line.split()[0]): float(line.split()[1]) for line in answered if line.endswith(b"\n")}
            kept = questions_in(Path(folder))
            missing = [at for each, at in times.items() if each not in kept]
            lost.append(max((killed - at for at in missing), default=0.0) * 1000)
    return lost


def questions_in(folder: Path) -> set[int]:
    """The numbers of the questions that are in the folder."""
    found = set()
    for log in folder.rglob("traces/0/traces"):
        journal = Journal(log, readable=is_value, key_bytes=KEY_BYTES)
        for key in journal.keys:
            value = journal.read(key)[0]
            about = json.loads(value[5 : 5 + int.from_bytes(value[1:5], "little")])
            found.add(int(about["snapshot"]["question"].split()[1].rstrip("?")))
        journal.close()
    return found


def hand_over(count: int) -> tuple[list[float], list[float]]:
    """Microseconds of the whole hand-over of each trace, and of a call that does nothing, taken at the same moments."""
    taken: list[float] = []
    nothing: list[float] = []
    original = HeldTraces.keep

    def empty(self: HeldTraces, slot: Slot, kept_traces: KeptTraces) -> None: ...

    def timed(self: HeldTraces, slot: Slot, kept_traces: KeptTraces) -> None:
        for samples, call in ((nothing, empty), (taken, original)):
            started = time.perf_counter_ns()
            call(self, slot, kept_traces)
            samples.append((time.perf_counter_ns() - started) / 1000)

    HeldTraces.keep = timed  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as folder:
        set_up(folder)
        time.sleep(1.0)
        for number in range(count):
            answer(f"Question {number}?")
            time.sleep(0.005)
        rag_otel.uninstrument(timeout=1)
    return taken, nothing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--child")
    parser.add_argument("--threads", type=int, default=0)
    given = parser.parse_args()
    if given.child:
        child(given.child, given.threads)
    for threads in (0, 1):
        lost = sorted(window(given.rounds, threads))
        print(
            f"window, {threads} busy threads: median {statistics.median(lost):.1f} ms, "
            f"highest {lost[-1]:.1f} ms of {given.rounds} kills"
        )
    for what, samples in zip(("hand-over", "an empty call"), hand_over(given.count), strict=True):
        ordered = sorted(samples)
        print(
            f"{what}: median {statistics.median(ordered):.2f} us, mean {statistics.fmean(ordered):.2f} us, "
            f"p99 {ordered[int(len(ordered) * 0.99)]:.2f} us, of {len(ordered)}"
        )


if __name__ == "__main__":
    main()
