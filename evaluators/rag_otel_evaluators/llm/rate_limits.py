"""Limits of a model: calls at once; calls and tokens a minute. Callers wait for their turn, or are told no.

One `RateLimiter` may serve several event loops (a worker's and a notebook's): they share its accounts, and each has
a semaphore of its own. It counts for one process: four workers may spend four times as much.
"""

from __future__ import annotations

import asyncio
import threading
import time
import weakref
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from rag_otel.budgets.ledger import Entry, Line, MemoryLedger
from rag_otel.errors import ConfigurationError
from rag_otel_evaluators.llm.failures import CallError, FailureKind

_CALLS: Final = "calls"
_TOKENS: Final = "tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimits:
    """What a judge may use, in this process. None: no limit."""

    concurrency: int = 20
    """Calls under way at once (in each event loop)."""
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    """Input and output together; reserved by estimate before a call, corrected after it."""

    def __post_init__(self) -> None:
        for name in ("concurrency", "requests_per_minute", "tokens_per_minute"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ConfigurationError(f"{name} must be above 0, or None for no limit, not {value!r}")


@dataclass(slots=True)
class Reservation:
    """What a call was estimated to use; the caller sets what it used."""

    estimated_tokens: float
    used_tokens: float | None = None
    """None: the call used what was estimated, as far as is known."""
    queued_s: float = 0.0
    """Seconds that it waited for its turn."""


class RateLimiter:
    """Admits calls: `async with limiter.slot(estimated_tokens=900) as reservation: ...`."""

    def __init__(
        self, limits: RateLimits, *, burst_s: float = 2.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`burst_s`: how many seconds' worth of requests and tokens may go at once after a quiet time."""
        self.limits = limits
        self._burst_s = burst_s
        self._clock = clock
        self._lock = threading.Lock()
        self._ledger = MemoryLedger(clock)
        self._paused_until = 0.0
        self._semaphores: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
            weakref.WeakKeyDictionary()
        )

    @asynccontextmanager
    async def slot(self, *, estimated_tokens: float, longest_wait_s: float | None = None) -> AsyncIterator[Reservation]:
        """Wait for a turn. Set what was used on the reservation inside; the difference is settled on leaving.

        Raises CallError of the kind CAP, at once, where the turn would come later than `longest_wait_s`.
        """
        arrived = self._clock()
        async with self._semaphore():
            reservation = Reservation(estimated_tokens, used_tokens=0.0)
            # Overdrawn, so that a call may be larger than what may go at once, and callers go in their order.
            entries = self._ledger.reserve("", self._lines(reservation), 0.0)
            assert isinstance(entries, list)
            wait_s = max([self._pause_left_s(), *(entry.wait_s for entry in entries)])
            calls = 1.0
            try:
                if longest_wait_s is not None and wait_s > longest_wait_s:
                    calls = 0.0
                    raise CallError(FailureKind.CAP, _refusal(self.limits, wait_s), retry_after_s=wait_s)
                while wait_s > 0:
                    await asyncio.sleep(wait_s)
                    wait_s = self._pause_left_s()
                reservation.used_tokens = None
                reservation.queued_s = self._clock() - arrived
                yield reservation
            finally:
                self._settle(entries, reservation, calls)

    def pause(self, seconds: float) -> None:
        """Start no call for this time: what the provider answers to one call holds for all."""
        with self._lock:
            self._paused_until = max(self._paused_until, self._clock() + seconds)

    def _pause_left_s(self) -> float:
        with self._lock:
            return max(0.0, self._paused_until - self._clock())

    def _lines(self, reservation: Reservation) -> list[Line]:
        wanted = (
            (_CALLS, 1.0, self.limits.requests_per_minute),
            (_TOKENS, reservation.estimated_tokens, self.limits.tokens_per_minute),
        )
        return [
            Line(
                scope=scope,
                amount=amount,
                limit=max(1.0, per_minute / 60.0 * self._burst_s),
                refill_per_s=per_minute / 60.0,
                overdraws=True,
            )
            for scope, amount, per_minute in wanted
            if per_minute is not None
        ]

    def _settle(self, entries: Sequence[Entry], reservation: Reservation, calls: float) -> None:
        used = {_CALLS: calls, _TOKENS: reservation.used_tokens}
        spent = [used[entry.account.removesuffix("@")] for entry in entries]
        known = [entry.amount if each is None else each for entry, each in zip(entries, spent, strict=True)]
        self._ledger.settle("", entries, known)

    def _semaphore(self) -> asyncio.Semaphore:
        loop = asyncio.get_running_loop()
        with self._lock:
            semaphore = self._semaphores.get(loop)
            if semaphore is None:
                semaphore = self._semaphores[loop] = asyncio.Semaphore(self.limits.concurrency)
            return semaphore


def _refusal(limits: RateLimits, wait_s: float) -> str:
    caps = {_CALLS: limits.requests_per_minute, _TOKENS: limits.tokens_per_minute}
    named = ", ".join(f"{cap:g} {name}" for name, cap in caps.items() if cap is not None)
    why = f"the cap of this process ({named} a minute)" if named else "a pause that the provider asked for"
    return f"{why} leaves no turn for {wait_s:.0f} s"
