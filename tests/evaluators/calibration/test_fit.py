"""Calibrations fitted to labels: they find what distorted the risks, and help on labels that they did not see."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path

import pytest

from rag_otel.errors import InputError
from rag_otel.evaluation.calibration import (
    Calibration,
    Labelled,
    logit,
    read_calibrations,
    sigmoid,
    write_calibrations,
)
from rag_otel_evaluators.calibration.fit import fit, held_out, log_loss, threshold_of


def answers(count: int, *, slope: float = 1.0, intercept: float = 0.0, seed: int = 1) -> list[Labelled]:
    """Labels drawn from true risks, and what a judge says that distorts these risks on the logit scale."""
    rng = random.Random(seed)
    true = [rng.betavariate(1, 2) for _ in range(count)]
    return [Labelled(risk=sigmoid((logit(p) - intercept) / slope), bad=rng.random() < p) for p in true]


def fitted(labelled: list[Labelled]) -> tuple[float, float]:
    found = fit(labelled, metric="faithfulness", judge="j", threshold=0.5)
    return found.slope, found.intercept


@pytest.mark.parametrize(("slope", "intercept"), [(1.0, 0.0), (0.3, -1.0), (2.5, 0.8)])
def test_it_finds_the_distortion(slope: float, intercept: float) -> None:
    """An overconfident judge (slope below 1), one that sees risk everywhere, and one that is right already."""
    found = fitted(answers(20_000, slope=slope, intercept=intercept))
    assert found == pytest.approx((slope, intercept), abs=0.1)


def test_a_wrong_judge_is_mended_and_a_right_one_left_alone() -> None:
    """Measured on labels that the fit did not use."""
    wrong = held_out(answers(2_000, slope=0.2, intercept=-1.5))
    assert wrong.after < 0.8 * wrong.before
    right = held_out(answers(2_000))
    assert right.after == pytest.approx(right.before, abs=0.005)


def test_answers_to_one_question_are_held_out_together() -> None:
    """Ten answers to each of 12 questions, all good or all bad, and a risk that is the question's own: to know some
    answers to a question is to know the others, so that only whole questions tell what a fit is worth."""
    rng = random.Random(5)
    questions = [(f"q{n}", rng.random(), n % 2 == 0) for n in range(12)]
    labelled = [Labelled(risk=risk, bad=bad, question=name) for name, risk, bad in questions for _ in range(10)]
    apart = [replace(each, question=None) for each in labelled]
    assert held_out(labelled).after > held_out(apart).after + 0.02
    assert held_out([replace(each, question="one") for each in labelled]) == held_out(apart)


def test_a_judge_that_is_the_wrong_way_round() -> None:
    """Its risks are turned round: the slope is negative."""
    turned = [Labelled(risk=1 - each.risk, bad=each.bad) for each in answers(5_000)]
    slope, _ = fitted(turned)
    assert slope == pytest.approx(-1.0, abs=0.1)


def test_risks_that_separate_the_labels_stay_finite() -> None:
    """Risks of exactly 0 and 1 too: a few labels never justify certainty."""
    separated = [Labelled(risk=float(n < 15), bad=n < 15) for n in range(30)]
    found = fit(separated, metric="faithfulness", judge="j", threshold=0.5)
    assert 0.8 < found.risk(1.0) < 1.0
    assert 0.0 < found.risk(0.0) < 0.2


def test_weights_undo_how_labels_were_picked() -> None:
    """Where suspicious answers are labelled ten times as often, the weighted fit is that of all answers."""
    rng = random.Random(3)
    every = answers(60_000, slope=0.7, intercept=-0.5)
    picked = [
        Labelled(risk=each.risk, bad=each.bad, weight=1 / share)
        for each in every
        if rng.random() < (share := 0.5 if each.risk > 0.6 else 0.05)
    ]
    assert fitted(picked) == pytest.approx((0.7, -0.5), abs=0.15)


def test_too_few_labels_of_a_kind() -> None:
    """The message counts them."""
    labelled = [Labelled(risk=0.5, bad=n < 3) for n in range(50)]
    with pytest.raises(InputError, match="3 labels say bad and 47 good; a fit needs 10 of each"):
        fit(labelled, metric="faithfulness", judge="j", threshold=0.5)


def test_the_threshold_follows_the_costs() -> None:
    """A miss that costs nine false alarms is told from a risk of 0.1 on."""
    assert threshold_of(cost_miss=9, cost_false_alarm=1) == pytest.approx(0.1)
    assert threshold_of(cost_miss=1, cost_false_alarm=1) == 0.5
    for costs in ((0, 1), (1, -1), (math.inf, 1)):
        with pytest.raises(InputError, match="above 0"):
            threshold_of(cost_miss=costs[0], cost_false_alarm=costs[1])


def test_log_loss_by_hand() -> None:
    """-ln of the probability of what happened."""
    assert log_loss(0.8, bad=True) == pytest.approx(-math.log(0.8))
    assert log_loss(0.8, bad=False) == pytest.approx(-math.log(0.2))
    assert log_loss(1.0, bad=False) == pytest.approx(-math.log(1e-4))


def bent(count: int, seed: int = 0) -> list[Labelled]:
    """A judge that says nearly 0 or nearly 1 whatever it knows: 30% of those in the middle are bad, whichever half."""
    chance = random.Random(seed)
    risks = [chance.choice([0.01, 0.03, 0.2, 0.4, 0.6, 0.8, 0.97, 0.99]) for _ in range(count)]
    return [Labelled(risk=risk, bad=chance.random() < (0.3 if 0.1 < risk < 0.9 else round(risk))) for risk in risks]


def test_many_labels_give_a_curve() -> None:
    """Where the judge is bent the curve follows, and it beats slope and intercept on labels that it did not see."""
    labelled = bent(2_000)
    made = fit(labelled, metric="faithfulness", judge="j", threshold=0.5)
    assert made.knots
    assert made.risk(0.4) == pytest.approx(0.3, abs=0.06)
    assert made.risk(0.2) == pytest.approx(0.3, abs=0.06)
    assert made.risk(0.99) > 0.9
    risks = [made.risk(step / 100) for step in range(101)]
    assert risks == sorted(risks)
    assert [made.judged(made.risk(step / 100)) for step in range(1, 100)] == pytest.approx(
        [step / 100 for step in range(1, 100)]
    )
    straight = fit(labelled[:999], metric="faithfulness", judge="j", threshold=0.5)
    assert not straight.knots
    fresh = bent(2_000, seed=1)

    def loss(calibration: Calibration) -> float:
        return sum(log_loss(calibration.risk(each.risk), bad=each.bad) for each in fresh) / len(fresh)

    assert loss(made) < loss(straight) < sum(log_loss(each.risk, bad=each.bad) for each in fresh) / len(fresh)
    assert held_out(labelled).after < 0.8 * held_out(labelled).before
    assert not fit(answers(2_000, slope=0.5), metric="faithfulness", judge="j", threshold=0.5).knots


def test_a_curve_is_written_and_read(tmp_path: Path) -> None:
    """With all its points; another curve has another mark."""
    made = [fit(bent(1_500, seed), metric="faithfulness", judge=f"j{seed}", threshold=0.5) for seed in (0, 1)]
    write_calibrations(tmp_path / "c.json", made)
    assert read_calibrations(tmp_path / "c.json").all == tuple(made)
    assert made[0].mark != made[1].mark
