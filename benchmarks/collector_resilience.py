"""What the collector does when things go wrong: a backend killed, itself killed, too much traffic, damaged requests.

    python benchmarks/collector_resilience.py [outage] [crash] [overload] [kills] [stops] [unavailable]
                                              [disk] [damage] [fuzz] [memory] [phoenix] [--long]

Each part prints what was sent, acknowledged, refused and delivered; nothing that was acknowledged may be missing, but
what was in a damaged record. `disk` needs root.
`--seconds` is how long the load of a part lasts (the backend is away for half of it), `--minutes` that of `memory`,
`--requests` how many `fuzz` damages. Without a name the first three run, in about two minutes; with `--long` all of
them at full size (two minutes of load, ten minutes of memory, 100,000 requests), in half an hour.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from _collect_faults import damage, disk, kills, stops, unavailable
from _collect_fuzz import fuzz
from _collect_load import LOAD_CORES, Sent, Sink, collector
from _collect_phoenix import phoenix
from _collect_runs import during, ids, report, wait
from _collect_traces import Traces

from rag_otel.cli.terminal import table

_SIZES: dict[str, tuple[Any, Any]] = {"seconds": (24.0, 120.0), "minutes": (2.0, 10.0), "requests": (10_000, 100_000)}
"""Of a quick run, and of `--long`."""
_LOOKS = 20
"""Rows of `memory`."""
_STEADY = 40.0
"""Requests a second of `memory`: what is evaluated of them must not pile up."""
_QUICK = ("outage", "crash", "overload")


def outage(seconds: float) -> None:
    """kill -9 of the backend for half the time."""
    first = Sink(remember=True)
    sinks = [first]

    def down() -> None:
        first.seen()
        first.kill()

    with collector(first.port, "grace=0.5", "sample_ratio=0.5") as running:
        sent = asyncio.run(
            during(
                running,
                seconds,
                (seconds / 4, down),
                (seconds * 3 / 4, lambda: sinks.append(Sink(remember=True, port=first.port))),
            )
        )

        def seen() -> dict[bytes, int]:
            total: dict[bytes, int] = {}
            for sink in sinks:
                for span_id, count in (sink._seen if sink is first else sink.seen()).items():
                    total[span_id] = total.get(span_id, 0) + count
            return total

        wanted = ids(sent.accepted)
        wait(lambda: wanted <= seen().keys())
        report(f"Backend killed for {seconds / 2:.0f} s of {seconds:.0f}", sent, seen())
    sinks[-1].kill()


def crash(seconds: float) -> None:
    """kill -9 of the collector under load, three times; the backend is away the while."""
    away = Sink()
    port = away.port
    away.kill()
    total = Sent()
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(3):
            with suppress(ProcessLookupError), collector(port, "grace=0.5", folder=folder) as running:
                kill = (seconds / 3, running.process.kill)
                sent = asyncio.run(during(running, seconds / 3 + 1, kill))
                total.accepted += sent.accepted
                total.requests += sent.requests
                total.refused += sent.refused
                total.failed += sent.failed
        sink = Sink(remember=True, port=port)
        wanted = ids(total.accepted)
        with collector(port, "grace=0.5", folder=folder):
            wait(lambda: wanted <= sink.seen().keys())
            report("Collector killed three times, then started", total, sink.seen())
    sink.kill()


def overload(seconds: float) -> None:
    """As much as the load can send, where about half of it can be evaluated."""
    bound = 24
    sink = Sink(remember=True)
    with collector(sink.port, "grace=0.5", f"max_memory_bytes={bound * 2**20}") as running:
        peak = 0.0

        def look() -> None:
            nonlocal peak
            peak = max(peak, running.rss_mb()[0])

        before = running.rss_mb()[0]
        looks = [(seconds * n / 50, look) for n in range(50)]
        sent = asyncio.run(during(running, seconds, *looks, per_second=None, in_flight=16, backoff_s=0.1))
        wanted = ids(sent.accepted)
        wait(lambda: wanted <= sink.seen().keys(), within_s=600)
        memory = f"{before:.0f} MB before, {peak:.0f} MB at most; {bound} MB may be held"
        report("Overload, every trace evaluated", sent, sink.seen(), ("memory", memory))
    sink.kill()


def memory(minutes: float, share: float) -> None:
    """Resident memory under a steady load of what can be evaluated, of which `share` is; the rest passes."""
    sink = Sink()
    with collector(sink.port, "grace=1", f"sample_ratio={share}") as running:
        seen: list[list[float]] = []

        def look() -> None:
            seen.append([*running.rss_mb(), running.metric("held_bytes") / 2**20])

        seconds = minutes * 60
        looks = [(seconds * n / _LOOKS, look) for n in range(1, _LOOKS + 1)]
        sent = asyncio.run(during(running, seconds + 0.5, *looks, requests=_cycled(), per_second=_STEADY))
        rows = [(f"{n * minutes / _LOOKS:.1f} min", *(f"{each:.0f}" for each in row)) for n, row in enumerate(seen, 1)]
        evaluated = running.metric("evaluated_traces_total")
        print(
            f"\nMemory under load, MB ({sent.requests:,} requests acknowledged, {sent.refused:,} refused, "
            f"{evaluated:,.0f} traces evaluated)"
        )
        print(table(rows, header=("after", "collector", "evaluation", "held spans")), flush=True)
    sink.kill()


def _cycled() -> Iterator[bytes]:
    traces = Traces()
    return iter(lambda: traces.request(4), None)


def main() -> None:
    parts: dict[str, Callable[[argparse.Namespace], None]] = {
        "outage": lambda given: outage(given.seconds),
        "crash": lambda given: crash(given.seconds),
        "overload": lambda given: overload(given.seconds / 4),
        "kills": lambda given: kills(20 if given.long else 5),
        "stops": lambda given: stops(20 if given.long else 5),
        "unavailable": lambda given: unavailable(30.0 if given.long else 10.0),
        "disk": lambda given: disk(max(20.0, given.seconds)),
        "damage": lambda given: damage(given.seconds),
        "fuzz": lambda given: fuzz(given.requests),
        "memory": lambda given: memory(given.minutes, given.share),
        "phoenix": lambda given: phoenix(given.seconds, given.rate),
    }
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help=f"which of {', '.join(parts)}; the first three by default")
    parser.add_argument("--long", action="store_true", help="every part at full size")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--share", type=float, default=0.1, help="of the traces that `memory` has evaluated")
    parser.add_argument("--requests", type=int)
    parser.add_argument("--rate", type=float, default=5.0, help="requests a second to Phoenix, of 10 spans each")
    arguments = parser.parse_args()
    for name, (short, long) in _SIZES.items():
        if getattr(arguments, name) is None:
            setattr(arguments, name, long if arguments.long else short)
    os.sched_setaffinity(0, LOAD_CORES)
    for name in arguments.parts or (parts if arguments.long else _QUICK):
        parts[name](arguments)


if __name__ == "__main__":
    main()
