"""Stops calling a judge that cannot answer, says why, and looks again after a while.

closed --(auth, billing, endpoint: at once; silence, errors, refusals, nonsense: after several in a row)--> open
open --(cool-down)--> half-open: one call is let through --(it succeeds)--> closed
                                                         --(it fails)-----> open, for twice as long
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Final

from rag_otel.safety.guard import counters
from rag_otel.telemetry.gauges import Sample, gauges
from rag_otel.telemetry.names import BREAKER_OPEN
from rag_otel_evaluators.llm.failures import CallError, FailureKind

logger = logging.getLogger("rag_otel")

CONSECUTIVE_FAILURES: Final = {
    # How many failures in a row, of any kind, open the breaker when the last is of this kind. A wrong key fails the
    # same way every time; a lost connection or an overload is often one call's bad luck. A refused request or an
    # unreadable answer may be the fault of one text; of several in a row it is the judge's. Silence and nonsense are
    # paid for, and open it sooner than what costs nothing.
    FailureKind.AUTH: 1,
    FailureKind.BILLING: 1,
    FailureKind.ENDPOINT: 1,
    FailureKind.CONNECTION: 6,
    FailureKind.TIMEOUT: 6,
    FailureKind.REQUEST: 6,
    FailureKind.UNREADABLE: 8,
    FailureKind.OVERLOAD: 20,
    FailureKind.RATE_LIMIT: 40,
}

_SAID_SOMETHING: Final = frozenset({FailureKind.REQUEST, FailureKind.UNREADABLE})
"""Failures of a provider that is there: it refused the request, or its answer could not be read."""
_PROBE_S: Final = 2.0
"""What a caller is told to wait while another call is finding out whether the judge is back."""


class CircuitBreaker:
    """One per judge. Safe to use from several threads and event loops."""

    def __init__(
        self,
        name: str,
        *,
        cool_down_s: float = 30.0,
        longest_cool_down_s: float = 600.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name = name
        self._first_cool_down_s = self._cool_down_s = cool_down_s
        self._longest_cool_down_s = longest_cool_down_s
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._opened_by: CallError | None = None
        self._opens_at = 0.0
        self._probing = False
        gauges.offer(BREAKER_OPEN.name, self._open)

    @property
    def opened_by(self) -> CallError | None:
        """The failure for which the judge is not called; None while it is."""
        with self._lock:
            return self._opened_by

    def refuse(self) -> None:
        """Raise the failure that opened the breaker, with the time until the next try, while calls are no use."""
        with self._lock:
            self._refuse()

    def admit(self) -> None:
        """Ask right before a call: like `refuse`, but who gets through after the cool-down is the one that probes."""
        with self._lock:
            self._refuse()
            self._probing = self._opened_by is not None

    def _open(self) -> list[Sample]:
        return [(0.0 if self._opened_by is None else 1.0, {})]

    def _refuse(self) -> None:
        left_s = self._opens_at - self._clock()
        if self._opened_by is not None and (left_s > 0 or self._probing):
            raise CallError(
                self._opened_by.kind,
                f"{self._name} is not called for now, because of: {self._opened_by}",
                retry_after_s=left_s if left_s > 0 else _PROBE_S,
            )

    def succeeded(self) -> None:
        """Report an answer that could be read."""
        with self._lock:
            was_open = self._opened_by is not None
            self._failures, self._opened_by, self._probing = 0, None, False
            self._cool_down_s = self._first_cool_down_s
        if was_open:
            logger.info("rag-otel: %s answers again", self._name)

    def failed(self, failure: CallError) -> None:
        """Report a failure of a call that was admitted."""
        with self._lock:
            opened_by = self._opened_by
            answers_again = self._probing and opened_by is not None and opened_by.kind not in _SAID_SOMETHING
        if failure.kind in _SAID_SOMETHING and answers_again:
            self.succeeded()  # the server is back; what it thinks of this request is another matter
        with self._lock:
            self._failures += 1
            if self._opened_by is not None and not self._probing:
                return  # a call from before it opened
            if not self._probing and self._failures < CONSECUTIVE_FAILURES[failure.kind]:
                return
            if self._probing:
                self._cool_down_s = min(self._longest_cool_down_s, self._cool_down_s * 2)
            asked_s = min(failure.retry_after_s or 0.0, self._longest_cool_down_s)  # the other clock may be wrong
            wait_s = max(self._cool_down_s, asked_s)
            self._opened_by, self._opens_at, self._probing = failure, self._clock() + wait_s, False
        counters.add("judge.breaker_opened")
        logger.warning("rag-otel: %s is not called for %.0f s: %s", self._name, wait_s, failure)

    def abandoned(self) -> None:
        """Report a call that ended without an outcome (cancelled): another may probe."""
        with self._lock:
            self._probing = False
