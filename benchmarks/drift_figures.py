"""How quickly drift is noticed, and how often in vain: `python benchmarks/drift_figures.py [--streams 200]`.

Seeded streams through the detectors of the product. Synthetic ones have mean .90 and most scores exactly 1; real ones
are the scores of the embedded judge on examples/data, reweighed to the same means. False alarms are counted over 10,000
evaluations a stream, the detector starting anew after each; delays are evaluations from the change to the alarm, after
500 without one. 95% intervals: for rates over streams (normal), for medians by order statistics.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from _drift_streams import RARE, Population, Stream, dev_scores, synthetic, tilted

from rag_otel.cli.terminal import table
from rag_otel.drift.baseline import Baseline
from rag_otel.drift.family import Family, FamilySettings
from rag_otel.drift.learner import Learner
from rag_otel.drift.observation import Observation
from rag_otel.drift.series import Series, SeriesEvent
from rag_otel.drift.watch import SeriesSettings

QUIET = 10_000
WARM_UP = 500
PATIENCE = 10_000
RUN_LENGTH = 10_000.0


@dataclass(frozen=True)
class Scenario:
    """A detector, the traffic while all is well, and the traffic after drops of .10 and .05."""

    name: str
    normal: Stream
    drops: tuple[Stream, Stream]
    known: float | None = None
    """The baseline's mean where it is given, None where it is learned from 500 scores."""
    least_probability: float = 1.0
    naive: bool = False
    """Ignore the probabilities: what a detector without weights sees."""


def watch(scenario: Scenario, rng: random.Random) -> Series:
    """A series whose baseline is there."""
    settings = SeriesSettings(threshold=RUN_LENGTH, least_probability=scenario.least_probability)
    if scenario.known is not None:
        return Series(settings, Baseline.given(scenario.known))
    learner = Learner()
    for value, probability in scenario.normal.draw(learner.count, rng):
        learner.add(0.0, value, 1.0 / (1.0 if scenario.naive else probability))
    return Series(settings, learner.learn(sure=2.5))


def false_alarms(scenario: Scenario, seed: int) -> float:
    """Alarms in 10,000 evaluations without a change."""
    rng = random.Random(f"{scenario.name} quiet {seed}")
    series, count = watch(scenario, rng), 0
    for value, probability in scenario.normal.draw(QUIET, rng):
        if series.observe(0.0, value, 1.0 if scenario.naive else probability) is SeriesEvent.ALARM:
            count += 1
            assert series.baseline is not None
            series = _anew(scenario, series.baseline)
    return float(count)


def delay(scenario: Scenario, drop: int, seed: int) -> float:
    """Evaluations until the alarm; infinite where there is none in 10,000."""
    rng = random.Random(f"{scenario.name} drop {drop} {seed}")
    series = watch(scenario, rng)
    for value, probability in scenario.normal.draw(WARM_UP, rng):
        if series.observe(0.0, value, probability) is SeriesEvent.ALARM:
            assert series.baseline is not None
            series = _anew(scenario, series.baseline)
    for count, (value, probability) in enumerate(islice(scenario.drops[drop].endless(rng), PATIENCE), start=1):
        if series.observe(0.0, value, probability) is SeriesEvent.ALARM:
            return float(count)
    return math.inf


def _anew(scenario: Scenario, baseline: Baseline) -> Series:
    settings = SeriesSettings(threshold=RUN_LENGTH, least_probability=scenario.least_probability)
    return Series(settings, baseline)


def whole_family(drop: float, seed: int) -> float:
    """The monitor as it comes: three signals, 25 slices in 5 dimensions, one budget. False alarms in 10,000
    evaluations (drop 0), or evaluations until anything is told."""
    rng = random.Random(f"family {drop} {seed}")
    family = Family(FamilySettings(average_run_length=RUN_LENGTH))
    normal, after = (synthetic(mean).all_evaluated().endless(rng) for mean in (0.90, 0.90 - drop))
    alarms = 0
    for count in range(10_500 if not drop else 1_000 + PATIENCE):
        changed = bool(drop) and count >= 1_000
        score, _ = next(after if changed else normal)
        seen = Observation(
            time_s=float(count),
            probability=1.0,
            slices=(
                f"service={rng.randrange(2)}", f"route={rng.randrange(4)}", f"model={rng.randrange(3)}",
                f"prompt_version={rng.randrange(2)}", f"tenant={rng.randrange(14)}",
            ),
            values=(
                ("faithfulness.unscored", 1.0 if rng.random() < 0.98 else 0.0),
                ("faithfulness.score", score),
                ("faithfulness.risk", min(1.0, max(0.0, 1.0 - 0.8 * (1.0 - score) - 0.1 * rng.random()))),
            ),
        )  # fmt: skip
        begun = [event for event in family.observe(seen) if not event.resolved]
        alarms += len(begun)
        if changed and begun:
            return float(count - 999)
    return float(alarms) if not drop else math.inf


def rate(counts: Sequence[float], evaluations: int) -> str:
    """Alarms per 10,000 evaluations with the interval over streams."""
    scale = 10_000 / evaluations
    mean = statistics.fmean(counts)
    half = 1.96 * statistics.stdev(counts) / math.sqrt(len(counts))
    return f"{mean * scale:.2f} ({max(0.0, mean - half) * scale:.2f} to {(mean + half) * scale:.2f})"


def median(delays: Sequence[float]) -> str:
    """Median with its interval, and the 95th percentile."""
    ranked, count = sorted(delays), len(delays)
    half = 0.98 * math.sqrt(count)
    low, high = ranked[max(0, math.floor(count / 2 - half))], ranked[min(count - 1, math.ceil(count / 2 + half))]
    return f"{statistics.median(ranked):.0f} ({low:.0f} to {high:.0f}), {ranked[int(0.95 * (count - 1))]:.0f}"


def scenarios(name: str, populations: Callable[[float], Population]) -> list[Scenario]:
    """The same questions to one kind of scores."""
    normal, large, small = (populations(mean) for mean in (0.90, 0.80, 0.85))
    plain = normal.all_evaluated(), (large.all_evaluated(), small.all_evaluated())
    biased = normal.suspicion_first(), (large.suspicion_first(), small.suspicion_first())
    return [
        Scenario(f"{name}: learned baseline", *plain),
        Scenario(f"{name}: known baseline, .02 below the mean", *plain, known=0.88),
        Scenario(f"{name}: suspicion-first, weighted", *biased, least_probability=RARE),
        Scenario(f"{name}: suspicion-first, naive", *biased, known=0.88, naive=True),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    seeds, started = range(arguments.streams), time.perf_counter()
    scores = [score for _, score, _ in dev_scores()]
    every = [*scenarios("synthetic", synthetic), *scenarios("dev data", partial(tilted, scores))]
    print(f"synthetic: {synthetic(0.90).perfect:.0%} of scores are 1; dev data: {tilted(scores, 0.90).perfect:.0%}")
    rows = []
    with multiprocessing.get_context("fork").Pool(arguments.processes) as pool:
        for scenario in every:
            quiet = pool.map(partial(false_alarms, scenario), seeds, chunksize=5)
            row = [scenario.name, rate(quiet, QUIET), f"{sum(map(bool, quiet)) / len(quiet):.0%}"]
            for drop in range(2):
                told = "-" if scenario.naive else median(pool.map(partial(delay, scenario, drop), seeds, chunksize=5))
                row.append(told)
            rows.append(row)
        half = seeds[: max(100, len(seeds) // 2)]
        family = [pool.map(partial(whole_family, drop), half, chunksize=2) for drop in (0.0, 0.10, 0.05)]
    rows.append(
        [
            "monitor, 3 signals x 26 slices",
            rate(family[0], 10_500),
            f"{sum(map(bool, family[0])) / len(half):.0%}",
            *(median(each) for each in family[1:]),
        ]
    )
    header = ["stream", "false alarms per 10,000", "streams with one", ".10: median, p95", ".05: median, p95"]
    print(table(rows, header=header))
    print(f"{arguments.streams} streams each, {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
