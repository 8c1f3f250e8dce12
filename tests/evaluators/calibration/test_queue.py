"""The review queue: what it prefers, and that figures over it are unbiased."""

from __future__ import annotations

import dataclasses
import math
import random
from collections import Counter

import pytest

from rag_otel.evaluation.calibration import Labelled
from rag_otel_evaluators.calibration.agreement import auroc
from rag_otel_evaluators.calibration.queue import Candidate, pick, worth


def candidates(count: int, *, seed: int = 1) -> list[Candidate]:
    """Most answers are sure, one in ten is near the middle."""
    rng = random.Random(seed)
    return [
        Candidate(key=f"a{n}", risks=(rng.uniform(0.4, 0.6) if n % 10 == 0 else rng.uniform(0.0, 0.1),))
        for n in range(count)
    ]


def test_telling_answers_come_first_and_a_share_is_a_coin() -> None:
    """Both kinds are in the queue, whose size is what was asked for."""
    picked = pick(candidates(1000), count=100)
    reasons = Counter(each.reason for each in picked)
    assert len(picked) == 100
    assert reasons["telling"] > 10
    assert reasons["coin"] > 10
    assert picked[0].reason == "telling"
    assert picked == pick(candidates(1000), count=100)
    assert {each.key for each in picked} == {each.key for each in pick(candidates(1000)[::-1], count=100)}


def test_the_queue_tells_more_than_as_many_answers_picked_at_random() -> None:
    """AUROC and the share of unfaithful answers, over 400 queues of 40 out of 200: both errors are smaller. Where the
    risks say nothing of the labels, they are larger by a tenth at most."""
    rng = random.Random(3)
    risks = [rng.betavariate(1, 5) for _ in range(200)]
    for says, most in ((True, 1.0), (False, 1.1)):
        every = [Labelled(risk=risk, bad=rng.random() < (risk if says else 0.17)) for risk in risks]
        named = {str(n): each for n, each in enumerate(every)}
        share = sum(each.bad for each in every) / len(every)
        ours, at_random = [], []
        for seed in range(400):
            picked = pick([Candidate(key=n, risks=(each.risk,)) for n, each in named.items()], count=40, seed=seed)
            labelled = [dataclasses.replace(named[each.key], weight=1 / each.probability) for each in picked]
            for errors, found in ((ours, labelled), (at_random, random.Random(seed).sample(every, 40))):
                estimate = sum(each.weight for each in found if each.bad) / sum(each.weight for each in found)
                area = auroc(found)
                errors.append(((0.0 if math.isnan(area) else area - auroc(every)) ** 2, (estimate - share) ** 2))
        for figure in (0, 1):
            error, other = (math.sqrt(sum(each[figure] for each in which) / 400) for which in (ours, at_random))
            assert error < most * other, (says, figure, error, other)


def test_judges_that_disagree() -> None:
    """An answer that one judge calls fine and another bad is several times as likely to be picked, for that reason."""
    every = [*(Candidate(key=f"s{n}", risks=(0.02, 0.03)) for n in range(50)), Candidate(key="x", risks=(0.05, 0.75))]
    picks = [{each.key: each for each in pick(every, count=5, coin=0.1, seed=seed)} for seed in range(100)]
    found = [picked for picked in picks if "x" in picked]
    assert {picked["x"].reason for picked in found} == {"judges disagree"}
    assert all(
        picked["x"].probability > 3 * each.probability for picked in found for k, each in picked.items() if k != "x"
    )
    assert len(found) > 30


def test_a_weighted_mean_over_the_queue_is_that_of_all_answers() -> None:
    """Mean of 1 / probability estimates over 400 queues, against the truth; unweighted it would be far off."""
    every = candidates(500)
    risk = {each.key: each.risks[0] for each in every}
    truth = sum(risk.values()) / len(risk)
    weighted, plain = [], []
    for seed in range(400):
        picked = pick(every, count=60, coin=0.3, seed=seed)
        weighted.append(sum(risk[each.key] / each.probability for each in picked) / len(every))
        plain.append(sum(risk[each.key] for each in picked) / len(picked))
    assert sum(weighted) / 400 == pytest.approx(truth, rel=0.03)
    assert sum(plain) / 400 > 1.3 * truth


def test_more_is_asked_for_than_there_is() -> None:
    """Everything is picked, with probability 1; nothing to pick from is an empty queue."""
    few = candidates(5)
    found = pick(few, count=50, coin=0.3)
    assert {each.key for each in found} == {each.key for each in few}
    assert {each.probability for each in found} == {1.0}
    assert pick([], count=5, coin=0.3) == []


def test_an_answer_is_picked_as_often_as_its_probability_says() -> None:
    """And always as many as asked for."""
    every = candidates(30)
    times: Counter[str] = Counter()
    for seed in range(2_000):
        picked = pick(every, count=8, coin=0.3, seed=seed)
        assert len(picked) == 8
        times.update(each.key for each in picked)
        probabilities = {each.key: each.probability for each in picked}
        for key, probability in probabilities.items():
            assert 0 < probability < 1
            if seed == 1_999:
                assert times[key] / 2_000 == pytest.approx(probability, abs=0.045)


def test_what_more_labels_are_worth() -> None:
    """Four times the labels halve the interval."""
    assert worth(labels=100, low=0.7, high=0.9, more=300) == pytest.approx((0.1, 0.05))
