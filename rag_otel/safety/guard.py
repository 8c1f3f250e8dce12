"""The promise that the application never notices us: errors of ours are logged and counted, never raised.

Under the project's own tests (`RAG_OTEL_RAISE_INTERNAL_ERRORS=1`) they are raised, so that none hides.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import Counter
from types import TracebackType
from typing import Final, Literal

from rag_otel.safety.redaction import REDACTING

logger = logging.getLogger("rag_otel")
logger.addFilter(REDACTING)

RAISE_ENV: Final = "RAG_OTEL_RAISE_INTERNAL_ERRORS"
_LOGGED_IN_FULL: Final = 5
"""Tracebacks logged per place; after that only the counter grows."""


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
