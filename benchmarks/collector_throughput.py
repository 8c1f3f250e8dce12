"""What the collector lets through on one core, and what it evaluates: end to end, into a sink that stores nothing.

    python benchmarks/collector_throughput.py [--seconds 10]

The collector and its evaluation process are pinned to the first core; the load and the sink have the others. Rates are
given by the clock, and by the CPU time that the collector and its evaluation processes took: on a machine that others
use too, the second one is what one whole core would do. With two processes, how the CPU time splits shows what a core
for each would do: as many times as much as one process, until the collector's own share fills a core.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import time
from collections.abc import Iterator

from _collect_load import COLLECTOR_CORES, CORES, LOAD_CORES, Sink, collector, load
from _collect_traces import SPANS_PER_TRACE, Traces

from rag_otel.cli.terminal import table


def drained(sink: Sink, wanted: int, within_s: float) -> float:
    """Wait until the sink has so many spans; returns the moment."""
    deadline = time.monotonic() + within_s
    while sink.spans < wanted and time.monotonic() < deadline:
        time.sleep(0.01)
    return time.monotonic()


def measure(name: str, *settings: str, seconds: float, fresh: bool, cores: set[int] | None = None) -> list[str]:
    """One row: what arrived in how much time. `fresh`: every request has traces of its own."""
    made = Traces()
    requests: Iterator[bytes]
    requests = iter(made.request, None) if fresh else itertools.cycle([made.request() for _ in range(20)])  # type: ignore[arg-type]
    sink = Sink()
    with collector(sink.port, *settings, cores=cores) as running:
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
    rate, of_cpu = arrived / (ended - started), arrived / sum(took)
    traces = max(1, arrived // SPANS_PER_TRACE)
    return [
        name,
        f"{rate:,.0f}",
        f"{of_cpu:,.0f}",
        f"{rate / SPANS_PER_TRACE:,.0f}",
        f"{of_cpu / SPANS_PER_TRACE:,.0f}",
        f"{took[0] / traces * 1e3:.2f}",
        " + ".join(f"{each / traces * 1e3:.2f}" for each in took[1:]),
        f"{accepted - arrived:,}",
        f"{rss:,.0f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0)
    arguments = parser.parse_args()
    os.sched_setaffinity(0, LOAD_CORES)
    everything = ("grace=0.5", "max_memory_bytes=33554432", "max_traces=2000")
    rows = [
        measure("unsampled, passed on", "sample_ratio=0", seconds=arguments.seconds, fresh=False),
        measure("every trace evaluated", *everything, seconds=arguments.seconds, fresh=True),
    ]
    if len(CORES) > 1:
        row = measure(
            f"the same, 2 workers on {len(CORES)} cores",
            *everything,
            "workers=2",
            seconds=arguments.seconds,
            fresh=True,
            cores=set(CORES),
        )
        rows.append(row)
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
