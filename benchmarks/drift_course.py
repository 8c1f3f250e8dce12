"""What is reported of a drop that deepens, a gain that is lost and a drop that ends.

    python benchmarks/drift_course.py --seeds 24

Independent scores, changes at the 2,000th answer. For each course: how many streams reported what they
should, after how many answers (median, 95th percentile), and in how many alarms the interval held the true mean.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable

from _drift_traffic import score
from drift_traffic import seen

from rag_otel.cli.terminal import table
from rag_otel.drift.event import DriftEvent
from rag_otel.drift.family import DriftSettings, Family
from rag_otel.drift.problems import Problems

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
    rng, family, problems, found = random.Random(seed), Family(DriftSettings(dimensions=("model",))), Problems(), []
    for index in range(count):
        for event in family.observe(seen((index * 60.0, score(rng, mean(index)), ("model=a",), None))):
            key = problems.close(event) if event.resolved else problems.open(event)
            if key is not None:
                found.append((index, event))
    return found


def covered(drop: float, seed: str) -> bool | None:
    """Whether the interval of the first alarm on the score holds the true mean; None without an alarm."""
    rng, family = random.Random(seed), Family(DriftSettings(dimensions=()))
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
        delays = sorted(
            next((index - at + 1 for index, event in run if index >= at and wanted(event)), count) for run in runs
        )
        hit = sum(each < count for each in delays)
        rows.append([name, f"{hit} of {seeds}", f"{delays[seeds // 2]}, p95 {delays[int(0.95 * (seeds - 1))]}"])
        print(rows[-1], flush=True)
    for drop in (0.03, 0.05, 0.10):
        held = [each for seed in range(seeds) if (each := covered(drop, f"cover {drop} {seed}")) is not None]
        rows.append([f"interval at the alarm, drop of {drop:.2f}", f"{sum(held)} of {len(held)}", ""])
        print(rows[-1], flush=True)
    print(table(rows, header=["course", "told, held", "answers"]))


if __name__ == "__main__":
    main()
