"""Whether a guard keeps its deadline: how much later than that its answer comes, in thousands of calls.

    python benchmarks/guard_deadline.py                 # 10,000 calls for each judge
    python benchmarks/guard_deadline.py --no-circuit    # waits in every call of a judge that hangs

Each call is `guard()` with a deadline of 50 ms, from `--threads` threads of an application, a share of them through
asyncio. The judges:

    embedded   the shipped one; some calls have a verdict in time
    slow       answers after 20 to 80 ms: some calls are in time, some are not
    hanging    never answers (its task waits for ever)
    blocking   holds up the worker's thread for ever (`time.sleep`)
    computing  holds up the worker's thread with pure Python for 100 ms at a time: competes for the interpreter
    failing    raises

After 32 overdue calls the circuit lets the others leave at once. So for a judge that hangs most calls do not wait. With
`--no-circuit` the circuit is switched off for the measurement, so that all of them wait.

The over-run is the time from the call to its return, less the deadline, for calls that took longer. `control`: the
same threads wait, every tenth time, for the same 50 ms for an event that never comes, with nothing of rag-otel in it:
what the machine and the interpreter add by themselves. Each thread pauses for 10 ms after a call.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from opentelemetry.sdk.trace import TracerProvider

import rag_otel
from rag_otel.guarding import check
from rag_otel.model import Evaluation

QUESTION = "How tall is the tower?"
PASSAGES = ["The Eiffel Tower was completed in 1889. It is 330 metres tall. " + "It stands in Paris. " * 40] * 5
ANSWER = "The Eiffel Tower was completed in 1889. It is 330 metres tall. It was sold to a circus in 1999."
DEADLINE_S = 0.05
PAUSE_S = 0.01
CONTROL_EVERY = 10


class Judge:
    """An evaluator named as the guard's metric, which does as it is told."""

    name = "faithfulness"
    version = "1"
    judge_name = "function"

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work = work

    async def evaluate(self, **given: Any) -> Evaluation:
        worked = self._work()
        if asyncio.iscoroutine(worked):
            await worked
        return Evaluation(name=self.name, score=1.0, risk=0.0, label="faithful")


async def _wait_for_ever() -> None:
    await asyncio.Future()


def _compute() -> None:
    until = time.perf_counter() + 0.1
    while time.perf_counter() < until:
        sum(range(1000))


def _fail() -> None:
    raise RuntimeError("no model")


JUDGES: dict[str, Callable[[], Any] | None] = {
    "embedded": None,
    "slow": lambda: asyncio.sleep(random.uniform(0.02, 0.08)),
    "hanging": _wait_for_ever,
    "blocking": lambda: time.sleep(1e6),
    "computing": _compute,
    "failing": _fail,
}


def measure(judge: str, calls: int, threads: int) -> dict[str, Any]:
    """Latencies of the calls, and what became of them."""
    work = JUDGES[judge]
    own = {} if work is None else {"metrics": [], "evaluators": [Judge(work)]}
    rag_otel.instrument(TracerProvider(), spans=rag_otel.SpanSettings(hold=0), **own)
    rag_otel.guard_sync(QUESTION, PASSAGES, ANSWER, deadline=2.0)  # imports
    taken: list[float] = []
    control: list[float] = []
    reasons: Counter[str] = Counter()
    guard = rag_otel.Guard(deadline=DEADLINE_S)

    def note(began: float, guarded: rag_otel.Guarded) -> None:
        taken.append(time.perf_counter() - began)
        reasons[str(guarded.verdict.reason or guarded.verdict.finding)] += 1

    def blocking(count: int) -> None:
        for number in range(count):
            began = time.perf_counter()
            note(began, rag_otel.guard_sync(QUESTION, PASSAGES, ANSWER, guard))
            time.sleep(PAUSE_S)
            if number % CONTROL_EVERY == 0:
                began = time.perf_counter()
                threading.Event().wait(DEADLINE_S)
                control.append(time.perf_counter() - began)

    async def awaiting(count: int) -> None:
        for number in range(count):
            began = time.perf_counter()
            note(began, await rag_otel.guard(QUESTION, PASSAGES, ANSWER, guard))
            await asyncio.sleep(PAUSE_S)
            if number % CONTROL_EVERY == 0:
                began = time.perf_counter()
                await asyncio.sleep(DEADLINE_S)
                control.append(time.perf_counter() - began)

    def through_asyncio(count: int) -> None:
        asyncio.run(awaiting(count))

    share = calls // threads
    workers = [
        threading.Thread(target=through_asyncio if number % 2 else blocking, args=(share,)) for number in range(threads)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    threads_left = [thread.name for thread in threading.enumerate() if thread.name.startswith("rag-otel")]
    rag_otel.uninstrument(timeout=1.0)
    return {"taken": taken, "control": control, "reasons": dict(reasons), "threads": len(threads_left)}


def report(judge: str, measured: dict[str, Any]) -> dict[str, Any]:
    taken: Sequence[float] = sorted(measured["taken"])
    over = sorted(max(0.0, each - DEADLINE_S) * 1e3 for each in taken)
    waited = [each for each in over if each > 0]
    control = sorted(max(0.0, each - DEADLINE_S) * 1e3 for each in measured["control"])
    late = {f"over by more than {limit} ms": sum(each > limit for each in over) for limit in (5, 20, 50, 100)}
    figures = {
        "calls": len(taken),
        "median_ms": _at(taken, 0.5) * 1e3,
        "waited_until_deadline": len(waited),
        "over_run_ms": {
            name: _at(waited, q) for name, q in (("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0))
        },
        **late,
        "reasons": measured["reasons"],
        "threads": measured["threads"],
    }
    runs, alone = (
        "  ".join(f"{name} {value:.1f}" for name, value in _quantiles(each).items()) for each in (waited, control)
    )
    print(f"{judge:10} {len(taken):6} calls, median {figures['median_ms']:6.1f} ms, {len(waited)} reached the deadline")
    print(f"           over-run in ms: {runs};  " + ", ".join(f"{name}: {count}" for name, count in late.items()))
    print(f"           control in ms:  {alone}  ({len(control)} waits)")
    print(f"           {measured['reasons']}, threads of ours: {measured['threads']}", flush=True)
    return figures


def _quantiles(ordered: Sequence[float]) -> dict[str, float]:
    return {name: _at(ordered, q) for name, q in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1.0))}


def _at(ordered: Sequence[float], quantile: float) -> float:
    return ordered[min(len(ordered) - 1, int(quantile * len(ordered)))] if ordered else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=10_000, help="for each judge")
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--judges", nargs="*", default=list(JUDGES))
    parser.add_argument("--no-circuit", action="store_true", help="never refuse a call because others are overdue")
    arguments = parser.parse_args()
    logging.getLogger("rag_otel").setLevel(logging.CRITICAL)
    if arguments.no_circuit:
        check.MOST_OVERDUE = check.MOST_AT_ONCE = 10**9  # type: ignore[misc]
    print(
        json.dumps({name: report(name, measure(name, arguments.calls, arguments.threads)) for name in arguments.judges})
    )


if __name__ == "__main__":
    main()
