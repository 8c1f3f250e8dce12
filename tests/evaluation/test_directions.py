"""A metric that is better when it is lower: what falls is good, in drift, objectives, exports and calibration."""

from __future__ import annotations

from rag_otel.alert import Alert
from rag_otel.alerts.digest import badness
from rag_otel.drift.observation import falls, observation, shown
from rag_otel.evaluation.calibration import risk_of
from tests.support.results import a_result, an_evaluation

NOISE = "noise_sensitivity"
SERIES = f"{NOISE}.score"
LITTLE_NOISE = an_evaluation(name=NOISE, score=0.1, risk=None, label=None, claims=())


def test_drift_watches_a_rise() -> None:
    """The values that are watched are better when they are higher; people see the score as it is."""
    seen = observation(a_result(LITTLE_NOISE), ())
    assert seen is not None
    values = dict(seen.values)
    assert values[SERIES] == 0.9
    assert not falls(SERIES)
    assert shown(SERIES, values[SERIES]) == 1.0 - 0.9
    assert falls("faithfulness.score")
    assert shown("faithfulness.score", 0.9) == 0.9


def test_the_worst_alert_and_the_risk_go_by_the_direction() -> None:
    """A high score of noise is a bad one."""
    little, much = (Alert(name="high_score", fingerprint="f", metric=NOISE, score=score) for score in (0.1, 0.8))
    assert max(little, much, key=badness) is much
    assert risk_of(LITTLE_NOISE) == 1.0 - 0.9
