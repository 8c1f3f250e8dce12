"""What a policy's rules see of a trace."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final

from rag_otel.model import RagTrace
from rag_otel.sampling.policy import ForceRule, Match

ERROR_ANSWERS: Final = (
    r"^\W*(i('m| am) |we('re| are) )?(so |very |really )?(sorry|afraid)\b",
    r"^\W*(an? )?(internal |unexpected |unknown )?(error|exception) (occurred|has occurred|happened)\b",
    r"\b(something went wrong|try again later|timed out|rate limit (reached|exceeded)|service unavailable)\b",
    r"^Traceback \(most recent call last\)",
    r"\b(HTTP|status( code)?):? ?[45]\d\d\b",
)
"""Answers that tell of an error, and apologies. English only: give patterns of your own for other languages."""
_LOOKED_AT: Final = 2_000
"""Characters of an answer that patterns are searched in."""
_FIELDS: Final = frozenset({"service", "route", "model"})
_LONGEST: Final = 120


def value_of(trace: RagTrace, dimension: str) -> str | None:
    """The trace's service, route or model, else its tag of this name. None where it has none."""
    value = getattr(trace, dimension) if dimension in _FIELDS else trace.tags.get(dimension)
    return None if value is None else str(value)[:_LONGEST]


def stratum_of(trace: RagTrace, dimensions: Sequence[str]) -> str:
    """The trace's stratum: `route=/ask, tenant=acme`. Empty without dimensions."""
    return ", ".join(f"{name}={value_of(trace, name) or '-'}" for name in dimensions)


def matches(trace: RagTrace, wanted: Match) -> bool:
    """True if everything that `wanted` names holds for the trace."""
    named = (("route", wanted.route), ("tenant", wanted.tenant), ("model", wanted.model), ("service", wanted.service))
    return all(_is_one_of(value_of(trace, name), patterns) for name, patterns in (*named, *wanted.tags.items()))


def forces(trace: RagTrace, rule: ForceRule, *, prescore: float | None) -> bool:
    """True if every condition of the rule holds. What is not known of the trace does not hold."""
    if not matches(trace, rule):
        return False
    if rule.rating_below is not None and (trace.rating is None or trace.rating >= rule.rating_below):
        return False
    if rule.error_answer and not looks_like_an_error(trace.response or "", _patterns_of(rule)):
        return False
    if rule.latency_above is not None and trace.duration_ns <= rule.latency_above * 1e9:
        return False
    if rule.no_chunks and trace.chunks:
        return False
    if rule.similarity_below is not None:
        best = max((chunk.score for chunk in trace.chunks if chunk.score is not None), default=None)
        if best is None or best >= rule.similarity_below:
            return False
    return rule.risk_above is None or (prescore is not None and prescore > rule.risk_above)


def looks_like_an_error(answer: str, patterns: Sequence[str] = ERROR_ANSWERS) -> bool:
    """True if the answer matches one of the patterns, in any case, in its first 2,000 characters."""
    return any(_compiled(pattern).search(answer[:_LOOKED_AT]) for pattern in patterns)


def _patterns_of(rule: ForceRule) -> Sequence[str]:
    return rule.error_answer if isinstance(rule.error_answer, tuple) else ERROR_ANSWERS


def _is_one_of(value: str | None, patterns: Sequence[str]) -> bool:
    return not patterns or (value is not None and any(fnmatchcase(value, pattern) for pattern in patterns))


@lru_cache(256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
