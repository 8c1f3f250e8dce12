"""What sampling policy, budgets, feedback rules and conversations add to an observed call, beside an earlier version.

    git worktree add /tmp/before 7d157a9        # the last commit before sampling policies
    python benchmarks/request_path.py --before /tmp/before

Each variant is a process of its own that evaluates every call with an evaluator that does nothing; they take turns,
round by round. A call returns an answer of 500 characters and five chunks of 1 kB. After every 20 calls the process
waits until they are evaluated. Printed are the median CPU time of the calling thread and the median duration of a call,
and the median over rounds of the difference to `before`.

    before     the earlier version
    off        this version, nothing of it switched on
    on         a policy with a coin, a stratum and three forced rules (a thumbs-down among them), two budgets in an
               SQLite file, `conversation_context="all"`
    history    the same, and the call names a history of six messages and one memory
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
VARIANTS = ("before", "off", "on", "history")
QUESTION = "Why does the hot water run out so soon?"
ANSWER = "The tank is small, and the heating element is old. " * 10
CHUNKS = [f"{i} " + "The boiler holds eighty litres and heats them in an hour. " * 18 for i in range(5)]
HISTORY = [{"role": role, "content": f"{role} says: {QUESTION * 3}"} for role in ("user", "assistant") * 3]
POLICY = {
    "coin": {"rate": 0.5, "strata": ["route"], "minimum": 20},
    "force": [
        {"name": "thumbs-down", "rating_below": 0.5},
        {"name": "slow", "latency_above": 8},
        {"name": "error", "error_answer": True},
    ],
}
BURST = 20
"""Calls in a row. They take a millisecond, and the worker evaluates them after that."""


def child(variant: str) -> None:
    """Answers each line of its input, a number of calls, with the medians of that round in microseconds."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

    import rag_otel
    from rag_otel.model import Evaluation, Usage

    class Discarding(SpanExporter):
        def export(self, spans: Any) -> SpanExportResult:
            return SpanExportResult.SUCCESS

    class Instant:
        name, version, judge_name = "instant", "1", "openai/none"

        async def evaluate(self, **given: Any) -> Evaluation:
            return Evaluation(name=self.name, score=1.0, usage=Usage(input_tokens=1, cost_usd=0.0, calls=1))

    logging.getLogger("rag_otel").setLevel(logging.CRITICAL)
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(Discarding(), max_queue_size=65536))
    more: dict[str, Any] = {}
    if variant in ("on", "history"):
        store = f"sqlite:{Path(tempfile.mkdtemp()) / 'budgets.sqlite'}"
        more = {"sampling_policy": POLICY, "budgets": ["100 usd/day", "9999999 tokens/hour"], "budget_store": store}
        more["conversation_context"] = "all"
    rag_otel.instrument(
        provider, metrics=[], evaluators=[Instant()], evaluations_per_minute=float("inf"), drift=False, **more
    )

    def answer(question: str, messages: Any = None) -> dict[str, Any]:
        if variant == "history":
            rag_otel.record_memory(QUESTION)
        return {"answer": ANSWER, "chunks": CHUNKS}

    observed = rag_otel.observe(history="messages")(answer) if variant == "history" else rag_otel.observe(answer)
    for line in sys.stdin:
        cpu, wall = [], []
        for number in range(int(line)):
            if number % BURST == 0:
                rag_otel.flush(timeout=60)
            began, thread_began = time.perf_counter_ns(), time.thread_time_ns()
            observed(QUESTION, HISTORY)
            cpu.append(time.thread_time_ns() - thread_began)
            wall.append(time.perf_counter_ns() - began)
        print(json.dumps([statistics.median(cpu) / 1e3, statistics.median(wall) / 1e3]), flush=True)


def start(variant: str, tree: Path) -> subprocess.Popen[str]:
    path = os.pathsep.join(map(str, (tree, tree / "collectors", tree / "evaluators")))
    return subprocess.Popen(
        [sys.executable, __file__, "--child", variant],
        env={**os.environ, "PYTHONPATH": path},
        cwd=tree,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def one_round(process: subprocess.Popen[str], calls: int) -> tuple[float, float]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{calls}\n")
    process.stdin.flush()
    cpu, wall = json.loads(process.stdout.readline())
    return cpu, wall


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, help="a checkout of the earlier version")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--calls", type=int, default=200, help="calls of each variant a round")
    parser.add_argument("--child", choices=VARIANTS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments.child)
        return
    if arguments.before is None:
        parser.error("--before is needed: a checkout of the earlier version")
    trees = {name: arguments.before.resolve() if name == "before" else ROOT for name in VARIANTS}
    processes = {name: start(name, tree) for name, tree in trees.items()}
    for process in processes.values():
        one_round(process, arguments.calls)  # imports, and the first window of the coin
    rounds = [
        {name: one_round(process, arguments.calls) for name, process in processes.items()}
        for _ in range(arguments.rounds)
    ]
    for process in processes.values():
        assert process.stdin is not None
        process.stdin.close()
        process.wait(30)
    print(f"{'':10} CPU us  more (quartiles)            wall us  more (quartiles)")
    for name in VARIANTS:
        shown = []
        for which in (0, 1):
            more = [each[name][which] - each["before"][which] for each in rounds]
            low, middle, high = statistics.quantiles(more, n=4)
            median = statistics.median(each[name][which] for each in rounds)
            shown.append(f"{median:7.1f}  {middle:+6.1f} ({low:+6.1f} to {high:+6.1f})")
        print(f"{name:10}{'      '.join(shown)}")


if __name__ == "__main__":
    main()
