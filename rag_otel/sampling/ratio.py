"""Sampling by ratio: a seeded hash of the trace id decides, so every process and every retry decides the same."""

from __future__ import annotations

import hashlib

from rag_otel.errors import ConfigurationError
from rag_otel.model import SamplingDecision, SamplingReason, SpanRef

_DIGEST_BITS = 64


class RatioSampler:
    """Samples the share `ratio` of all traces by a hash of seed and trace id.

    The hash (BLAKE2b) is independent of the SDK's ratio sampler, which compares the last bits of the trace id. If both
    used those bits, an application with such a sampler would get all or none of its remaining traces evaluated.
    """

    def __init__(self, ratio: float = 1.0, *, seed: int = 0) -> None:
        """`ratio` is in 0..1. Deployments with the same `seed` and ratio sample the same traces."""
        if not 0.0 <= ratio <= 1.0:
            raise ConfigurationError(f"sample_ratio must be within 0..1, not {ratio!r}")
        self._ratio = ratio
        self._bound = round(ratio * (1 << _DIGEST_BITS))
        self._key = seed.to_bytes(16, "big", signed=True)
        self._sampled = SamplingDecision(
            sampled=True,
            reason=SamplingReason.ALWAYS if ratio == 1.0 else SamplingReason.RATIO,
            probability=ratio or 1.0,
        )
        self._not_sampled = SamplingDecision(sampled=False, reason=SamplingReason.NOT_SAMPLED, probability=ratio)

    def decide(self, target: SpanRef) -> SamplingDecision:
        """Returns the decision for the trace of `target`. Takes about a microsecond and keeps no state."""
        if self._ratio == 1.0:
            return self._sampled
        digest = hashlib.blake2b(bytes.fromhex(target.trace_id), digest_size=_DIGEST_BITS // 8, key=self._key).digest()
        return self._sampled if int.from_bytes(digest, "big") < self._bound else self._not_sampled
