"""Drops: how soon a sharp one is told, that a second one stands for itself, and what is learned of one that is new."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable
from dataclasses import replace

import pytest

from rag_otel.drift.family import Family, FamilySettings
from rag_otel.drift.observation import ALL, Observation
from testkit.drift_scores import scores, seen, told


def noisy(mean: Callable[[int], float], count: int, seed: int, *, keys: bool = True) -> list[Observation]:
    """Independent scores around that mean; with `keys`, every answer is known to be about documents of its own."""
    rng = random.Random(seed)
    values = (min(1.0, max(0.0, rng.gauss(mean(index), 0.05 if mean(index) > 0.9 else 0.15))) for index in range(count))
    return [replace(seen(index, value), cluster=index if keys else None) for index, value in enumerate(values)]


@pytest.mark.parametrize(("baseline", "at"), [(500, 700), (500, 1900), (100, 150)])
@pytest.mark.parametrize(("low", "within"), [(0.8, 40), (0.7, 22), (0.5, 22), (0.3, 22)])
def test_a_sharp_drop_is_told_at_once(baseline: int, at: int, low: float, within: int) -> None:
    """The lower the sooner: within 22 answers (40 of a drop of .15) in the median of nine streams, and 110 in all."""
    delays = []
    for seed in range(9):
        family = Family(FamilySettings(baseline_count=baseline, dimensions=()))
        events = told(family, noisy(lambda index: 0.95 if index < at else low, at + 150, seed))
        assert events, seed
        delays.append(events[0][0] - at + 1)
    assert min(delays) > 0
    assert statistics.median(delays) <= within
    assert max(delays) <= 110


def test_without_keys_a_sharp_drop_is_told_when_it_lasts_longer_than_a_run() -> None:
    """A run that was never seen would look the same: 110 answers tell them apart, however many came before."""
    for at in (700, 1900):
        values = noisy(lambda index, at=at: 0.95 if index < at else 0.3, at + 200, 1, keys=False)
        ((index, _),) = told(Family(FamilySettings(dimensions=())), values)
        assert at + 60 <= index <= at + 125


def test_a_second_drop_is_dated_to_itself() -> None:
    """.925, .775 for 1,500 answers, .925, and .775 again: what was before the second drop is what came after the first
    one, and nothing fell further."""
    for seed in range(4):
        low = lambda index: 3000 <= index < 4500 or index >= 6500  # noqa: E731
        rng, values = random.Random(seed), []
        for index in range(7000):
            score = 1.0 if rng.random() < 1 - 2 * (0.225 if low(index) else 0.075) else rng.random()
            values.append(replace(seen(index, score), cluster=index))
        second = [event for index, event in told(Family(FamilySettings(dimensions=())), values) if index >= 6500]
        assert [(event.resolved, event.deeper) for event in second] == [(False, False)]
        assert second[0].since_s >= values[6300].time_s
        assert second[0].before is not None
        assert abs(second[0].before - 0.925) < 0.02


def test_a_drop_that_is_not_told_yet_is_not_learned_as_normal() -> None:
    """With a baseline of 80 answers, a worse model from the 110th on: no baseline is learned from its answers."""
    for seed in range(10):
        rng, family = random.Random(seed), Family(FamilySettings(baseline_count=80, dimensions=()))
        for index in range(195):
            usual, good = (0.95, 0.85) if index < 110 else (0.9, 0.45)
            score = usual if rng.random() < good else rng.uniform(0.3 if index < 110 else 0.2, 0.8)
            family.observe(replace(seen(index, score), cluster=index))
        baseline = family[("faithfulness.score", ALL)].baseline
        assert baseline is not None
        assert baseline.count == 80, seed


@pytest.mark.parametrize("size", [0.05, 0.1])
def test_a_drop_that_lasts_is_not_told_to_be_over(size: float) -> None:
    """5,000 answers at the lower mean, in six streams: two wrong ends at most (of .05, five without its own rule)."""
    ends = 0
    for seed in range(6):
        rng, values = random.Random(f"{size} {seed}"), []
        for index in range(7500):
            lost = 0.075 + (size if index >= 2500 else 0.0)
            score = 1.0 if rng.random() >= 2 * lost else rng.random()
            values.append(replace(seen(index, score, risk=score if score == 1.0 else score**2), cluster=index))
        ends += sum(event.resolved for _, event in told(Family(FamilySettings(dimensions=())), values))
    assert ends <= 2


def test_a_drop_is_told_though_the_answers_of_a_killed_worker_are_missing() -> None:
    """200 independent answers of which a few long blocks are alike by chance: a drop of .20 is told all the same."""
    good, bad = scores(0.92, 7), scores(0.72, 8)
    values = [seen(index, next(good if index < 300 else bad)) for index in range(600)]
    left = [each for index, each in enumerate(values) if index % 3 != 1 or index < 6 or index > 335]
    ((index, event),) = told(Family(FamilySettings(baseline_count=200)), left)
    assert left[index].time_s < values[370].time_s
    assert not event.resolved
