"""Traffic that is not independent, for the drift benchmarks: runs, shapes over the day and the week, mixes, slow noise.

Every stream yields answers without end: (seconds, score, slices, key). Scores have the shape of `synthetic` in
`_drift_streams`: most are exactly 1. A family of streams is for tuning, another one with other lengths, volumes and
seeds for the figures that are reported, and a third one has the shapes of the table that was asked for.
"""

from __future__ import annotations

import json
import math
import random
from bisect import bisect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import TypeAlias

from _drift_streams import DATA, dev_scores, synthetic

DAY_S = 86_400.0
Answer: TypeAlias = tuple[float, float, tuple[str, ...], int | None]
Drop: TypeAlias = Callable[[int], float]
"""How far the mean has fallen at the n-th answer."""
Make: TypeAlias = Callable[[random.Random, Drop], Iterator[Answer]]
_A: tuple[str, ...] = ("model=a",)


@cache
def _scores(permille: int) -> tuple[list[float], list[float]]:
    shares = synthetic(permille / 1000).shares
    return list(shares), list(accumulate(shares.values()))


def score(rng: random.Random, mean: float) -> float:
    """One score of a population of that mean."""
    values, edges = _scores(max(450, min(995, round(mean * 1000))))
    return values[min(len(values) - 1, bisect(edges, rng.random() * edges[-1]))]


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """A kind of traffic: what it is called, how it is made, how many answers one is worth (the size of a run)."""

    name: str
    make: Make
    worth: float = 1.0
    most: float = 0.3
    """False alarms per 10,000 answers that are allowed."""


def independent(mean: float = 0.92) -> Make:
    def make(rng: random.Random, drop: Drop) -> Iterator[Answer]:
        index = 0
        while True:
            yield index * 60.0, score(rng, mean - drop(index)), _A, None
            index += 1

    return make


def two_values(mean: float = 0.92) -> Make:
    """The widest spread that there is: 0 or 1."""

    def make(rng: random.Random, drop: Drop) -> Iterator[Answer]:
        index = 0
        while True:
            yield index * 60.0, float(rng.random() < mean - drop(index)), _A, None
            index += 1

    return make


def runs(length: float, *, geometric: bool = False, keyed: bool = False, bad: float = 0.12) -> Make:
    """Runs of answers on one document: most documents are easy, some hard."""

    def make(rng: random.Random, drop: Drop) -> Iterator[Answer]:
        index = document = 0
        while True:
            document += 1
            size = 1 + int(rng.expovariate(1 / (length - 1))) if geometric else int(length)
            # A drop is more hard documents: the mean falls by it.
            hard = rng.random() < bad + drop(index) / 0.42
            level = 0.54 if hard else 0.96
            for _ in range(size):
                value = min(1.0, max(0.0, rng.gauss(level, 0.1 if hard else 0.04)))
                yield index * 60.0, value, _A, document if keyed else None
                index += 1

    return make


def popular(share: float = 0.3) -> Make:
    """Answers are independent; a share of them has the same popular chunks, which is no run."""

    def make(rng: random.Random, drop: Drop) -> Iterator[Answer]:
        index = 0
        while True:
            key = 1 if rng.random() < share else 2 + index
            yield index * 60.0, score(rng, 0.92 - drop(index)), _A, key
            index += 1

    return make


def autoregressive(phi: float, sd: float = 0.1) -> Make:
    """The mean itself wanders: AR(1) around .90 with the stationary deviation `sd`."""

    def make(rng: random.Random, drop: Drop) -> Iterator[Answer]:
        index, state = 0, 0.0
        while True:
            state = phi * state + math.sqrt(1 - phi * phi) * rng.gauss(0, sd)
            yield index * 60.0, score(rng, 0.88 + state - drop(index)), _A, None
            index += 1

    return make


def slow(sd: float, length: float) -> Make:
    """Slow noise of the mean, correlated over `length` answers."""
    return autoregressive(math.exp(-1 / length), sd)


def daily(amplitude: float, per_day: float, *, quiet_nights: bool = False) -> Make:
    """Day and night; with quiet nights nine tenths of the answers come by day."""

    def make(rng: random.Random, drop: Drop) -> Iterator[Answer]:
        phase = rng.random()
        index, time_s = 0, 0.0
        while True:
            at = math.cos(2 * math.pi * (time_s / DAY_S + phase))
            yield time_s, score(rng, 0.91 + amplitude * at - drop(index)), _A, None
            rate = per_day * ((1 + 0.8 * at) if quiet_nights else 1.0)
            time_s += rng.expovariate(1.0) * DAY_S / rate
            index += 1

    return make


def weekly(dip: float, per_day: float) -> Make:
    """A weekend that is worse; the stream begins on any day."""

    def make(rng: random.Random, drop: Drop) -> Iterator[Answer]:
        start, index = rng.random() * 7, 0
        while True:
            day = start + index / per_day
            mean = 0.92 - (dip if day % 7 >= 5 else 0.0)
            yield day * DAY_S, score(rng, mean - drop(index)), _A, None
            index += 1

    return make


def dipping(worse: Callable[[float], float], per_day: float) -> Make:
    """How much worse answers are at a time in days; the stream begins at any time of the day."""

    def make(rng: random.Random, drop: Drop) -> Iterator[Answer]:
        start, index = rng.random(), 0
        while True:
            day = start + index / per_day
            yield day * DAY_S, score(rng, 0.92 - worse(day) - drop(index)), _A, None
            index += 1

    return make


def mixed(low: float, high: float, per_day: float, better: float = 0.95, worse: float = 0.88) -> Make:
    """Two models whose shares swing over the day; neither changes."""

    def make(rng: random.Random, drop: Drop) -> Iterator[Answer]:
        phase, index = rng.random(), 0
        while True:
            share = (low + high) / 2 + (high - low) / 2 * math.cos(2 * math.pi * (index / per_day + phase))
            large = rng.random() < share
            mean = (better if large else worse) - drop(index)
            yield index / per_day * DAY_S, score(rng, mean), ("model=large" if large else "model=small",), None
            index += 1

    return make


def shifted(at: int, low: float = 0.3, high: float = 0.7) -> Make:
    """Two models; from the `at`-th answer on the worse one answers more often. A mix, not a change."""

    def make(rng: random.Random, drop: Drop) -> Iterator[Answer]:
        index = 0
        while True:
            small = rng.random() < (low if index < at else high)
            mean = (0.88 if small else 0.95) - drop(index)
            yield index * 60.0, score(rng, mean), ("model=small" if small else "model=large",), None
            index += 1

    return make


def clear_runs(length: float, *, geometric: bool = False) -> Make:
    """Runs on one document each: nine of ten around .97, one around .50, sd .08. A drop is more of the latter."""

    def make(rng: random.Random, drop: Drop) -> Iterator[Answer]:
        index = left = 0
        level = 0.0
        while True:
            if left == 0:
                left = 1 + int(rng.expovariate(1 / length)) if geometric else int(length)
                level = 0.5 if rng.random() < 0.1 + drop(index) / 0.47 else 0.97
            yield index * 60.0, min(1.0, max(0.0, rng.gauss(level, 0.08))), _A, None
            index, left = index + 1, left - 1

    return make


def one_or_less(rng: random.Random, mean: float) -> float:
    """1, or anything evenly: a score of that mean, at least .5."""
    return rng.random() if rng.random() < 2 * (1 - mean) else 1.0


def swinging(mean: Callable[[int], float], per_day: float = 2000) -> Make:
    """Scores that are 1 or anything; `mean` of the n-th."""

    def make(rng: random.Random, drop: Drop) -> Iterator[Answer]:
        index = 0
        while True:
            yield index * DAY_S / per_day, one_or_less(rng, mean(index) - drop(index)), _A, None
            index += 1

    return make


def working_week(per_day: int = 300) -> Make:
    """Five good days, two that are .03 worse."""

    def make(rng: random.Random, drop: Drop) -> Iterator[Answer]:
        index = 0
        while True:
            mean = 0.925 if index // per_day % 7 < 5 else 0.895
            yield index * DAY_S / per_day, one_or_less(rng, mean - drop(index)), _A, None
            index += 1

    return make


def two_models(per_day: int = 1000) -> Make:
    """Two models whose shares swing from 35 to 65% over the day."""

    def make(rng: random.Random, drop: Drop) -> Iterator[Answer]:
        index = 0
        while True:
            first = rng.random() < 0.5 + 0.15 * math.cos(2 * math.pi * (index / per_day - 0.1))
            value = one_or_less(rng, (0.95 if first else 0.88) - drop(index))
            yield index * DAY_S / per_day, value, ("model=first" if first else "model=second",), None
            index += 1

    return make


def slow_noise(sd: float = 0.015, length: float = 500) -> Make:
    """The mean wanders: sd .015, correlated over 500 answers."""

    def make(rng: random.Random, drop: Drop) -> Iterator[Answer]:
        keep, state, index = math.exp(-1 / length), 0.0, 0
        while True:
            state = keep * state + math.sqrt(1 - keep * keep) * rng.gauss(0, sd)
            yield index * 60.0, one_or_less(rng, min(0.99, 0.925 + state) - drop(index)), _A, None
            index += 1

    return make


def dev_answers(*, keyed: bool) -> Make:
    """The embedded judge's scores of examples/data in their order: the models' answers to one question in a row. The
    questions come in a random order, again and again."""

    def make(rng: random.Random, drop: Drop) -> Iterator[Answer]:
        index, questions = 0, _dev_questions()
        while True:
            for number in rng.sample(range(len(questions)), len(questions)):
                for model, value in questions[number]:
                    lost = drop(index) / 0.9
                    yield index * 60.0, value * (1 - lost), (f"model={model}",), number if keyed else None
                    index += 1

    return make


@cache
def _dev_questions() -> list[list[tuple[str, float]]]:
    rows = (DATA / "ragtruth_qa_dev.jsonl").read_text(encoding="utf-8").splitlines()
    found: dict[str, list[tuple[str, float]]] = {}
    for line, (model, value, _) in zip(rows, dev_scores(), strict=True):
        found.setdefault(json.loads(line)["source_id"], []).append((model, value))
    return list(found.values())


DEV = (
    Traffic(name="examples/data in order", make=dev_answers(keyed=False), worth=2),
    Traffic(name="examples/data in order, keys", make=dev_answers(keyed=True), worth=2),
)
ISSUE = (
    Traffic(name="independent, 1 or less", make=swinging(lambda at: 0.925, 1440)),
    Traffic(name="50 in a row on one document", make=clear_runs(50), worth=50),
    Traffic(name="geometric runs, mean 10", make=clear_runs(10, geometric=True), worth=20),
    Traffic(name="day and night +-.02, 2,000 a day", make=swinging(
        lambda at: 0.91 + 0.02 * math.cos(2 * math.pi * (at / 2000 - 0.1))
    )),
    Traffic(name="weekend -.03, 300 a day", make=working_week()),
    Traffic(name="two models, 35 to 65% over the day", make=two_models(), most=0.1),
    Traffic(name="slow noise, sd .015 over 500", make=slow_noise()),
)  # fmt: skip
"""The table that the requirement names."""
TUNING = (
    Traffic(name="independent", make=independent()),
    Traffic(name="independent, 0 or 1", make=two_values()),
    Traffic(name="runs of 20", make=runs(20), worth=20),
    Traffic(name="runs of 80", make=runs(80), worth=80),
    Traffic(name="geometric runs, mean 5", make=runs(5, geometric=True), worth=9),
    Traffic(name="geometric runs, mean 25", make=runs(25, geometric=True), worth=50),
    Traffic(name="runs of 60, keys", make=runs(60, keyed=True), worth=60),
    Traffic(name="popular chunks, keys", make=popular(0.4)),
    Traffic(name="AR(1) .9, sd .1", make=autoregressive(0.9), worth=4),
    Traffic(name="day +-.03, 1,000 a day", make=daily(0.03, 1000)),
    Traffic(name="day +-.015, 4,000 a day", make=daily(0.015, 4000)),
    Traffic(name="weekend -.03, 500 a day", make=weekly(0.03, 500)),
    Traffic(name="mix 25 to 60%, 1,500 a day", make=mixed(0.25, 0.60, 1500), most=0.1),
    Traffic(name="slow noise .012 over 300", make=slow(0.012, 300)),
    Traffic(name="mix shifts at 3,000", make=shifted(3000), most=0.1),
    Traffic(name="runs of 35", make=runs(35), worth=35),
    Traffic(name="runs of 120", make=runs(120), worth=120),
    Traffic(name="geometric runs, mean 12", make=runs(12, geometric=True), worth=24),
    Traffic(name="geometric runs, mean 40", make=runs(40, geometric=True), worth=80),
    Traffic(name="runs of 50, keys", make=runs(50, keyed=True), worth=50),
    Traffic(name="geometric runs, mean 10, keys", make=runs(10, geometric=True, keyed=True), worth=20),
    Traffic(name="popular chunks, keys", make=popular(0.3)),
    Traffic(name="AR(1) .8, sd .1", make=autoregressive(0.8), worth=3),
    Traffic(name="AR(1) .95, sd .08", make=autoregressive(0.95, 0.08), worth=6),
    Traffic(name="day +-.02, 1,500 a day", make=daily(0.02, 1500)),
    Traffic(name="day +-.03, 3,000 a day, quiet nights", make=daily(0.03, 3000, quiet_nights=True)),
    Traffic(name="day +-.02, 8,000 a day", make=daily(0.02, 8000)),
    Traffic(name="weekend -.03, 400 a day", make=weekly(0.03, 400)),
    Traffic(name="weekend -.04, 200 a day", make=weekly(0.04, 200)),
    Traffic(name="mix 30 to 70%, 2,000 a day", make=mixed(0.30, 0.70, 2000), most=0.1),
    Traffic(name="slow noise .015 over 800", make=slow(0.015, 800)),
    Traffic(name="mix shifts at 6,000", make=shifted(6000), most=0.1),
)
FROZEN = (
    Traffic(name="independent", make=independent(0.94)),
    Traffic(name="runs of 25", make=runs(25, bad=0.15), worth=25),
    Traffic(name="runs of 90", make=runs(90, bad=0.1), worth=90),
    Traffic(name="geometric runs, mean 18", make=runs(18, geometric=True, bad=0.15), worth=36),
    Traffic(name="runs of 30, keys", make=runs(30, keyed=True), worth=30),
    Traffic(name="AR(1) .9, sd .09", make=autoregressive(0.9, 0.09), worth=5),
    Traffic(name="day +-.025, 2,500 a day", make=daily(0.025, 2500)),
    Traffic(name="day +-.02, 6,000 a day, quiet nights", make=daily(0.02, 6000, quiet_nights=True)),
    Traffic(name="weekend -.03, 250 a day", make=weekly(0.03, 250)),
    Traffic(name="weekend -.025, 600 a day", make=weekly(0.025, 600)),
    Traffic(name="mix 35 to 75%, 1,200 a day", make=mixed(0.35, 0.75, 1200), most=0.1),
    Traffic(name="mix shifts at 4,500", make=shifted(4500, 0.25, 0.6), most=0.1),
    Traffic(name="slow noise .015 over 350", make=slow(0.015, 350)),
    Traffic(name="slow noise .012 over 1,000", make=slow(0.012, 1000)),
)
"""Never tuned on."""
DAYS = (
    Traffic(name="two dips a day of .03, 2,000 a day", make=dipping(
        lambda day: 0.03 if int(day % 1 * 24) in (9, 10, 18, 19) else 0.0, 2000
    )),
    Traffic(name="month's end -.025, 300 a day", make=dipping(lambda day: 0.025 if day % 30 >= 27 else 0.0, 300)),
    Traffic(name="nights -.03, 50 a day", make=dipping(lambda day: 0.015 * (1 - math.cos(2 * math.pi * day)), 50)),
    Traffic(name="day +-.03, 10,000 a day", make=daily(0.03, 10_000)),
    Traffic(name="weekend -.03, 2,000 a day", make=weekly(0.03, 2000)),
)  # fmt: skip
"""Shapes that the other families do not have; those of many answers a day want `--answers 50000`."""
