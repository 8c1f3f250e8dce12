"""Alerts to a function of the application's own."""

from __future__ import annotations

from collections.abc import Callable

from rag_otel.alert import Alert
from rag_otel.errors import PermanentError, RetryableError


class CallbackChannel:
    """Calls `callback(alert)` on a thread of ours; what it raises is counted and logged, never seen by the application.

    A callback that wants to be called again later raises RetryableError.
    """

    name = "callback"

    def __init__(self, callback: Callable[[Alert], object]) -> None:
        self._callback = callback

    def send(self, alert: Alert) -> None:
        try:
            self._callback(alert)
        except RetryableError:
            raise
        except Exception as error:
            raise PermanentError(f"the callback raised {type(error).__name__}: {error}") from error
