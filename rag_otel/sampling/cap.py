"""The cap of evaluations per minute: a token bucket, so that a burst cannot eat the application's CPU."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from rag_otel.errors import ConfigurationError


class EvaluationCap:
    """Admits at most `per_minute` evaluations a minute, evenly, with a burst of `burst`.

    Thread-safe. The bucket starts full and refills continuously; `burst` defaults to ten seconds' worth, at
    least one.
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
        """Take one evaluation out of the bucket; False when it is empty."""
        with self._lock:
            self._refill()
            if self._tokens < 1.0:
                return False
            self._tokens -= 1.0
            return True

    def is_empty(self) -> bool:
        """True when `admit` would refuse now; takes nothing."""
        with self._lock:
            self._refill()
            return self._tokens < 1.0

    def _refill(self) -> None:
        now = self._clock()
        self._tokens = min(self._burst, self._tokens + (now - self._refilled_at) * self._rate)
        self._refilled_at = now

    def after_fork(self) -> None:
        """A fresh lock for the forked child: the parent's may have been held by a thread that is gone."""
        self._lock = threading.RLock()
