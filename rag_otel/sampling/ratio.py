"""Sampling by ratio: a seeded hash of the trace id decides, so every process and every retry decides the same."""

from __future__ import annotations

import hashlib
from typing import Final

from rag_otel.errors import ConfigurationError
from rag_otel.model import SamplingDecision, SamplingReason, SpanRef

_DIGEST_BITS: Final = 64
HASHES: Final = 1 << _DIGEST_BITS
"""How many values the hash has."""


def trace_hash(trace_id: str, key: bytes) -> int:
    """The hash of a trace, in 0 .. `HASHES` - 1, uniform over trace ids. `trace_id`: hex. `key`: from `hash_key`.

    It (BLAKE2b) is independent of the SDK's ratio sampler, which compares the last bits of the trace id. If both
    used those bits, an application with such a sampler would get all or none of its remaining traces evaluated.
    """
    digest = hashlib.blake2b(bytes.fromhex(trace_id), digest_size=_DIGEST_BITS // 8, key=key).digest()
    return int.from_bytes(digest, "big")


def hash_key(seed: int) -> bytes:
    """The key of the hash. Deployments with one seed select the same traces."""
    return seed.to_bytes(16, "big", signed=True)


def passes(hashed: int, rate: float) -> bool:
    """True for the share `rate` of all traces. What passes at one rate passes at every higher one."""
    return hashed < round(rate * HASHES)


class RatioSampler:
    """Samples the share `ratio` of all traces by a hash of seed and trace id (`trace_hash`)."""

    def __init__(self, ratio: float = 1.0, *, seed: int = 0) -> None:
        """`ratio` is in 0..1. Deployments with the same `seed` and ratio sample the same traces."""
        if not 0.0 <= ratio <= 1.0:
            raise ConfigurationError(f"sample_ratio must be within 0..1, not {ratio!r}")
        self._ratio = ratio
        self._bound = round(ratio * HASHES)
        self._key = hash_key(seed)
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
        return self._sampled if trace_hash(target.trace_id, self._key) < self._bound else self._not_sampled
