"""The review queue: what it prefers, and that figures over it are unbiased."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from rag_otel_evaluators.calibration.queue import Candidate, pick, worth


def candidates(count: int, *, seed: int = 1) -> list[Candidate]:
    """Most answers are sure, one in ten is near the threshold."""
    rng = random.Random(seed)
    return [
        Candidate(key=f"a{n}", risks=(rng.uniform(0.4, 0.6) if n % 10 == 0 else rng.uniform(0.0, 0.1),))
        for n in range(count)
    ]


def test_answers_near_the_threshold_come_first_and_a_share_is_a_coin() -> None:
    """Both kinds are in the queue, whose size is about what was asked for."""
    picked = pick(candidates(1000), count=100, threshold=0.5, coin=0.3)
    reasons = Counter(each.reason for each in picked)
    assert 70 <= len(picked) <= 130
    assert reasons["uncertain"] > 40
    assert reasons["coin"] > 10
    assert picked[0].reason == "uncertain"
    assert picked == pick(candidates(1000), count=100, threshold=0.5, coin=0.3)


def test_judges_that_disagree() -> None:
    """An answer that one judge calls fine and another bad is picked for that reason."""
    sure = [Candidate(key=f"s{n}", risks=(0.02, 0.03)) for n in range(50)]
    found = pick([*sure, Candidate(key="x", risks=(0.05, 0.75))], count=5, threshold=0.5, coin=0.1)
    assert (found[0].key, found[0].reason) == ("x", "judges disagree")


def test_a_weighted_mean_over_the_queue_is_that_of_all_answers() -> None:
    """Mean of 1 / probability estimates over 400 queues, against the truth; unweighted it would be far off."""
    every = candidates(500)
    risk = {each.key: each.risks[0] for each in every}
    truth = sum(risk.values()) / len(risk)
    weighted, plain = [], []
    for seed in range(400):
        picked = pick(every, count=60, threshold=0.5, coin=0.3, seed=seed)
        weighted.append(sum(risk[each.key] / each.probability for each in picked) / len(every))
        plain.append(sum(risk[each.key] for each in picked) / len(picked))
    assert sum(weighted) / 400 == pytest.approx(truth, rel=0.03)
    assert sum(plain) / 400 > 2 * truth


def test_more_is_asked_for_than_there_is() -> None:
    """Everything is picked, with probability 1; nothing to pick from is an empty queue."""
    few = candidates(5)
    found = pick(few, count=50, threshold=0.5, coin=0.3)
    assert {each.key for each in found} == {each.key for each in few}
    assert {each.probability for each in found} == {1.0}
    assert pick([], count=5, threshold=0.5, coin=0.3) == []


def test_probabilities_add_up_to_the_count() -> None:
    """Also where some answers are certain to be picked."""
    every = [*candidates(200), *[Candidate(key=f"u{n}", risks=(0.5,)) for n in range(3)]]
    picks = [pick(every, count=40, threshold=0.5, coin=0.2, seed=seed) for seed in range(200)]
    assert sum(map(len, picks)) / 200 == pytest.approx(40, rel=0.05)


def test_what_more_labels_are_worth() -> None:
    """Four times the labels halve the interval."""
    assert worth(labels=100, low=0.7, high=0.9, more=300) == pytest.approx((0.1, 0.05))
