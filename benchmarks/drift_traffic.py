"""How often drift is told in vain on traffic that is not independent, and how soon a real drop is told.

    python benchmarks/drift_traffic.py --family frozen --seeds 60
    python benchmarks/drift_traffic.py --family tuning --seeds 20 --only runs

Streams go through the family of detectors and the problems as the monitor has them: score, risk, a slice, one budget.
False alarms: what is told in 10,500 answers without a change (`--answers`). Drops: of .10 at the 6,000th answer
(`--at`), told within 1,000 effective answers. 95% intervals over streams (normal) and for medians by order statistics.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import multiprocessing
import random
import statistics
import time
from collections.abc import Sequence
from functools import partial
from itertools import islice

from _drift_traffic import DAYS, DEV, FROZEN, ISSUE, TUNING, Answer, Drop, Traffic

from rag_otel.cli.terminal import table
from rag_otel.drift.alarm_groups import AlarmGroups
from rag_otel.drift.family import Family, FamilySettings
from rag_otel.drift.observation import Observation

QUIET = 10_500
FAMILIES = {"tuning": TUNING, "frozen": FROZEN, "issue": ISSUE, "dev": DEV, "days": DAYS}
_KEYS = any(field.name == "cluster" for field in dataclasses.fields(Observation))


def seen(answer: Answer) -> Observation:
    """Score and risk of an answer; what was not judged is none of them, and its share of the budget stays unused."""
    time_s, score, slices, key = answer
    fields = {"cluster": key} if _KEYS and key is not None else {}
    return Observation(
        time_s=1_800_000_000.0 + time_s,
        probability=1.0,
        slices=slices,
        values=(
            ("faithfulness.score", score),
            ("faithfulness.risk", score if score == 1.0 else score * score),
        ),
        **fields,
    )


def told(traffic: Traffic, seed: str, drop: Drop, count: int, *, stop_from: int | None = None) -> list[int]:
    """At which answers a problem was told; with `stop_from` until the first one from there on."""
    family, problems, found = Family(FamilySettings(dimensions=("model",))), AlarmGroups(), []
    stream = traffic.make(random.Random(f"{traffic.name} {seed}"), drop)
    for index, answer in enumerate(islice(stream, count)):
        for event in family.observe(seen(answer)):
            if event.resolved:
                problems.close(event)
            elif problems.open(event) is not None:
                found.append(index)
                if stop_from is not None and index >= stop_from:
                    return found
    return found


def false_alarms(prefix: str, name: str, count: int, seed: int) -> int:
    return len(told(named(prefix, name), f"{prefix} quiet {seed}", lambda index: 0.0, count))


def named(family: str, name: str) -> Traffic:
    return next(each for each in FAMILIES[family] if each.name == name)


def delay(prefix: str, name: str, size: float, at: int, seed: int) -> float:
    """Answers from the drop to the first telling from there on; infinite beyond 1,000 effective ones."""
    traffic = named(prefix, name)
    patience = round(1000 * max(1.0, traffic.worth))
    drop: Drop = lambda index: size if index >= at else 0.0  # noqa: E731
    found = told(traffic, f"{prefix} drop {size} {seed}", drop, at + patience, stop_from=at)
    return next((float(index - at + 1) for index in found if index >= at), math.inf)


def rate(counts: Sequence[int], answers: int) -> str:
    scale = 10_000 / answers
    mean = statistics.fmean(counts)
    half = 1.96 * statistics.stdev(counts) / math.sqrt(len(counts))
    return f"{mean * scale:.2f} ({max(0.0, mean - half) * scale:.2f} to {(mean + half) * scale:.2f})"


def delays(found: Sequence[float]) -> str:
    ranked, count = sorted(found), len(found)
    half = 0.98 * math.sqrt(count)
    low, high = ranked[max(0, math.floor(count / 2 - half))], ranked[min(count - 1, math.ceil(count / 2 + half))]
    missed = sum(map(math.isinf, ranked))
    last = f", {count - missed} of {count}" if missed else f", all {count}"
    return f"{ranked[count // 2]:.0f} ({low:.0f} to {high:.0f}), p95 {ranked[int(0.95 * (count - 1))]:.0f}{last}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", choices=tuple(FAMILIES), default="tuning")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--answers", type=int, default=QUIET, help="without a change")
    parser.add_argument("--at", type=int, default=6000)
    parser.add_argument("--drops", type=float, nargs="*", default=[0.10])
    parser.add_argument("--no-quiet", action="store_true", help="drops alone")
    parser.add_argument("--only", default="", help="streams whose name has this")
    parser.add_argument("--processes", type=int, default=1)
    arguments = parser.parse_args()
    chosen = [each for each in FAMILIES[arguments.family] if arguments.only in each.name]
    started, rows = time.perf_counter(), []
    with multiprocessing.get_context("fork").Pool(arguments.processes) as pool:
        for traffic in chosen:
            row = [traffic.name]
            if not arguments.no_quiet:
                quiet_job = partial(false_alarms, arguments.family, traffic.name, arguments.answers)
                counts = pool.map(quiet_job, range(arguments.seeds))
                row += [rate(counts, arguments.answers), f"{sum(map(bool, counts))}", f"{traffic.most}"]
            for size in arguments.drops:
                job = partial(delay, arguments.family, traffic.name, size, arguments.at)
                row.append(delays(pool.map(job, range(arguments.seeds))))
            rows.append(row)
            print(" | ".join(row), flush=True)
    quiet = [] if arguments.no_quiet else ["false alarms per 10,000", "streams with one", "at most"]
    header = ["stream", *quiet, *(f"drop of {drop:.2f}" for drop in arguments.drops)]
    print(table(rows, header=header))
    print(f"{arguments.seeds} streams each, {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
