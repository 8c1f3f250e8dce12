"""Which alerts on one answer disturb somebody: those that are right often enough. The others are read once a day."""

from __future__ import annotations

import dataclasses
from typing import Final

from rag_otel.alert import Alert, AlertAudience, AlertSeverity
from rag_otel.alerts.precision import PrecisionTable

UNKNOWN: Final = (
    "not known for this judge and metric (`rag-otel judge check --output FILE` measures it: alert_precision_file)"
)
_MEASURED_METRIC: Final = "faithfulness"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Triage:
    """Decides by the judge's measured precision."""

    table: PrecisionTable
    page_precision: float
    """An answer pages where at least this share of such alerts is right (lower end of the interval); 0: always."""

    def of(self, alert: Alert, judge: str | None) -> Alert:
        """The alert with what is known of its trustworthiness, for everyone or for the records.

        A rule that says `critical` was written to page, and does.
        """
        known = self.table.of(judge, alert.risk) if alert.metric == _MEASURED_METRIC else None
        sure = self.page_precision <= 0 or (known is not None and known.low >= self.page_precision)
        pages = sure or alert.severity is AlertSeverity.CRITICAL
        return dataclasses.replace(
            alert,
            trust=UNKNOWN if known is None else str(known),
            audience=AlertAudience.EVERYONE if pages else AlertAudience.RECORDS,
        )
