"""When to try again: exponential backoff with full jitter, and the provider's word where it gives one."""

from __future__ import annotations

import email.utils
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and how long. Times in seconds."""

    attempts: int = 5
    """Calls in all, the first included."""
    base_s: float = 0.5
    """Upper end of the first wait; each further one doubles it."""
    longest_wait_s: float = 30.0
    """No single wait is longer; a provider that asks for more is not waited for."""
    deadline_s: float = 120.0
    """For calls and waits of one answer together, time in our own queues not counted."""

    def wait_s(self, attempt: int, retry_after_s: float | None, spent_s: float) -> float | None:
        """Seconds to wait after the failed `attempt` (1-based), None to give up.

        Full jitter (a uniform draw up to the exponential bound) spreads callers that failed together; source: Marc
        Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015. Retry-After is a lower bound and gets
        up to a quarter on top, for the same reason.
        """
        if attempt >= self.attempts:
            return None
        if retry_after_s is not None:
            if retry_after_s > self.longest_wait_s:
                return None
            wait = retry_after_s * random.uniform(1.0, 1.25)
        else:
            wait = random.uniform(0.0, min(self.longest_wait_s, self.base_s * 2.0 ** (attempt - 1)))
        return wait if spent_s + wait < self.deadline_s else None


def read_retry_after(value: str | None, now: float | None = None) -> float | None:
    """A Retry-After header as seconds from now: a number, or an HTTP date (RFC 9110, 10.2.3); None if unreadable.

    `now` is in seconds since the epoch, the clock by default.
    """
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            then = email.utils.parsedate_to_datetime(value).timestamp()
        except ValueError:
            return None
        seconds = then - (time.time() if now is None else now)
    return max(0.0, seconds) if seconds < float("inf") else None


def retry_after_of(headers: Mapping[str, str] | None) -> float | None:
    """The seconds that a provider's headers (names in any case, or in lower case) ask to wait, None if none do.

    OpenAI's own header counts milliseconds and wins over the standard one, which counts whole seconds.
    """
    if headers is None:
        return None
    milliseconds = read_retry_after(headers.get("retry-after-ms"))
    return read_retry_after(headers.get("retry-after")) if milliseconds is None else milliseconds / 1_000
