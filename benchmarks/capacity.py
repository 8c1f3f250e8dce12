"""How many workers a stream of traces needs, how long its queue gets, and what it costs. Checked against real workers.

    python benchmarks/capacity.py --requests 50 --sample-ratio 0.2 --latency 1.5 --price 0.0004
    python benchmarks/capacity.py --check

A worker evaluates `--concurrency` traces at a time, each of which waits for the judge; together the workers are one
queue with c = workers x concurrency servers. Traces come at random moments (a Poisson process). The wait is that of an
M/M/c queue (Erlang's C formula) times (1 + Cs^2) / 2, where Cs is the judge's standard deviation over its mean: Allen
and Cunneen's approximation of M/G/c (A. O. Allen, "Probability, Statistics, and Queueing Theory", 2nd ed., 1990,
section 6.3). A simulation of the same queue, trace by trace, gives what the formula does not: the 95th percentile.

`--check` starts a judge server that takes 200 ms and the collector's own evaluation processes, sends them traces at
random moments, and prints measured beside computed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import heapq
import math
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
MONTH_S: Final = 30 * 86_400.0
_FULL: Final = 0.98
"""Above this share of busy servers no wait is computed: it depends on how long that goes on."""


@dataclass(frozen=True, kw_only=True)
class Load:
    """What comes, and what one evaluation takes. Times in seconds."""

    requests_per_s: float
    sample_ratio: float = 1.0
    latency_s: float
    """Mean time of one evaluation: all calls of its judge, one after the other."""
    spread: float = 0.5
    """Standard deviation of that time over its mean; 0: always the same."""
    cpu_s: float = 0.004
    """CPU time of a worker for one trace."""
    price_usd: float = 0.0
    """Of one evaluation."""

    @property
    def rate(self) -> float:
        """Evaluations a second."""
        return self.requests_per_s * self.sample_ratio


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a number of servers means for a load."""

    servers: int
    busy: float
    """Share of the time that a server is busy, 0..1; 1 and more: the queue grows without end."""
    queue: float
    """Traces that wait, on average."""
    wait_s: float
    """How long a trace waits for a server, on average."""


def erlang_c(servers: int, offered: float) -> float:
    """The share of traces that have to wait, for `offered` Erlang (arrivals a second times seconds of service).

    Through Erlang's B, whose recursion is stable: B(n) = a B(n-1) / (n + a B(n-1)).
    """
    blocked = 1.0
    for n in range(1, servers + 1):
        blocked = offered * blocked / (n + offered * blocked)
    busy = offered / servers
    return blocked / (1 - busy * (1 - blocked))


def plan(load: Load, servers: int) -> Plan:
    """The queue before so many servers."""
    offered = load.rate * load.latency_s
    busy = offered / servers
    if busy >= _FULL:
        return Plan(servers=servers, busy=busy, queue=math.inf, wait_s=math.inf)
    wait = erlang_c(servers, offered) * load.latency_s / (servers * (1 - busy)) * (1 + load.spread**2) / 2
    return Plan(servers=servers, busy=busy, queue=wait * load.rate, wait_s=wait)


def workers_for(load: Load, *, concurrency: int, wait_s: float, cpu_share: float = 0.7) -> int:
    """The least number of workers with which a trace waits at most `wait_s` on average, and none is short of CPU."""
    least = max(1, math.ceil(load.rate * load.cpu_s / cpu_share), math.ceil(load.rate * load.latency_s / concurrency))
    while plan(load, least * concurrency).wait_s > wait_s:
        least += 1
    return least


def simulated(load: Load, servers: int, *, traces: int = 50_000, seed: int = 0, warm_up: float = 0.1) -> list[float]:
    """How long each of so many traces waits, first come, first served; the first share of them is left out."""
    draw = random.Random(seed + 1)
    free = [0.0] * servers
    waits = []
    for at in arrivals(load.rate, traces, seed):
        start = max(at, heapq.heappop(free))
        waits.append(start - at)
        heapq.heappush(free, start + _service(load, draw))
    return waits[int(traces * warm_up) :]


def arrivals(rate: float, traces: int, seed: int) -> Iterator[float]:
    """When traces come, in seconds from the start."""
    draw, at = random.Random(seed), 0.0
    for _ in range(traces):
        at += draw.expovariate(rate)
        yield at


def _service(load: Load, draw: random.Random) -> float:
    """A lognormal time with the load's mean and spread: judges are sometimes much slower than usual, never negative."""
    if not load.spread:
        return load.latency_s
    sigma = math.sqrt(math.log1p(load.spread**2))
    return draw.lognormvariate(math.log(load.latency_s) - sigma**2 / 2, sigma)


def percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def report(load: Load, *, concurrency: int, wait_s: float) -> None:
    """Print what a load needs."""
    workers = workers_for(load, concurrency=concurrency, wait_s=wait_s)
    print(
        f"{load.requests_per_s:g} requests/s, {load.sample_ratio:.0%} evaluated: {load.rate:g} evaluations/s, "
        f"{load.rate * load.latency_s:.1f} at a time on average"
    )
    print(f"{load.price_usd * load.rate * 86_400:,.2f} USD a day, {load.price_usd * load.rate * MONTH_S:,.2f} a month")
    print(f"{'workers':>8}{'busy':>8}{'CPU':>8}{'queue':>10}{'wait':>10}{'p95 wait':>10}")
    for count in range(max(1, workers - 1), workers + 3):
        found = plan(load, count * concurrency)
        waits = simulated(load, found.servers) if math.isfinite(found.wait_s) else [math.inf]
        chosen = " <- least for the wait that was asked for" if count == workers else ""
        print(
            f"{count:>8}{found.busy:>8.0%}{load.rate * load.cpu_s / count:>8.0%}{found.queue:>10.1f}"
            f"{found.wait_s:>9.2f}s{percentile(waits, 0.95):>9.2f}s{chosen}"
        )


# --- the check --------------------------------------------------------------------------------------------------------

CHECKS: Final = ((1, 4, 10.0), (1, 4, 15.0), (2, 4, 25.0), (2, 4, 30.0))
"""(workers, traces at a time in each, traces a second)."""
SEED: Final = 1


@contextmanager
def judge_server(latency_s: float) -> Iterator[str]:
    """The address of a judge in a process of its own."""
    command = [sys.executable, "-m", "testkit.judge_server", "--answer", "testkit.word_overlap_judge:quick_answer"]
    process = subprocess.Popen(
        [*command, "--latency", str(latency_s), "--faults", "0"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


async def measured(url: str, *, workers: int, concurrency: int, rate: float, traces: int) -> tuple[list[float], float]:
    """Seconds from hand-over to reply of each trace, at random moments, and CPU seconds of the workers for one."""
    from rag_otel.settings import Settings
    from rag_otel.settings.groups import JudgeSettings, SpanSettings
    from rag_otel_collectors.otlp.evaluation.pool import EvaluationPool
    from rag_otel_collectors.otlp.evaluation.trace_evaluator import HeldTrace
    from rag_otel_collectors.otlp.requests.wire import split
    from testkit.otlp_requests import a_rag_trace, a_request

    settings = Settings(
        judge=JudgeSettings(model="openai/gpt-4o-mini", api_base=url, concurrency=concurrency),
        evaluations_per_minute=math.inf,
        spans=SpanSettings(hold=600.0),
    )
    pool = EvaluationPool(
        ("-m", "rag_otel.cli.worker"),
        (settings, workers),
        workers=workers,
        concurrency=concurrency,
        patience_s=600.0,
    )
    took: list[float] = []

    async def one() -> None:
        trace_id = os.urandom(16)
        # Every answer is another one: the judge's cache must not know it.
        request = a_request(*a_rag_trace(trace_id, answer=f"The lighthouse was built in 1827, say {trace_id.hex()}."))
        slices = split(request.SerializeToString())
        started = time.perf_counter()
        reply = await pool.evaluate(HeldTrace(trace_id.hex(), tuple(slices)))
        took.append(time.perf_counter() - started)
        assert reply.outcomes[0][0] == "evaluated", reply.outcomes

    await pool.start()
    try:
        await asyncio.gather(*(one() for _ in range(2 * workers * concurrency)))  # connections, imports
        took.clear()
        running = []
        began, cpu = time.perf_counter(), _cpu_of_children()
        for due in arrivals(rate, traces, SEED):
            await asyncio.sleep(max(0.0, began + due - time.perf_counter()))
            running.append(asyncio.create_task(one()))
        await asyncio.gather(*running)
        return took, (_cpu_of_children() - cpu) / traces
    finally:
        await pool.close()


def _cpu_of_children() -> float:
    """CPU seconds of the workers that this process has started."""
    ticks = 0
    for each in Path("/proc").iterdir():
        with contextlib.suppress(OSError, IndexError):
            fields = (each / "stat").read_text().rpartition(")")[2].split()
            if fields[1] == str(os.getpid()) and b"rag_otel.cli.worker" in (each / "cmdline").read_bytes():
                ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def check(traces: int) -> None:
    """Measured beside computed. The time of service is what a trace takes when none waits."""
    with judge_server(0.2) as url:
        alone, _ = asyncio.run(measured(url, workers=1, concurrency=8, rate=4.0, traces=100))
        service = statistics.median(alone)
        spread = statistics.pstdev(alone) / statistics.fmean(alone)
        print(f"without a queue: {service * 1000:.0f} ms, spread {spread:.2f}")
        print(f"{'workers':>8}{'each':>6}{'rate':>6}{'busy':>7}{'CPU':>9}{'':6}{'wait':>9}{'p95':>9}")
        for workers, concurrency, rate in CHECKS:
            load = Load(requests_per_s=rate, latency_s=service, spread=spread)
            servers = workers * concurrency
            took, cpu_s = asyncio.run(measured(url, workers=workers, concurrency=concurrency, rate=rate, traces=traces))
            waits = [each - service for each in took]
            # The same moments of arrival, also those of the first ones, which find nobody before them.
            found, other = plan(load, servers), simulated(load, servers, traces=traces, seed=SEED, warm_up=0.0)
            _line(
                f"{workers:>8}{concurrency:>6}{rate:>6g}{found.busy:>7.0%}{cpu_s * 1000:>6.1f} ms",
                ("real", statistics.fmean(waits), percentile(waits, 0.95)),
                ("formula", found.wait_s, math.nan),
                ("simulated", statistics.fmean(other), percentile(other, 0.95)),
            )


def _line(head: str, *figures: tuple[str, float, float]) -> None:
    for name, mean, p95 in figures:
        print(f"{head}  {name:<10}{mean * 1000:>6.0f} ms{p95 * 1000:>6.0f} ms")
        head = " " * len(head)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add: Any = parser.add_argument
    add("--requests", type=float, default=50.0, help="requests a second (default: 50)")
    add("--sample-ratio", type=float, default=0.1, help="share that is evaluated, 0..1 (default: 0.1)")
    add("--latency", type=float, default=1.5, help="seconds of one evaluation (default: 1.5)")
    add("--spread", type=float, default=0.5, help="its standard deviation over its mean (default: 0.5)")
    add("--price", type=float, default=0.0004, help="US dollars of one evaluation (default: 0.0004)")
    add("--cpu", type=float, default=0.004, help="CPU seconds of a worker for one trace (default: 0.004)")
    add("--concurrency", type=int, default=16, help="traces that a worker evaluates at a time (default: 16)")
    add("--wait", type=float, default=1.0, help="seconds that a trace may wait on average (default: 1)")
    add("--check", action="store_true", help="compare with real workers and a judge that takes 200 ms")
    add("--traces", type=int, default=600, help="traces of each check (default: 600)")
    given = parser.parse_args()
    if given.check:
        check(given.traces)
        return
    load = Load(
        requests_per_s=given.requests,
        sample_ratio=given.sample_ratio,
        latency_s=given.latency,
        spread=given.spread,
        cpu_s=given.cpu,
        price_usd=given.price,
    )
    report(load, concurrency=given.concurrency, wait_s=given.wait)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
