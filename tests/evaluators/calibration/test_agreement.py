"""Agreement with people, by hand and by simulation."""

from __future__ import annotations

import math
import random

import pytest

from rag_otel.evaluation.calibration import Labelled
from rag_otel_evaluators.calibration.agreement import agreement, auroc, calibration_z, prevalence_z


def rows(*pairs: tuple[float, bool]) -> list[Labelled]:
    return [Labelled(risk=risk, bad=bad) for risk, bad in pairs]


def test_kappa_precision_and_recall_by_hand() -> None:
    """Of 20 answers 6 are told and bad, 2 only told, 4 only bad. Chance: .5*.4 + .5*.6 = .5; kappa (.7-.5)/.5."""
    labelled = rows(*[(0.9, True)] * 6, *[(0.9, False)] * 2, *[(0.1, True)] * 4, *[(0.1, False)] * 8)
    found = agreement(labelled, threshold=0.5)
    assert found.kappa.value == pytest.approx(0.4)
    assert (found.precision.value, found.recall.value) == (0.75, 0.6)
    assert (found.labels, found.bad) == (20, 10)
    for each in (found.kappa, found.precision, found.recall, found.auroc):
        assert each.low < each.value < each.high


def test_auroc_by_hand() -> None:
    """Of the six pairs, four are in order and one is a tie; weights count pairs."""
    labelled = rows((0.9, True), (0.5, True), (0.5, False), (0.3, False), (0.7, False))
    assert auroc(labelled) == pytest.approx((3 + 1 + 0.5) / 6)
    heavy = [*labelled[:4], Labelled(risk=0.7, bad=False, weight=2.0)]
    assert auroc(heavy) == pytest.approx((4 + 1 + 0.5) / 8)


def test_what_is_not_defined_is_not_invented() -> None:
    """Only good answers, none told: no AUROC, no precision, no recall."""
    found = agreement(rows((0.1, False), (0.2, False)), threshold=0.5)
    assert all(math.isnan(each.value) for each in (found.auroc, found.precision, found.recall, found.kappa))
    assert str(found.auroc) == "-"


def test_the_interval_holds_the_truth() -> None:
    """In about 95% of draws; a share below .88 or an interval that is always right would both be wrong."""
    rng = random.Random(5)
    held = 0
    for seed in range(100):
        bad = [rng.random() < 0.4 for _ in range(120)]
        labelled = rows(*((0.9 if rng.random() < (0.8 if each else 0.3) else 0.1, each) for each in bad))
        recall = agreement(labelled, threshold=0.5, seed=seed).recall
        held += recall.low <= 0.8 <= recall.high
    assert 88 <= held <= 99


@pytest.mark.parametrize(("shift", "drifted"), [(0.0, False), (0.25, True), (-0.2, True)])
def test_a_judge_that_no_longer_means_what_it_says(shift: float, drifted: bool) -> None:
    """Labels drawn from other probabilities than the risks are noticed, in either direction."""
    rng = random.Random(7)
    risks = [rng.uniform(0.2, 0.7) for _ in range(400)]
    labelled = rows(*((risk, rng.random() < risk + shift) for risk in risks))
    assert (max(abs(calibration_z(labelled)), abs(prevalence_z(labelled))) >= 3) == drifted
