"""The seeded coin: the same trace id gets the same answer in every process and at every retry."""

from __future__ import annotations

import hashlib

from rag_otel.errors import ConfigurationError
from rag_otel.model import SamplingDecision, SamplingReason, SpanRef

_DIGEST_BITS = 64


class RatioSampler:
    """Picks the share `ratio` of all traces by a hash of seed and trace id.

    The hash (BLAKE2b) is not the SDK's own comparison of the id's last bits: an app whose head sampler already
    thinned its traces by those bits would else get all or nothing of what is left.
    """

    def __init__(self, ratio: float = 1.0, *, seed: int = 0) -> None:
        """`ratio` in 0..1; two deployments with the same `seed` pick the same traces."""
        if not 0.0 <= ratio <= 1.0:
            raise ConfigurationError(f"sample_ratio must be within 0..1, not {ratio!r}")
        self._ratio = ratio
        self._bound = round(ratio * (1 << _DIGEST_BITS))
        self._key = seed.to_bytes(16, "big", signed=True)
        self._yes = SamplingDecision(
            sampled=True,
            reason=SamplingReason.ALWAYS if ratio == 1.0 else SamplingReason.RATIO,
            probability=ratio or 1.0,
        )
        self._no = SamplingDecision(sampled=False, reason=SamplingReason.NOT_SAMPLED, probability=ratio)

    def decide(self, target: SpanRef) -> SamplingDecision:
        """Flip the trace's coin; costs about a microsecond and keeps no state."""
        if self._ratio == 1.0:
            return self._yes
        digest = hashlib.blake2b(bytes.fromhex(target.trace_id), digest_size=_DIGEST_BITS // 8, key=self._key).digest()
        return self._yes if int.from_bytes(digest, "big") < self._bound else self._no
