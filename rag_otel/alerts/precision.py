"""How often an alert on one answer is right, and who is told: everybody at once, or the log and the review of the day.

Of the bad and of the good answers of a data set, the share that is told at a risk (hits, false) does not depend on how
many answers are bad; the share of alerts that are right does:

    right = p * hits / (p * hits + (1 - p) * false),   p: share of answers that are bad in your traffic
"""

from __future__ import annotations

import dataclasses
import math
from typing import Final

from rag_otel.alert import Alert, AlertAudience
from rag_otel.evaluation.support import FAITHFULNESS
from rag_otel.lazy_dataclass import dataclass

MEASURED: Final = {0.95: (4, 0), 0.9: (6, 0), 0.8: (7, 1), 0.7: (10, 4), 0.5: (15, 12), 0.3: (31, 28)}
"""Risk of the embedded judge -> how many bad and how many good answers it told at this risk or more.
`python benchmarks/alert_precision.py --json`: 335 answers of RAGTruth, version 7 out of fold."""
BAD, GOOD = 58, 277
"""How many of these answers are bad, and how many good."""
BAD_SHARE: Final = 0.05
"""Share of bad answers in the traffic that is assumed: what public RAG data sets have, roughly."""
PAGES_FROM: Final = 0.5
"""Share of right alerts from which one answer may disturb everybody."""
_UNKNOWN: Final = (
    "not known for this judge and metric (`rag-otel judge check` measures it; state it as alert_precision)"
)
_Z: Final = 1.96


@dataclass(frozen=True, kw_only=True)
class AnswerPrecision:
    """Decides who is told of one answer. The embedded judge is not right often enough at any risk."""

    stated: float | None = None
    """The share of alerts on one answer that are right, 0..1, as the settings say; None: what was measured."""

    def weighed(self, alert: Alert, judge: str | None) -> Alert:
        """The alert with how often such alerts are right, for everyone or for the records. A rule that says `critical`
        was written to page, and does."""
        sure = alert.critical or (self.stated is not None and self.stated >= PAGES_FROM)
        return dataclasses.replace(
            alert,
            trust=self._trust(alert, judge),
            audience=AlertAudience.EVERYONE if sure else AlertAudience.RECORDS,
        )

    def _trust(self, alert: Alert, judge: str | None) -> str:
        if self.stated is not None:
            return f"{self.stated:.0%} of such alerts, as alert_precision says"
        measured = judge == "embedded" and alert.metric == FAITHFULNESS
        told = next((told for risk, told in MEASURED.items() if measured and (alert.risk or 0.0) >= risk), None)
        return _UNKNOWN if told is None else _in_words(*told)


def _in_words(bad: int, good: int) -> str:
    """The estimate takes half an answer for each side that was never seen (Jeffreys); the interval joins the Wilson
    intervals of both shares, which is wider than needed."""

    def right(hits: float, false: float) -> float:
        return BAD_SHARE * hits / (BAD_SHARE * hits + (1 - BAD_SHARE) * false)

    hits, false = wilson_interval(bad / BAD, BAD), wilson_interval(good / GOOD, GOOD)
    low, high = right(max(hits[0], 1e-9), false[1]), right(hits[1], max(false[0], 1e-9))
    return (
        f"{right((bad + 0.5) / (BAD + 1), (good + 0.5) / (GOOD + 1)):.0%} of such alerts ({low:.0%} to {high:.0%}) "
        f"where {BAD_SHARE:.0%} of the answers are bad; measured on {BAD + GOOD} answers"
    )


def wilson_interval(share: float, count: float, z: float = _Z) -> tuple[float, float]:
    """The interval of a share that was measured on so many answers, `z` standard errors to either side (E. B. Wilson,
    JASA 22, 1927)."""
    middle = share + z * z / (2 * count)
    spread = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return (middle - spread) / (1 + z * z / count), (middle + spread) / (1 + z * z / count)
