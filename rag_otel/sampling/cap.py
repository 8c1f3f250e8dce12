"""The limit of evaluations per minute: a token bucket. It bounds the CPU time that a burst of traces can take."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from rag_otel.errors import ConfigurationError


class EvaluationCap:
    """Admits at most `per_minute` evaluations a minute, and at most `burst` at once.

    Thread-safe. The bucket starts full and refills continuously. `burst` defaults to the evaluations of ten seconds,
    at least one.
    """

    def __init__(
        self,
        per_minute: float,
        *,
        burst: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if per_minute <= 0:
            raise ConfigurationError(
                f"evaluations_per_minute must be above 0, not {per_minute!r}; to evaluate nothing, set sample_ratio=0"
            )
        self._rate = per_minute / 60.0
        self._burst = max(1.0, burst if burst is not None else self._rate * 10.0)
        self._tokens = self._burst
        self._clock = clock
        self._refilled_at = clock()
        self._lock = threading.RLock()

    def admit(self) -> bool:
        """Takes one token from the bucket. Returns False if the bucket is empty."""
        with self._lock:
            self._refill()
            if self._tokens < 1.0:
                return False
            self._tokens -= 1.0
            return True

    def is_empty(self) -> bool:
        """True if `admit` would return False now. Takes no token."""
        with self._lock:
            self._refill()
            return self._tokens < 1.0

    def _refill(self) -> None:
        now = self._clock()
        self._tokens = min(self._burst, self._tokens + (now - self._refilled_at) * self._rate)
        self._refilled_at = now

    def after_fork(self) -> None:
        """Replaces the lock in a forked child, because a thread that the child does not have may hold it."""
        self._lock = threading.RLock()
