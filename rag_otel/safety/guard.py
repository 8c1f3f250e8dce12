"""The promise that the application never notices us: errors of ours are logged and counted, never raised.

Under the project's own tests (`RAG_OTEL_RAISE_INTERNAL_ERRORS=1`) they are raised, so that none hides.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Final, Literal

from rag_otel.safety.redaction import REDACTING

logger = logging.getLogger("rag_otel")
logger.addFilter(REDACTING)

RAISE_ENV: Final = "RAG_OTEL_RAISE_INTERNAL_ERRORS"
_LOGGED_IN_FULL: Final = 5
"""Tracebacks logged per place; after that only the counter grows."""
_EVERY_S: Final = 30.0
_MAX_KEYS: Final = 32
"""Different errors that a `LimitedLog` remembers."""


class _Counters:
    """Named counts since the process started; `doctor` and the tests read them."""

    def __init__(self) -> None:
        # Reentrant, as every lock on a span's way: the garbage collector may run in the middle of a locked section,
        # and what it closes there (a forgotten stream) ends a span.
        self._lock = threading.RLock()
        self._counts: Counter[str] = Counter()

    def add(self, name: str, amount: int = 1) -> int:
        """Count `amount` more of `name`; returns the new total."""
        with self._lock:
            self._counts[name] += amount
            return self._counts[name]

    def get(self, name: str) -> int:
        return self._counts[name]

    def snapshot(self) -> dict[str, int]:
        """A copy of all counts."""
        with self._lock:
            return dict(self._counts)

    def after_fork(self) -> None:
        """The child counts its own: the lock may have been held, and the parent reports its counts itself."""
        self._lock = threading.RLock()
        self._counts = Counter()


counters: Final = _Counters()
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=counters.after_fork)


class guarded:  # noqa: N801 - reads as a keyword at the place of use
    """`with guarded("processor.on_end"):` - what goes wrong inside is logged and counted, and stays inside."""

    __slots__ = ("_place",)

    def __init__(self, place: str) -> None:
        self._place = place

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | Literal[False]:
        if error is None or not isinstance(error, Exception):
            return False
        return report_internal_error(self._place, error)


def report_internal_error(place: str, error: Exception) -> bool:
    """Log and count an error of ours; True when it is dealt with, False when the caller must raise it (tests)."""
    total = counters.add(f"internal_error.{place}")
    if os.environ.get(RAISE_ENV) == "1":
        return False
    if total <= _LOGGED_IN_FULL:
        logger.error("rag-otel: internal error in %s (the application is unaffected)", place, exc_info=error)
    return True


class LimitedLog:
    """Errors that come again and again, logged now and then: a full disk must not fill the log as well.

    At most one line per error in `every_s` seconds; the next one says how many were left out.
    """

    def __init__(self, every_s: float = _EVERY_S, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._every_s = every_s
        self._clock = clock
        self._said: dict[str, tuple[float, int]] = {}
        """Error -> when the last line about it was written, seconds, and how many were left out since."""

    def error(self, subject: str, message: object, *, cause: BaseException | None = None) -> None:
        """Log `rag-otel: <subject>: <message>`, at most one of a subject at a time; with the traceback of `cause` where
        one is given."""
        self._log(logging.ERROR, subject, subject, message, cause)

    def warning(self, subject: str, message: object, *, key: str = "") -> None:
        """The same as a warning, at most one of a `key` at a time; without one, of the subject."""
        self._log(logging.WARNING, key or subject, subject, message, None)

    def _log(self, level: int, key: str, subject: str, message: object, cause: BaseException | None) -> None:
        last, left_out = self._said.get(key, (None, 0))
        now = self._clock()
        if last is not None and now - last < self._every_s:
            self._said[key] = last, left_out + 1
            return
        if len(self._said) >= _MAX_KEYS:
            self._said.clear()
        self._said[key] = now, 0
        more = f" ({left_out} more of them since the last line)" if left_out else ""
        logger.log(level, "rag-otel: %s: %s%s", subject, message, more, exc_info=cause)
