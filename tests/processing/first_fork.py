"""A program that forks at the worst moment: while something is imported for the first evaluation, in the midst of one,
or while another thread takes the set-up down. It prints how many of its child's five answers were evaluated."""

from __future__ import annotations

import importlib.abc
import os
import sys
import threading
import time
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import rag_otel
from rag_otel.model import Evaluation
from rag_otel.safety.guard import counters
from rag_otel.setup.instrument import current

IMPORTED_LATE = "rag_otel_evaluators.judges.embedded.verdicts"
PARENT = os.getpid()
reached = threading.Event()
forked = threading.Event()


class SlowImport(importlib.abc.MetaPathFinder):
    """Makes the import of one module take a second, so that the fork is sure to hit it."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> None:
        if fullname == IMPORTED_LATE:
            reached.set()
            time.sleep(1)


class LockingEvaluator:
    """Holds a lock while it evaluates, and has the fork come just then."""

    name = "locking"
    version = "1"
    judge_name = "function"

    def __init__(self) -> None:
        self.lock = threading.Lock()

    async def evaluate(self, **_: Any) -> Evaluation:
        with self.lock:
            reached.set()
            if os.getpid() == PARENT:
                forked.wait(0.5 if sys.argv[1] == "lock" else 30)
        return Evaluation(name=self.name, score=1.0)


@rag_otel.observe
def answer(question: str) -> dict[str, object]:
    return {"answer": "It is 330 metres high.", "documents": ["The tower is 330 metres high."]}


def set_up(case: str) -> None:
    rag_otel.instrument(
        metrics=None if case == "import" else [],
        evaluators=[] if case == "import" else [LockingEvaluator()],
        alerts=rag_otel.AlertSettings(rules=()),
    )


def main(case: str) -> None:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(InMemorySpanExporter()))
    trace.set_tracer_provider(provider)
    sys.meta_path.insert(0, SlowImport())
    set_up(case)
    answer("parent")
    assert reached.wait(60)
    if case == "set-up":
        threading.Thread(target=rag_otel.uninstrument).start()
        while current() is not None:  # from then on until the evaluation ends that thread holds the set-up's lock
            time.sleep(0.001)
    child = os.fork()
    if child == 0:
        if case == "set-up":
            set_up(case)
        for n in range(5):
            answer(str(n))
        rag_otel.flush(timeout=10)
        print("child evaluated", counters.get("trace.evaluated"), flush=True)
        os._exit(0)
    if case == "set-up":
        forked.set()
    os.waitpid(child, 0)
    rag_otel.flush(timeout=10)
    print("parent evaluated", counters.get("trace.evaluated"), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
