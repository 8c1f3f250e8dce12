"""Payoffs are fair, never negative, and a baseline's lower bound holds."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_otel.drift.bets import _predictable_caps, lower_bound, tuned_bets
from rag_otel.drift.detector import DropDetector
from rag_otel.drift.learner import DEFAULT_ERROR, ERRORS, ERRORS_OF_FEW, STAGES, BaselineLearner

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
    """Over 200 seeded baselines, wrong in fewer than the promised tenth, and not absurdly low."""
    rng = random.Random(7)
    wrong, gaps = 0, []
    for _ in range(200):
        learner = BaselineLearner(300)
        while True:
            value = 1.0 if rng.random() < 0.75 else 0.6
            probability = 1.0 if value < 1.0 or least == 1.0 else least
            if rng.random() < probability and learner.add(0.0, value, 1.0 / probability):
                break
        baseline = learner.learn(error=0.1)
        wrong += baseline.lower > 0.9
        gaps.append(0.9 - baseline.lower)
        assert baseline.lower <= baseline.mean
    assert wrong <= 20
    assert 0.0 < sum(gaps) / len(gaps) < 0.05


@pytest.mark.parametrize("rare", [1.0, 0.3])
def test_the_bound_is_a_theorem(rare: float) -> None:
    """Over every sequence of seven picked traces, bad ones picked more often: the bound is above the mean with a
    smaller chance than promised."""
    population = [(1.0, 0.6, rare), (0.3, 0.3, 1.0), (0.0, 0.1, min(1.0, 2 * rare))]
    mean = sum(value * share for value, share, _ in population)
    picked = sum(share * probability for _, share, probability in population)
    for error in (0.1, 0.3):
        wrong = 0.0
        for sequence in itertools.product(population, repeat=7):
            values, weights = [value for value, *_ in sequence], [1.0 / chance for *_, chance in sequence]
            if lower_bound(values, weights, error=error, least_probability=rare) > mean:
                wrong += math.prod(share * chance / picked for _, share, chance in sequence)
        assert wrong <= error


def test_a_bet_does_not_know_what_comes() -> None:
    """A weight beyond the promise lowers the cap of later bets, never of its own or of those before."""
    light, heavy = [1.0] * 6, [1.0, 1.0, 1.0, 8.0, 1.0, 1.0]
    assert _predictable_caps(heavy, 1.0)[:4] == _predictable_caps(light, 1.0)[:4]
    assert _predictable_caps(heavy, 1.0)[4] < _predictable_caps(light, 1.0)[4]


@pytest.mark.parametrize("errors", [ERRORS, ERRORS_OF_FEW])
def test_each_division_of_the_error_is_whole(errors: tuple[float, ...]) -> None:
    """All stages have a share, and they leave a tenth for what is learned between them."""
    assert len(errors) == len(STAGES)
    assert min(errors) > 0.0
    assert sum(errors) == pytest.approx(0.9)


def test_all_bounds_hold_together() -> None:
    """The shares of the error of all stages, and of what is learned between them, sum up to one at most; and of 60
    streams with six series each few have a bound that is too high."""
    learner, shares = BaselineLearner(8), []
    for index in range(100):
        if learner.add(0.0, 0.9, 1.0, index) and not shares:
            learner.learn_again()
        while learner.due and learner.stage < len(STAGES):
            shares.append(learner.error_share)
            if not learner.advance():
                break
            if len(shares) % 2:
                learner.learn_again()
        if learner.stage >= len(STAGES):
            break
    assert len(shares) > len(STAGES)
    assert sum(shares) <= 1.0
    rng, wrong = random.Random(5), 0
    for _ in range(60):
        wrong += any(
            lower_bound([rng.random() ** 0.2 for _ in range(200)], [1.0] * 200, error=DEFAULT_ERROR * share) > 5 / 6
            for share in (0.375, 0.125, 0.2625, 0.0875, 0.1125, 0.0375)
        )
    assert wrong <= 60 * DEFAULT_ERROR


@given(st.lists(st.tuples(shares, st.floats(1.0, 100.0)), min_size=1, max_size=40))
def test_a_bound_lies_between_0_and_the_largest_value(pairs: list[tuple[float, float]]) -> None:
    """Any values, any weights: a number, never above what was seen."""
    values, weights = zip(*pairs, strict=True)
    assert 0.0 <= lower_bound(values, weights, error=0.1) <= max(values) + 1e-6


def test_more_confidence_is_a_lower_bound() -> None:
    """An error of 1% costs more room than one of 10%."""
    values = [1.0, 0.8, 0.9, 1.0, 0.5] * 40
    ones = [1.0] * len(values)
    assert lower_bound(values, ones, error=0.01) < lower_bound(values, ones, error=0.1) < sum(values) / len(values)
