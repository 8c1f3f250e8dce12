"""Selects traces by a sampling policy: drop rules, the coin, forced rules. Budgets come after it.

The coin is tossed for every trace first, and a forced trace keeps what the coin said. A trace that a rule forces is
evaluated whatever the coin said, so its probability is 1; every other trace has the coin's rate. With these
probabilities the weighted mean (Hajek's estimator) of the evaluated traces estimates the mean of all traces.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final, TypeAlias

from rag_otel.model import RagTrace, SamplingDecision, SamplingReason, SpanRef
from rag_otel.safety.guard import counters
from rag_otel.sampling.amount import SEEN, hash_key, passes, trace_hash
from rag_otel.sampling.policy import ForceRule, Match, SamplingPolicy
from rag_otel.sampling.rates import CoinRates

Prescore: TypeAlias = Callable[[RagTrace], Awaitable[float | None]]
"""The embedded judge's risk of a trace, 0..1; None if it has none."""
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


class PolicySampler:
    """A `Sampler` and `SelectsTraces`. The same trace gets the same decision in every process with the same policy, and
    at every retry; with adapted rates, if the processes share them (`rag_otel.sampling.rates.Agree`)."""

    def __init__(
        self,
        policy: SamplingPolicy,
        *,
        seed: int = 0,
        rates: CoinRates | None = None,
        prescore: Prescore | None = None,
    ) -> None:
        """`seed` counts if the policy names none. `prescore` is needed by rules with `risk_above`; without it those
        never hold."""
        self.policy = policy
        self.rates = rates or CoinRates(policy.coin, window_s=policy.window)
        self._prescore = prescore if any(rule.risk_above is not None for rule in policy.force) else None
        self._key = hash_key(seed if policy.seed is None else policy.seed)
        self._undecided = SamplingDecision(sampled=True, reason=SamplingReason.UNDECIDED, probability=1.0)
        self._most = _highest_rate(policy)

    def decide(self, target: SpanRef) -> SamplingDecision:
        """Not sampled if no rule could select the trace, whatever is in it; else undecided. Takes microseconds."""
        if self._most < 1.0 and not passes(trace_hash(target.trace_id, self._key), self._most):
            return SamplingDecision(
                sampled=False, reason=SamplingReason.NOT_SAMPLED, probability=self._most, coin=False
            )
        return self._undecided

    async def select(self, trace: RagTrace) -> SamplingDecision:
        """The decision on a trace that can be evaluated."""
        counters.add(SEEN)
        for rule in self.policy.drop:
            if matches(trace, rule):
                return SamplingDecision(sampled=False, reason=SamplingReason.DROPPED, probability=1.0, rule=rule.name)
        stratum = stratum_of(trace, self.policy.coin.strata)
        kind, base = self._base_rate(trace)
        if not self.rates.is_open(trace.start_ns):
            await asyncio.to_thread(self.rates.open, trace.start_ns)
        rate = self.rates.rate(stratum + kind, base, trace.start_ns)
        passed = passes(trace_hash(trace.target.trace_id, self._key), rate)
        prescore = None if self._prescore is None else await self._prescore(trace)
        forced = next((rule for rule in self.policy.force if forces(trace, rule, prescore=prescore)), None)
        if forced is not None:
            reason = SamplingReason.FORCED
        else:
            reason = SamplingReason.RATIO if passed else SamplingReason.NOT_SAMPLED
        return SamplingDecision(
            sampled=passed or forced is not None,
            reason=reason,
            probability=rate if forced is None else 1.0,
            rule=None if forced is None else forced.name,
            rate=rate,
            coin=passed,
            stratum=stratum or None,
            prescore=prescore,
        )

    def _base_rate(self, trace: RagTrace) -> tuple[str, float]:
        """Which of the policy's rates counts for the trace, and the rate: traces with different ones share no
        stratum."""
        for number, each in enumerate(self.policy.coin.rates):
            if matches(trace, each):
                return f" #{number}", each.rate
        return "", self.policy.coin.rate


def _highest_rate(policy: SamplingPolicy) -> float:
    """The greatest probability with which any trace could be selected before its content is known."""
    if policy.force or policy.coin.minimum:
        return 1.0
    return max((policy.coin.rate, *(each.rate for each in policy.coin.rates)))


# --- what a policy's rules see of a trace -----------------------------------------------------------------------------


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
