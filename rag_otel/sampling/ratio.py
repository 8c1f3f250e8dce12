"""Sampling by ratio: a seeded hash of the trace id decides, so every process and every retry decides the same."""

from __future__ import annotations

from rag_otel.errors import ConfigurationError
from rag_otel.model import SamplingDecision, SamplingReason, SpanRef
from rag_otel.sampling.coin import SIDES, coin, coin_key


class RatioSampler:
    """Samples the share `ratio` of all traces by a hash of seed and trace id (`rag_otel.sampling.coin`)."""

    def __init__(self, ratio: float = 1.0, *, seed: int = 0) -> None:
        """`ratio` is in 0..1. Deployments with the same `seed` and ratio sample the same traces."""
        if not 0.0 <= ratio <= 1.0:
            raise ConfigurationError(f"sample_ratio must be within 0..1, not {ratio!r}")
        self._ratio = ratio
        self._bound = round(ratio * SIDES)
        self._key = coin_key(seed)
        self._sampled = SamplingDecision(
            sampled=True,
            reason=SamplingReason.ALWAYS if ratio == 1.0 else SamplingReason.RATIO,
            probability=ratio or 1.0,
        )
        self._not_sampled = SamplingDecision(sampled=False, reason=SamplingReason.NOT_SAMPLED, probability=ratio)
        self._always = {0.0: self._not_sampled, 1.0: self._sampled}.get(ratio)

    def decide(self, target: SpanRef) -> SamplingDecision:
        """Returns the decision for the trace of `target`. Takes about a microsecond and keeps no state."""
        if self._always is not None:
            return self._always
        return self._sampled if coin(target.trace_id, self._key) < self._bound else self._not_sampled
