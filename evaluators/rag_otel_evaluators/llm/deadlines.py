"""How long a call may take, so that it ends before the evaluation around it does."""

from __future__ import annotations

from typing import Final

from rag_otel.evaluation.current_evaluation import seconds_left
from rag_otel_evaluators.llm.failures import CallError, FailureKind

_SHARE: Final = 0.9
"""Of the time left, what a call gets: the rest is for saying why there is no score."""
_LEAST_S: Final = 0.05
"""Seconds below which no call is worth its price."""


def call_timeout_s(timeout_s: float) -> float:
    """Seconds for a call that is sent now. Raises CallError where so little time is left that it would be wasted."""
    left_s = seconds_left()
    if left_s is None:
        return timeout_s
    if left_s < _LEAST_S:
        raise CallError(FailureKind.TIMEOUT, "there is no time left for a call")
    return min(timeout_s, _SHARE * left_s)


def time_for_another(timeout_s: float) -> bool:
    """Whether a call that timed out may be repeated: only with at least half the time that a call is given."""
    left_s = seconds_left()
    return left_s is None or _SHARE * left_s >= timeout_s / 2
