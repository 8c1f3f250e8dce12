"""Which answers are bad, and how rules are written."""

from __future__ import annotations

from typing import Any

import pytest

from rag_otel.alert import AlertSeverity
from rag_otel.alerts.messages.examples import Examples
from rag_otel.alerts.rules import AlertRules, AnswerQuality, AppliedRules, parse_rule
from rag_otel.errors import ConfigurationError
from rag_otel.model import Verdict
from tests.support.results import CLAIMS, a_claim, a_result, an_evaluation

SUPPORTED = CLAIMS[:1]
GOOD, BETWEEN, BAD = AnswerQuality.GOOD, AnswerQuality.BETWEEN, AnswerQuality.BAD


def judged(rules: list[str], *evaluations: Any) -> list[AppliedRules]:
    """What these rules say of one result."""
    return AlertRules([parse_rule(rule) for rule in rules], Examples()).judge(a_result(*evaluations))


@pytest.mark.parametrize(
    ("rule", "changes", "finding"),
    [
        ("unfaithful", {}, BAD),
        ("unfaithful", {"label": "faithful", "score": 0.0, "risk": 1.0}, GOOD),
        ("unfaithful", {"label": None, "score": 0.0}, None),
        ("contradicted", {}, BAD),
        ("contradicted", {"claims": SUPPORTED}, GOOD),
        ("contradicted", {"claims": (a_claim(0, 26, Verdict.NOT_ENOUGH_INFO),)}, GOOD),
        ("contradicted", {"claims": (a_claim(0, 26, Verdict.UNJUDGED),)}, None),
        ("contradicted", {"claims": ()}, None),
        ("score<0.5", {"score": 0.49}, BAD),
        ("score<0.5", {"score": 0.5}, GOOD),
        ("score<=0.5", {"score": 0.5}, BAD),
        ("score<0.5", {"score": None}, None),
        ("score<0.5 until 0.7", {"score": 0.69}, BETWEEN),
        ("score<0.5 until 0.7", {"score": 0.7}, GOOD),
        ("risk>0.9", {"risk": 0.91}, BAD),
        ("risk>0.9", {"risk": 0.9}, GOOD),
        ("risk>=.9", {"risk": 0.9}, BAD),
        ("risk > 0.9 until 0.6", {"risk": 0.61}, BETWEEN),
        ("risk > 0.9 until 0.6", {"risk": 0.6}, GOOD),
        ("risk>=1", {"risk": 1.0}, BAD),
        ("score<=0", {"score": 0.0}, BAD),
        ("context_recall.score<0.5", {"score": 0.1}, None),
        ("context_recall.score<0.5", {"name": "context_recall", "score": 0.1}, BAD),
        ("score<0.5", {"name": "noise_sensitivity", "score": 0.1}, None),
        ("noise_sensitivity.score>0.5", {"name": "noise_sensitivity", "score": 0.6}, BAD),
        ("noise_sensitivity.score>0.5 until 0.3", {"name": "noise_sensitivity", "score": 0.4}, BETWEEN),
        ("noise_sensitivity.score>0.5", {"name": "noise_sensitivity", "score": 0.1}, GOOD),
    ],
)
def test_each_rule_has_an_opinion_of_what_it_is_about(
    rule: str, changes: dict[str, Any], finding: AnswerQuality
) -> None:
    """Bad, good, in between, or nothing to go by: an unknown number is never bad and never good."""
    assert parse_rule(rule).judge(an_evaluation(**changes)) is finding


def test_of_several_broken_rules_the_most_severe_then_the_first_speaks() -> None:
    """One answer, one alert."""
    (judgement,) = judged(["unfaithful", "contradicted", "risk>0.9 critical"])
    assert judgement.alert is not None
    assert (judgement.alert.name, judgement.alert.severity) == ("high_risk", AlertSeverity.CRITICAL)
    (judgement,) = judged(["contradicted", "unfaithful"])
    assert judgement.alert is not None
    assert judgement.alert.name == "contradicted_claim"


def test_what_one_rule_calls_bad_is_bad() -> None:
    """A rule that is content does not end the problem of another."""
    (judgement,) = judged(["risk>0.99", "score<0.2 until 0.5"])
    assert (judgement.finding, judgement.alert) == (BETWEEN, None)


def test_metrics_are_judged_apart() -> None:
    """Each has a fingerprint of its own."""
    recall = an_evaluation(name="context_recall", label=None, score=0.2)
    found = judged(["score<0.5"], an_evaluation(score=0.9), recall)
    assert [(judgement.fingerprint, judgement.finding) for judgement in found] == [
        ("observatory/faithfulness/answer", GOOD),
        ("observatory/context_recall/answer", BAD),
    ]


@pytest.mark.parametrize(
    "text",
    ["", "unfaithfull", "score>0.5", "risk<0.5", "score<2", "score<0.5 until 0.4", "risk>0.5 until 0.6", "score<nan"],
)
def test_a_rule_that_makes_no_sense_is_refused_at_start_up(text: str) -> None:
    """With what was written, and what could have been."""
    with pytest.raises(ConfigurationError, match="alert_rules"):
        parse_rule(text)
