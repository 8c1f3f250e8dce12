"""Payoffs are fair, never negative, and a baseline's lower bound holds."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_otel.drift.detector import DropDetector, tuned_bets
from rag_otel.drift.learner import Learner

shares = st.floats(0.0, 1.0)


@settings(deadline=None)
@given(
    floor=shares,
    value=shares,
    least=st.floats(0.001, 1.0),
    moment=st.floats(0.0, 1e4),
    weight=st.floats(1.0, 1000.0),
    data=st.data(),
)
def test_no_payoff_is_negative(
    floor: float, value: float, least: float, moment: float, weight: float, data: st.DataObject
) -> None:
    """Whatever the value and its probability, no bet loses more than all."""
    probability = data.draw(st.floats(least, 1.0))
    bets = tuned_bets(floor, mean_weight=weight, second_moment=max(moment, 1e-9), least_probability=least)
    assert all(bet >= 0.0 for bet in bets)
    assert all(1.0 + bet * (floor - value) / probability >= 0.0 for bet in bets)


@settings(deadline=None)
@given(good=st.floats(0.05, 0.95), suspicious=st.floats(0.05, 0.95), rare=st.floats(0.01, 1.0))
def test_money_grows_no_faster_than_values_come(good: float, suspicious: float, rare: float) -> None:
    """Over every sequence of six picked traces the expected money is at most six while the mean is at the floor,
    however oddly traces are picked: bad ones are suspicious, suspicious ones always picked, others seldom."""
    population = [
        (1.0, good, rare),
        (0.2, (1 - good) * suspicious, 1.0),
        (0.5, (1 - good) * (1 - suspicious), rare),
    ]
    mean = sum(value * share for value, share, _ in population)
    picked = sum(share * probability for _, share, probability in population)
    expected = 0.0
    for sequence in itertools.product(population, repeat=6):
        detector = DropDetector(mean, threshold=1e12, second_moment=0.05, least_probability=rare)
        chance = 1.0
        for value, share, probability in sequence:
            detector.observe(value, probability)
            chance *= share * probability / picked
        expected += chance * detector.money
    assert expected <= 6.0 + 1e-9
    assert expected >= 1.0


def test_a_naive_detector_would_not_be_fair() -> None:
    """The same picks without their probabilities: the money explodes, which the weights prevent."""
    rng = random.Random(3)
    naive = DropDetector(0.885, threshold=1e4, second_moment=0.05)
    weighted = DropDetector(0.885, threshold=1e4, second_moment=0.5, mean_weight=5.0, least_probability=0.1)
    alarms = [0, 0]
    for _ in range(3000):
        value = 1.0 if rng.random() < 0.7125 else 0.6
        probability = 1.0 if value < 1.0 and rng.random() < 0.7 else 0.1
        if rng.random() < probability:
            for number, (detector, given) in enumerate(((naive, 1.0), (weighted, probability))):
                if detector.observe(value, given):
                    alarms[number] += 1
                    detector.restart()
    assert alarms[0] > 5
    assert alarms[1] == 0


@pytest.mark.parametrize("least", [1.0, 0.1])
def test_the_lower_bound_is_seldom_above_the_mean(least: float) -> None:
    """Over 200 seeded baselines: two standard errors are too few in hardly any, and not absurdly many."""
    rng = random.Random(7)
    wrong, gaps = 0, []
    for _ in range(200):
        learner = Learner(300)
        while True:
            value = 1.0 if rng.random() < 0.75 else 0.6
            probability = 1.0 if value < 1.0 or least == 1.0 else least
            if rng.random() < probability and learner.add(0.0, value, 1.0 / probability):
                break
        baseline = learner.learn(sure=2.0)
        wrong += baseline.lower > 0.9
        gaps.append(0.9 - baseline.lower)
        assert baseline.lower <= baseline.mean
    assert wrong <= 20
    assert 0.0 < sum(gaps) / len(gaps) < 0.05
