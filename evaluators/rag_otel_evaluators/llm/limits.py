"""Limits of a model: calls at once, calls a minute, tokens a minute. Callers wait for their turn.

One `RateLimiter` may serve several event loops (a worker's and a notebook's): its buckets are shared under a lock,
each loop has a semaphore of its own.
"""

from __future__ import annotations

import asyncio
import threading
import time
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from rag_otel.errors import ConfigurationError


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a judge may use. None: no limit."""

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


class _Bucket:
    """A token bucket that may be overdrawn: a caller that takes more than there is waits until the level is 0 again.

    So a call may be larger than the bucket, and callers are served in the order of their reservations.
    """

    def __init__(self, per_minute: float, burst_s: float, clock: Callable[[], float]) -> None:
        self._rate = per_minute / 60.0
        self._capacity = max(1.0, self._rate * burst_s)
        self._level = self._capacity
        self._clock = clock
        self._updated = clock()

    def take(self, amount: float) -> float:
        """Take `amount` (negative: give back); returns the seconds until it is covered."""
        now = self._clock()
        self._level = min(self._capacity, self._level + (now - self._updated) * self._rate)
        self._updated = now
        self._level -= amount
        return max(0.0, -self._level / self._rate)


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

    def __init__(self, limits: Limits, *, burst_s: float = 2.0, clock: Callable[[], float] = time.monotonic) -> None:
        """`burst_s`: how many seconds' worth of requests and tokens may go at once after a quiet time."""
        self.limits = limits
        self._clock = clock
        self._lock = threading.Lock()
        self._requests = _bucket(limits.requests_per_minute, burst_s, clock)
        self._tokens = _bucket(limits.tokens_per_minute, burst_s, clock)
        self._paused_until = 0.0
        self._semaphores: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
            weakref.WeakKeyDictionary()
        )

    @asynccontextmanager
    async def slot(self, *, estimated_tokens: float) -> AsyncIterator[Reservation]:
        """Wait for a turn. Set `used_tokens` on the reservation inside; the difference is settled on leaving."""
        arrived = self._clock()
        async with self._semaphore():
            reservation = Reservation(estimated_tokens, used_tokens=0.0)
            wait_s = self._reserve(estimated_tokens)
            try:
                while wait_s > 0:
                    await asyncio.sleep(wait_s)
                    wait_s = self._pause_left_s()
                reservation.used_tokens, reservation.queued_s = None, self._clock() - arrived
                yield reservation
            finally:
                self._settle(reservation)

    def pause(self, seconds: float) -> None:
        """Start no call for this time: what the provider answers to one call holds for all."""
        with self._lock:
            self._paused_until = max(self._paused_until, self._clock() + seconds)

    def _pause_left_s(self) -> float:
        with self._lock:
            return max(0.0, self._paused_until - self._clock())

    def _reserve(self, tokens: float) -> float:
        with self._lock:
            waits = [max(0.0, self._paused_until - self._clock())]
            if self._requests is not None:
                waits.append(self._requests.take(1.0))
            if self._tokens is not None:
                waits.append(self._tokens.take(tokens))
            return max(waits)

    def _settle(self, reservation: Reservation) -> None:
        if self._tokens is not None and reservation.used_tokens is not None:
            with self._lock:
                self._tokens.take(reservation.used_tokens - reservation.estimated_tokens)

    def _semaphore(self) -> asyncio.Semaphore:
        loop = asyncio.get_running_loop()
        with self._lock:
            semaphore = self._semaphores.get(loop)
            if semaphore is None:
                semaphore = self._semaphores[loop] = asyncio.Semaphore(self.limits.concurrency)
            return semaphore


def _bucket(per_minute: float | None, burst_s: float, clock: Callable[[], float]) -> _Bucket | None:
    return None if per_minute is None else _Bucket(per_minute, burst_s, clock)
