"""Errors that come again and again, logged now and then: a full disk must not fill the log as well."""

from __future__ import annotations

import time
from typing import Final

from rag_otel.safety.guard import logger

_EVERY_S: Final = 30.0


class LimitedLog:
    """At most one line per subject in `every_s` seconds; the next one says how many were left out."""

    def __init__(self, every_s: float = _EVERY_S) -> None:
        self._every_s = every_s
        self._said: dict[str, tuple[float, int]] = {}
        """Subject -> when the last line about it was written, monotonic seconds, and how many were left out since."""

    def error(self, subject: str, message: object, *, cause: BaseException | None = None) -> None:
        """Log `rag-otel: <subject>: <message>`; with the traceback of `cause` where one is given."""
        last, left_out = self._said.get(subject, (None, 0))
        now = time.monotonic()
        if last is not None and now - last < self._every_s:
            self._said[subject] = last, left_out + 1
            return
        self._said[subject] = now, 0
        more = f" ({left_out} more of them since the last line)" if left_out else ""
        logger.error("rag-otel: %s: %s%s", subject, message, more, exc_info=cause)
