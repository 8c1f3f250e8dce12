"""Alerts as log records, through the standard library's logging."""

from __future__ import annotations

import dataclasses
import logging
from typing import Any, Final

from rag_otel.alert import Alert, AlertAudience, AlertState
from rag_otel.alerts.messages.wording import summary, to_dict
from rag_otel.safety.redaction import REDACTING

LOGGER_NAME: Final = "rag_otel.alerts"
EXTRA_KEY: Final = "rag_otel_alert"
"""Attribute of the record that holds the whole alert, for structured formatters and OpenTelemetry's log handler."""


class LogChannel:
    """A record of logger `rag_otel.alerts`: one line to read, the alert as `record.rag_otel_alert`.

    A warning while something is wrong, at level info when it is over.
    """

    name = "log"
    hears = frozenset({AlertAudience.EVERYONE, AlertAudience.RECORDS})

    def __init__(self, *, level: int = logging.WARNING, texts: bool = False) -> None:
        """With `texts` records quote question, answer and claims; else they hold identifiers and counts: logs are read,
        kept and sent on by more people than traces are."""
        self._logger = logging.getLogger(LOGGER_NAME)
        self._logger.addFilter(REDACTING)
        self._level = level
        self._texts = texts

    def send(self, alert: Alert) -> None:
        level = logging.INFO if alert.state is AlertState.RESOLVED else self._level
        shown = alert if self._texts else _without_texts(alert)
        line = summary(shown)
        if shown is not alert and (about := _identifiers(alert)):
            line += f" ({about})"
        self._logger.log(level, "%s", line, extra={EXTRA_KEY: to_dict(shown)})


def _without_texts(alert: Alert) -> Alert:
    hidden: dict[str, Any] = {"question": None, "response": None, "claims": ()}
    examples = tuple(dataclasses.replace(example, **hidden) for example in alert.examples)
    return dataclasses.replace(alert, **hidden, examples=examples)


def _identifiers(alert: Alert) -> str:
    parts = []
    if alert.claims:
        parts.append(f"{len(alert.claims)} unsupported claim{'s' if len(alert.claims) > 1 else ''}")
    if alert.target is not None:
        parts.append(f"trace {alert.target.trace_id}")
    return ", ".join(parts)
