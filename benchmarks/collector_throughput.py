"""What the collector lets through on one core, and what it evaluates: end to end, into a sink that stores nothing.

    python benchmarks/collector_throughput.py [--seconds 10]
    git worktree add ../before COMMIT && python benchmarks/collector_throughput.py --against ../before

The collector and its evaluation process are pinned to the first core; the load and the sink have the others. Rates are
given by the clock, and by the CPU time that the collector and its evaluation processes took: on a machine that others
use too, the second one is what one whole core would do. With two processes, how the CPU time splits shows what a core
for each would do: as many times as much as one process, until the collector's own share fills a core.

With `--against`, this checkout and another one pass traces on, and evaluate every trace, in turns. This checkout does
so twice a round, which shows how much the machine's other work makes of it.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from _collect_load import COLLECTOR_CORES, CORES, LOAD_CORES, Sink, collector, load
from _collect_traces import SPANS_PER_TRACE, Traces

from rag_otel.cli.terminal import table

EVERYTHING = ("grace=0.5", "max_memory_bytes=33554432", "max_traces=2000")


def drained(sink: Sink, wanted: int, within_s: float) -> float:
    """Wait until the sink has so many spans; returns the moment."""
    deadline = time.monotonic() + within_s
    while sink.spans < wanted and time.monotonic() < deadline:
        time.sleep(0.01)
    return time.monotonic()


class Measured(NamedTuple):
    """What went through a collector."""

    arrived: int
    """Spans."""
    missing: int
    seconds: float
    cpu_s: list[float]
    """Of the collector and of each evaluation process."""
    rss_mb: float

    @property
    def cpu_ms(self) -> list[float]:
        """CPU time of each process for a trace, milliseconds."""
        return [each / max(1, self.arrived // SPANS_PER_TRACE) * 1e3 for each in self.cpu_s]


def measure(
    *settings: str, seconds: float, fresh: bool, cores: set[int] | None = None, checkout: Path | None = None
) -> Measured:
    """Send for so long and wait until all has arrived. `fresh`: every request has traces of its own."""
    made = Traces()
    requests: Iterator[bytes]
    requests = iter(made.request, None) if fresh else itertools.cycle([made.request() for _ in range(20)])  # type: ignore[arg-type]
    sink = Sink()
    with collector(sink.port, *settings, cores=cores, checkout=checkout) as running:
        asyncio.run(load(running.grpc_port, requests, seconds=1))
        time.sleep(0.5)
        drained(sink, 10**12, within_s=6 if fresh else 1)
        before, cpu, started = sink.spans, running.cpu_seconds(), time.monotonic()
        sent = asyncio.run(load(running.grpc_port, requests, seconds=seconds, in_flight=8 if not fresh else 2))
        accepted = sent.requests * 100
        ended = drained(sink, before + accepted, within_s=120)
        arrived = sink.spans - before
        took = [now - then for now, then in zip(running.cpu_seconds(), cpu, strict=True)]
        rss = sum(running.rss_mb())
    sink.kill()
    return Measured(arrived, accepted - arrived, ended - started, took, rss)


def row(name: str, got: Measured) -> list[str]:
    """As the table shows it."""
    rate, of_cpu = got.arrived / got.seconds, got.arrived / sum(got.cpu_s)
    collecting, *judging = got.cpu_ms
    return [
        name,
        f"{rate:,.0f}",
        f"{of_cpu:,.0f}",
        f"{rate / SPANS_PER_TRACE:,.0f}",
        f"{of_cpu / SPANS_PER_TRACE:,.0f}",
        f"{collecting:.2f}",
        " + ".join(f"{each:.2f}" for each in judging),
        f"{got.missing:,}",
        f"{got.rss_mb:,.0f}",
    ]


def compare(against: Path, *, rounds: int, seconds: float) -> None:
    """Print how much CPU time a trace takes here and in another checkout, in turns, and here a second time."""
    here = Path(__file__).parents[1]
    cases: dict[str, tuple[tuple[str, ...], bool]] = {
        "unsampled, passed on": (("sample_ratio=0",), False),
        "every trace evaluated": (EVERYTHING, True),
    }
    print("ms of CPU time for a trace, and how many times as many traces a CPU second gives here\n")
    for name, (settings, fresh) in cases.items():
        rows, ratios, noise = [], [], []
        for number in range(rounds):
            splits = [
                measure(*settings, seconds=seconds, fresh=fresh, checkout=checkout).cpu_ms
                for checkout in (here, against, here)
            ]
            first, other, second = map(sum, splits)
            ratios.append(2 * other / (first + second))
            noise.append(first / second)
            shown = [" + ".join(f"{each:.3f}" for each in split) for split in splits]
            rows.append([str(number + 1), *shown, f"{ratios[-1]:.2f}", f"{noise[-1]:.2f}"])
        print(name)
        print(table(rows, header=["round", "here", "the other", "here again", "ratio", "here twice"]))
        print(f"ratio {spread(ratios)}; here twice {spread(noise)}\n", flush=True)


def spread(values: list[float]) -> str:
    """The median and the range."""
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--against", type=Path, help="a checkout of another commit, measured in turns with this one")
    parser.add_argument("--rounds", type=int, default=5, help="with --against")
    arguments = parser.parse_args()
    os.sched_setaffinity(0, LOAD_CORES)
    if arguments.against is not None:
        if not (arguments.against / "rag_otel").is_dir():
            raise SystemExit(f"--against {arguments.against}: no checkout of rag-otel")
        compare(arguments.against.resolve(), rounds=arguments.rounds, seconds=arguments.seconds)
        return
    passed = measure("sample_ratio=0", seconds=arguments.seconds, fresh=False)
    evaluated = measure(*EVERYTHING, seconds=arguments.seconds, fresh=True)
    rows = [row("unsampled, passed on", passed), row("every trace evaluated", evaluated)]
    if len(CORES) > 1:
        both = measure(*EVERYTHING, "workers=2", seconds=arguments.seconds, fresh=True, cores=set(CORES))
        rows.append(row(f"the same, 2 workers on {len(CORES)} cores", both))
    print(f"collector on core {sorted(COLLECTOR_CORES)}, load and sink on {sorted(LOAD_CORES)}")
    header = (
        "",
        "spans/s",
        "spans/CPU s",
        "traces/s",
        "traces/CPU s",
        "collector, ms CPU a trace",
        "judging, ms CPU a trace",
        "missing",
        "MB",
    )
    print(table(rows, header=header))


if __name__ == "__main__":
    main()
