"""What answers are worth that depend on each other, and how far a mean wanders while nothing is wrong."""

from __future__ import annotations

import itertools
import json
import math
import random
import statistics

import pytest

from rag_otel.drift.baseline import Baseline
from rag_otel.drift.dependence import dependence
from rag_otel.drift.learner import Learner
from rag_otel.drift.records import from_record, to_record
from rag_otel.drift.runs import Blocks, Runs
from testkit.drift_scores import START_S, scores

HOUR_S = 3600.0


def learned(values: list[float], *, step_s: float = 60.0) -> Baseline:
    """A baseline from these values."""
    learner = Learner(len(values))
    for index, value in enumerate(values):
        learner.add(START_S + step_s * index, value, 1.0, index)
    return learner.learn(sure=2.5)


def runs(length: int, count: int, seed: int) -> list[float]:
    """Answers on one document after the other; some documents are hard."""
    rng = random.Random(seed)
    values: list[float] = []
    while len(values) < count:
        level = 0.5 if rng.random() < 0.15 else 0.95
        values += [min(1.0, max(0.0, rng.gauss(level, 0.05))) for _ in range(length)]
    return values[:count]


def test_independent_answers_are_worth_themselves() -> None:
    """One is one observation, and mostly no stretch is worse than chance explains."""
    found = [learned(list(itertools.islice(scores(0.9, seed), 2000))) for seed in range(7)]
    assert all(baseline.block <= 2 for baseline in found)
    assert all(baseline.worth > 1700 for baseline in found)
    assert statistics.median(baseline.wander for baseline in found) == 0.0


def test_few_independent_answers_are_not_taken_for_long_runs() -> None:
    """Of 200 there are few long blocks, and some are alike by chance."""
    for seed in range(300):
        values = list(itertools.islice(scores(0.92, seed), 200))
        mean = sum(values) / len(values)
        assert dependence([value - mean for value in values]).block <= 8, seed


@pytest.mark.parametrize("length", [10, 40])
def test_runs_are_worth_their_number(length: int) -> None:
    """2,000 answers in runs are worth about as many as there are runs, and the bound is as much lower."""
    baseline = learned(runs(length, 2000, 3))
    assert baseline.block >= length / 2
    assert 1000 / length < baseline.worth < 4000 / length
    independent = learned(random.Random(1).sample(runs(length, 2000, 3), 2000))
    assert baseline.mean - baseline.lower > 1.5 * (independent.mean - independent.lower)
    assert any("worth" in each for each in baseline.unknown)


def test_two_runs_that_alternate_are_found() -> None:
    """Neighbours have nothing in common, every other answer has."""
    pairs = zip(runs(40, 1000, 1), runs(40, 1000, 2), strict=True)
    values = [value for pair in pairs for value in pair]
    mean = sum(values) / len(values)
    assert dependence([value - mean for value in values]).block >= 16


def test_the_worst_hour_is_normal() -> None:
    """A night that is .04 worse, for three days: the floor lies below it, and what was not seen is said."""
    rng = random.Random(4)
    values = []
    for index in range(3000):
        mean = 0.9 + 0.04 * math.cos(2 * math.pi * index / 1000)
        values.append(1.0 if rng.random() < (mean - 0.6) / 0.4 else rng.choice((0.5, 0.6, 0.7)))
    baseline = learned(values, step_s=86.4)
    assert 0.03 < baseline.wander < 0.08
    assert baseline.floor < 0.87
    assert baseline.unknown == ("less than a week was seen",)


def test_weak_dependence_over_long_is_found() -> None:
    """A mean that wanders over 20 answers, which neighbours hardly show: what answers are worth is a fraction."""
    for seed in range(3):
        rng, state, values = random.Random(seed), 0.0, []
        for _ in range(2000):
            state = 0.95 * state + 0.04 * rng.gauss(0, 1)
            values.append(1.0 if rng.random() < min(0.98, 0.8 + state) else 0.4)
        assert learned(values).worth < 1200


def test_a_run_is_one_unit() -> None:
    """Its mean; a key that comes again later is another run, and no run goes on for ever or over a long pause."""
    units = Runs()
    assert units.add(0.0, 1.0, 1.0, 7) is None
    assert units.add(1.0, 0.5, 1.0, 7) is None
    assert units.add(2.0, 1.0, 1.0, 8) == (0.75, 1.0, 2)
    assert units.add(3.0, 1.0, 1.0, 7) == (1.0, 1.0, 1)
    assert units.add(3.0 + 2 * HOUR_S, 1.0, 1.0, 7) is not None
    ended = [units.add(3.0 + 2 * HOUR_S, 1.0, 1.0, 7) for _ in range(200)]
    assert sum(each is not None for each in ended) == 3
    assert to_record(from_record(json.loads(json.dumps(to_record(units))), Runs)) == to_record(units)


def test_blocks_are_means() -> None:
    """Of as many units as they have."""
    blocks = Blocks(4)
    given = [blocks.add(value, 1.0) for value in (1.0, 0.0, 1.0, 0.5, 1.0)]
    assert given == [None, None, None, (0.625, 1.0), None]
    assert to_record(from_record(to_record(blocks), Blocks)) == to_record(blocks)
