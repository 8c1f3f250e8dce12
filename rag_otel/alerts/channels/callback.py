"""Alerts to a function of the application."""

from __future__ import annotations

from collections.abc import Callable

from rag_otel.alert import Alert, AlertAudience
from rag_otel.errors import PermanentError, RetryableError


class CallbackChannel:
    """Calls `callback(alert)` on a background thread; an exception is counted and logged, and never reaches the caller.

    A callback raises RetryableError to be called again later.
    """

    name = "callback"
    hears = frozenset({AlertAudience.EVERYONE, AlertAudience.RECORDS})

    def __init__(self, callback: Callable[[Alert], object]) -> None:
        self._callback = callback

    def send(self, alert: Alert) -> None:
        try:
            self._callback(alert)
        except RetryableError:
            raise
        except Exception as error:
            raise PermanentError(f"the callback raised {type(error).__name__}: {error}") from error
