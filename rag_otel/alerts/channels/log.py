"""Alerts as log records, through the standard library's logging."""

from __future__ import annotations

import logging
from typing import Final

from rag_otel.alert import Alert, AlertAudience, AlertState
from rag_otel.alerts.messages.message import summary, to_dict

LOGGER_NAME: Final = "rag_otel.alerts"
EXTRA_KEY: Final = "rag_otel_alert"
"""Attribute of the record that holds the whole alert, for structured formatters and OpenTelemetry's log handler."""


class LogChannel:
    """A record of logger `rag_otel.alerts`: one line to read, the alert as `record.rag_otel_alert`.

    A warning while something is wrong, at level info when it is over.
    """

    name = "log"
    hears = frozenset({AlertAudience.EVERYONE, AlertAudience.NO_PAGER, AlertAudience.RECORDS})

    def __init__(self, *, level: int = logging.WARNING) -> None:
        self._logger = logging.getLogger(LOGGER_NAME)
        self._level = level

    def send(self, alert: Alert) -> None:
        level = logging.INFO if alert.state is AlertState.RESOLVED else self._level
        self._logger.log(level, "%s", summary(alert), extra={EXTRA_KEY: to_dict(alert)})
