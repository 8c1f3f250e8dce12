"""The limit of evaluations per minute: an account that refills. It bounds the CPU time that a burst of traces takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from rag_otel.budgets.ledger import Line, MemoryLedger
from rag_otel.errors import ConfigurationError

SEEN: Final = "sampling.seen"
"""Counter (`rag_otel.safety.guard.counters`) of the traces that a policy was asked about."""
REFUSED: Final = "sampling.refused"
"""Counter of the traces for which there was no room: the limit of evaluations per minute, or a full queue."""


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

    def admit(self) -> bool:
        """Takes one evaluation. Returns False if there is none left now."""
        admitted = isinstance(self._ledger.reserve("", [self._line], 0.0), list)
        self._empty_until = self._clock() + self._ledger.wait_s(self._line)
        return admitted

    def is_empty(self) -> bool:
        """True if `admit` would return False now. Takes nothing."""
        return self._clock() < self._empty_until
