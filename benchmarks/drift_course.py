"""What is reported of a drop that deepens, a gain that is lost, a drop that ends, one that lasts, and a sharp one.

    python benchmarks/drift_course.py --seeds 24

Independent scores, changes at the 2,000th answer. For each course: how many streams reported what they
should, after how many answers (median with its 95% interval, 95th percentile), in how many alarms the interval held the
true mean, and how often a drop that lasts was told to be over. Sharp drops: from .95, with keys, after 1.4 times the
answers that a baseline is learned from.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
from collections.abc import Callable

from _drift_traffic import score
from drift_traffic import delays, seen

from rag_otel.cli.terminal import table
from rag_otel.drift.alarm_groups import AlarmGroups
from rag_otel.drift.event import DriftEvent
from rag_otel.drift.family import Family, FamilySettings

Told = list[tuple[int, DriftEvent]]
COURSES: dict[str, tuple[Callable[[int], float], int, int, Callable[[DriftEvent], bool]]] = {
    ".92, .86, from 4,000 on .55: deeper": (
        lambda at: 0.92 if at < 2000 else 0.86 if at < 4000 else 0.55, 4000, 5000, lambda event: event.deeper
    ),
    ".90, .96, from 5,000 on .90: lost": (
        lambda at: 0.96 if 2000 <= at < 5000 else 0.90, 5000, 6500, lambda event: not event.resolved
    ),
    ".92, .82, from 3,000 on .92: over": (
        lambda at: 0.82 if 2000 <= at < 3000 else 0.92, 3000, 4500, lambda event: event.resolved
    ),
}  # fmt: skip


def told(mean: Callable[[int], float], count: int, seed: str) -> Told:
    """(answer, event) of what is told."""
    rng, family, problems, found = random.Random(seed), Family(FamilySettings(dimensions=("model",))), AlarmGroups(), []
    for index in range(count):
        for event in family.observe(seen((index * 60.0, score(rng, mean(index)), ("model=a",), None))):
            key = problems.close(event) if event.resolved else problems.open(event)
            if key is not None:
                found.append((index, event))
    return found


def wrong_ends(drop: float, seed: str) -> int:
    """How often a drop that lasts for 8,000 answers is told to be over."""
    found = told(lambda at: 0.92 if at < 2000 else 0.92 - drop, 10_000, seed)
    return sum(event.resolved for index, event in found if index >= 2000)


def sharp(count: int, low: float, seed: str) -> float:
    """Answers from a drop from .95 to `low` to its alarm, with a baseline of `count` and keys; infinite without one or
    where one came before."""
    rng, family, at = (
        random.Random(seed),
        Family(FamilySettings(dimensions=(), baseline_count=count)),
        round(1.4 * count),
    )
    for index in range(at + 1000):
        value = rng.gauss(0.95, 0.05) if index < at else rng.gauss(low, 0.15)
        if family.observe(seen((index * 60.0, min(1.0, max(0.0, value)), (), index))):
            return float(index - at + 1) if index >= at else math.inf
    return math.inf


def covered(drop: float, seed: str) -> bool | None:
    """Whether the interval of the first alarm on the score holds the true mean; None without an alarm."""
    rng, family = random.Random(seed), Family(FamilySettings(dimensions=()))
    for index in range(8000):
        mean = 0.92 if index < 2000 else 0.92 - drop
        one = seen((index * 60.0, score(rng, mean), (), None))
        for event in family.observe(one):
            if index >= 2000 and not event.resolved and event.interval is not None and event.series.endswith("score"):
                return event.interval[0] <= mean <= event.interval[1]
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=24)
    seeds = parser.parse_args().seeds
    rows = []
    for name, (mean, at, count, wanted) in COURSES.items():
        runs = [told(mean, count, f"{name} {seed}") for seed in range(seeds)]
        found = [
            next((float(index - at + 1) for index, event in run if index >= at and wanted(event)), math.inf)
            for run in runs
        ]
        rows.append([name, delays(found)])
        print(rows[-1], flush=True)
    for count in (50, 100, 200, 500):
        for low in (0.85, 0.70, 0.30):
            found = [sharp(count, low, f"sharp {count} {low} {seed}") for seed in range(seeds)]
            rows.append([f"sharp, to {low:.2f}, baseline of {count}", delays(found)])
            print(rows[-1], flush=True)
    for drop in (0.03, 0.05, 0.10):
        ends = [wrong_ends(drop, f"lasts {drop} {seed}") for seed in range(seeds)]
        rows.append(
            [
                f"a drop of {drop:.2f} that lasts, told to be over",
                f"{statistics.fmean(ends):.2f} times, most {max(ends)}",
            ]
        )
        print(rows[-1], flush=True)
    for drop in (0.03, 0.05, 0.10):
        held = [each for seed in range(seeds) if (each := covered(drop, f"cover {drop} {seed}")) is not None]
        rows.append([f"interval at the alarm holds the mean, drop of {drop:.2f}", f"{sum(held)} of {len(held)}"])
        print(rows[-1], flush=True)
    print(table(rows, header=["course", "answers until told"]))


if __name__ == "__main__":
    main()
