"""The per-trace rules: which single answers raise an alert.

A rule is one line: the condition, the threshold at which an answer counts as good again, the severity.

    unfaithful                              the label of any metric
    contradicted                            a claim that the chunks contradict
    risk>0.9                                any metric's risk above 0.9
    faithfulness.score<0.5 until 0.7        one metric; a score between 0.5 and 0.7 neither raises nor resolves
    risk>=0.97 critical                     sent even in quiet hours
"""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Sequence
from typing import Final

from rag_otel.alert import Alert, AlertSeverity
from rag_otel.alerts.messages.examples import Examples
from rag_otel.alerts.precision import AnswerPrecision
from rag_otel.errors import ConfigurationError
from rag_otel.evaluation.directions import lower_is_better, lower_is_better_metrics
from rag_otel.evaluation.support import UNFAITHFUL
from rag_otel.model import EvaluatedTrace, Evaluation, Verdict

UNFAITHFUL_ANSWER: Final = "unfaithful_answer"
CONTRADICTED_CLAIM: Final = "contradicted_claim"
LOW_SCORE: Final = "low_score"
HIGH_SCORE: Final = "high_score"
"""Of a metric that is better when it is lower."""
HIGH_RISK: Final = "high_risk"
DEFAULT_RULES: Final = (UNFAITHFUL,)
_NUMBER: Final = r"(?:0?\.\d+|[01](?:\.\d*)?)"
_RULE: Final = re.compile(
    r"(?:(?P<metric>[a-z][a-z0-9_]*)\.)?"
    r"(?:(?P<word>unfaithful|contradicted)"
    rf"|(?P<field>score|risk)\s*(?P<sign><=|>=|<|>)\s*(?P<enter>{_NUMBER})(?:\s+until\s+(?P<clear>{_NUMBER}))?)"
    r"(?P<critical>\s+critical)?"
)


class AnswerQuality(enum.IntEnum):
    """What a rule says of one evaluation, from good to bad."""

    GOOD = 0
    BETWEEN = 1
    """Between the threshold that resolves and the one that raises."""
    BAD = 2


@dataclasses.dataclass(frozen=True, kw_only=True)
class AlertRule:
    """One per-trace rule, read by `parse_rule`."""

    name: str
    """Of the alerts that it raises."""
    metric: str | None = None
    """None: every metric."""
    enter: float | None = None
    """Above it (`high_risk`), or below it (`low_score`), an answer is bad."""
    clear: float | None = None
    """The threshold at which an answer is good again; None: the same as `enter`."""
    inclusive: bool = False
    """True: the threshold itself is bad."""
    severity: AlertSeverity = AlertSeverity.WARNING

    def judge(self, evaluation: Evaluation) -> AnswerQuality | None:
        """None where the rule does not apply: another metric, no score, no label. A rule for low scores of every metric
        leaves out those that are better when they are lower."""
        if self.metric not in (None, evaluation.name):
            return None
        if self.name == LOW_SCORE and lower_is_better(evaluation.name):
            return None
        if self.name == UNFAITHFUL_ANSWER:
            return _finding(evaluation.label == UNFAITHFUL) if evaluation.label else None
        if self.name == CONTRADICTED_CLAIM:
            contradicted = any(claim.verdict is Verdict.CONTRADICTED for claim in evaluation.claims)
            return _finding(contradicted) if evaluation.judged_claims else None
        number = evaluation.risk if self.name == HIGH_RISK else evaluation.score
        return None if number is None else self._compare(number)

    def _compare(self, number: float) -> AnswerQuality:
        """Risk is bad when high, most scores when low: both are compared as badness."""
        sign = -1.0 if self.name == LOW_SCORE else 1.0
        enter = sign * (self.enter or 0.0)
        clear = enter if self.clear is None else sign * self.clear
        badness = sign * number
        if badness > enter or (self.inclusive and badness == enter):
            return AnswerQuality.BAD
        return AnswerQuality.BETWEEN if badness > clear else AnswerQuality.GOOD


@dataclasses.dataclass(frozen=True, kw_only=True)
class AppliedRules:
    """The result of all rules for one evaluation."""

    fingerprint: str
    finding: AnswerQuality
    alert: Alert | None = None
    """The alert to raise; None unless the finding is BAD."""


class AlertRules:
    """Applies every rule to results. Where several rules match, the most severe, then the first, names the alert."""

    def __init__(
        self,
        rules: Sequence[AlertRule] | None = None,
        examples: Examples | None = None,
        precision: AnswerPrecision | None = None,
    ) -> None:
        """`rules`: without them, `DEFAULT_RULES`. `precision` decides who is told of one answer (None: everybody)."""
        self._precision = precision
        used = [parse_rule(text) for text in DEFAULT_RULES] if rules is None else rules
        self._rules = sorted(used, key=lambda rule: rule.severity is not AlertSeverity.CRITICAL)
        self._examples = examples or Examples()

    def judge(self, result: EvaluatedTrace) -> list[AppliedRules]:
        """One judgement for each evaluation to which any rule applies."""
        judgements = []
        for evaluation in result.evaluations:
            found = [(finding, rule) for rule in self._rules if (finding := rule.judge(evaluation)) is not None]
            if found:
                worst, rule = max(found, key=lambda pair: pair[0])
                alert = self._alert(result, evaluation, rule) if worst is AnswerQuality.BAD else None
                name = fingerprint(result, evaluation.name)
                judgements.append(AppliedRules(fingerprint=name, finding=worst, alert=alert))
        return judgements

    def _alert(self, result: EvaluatedTrace, evaluation: Evaluation, rule: AlertRule) -> Alert:
        """The alert on one answer."""
        trace, shown = result.trace, self._examples.of(result, evaluation)
        alert = Alert(
            name=rule.name,
            fingerprint=fingerprint(result, evaluation.name),
            severity=rule.severity,
            label=evaluation.label,
            service=trace.service,
            route=trace.route,
            time_ns=trace.start_ns,
            **{each.name: getattr(shown, each.name) for each in dataclasses.fields(shown)},
        )
        return alert if self._precision is None else self._precision.weighed(alert, evaluation.judge)


def fingerprint(result: EvaluatedTrace, metric: str) -> str:
    """`<service>/<metric>/<route>`: identifies the problem that alerts are about."""
    return f"{result.trace.service or '-'}/{metric}/{result.trace.route or '-'}"


def parse_rule(text: str) -> AlertRule:
    """Parse one line. Raises ConfigurationError."""
    match = _RULE.fullmatch(text.strip())
    if match is None:
        raise ConfigurationError(
            f"alert_rules: {text!r} is no rule; there are: unfaithful, contradicted, score<0.5, risk>0.9, each with "
            "an optional `metric.` before it, and an optional `until 0.7` and `critical` after it"
        )
    severity = AlertSeverity.CRITICAL if match["critical"] else AlertSeverity.WARNING
    if match["word"]:
        name = UNFAITHFUL_ANSWER if match["word"] == UNFAITHFUL else CONTRADICTED_CLAIM
        return AlertRule(name=name, metric=match["metric"], severity=severity)
    enter, clear = float(match["enter"]), None if match["clear"] is None else float(match["clear"])
    low = match["field"] == "score" and not lower_is_better(match["metric"] or "")
    if low is not match["sign"].startswith("<"):
        raise ConfigurationError(
            f"alert_rules: {text!r}: a score is bad below (<), a risk above (>) a threshold; above is also a bad score "
            f"of {', '.join(sorted(lower_is_better_metrics()))} (your own evaluators declare `lower_is_better = True`)"
        )
    if not (enter <= 1 and (clear is None or (enter <= clear <= 1 if low else 0 <= clear <= enter))):
        raise ConfigurationError(f"alert_rules: {text!r}: thresholds are within 0..1, `until` on the good side")
    return AlertRule(
        name=HIGH_RISK if match["field"] == "risk" else LOW_SCORE if low else HIGH_SCORE,
        metric=match["metric"],
        enter=enter,
        clear=clear,
        inclusive="=" in match["sign"],
        severity=severity,
    )


def _finding(bad: bool) -> AnswerQuality:
    return AnswerQuality.BAD if bad else AnswerQuality.GOOD
