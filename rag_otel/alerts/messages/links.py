"""Where a reader of an alert goes next: the chart and the section of the runbook."""

from __future__ import annotations

import dataclasses
from typing import Final
from urllib.parse import quote

from rag_otel.alert import Alert

_MS: Final = 1_000_000
_BEFORE_MS: Final = 3_600_000
"""A chart begins this long before the problem did, so that its beginning is seen."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class AlertLinks:
    """The addresses that the settings give."""

    chart: str | None = None
    """A dashboard's address; `{service}`, `{route}`, `{from}` and `{to}` (milliseconds) are filled in."""
    runbook: str | None = None
    """The page whose sections are named like the alerts."""

    def on(self, alert: Alert) -> Alert:
        """The alert with both links, where they are known and it has none."""
        return dataclasses.replace(
            alert,
            chart=alert.chart or self._chart(alert),
            runbook=alert.runbook or (f"{self.runbook}#{quote(alert.name)}" if self.runbook else None),
        )

    def _chart(self, alert: Alert) -> str | None:
        if self.chart is None:
            return None
        began = (alert.since_ns or alert.time_ns) // _MS
        address = self.chart
        for name, value in {
            "service": quote(alert.service or "", safe=""),
            "route": quote(alert.route or "", safe=""),
            "from": str(max(0, began - _BEFORE_MS)),
            "to": str(max(alert.time_ns // _MS, began) + _BEFORE_MS),
        }.items():
            address = address.replace(f"{{{name}}}", value)
        return address
