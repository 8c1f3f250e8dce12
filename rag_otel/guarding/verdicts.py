"""From evaluations to a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rag_otel.evaluation.directions import is_worse
from rag_otel.evaluation.support import UNFAITHFUL
from rag_otel.guarding.rules import Finding, Guard, GuardVerdict
from rag_otel.model import Evaluation, ReasonCode
from rag_otel.observing.call_snapshot import Snapshot

_NOTHING_TO_CHECK: Final = frozenset({ReasonCode.NO_CLAIMS, ReasonCode.ABSTAINED})
NO_RESULT: Final = "no_result"


def verdict_of(guard: Guard, evaluations: Sequence[Evaluation], snapshot: Snapshot) -> GuardVerdict:
    """What the guard's metric says of the snapshot's answer."""
    evaluation = next((each for each in evaluations if each.name == guard.metric), None)
    if evaluation is None:
        return not_judged(NO_RESULT, snapshot)
    finding, reason = _finding(guard, evaluation)
    return GuardVerdict(
        finding=finding,
        question=snapshot.question,
        response=snapshot.response,
        evaluation=evaluation,
        reason=reason,
    )


def not_judged(reason: str | None, snapshot: Snapshot) -> GuardVerdict:
    """No verdict on the snapshot's answer, and why."""
    return GuardVerdict(
        finding=Finding.NOT_JUDGED, question=snapshot.question, response=snapshot.response, reason=reason
    )


def _finding(guard: Guard, evaluation: Evaluation) -> tuple[Finding, str | None]:
    if evaluation.error_type is not None:
        return Finding.NOT_JUDGED, evaluation.reason_code or ReasonCode.JUDGE_ERROR
    if evaluation.reason_code in _NOTHING_TO_CHECK:
        return Finding.SUPPORTED, None
    known, fails = _fails(guard, evaluation)
    if fails:
        return Finding.UNSUPPORTED, None
    # An answer of which a part was not judged is never called supported.
    if not known or evaluation.judged_claims < len(evaluation.claims):
        return Finding.NOT_JUDGED, evaluation.reason_code or NO_RESULT
    return Finding.SUPPORTED, None


def _fails(guard: Guard, evaluation: Evaluation) -> tuple[bool, bool]:
    """(whether the metric says anything, whether the answer fails by it)."""
    if guard.risk_above is None and guard.score_worse_than is None:
        return evaluation.label is not None, evaluation.label == UNFAITHFUL
    risky = guard.risk_above is not None and evaluation.risk is not None and evaluation.risk > guard.risk_above
    limit, score = guard.score_worse_than, evaluation.score
    low = limit is not None and score is not None and is_worse(evaluation.name, score, limit)
    asked = (guard.risk_above is not None, evaluation.risk), (guard.score_worse_than is not None, evaluation.score)
    return all(value is not None for wanted, value in asked if wanted), risky or low
