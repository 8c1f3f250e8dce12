"""When to try again: exponential backoff with jitter, and the wait that the other side asks for.

`Backoff` says how long to wait and never gives up; `RetryPolicy` adds when to give up. `call_with_retries` runs a
blocking call under such a policy, `call_until_done` one on an event loop until it succeeds. What waits in a queue is
retried by `ExportQueue`.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC
from typing import Final, TypeVar

from rag_otel.errors import RetryableError
from rag_otel.lazy_dataclass import dataclass
from rag_otel.safety.guard import logger

T = TypeVar("T")
_MAX_DOUBLINGS: Final = 32
"""Keeps the exponential within a float; every real bound is reached long before."""
_MIN_SHARE: Final = 0.5
_MAX_EXTRA: Final = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """How long to wait between attempts. Times in seconds."""

    base_s: float = 0.5
    """Longest first wait; each further one is up to twice as long."""
    longest_wait_s: float = 30.0
    """Upper bound of the waits that grow."""
    longest_asked_s: float = 600.0
    """Upper bound of a wait that the other side asks for: its clock may be wrong, or its answer."""

    def pause_s(self, failures: int, retry_after_s: float | None = None) -> float:
        """Seconds to wait after `failures` failed attempts in a row (1 or more).

        Between half of the exponential bound and all of it. Callers that failed together spread, and none retries at
        once, as it may with a draw from zero. `retry_after_s` is a lower bound and gets up to a quarter on top, for the
        same reason. Source: Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015 ("equal
        jitter").
        """
        bound = min(self.longest_wait_s, self.base_s * 2.0 ** min(failures - 1, _MAX_DOUBLINGS))
        asked = min(retry_after_s or 0.0, self.longest_asked_s)
        return max(bound * random.uniform(_MIN_SHARE, 1.0), asked * random.uniform(1.0, 1.0 + _MAX_EXTRA))


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy(Backoff):
    """How long to wait, and when to give up. For callers that somebody waits for. Times in seconds."""

    attempts: int | None = 5
    """Calls in all, the first included; None: no limit."""
    deadline_s: float = 120.0
    """For all calls and waits together."""
    longest_asked_s: float = 30.0
    """A server that asks for a longer wait is not called again."""

    def wait_s(self, failures: int, retry_after_s: float | None, spent_s: float) -> float | None:
        """Seconds to wait after `failures` failed attempts (1 or more) that took `spent_s`; None: give up."""
        if self.attempts is not None and failures >= self.attempts:
            return None
        if retry_after_s is not None and retry_after_s > self.longest_asked_s:
            return None
        wait_s = self.pause_s(failures, retry_after_s)
        return wait_s if spent_s + wait_s < self.deadline_s else None


def call_with_retries(
    call: Callable[[], T],
    policy: RetryPolicy,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = time.sleep,
) -> T:
    """Return what `call` returns. While it raises RetryableError it is called again, until `policy` gives up.

    Blocks the thread. Raises the last RetryableError, and at once whatever else `call` raises.
    """
    started, failures = clock(), 0
    while True:
        try:
            return call()
        except RetryableError as error:
            failures += 1
            wait_s = policy.wait_s(failures, error.retry_after_s, clock() - started)
            if wait_s is None:
                raise
            logger.warning("rag-otel: %s; trying again in %.1f s", error, wait_s)
        sleep(wait_s)


async def call_until_done(
    call: Callable[[], Awaitable[T]],
    backoff: Backoff,
    failed: Callable[[Exception], object],
    *,
    errors: tuple[type[Exception], ...] = (RetryableError,),
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> T:
    """Return what `call` returns. While it raises one of `errors`, `failed` is told of it and it is called again.

    Raises at once whatever else `call` raises, and what `failed` raises.
    """
    failures = 0
    while True:
        try:
            return await call()
        except errors as error:
            failures += 1
            failed(error)
            wait_s = backoff.pause_s(failures, getattr(error, "retry_after_s", None))
        await sleep(wait_s)


def read_retry_after(value: str | None, now: float | None = None) -> float | None:
    """A Retry-After header as seconds from now: a number, or an HTTP date (RFC 9110, 10.2.3). None if unreadable.

    A date is in UTC, whatever the time zone of this machine. `now` is in seconds since the epoch, the clock by default.
    """
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        from email.utils import parsedate_to_datetime  # here: it imports some twenty modules

        try:
            then = parsedate_to_datetime(value)
        except (ValueError, OverflowError):
            return None
        # One of the three date formats has no zone.
        at = then.replace(tzinfo=UTC) if then.tzinfo is None else then
        seconds = at.timestamp() - (time.time() if now is None else now)
    return max(0.0, seconds) if math.isfinite(seconds) else None


def retry_after_of(headers: Mapping[str, str] | None) -> float | None:
    """The seconds that a provider's headers (names in any case, or in lower case) ask to wait, None if none do.

    OpenAI's own header counts milliseconds and wins over the standard one, which counts whole seconds.
    """
    if headers is None:
        return None
    milliseconds = read_retry_after(headers.get("retry-after-ms"))
    return read_retry_after(headers.get("retry-after")) if milliseconds is None else milliseconds / 1_000
