"""Builds evaluations from scores of user code, and adds problems with a judge's answer to an explanation."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Final

from rag_otel.model import Evaluation, ReasonCode

_NAMED_PROBLEMS: Final = 3
"""How many problems with a judge's answer an explanation lists."""


def scored(name: str, score: object, explanation: str) -> Evaluation:
    """Builds an evaluation from the value that a user's function returned. Raises ValueError for an invalid score."""
    if score is None:
        return Evaluation(name=name, reason_code=ReasonCode.NOT_SCORED, explanation=explanation or None)
    if not isinstance(score, Real) or not 0.0 <= (number := float(score)) <= 1.0:
        raise ValueError(f"a score must be a number within 0..1 or None, not {score!r}")
    return Evaluation(name=name, score=number, explanation=explanation or None)


def with_problems(explanation: str, problems: Sequence[str]) -> str:
    """Returns the explanation, followed by the parts of the judge's answer that were ignored."""
    if not problems:
        return explanation
    named = "; ".join(problems[:_NAMED_PROBLEMS])
    more = f"; and {len(problems) - _NAMED_PROBLEMS} more" if len(problems) > _NAMED_PROBLEMS else ""
    return f"{explanation} Ignored: {named}{more}.".lstrip()
