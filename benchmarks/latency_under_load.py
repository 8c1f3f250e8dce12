"""What the embedded judge does to the latency of an application under load.

    python benchmarks/latency_under_load.py

The application takes requests in an open loop (they arrive at random moments, whether or not earlier ones are done),
200 a second, on a pool of threads; each one waits and computes by turns for a few milliseconds and answers from real
passages. Latency counts from the moment of arrival. Rounds of the variants are interleaved, so that other load on the
machine hits all alike; a variant's figure is the median over rounds of its difference to the plain round beside it.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

import rag_otel
from rag_otel.safety.guard import counters
from testkit.settings import grouped

DATA = Path(__file__).parents[1] / "examples/data/ragtruth_qa_dev.jsonl"
Answer = Callable[[dict[str, Any]], dict[str, Any]]


class Discarding(SpanExporter):
    """The same exporter for all: costs nothing, keeps nothing."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.SUCCESS


@dataclass(frozen=True, kw_only=True)
class Load:
    """How much, how long."""

    per_second: float
    seconds: float
    compute_ms: float
    wait_ms: float
    threads: int = 32


def spin(loops: int) -> int:
    """Pure Python work: what holds the interpreter."""
    total = 0
    for n in range(loops):
        total += n & 7
    return total


def loops_per_ms() -> int:
    """How many turns of `spin` take a millisecond here: the best of many, as on an idle machine."""
    best = min(_timed(20_000) for _ in range(50))
    return int(20_000 / (best * 1000))


def _timed(loops: int) -> float:
    started = time.perf_counter()
    spin(loops)
    return time.perf_counter() - started


def application(load: Load, loops: int) -> Answer:
    """Retrieve, think, answer: two waits and two computations."""
    part = int(loops * load.compute_ms / 2)

    def answer(row: dict[str, Any]) -> dict[str, Any]:
        time.sleep(load.wait_ms / 2000)
        spin(part)
        time.sleep(load.wait_ms / 2000)
        spin(part)
        return {"answer": row["response"], "chunks": row["contexts"]}

    return answer


def run(answer: Answer, rows: Sequence[dict[str, Any]], load: Load, seed: int) -> list[float]:
    """Latencies in ms of one round."""
    chance = random.Random(seed)
    latencies: list[float] = []

    def serve(row: dict[str, Any], arrival: float) -> None:
        answer(row)
        latencies.append((time.perf_counter() - arrival) * 1000)

    with ThreadPoolExecutor(load.threads) as pool:
        arrival = time.perf_counter() + 0.05
        end = arrival + load.seconds
        while arrival < end:
            time.sleep(max(0.0, arrival - time.perf_counter()))
            pool.submit(serve, chance.choice(rows), arrival)
            arrival += chance.expovariate(load.per_second)
    return latencies


def variant(settings: dict[str, Any] | None, plain: Answer) -> tuple[Answer, Callable[[], None]]:
    """The application as it is (None) or decorated and instrumented, and how to take that off again."""
    if settings is None:
        return plain, lambda: None
    provider = TracerProvider(shutdown_on_exit=False, span_limits=SpanLimits(max_span_attributes=10_000))
    provider.add_span_processor(BatchSpanProcessor(Discarding()))
    rag_otel.instrument(tracer_provider=provider, **grouped(annotations=False, **settings))

    @rag_otel.observe(question="row.question")
    def answer(row: dict[str, Any]) -> dict[str, Any]:
        return plain(row)

    def take_off() -> None:
        rag_otel.flush(timeout=30)
        rag_otel.uninstrument()
        provider.shutdown()

    return answer, take_off


def warm_up(answer: Answer, rows: Sequence[dict[str, Any]], calls: int) -> None:
    """Use up the burst that the cap lets a fresh process have: what counts is the steady state."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(answer, (rows[n % len(rows)] for n in range(calls))))
    rag_otel.flush(timeout=30)


def percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=5.0, help="of one round")
    parser.add_argument("--warm-up", type=int, default=150, help="calls before a round")
    parser.add_argument("--only", nargs="*", default=(), help="variants, beside the plain one")
    parser.add_argument("--per-second", type=float, default=200.0)
    parser.add_argument("--compute-ms", type=float, default=1.0, help="of the interpreter, per request")
    parser.add_argument("--wait-ms", type=float, default=4.0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    load = Load(
        per_second=options.per_second,
        seconds=options.seconds,
        compute_ms=options.compute_ms,
        wait_ms=options.wait_ms,
    )
    with DATA.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    plain = application(load, loops_per_ms())
    variants: dict[str, dict[str, Any] | None] = {
        "plain": None,
        "observed, nothing judged": {"sample_ratio": 0.0},
        "judged, default cap": {},
        "judged, every trace": {"evaluations_per_minute": 1e6},
    }
    if options.only:
        variants = {name: each for name, each in variants.items() if each is None or name in options.only}
    rounds: dict[str, list[list[float]]] = {name: [] for name in variants}
    judged: dict[str, int] = dict.fromkeys(variants, 0)
    for n in range(options.rounds):
        # Another order in every round: nothing is always first after a pause.
        for name in random.Random(n).sample(list(variants), len(variants)):
            answer, take_off = variant(variants[name], plain)
            warm_up(answer, rows, options.warm_up)
            before = counters.get("trace.evaluated")
            rounds[name].append(run(answer, rows, load, seed=n))
            judged[name] += counters.get("trace.evaluated") - before
            take_off()
        print(f"round {n + 1}/{options.rounds}", end="\r", file=sys.stderr)
    report = {name: figures(rounds[name], rounds["plain"], judged[name]) for name in variants}
    if options.json:
        print(json.dumps({"load": vars(options), "threads": threading.active_count(), **report}, indent=2))
        return
    print(f"{'':28}{'requests':>10}{'judged':>8}{'p50 ms':>9}{'p99 ms':>9}{'p50 diff':>10}{'p99 diff':>10}")
    for name, row in report.items():
        print(
            f"{name:28}{row['requests']:>10}{row['judged']:>8}{row['p50_ms']:>9.2f}{row['p99_ms']:>9.2f}"
            f"{row['p50_difference_ms']:>+10.2f}{row['p99_difference_ms']:>+10.2f}"
        )


def figures(rounds: list[list[float]], plain: list[list[float]], judged: int) -> dict[str, Any]:
    """One variant's line: medians over its rounds."""
    found: dict[str, Any] = {"requests": sum(map(len, rounds)), "judged": judged}
    for name, share in (("p50", 0.50), ("p99", 0.99)):
        found[f"{name}_ms"] = statistics.median(percentile(each, share) for each in rounds)
        found[f"{name}_difference_ms"] = statistics.median(
            percentile(each, share) - percentile(beside, share) for each, beside in zip(rounds, plain, strict=True)
        )
    return found


if __name__ == "__main__":
    main()
