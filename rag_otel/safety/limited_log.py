"""Errors that come again and again, logged now and then: a full disk must not fill the log as well."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final

from rag_otel.safety.guard import logger

_EVERY_S: Final = 30.0
_MAX_KEYS: Final = 32
"""Different errors that are remembered."""


class LimitedLog:
    """At most one line per error in `every_s` seconds; the next one says how many were left out."""

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
