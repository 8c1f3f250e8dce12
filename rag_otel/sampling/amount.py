"""How many traces are evaluated: a share of all, and at most so many a minute.

The share is decided by a seeded hash of the trace id, so every process and every retry decides the same. The limit of
evaluations per minute is an account that refills: it bounds the CPU time that a burst of traces takes.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from typing import Final

from rag_otel.budgets.ledger import Line, MemoryLedger
from rag_otel.errors import ConfigurationError
from rag_otel.model import SamplingDecision, SamplingReason, SpanRef
from rag_otel.safety.fork import after_fork_in_child

SEEN: Final = "sampling.seen"
"""Counter (`rag_otel.safety.guard.counters`) of the traces that a policy was asked about."""
REFUSED: Final = "sampling.refused"
"""Counter of the traces for which there was no room: the limit of evaluations per minute, or a full queue."""
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


class EvaluationCap:
    """Admits at most `per_minute` evaluations a minute, and at most `burst` at once.

    Thread-safe. `burst` defaults to the evaluations of ten seconds, at least one.
    """

    def __init__(
        self, per_minute: float, *, burst: float | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        if per_minute <= 0:
            raise ConfigurationError(
                f"evaluations_per_minute must be above 0, not {per_minute!r}; to evaluate nothing, set sample_ratio=0"
            )
        rate = per_minute / 60.0
        limit = max(1.0, rate * 10.0 if burst is None else burst)
        self._line = Line(scope="evaluations a minute", amount=1.0, limit=limit, refill_per_s=rate)
        self._ledger = MemoryLedger(clock)
        self._clock = clock
        self._empty_until = clock()
        """When the ledger has one evaluation again, by the clock: one comparison for the request path."""
        after_fork_in_child(self._after_fork)

    def admit(self) -> bool:
        """Takes one evaluation. Returns False if there is none left now."""
        admitted = isinstance(self._ledger.reserve("", [self._line], 0.0), list)
        self._empty_until = self._clock() + self._ledger.wait_s(self._line)
        return admitted

    def is_empty(self) -> bool:
        """True if `admit` would return False now. Takes nothing."""
        return self._clock() < self._empty_until

    def _after_fork(self) -> None:
        """The child has evaluated nothing so far, as its ledger knows."""
        self._empty_until = self._clock()
