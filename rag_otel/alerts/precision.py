"""How often an alert on one answer is right, and so whether it pages: what was measured on answers that people read.

Of the bad and of the good answers of a data set, the share that is told at a risk (hits, false) does not depend on how
many answers are bad; the share of alerts that are right does:

    right = p * hits / (p * hits + (1 - p) * false),   p: share of answers that are bad in your traffic
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from rag_otel.alert import Alert, AlertAudience, AlertSeverity
from rag_otel.errors import ConfigurationError
from rag_otel.lazy_dataclass import dataclass

UNKNOWN: Final = (
    "not known for this judge and metric (`rag-otel judge check --output FILE` measures it: alert_precision_file)"
)
_MEASURED_METRIC: Final = "faithfulness"
_Z: Final = 1.96
_FIELDS: Final = ("bad", "bad_told", "good", "good_told")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a judge told of labelled answers, at this risk or more. Counts of answers."""

    judge: str
    risk_from: float
    bad: int
    bad_told: int
    good: int
    good_told: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """The share of alerts that are right, 0..1, with about 95%, and what it was measured on."""

    right: float
    low: float
    high: float
    answers: int
    bad_share: float

    def __str__(self) -> str:
        return (
            f"{self.right:.0%} of such alerts ({self.low:.0%} to {self.high:.0%}) where {self.bad_share:.0%} of the "
            f"answers are bad; measured on {self.answers} answers"
        )


MEASURED: Final = tuple(
    Measured(judge="embedded", risk_from=risk_from, bad=58, bad_told=bad_told, good=277, good_told=good_told)
    for risk_from, bad_told, good_told in (
        (0.3, 31, 28), (0.5, 15, 12), (0.7, 10, 4), (0.8, 7, 1), (0.9, 6, 0), (0.95, 4, 0),
    )
)  # fmt: skip
"""`python benchmarks/alert_precision.py --json`: 335 answers of RAGTruth, version 7 out of fold."""


class PrecisionTable:
    """Looks up what is known of a judge's alerts. Those that are right often enough page; the others are read once a
    day."""

    def __init__(
        self, rows: Iterable[Measured] = MEASURED, *, bad_share: float = 0.05, page_precision: float = 0.5
    ) -> None:
        """`bad_share` is the share of bad answers in the traffic, in (0, 1). An answer pages where at least
        `page_precision` of such alerts is right (lower end of the interval); 0: always."""
        self._rows = sorted(rows, key=lambda row: row.risk_from, reverse=True)
        self._bad_share = bad_share
        self._page_precision = page_precision

    def weighed(self, alert: Alert, judge: str | None) -> Alert:
        """The alert with what is known of its trustworthiness, for everyone or for the records.

        A rule that says `critical` was written to page, and does.
        """
        known = self.of(judge, alert.risk) if alert.metric == _MEASURED_METRIC else None
        sure = self._page_precision <= 0 or (known is not None and known.low >= self._page_precision)
        pages = sure or alert.severity is AlertSeverity.CRITICAL
        return dataclasses.replace(
            alert,
            trust=UNKNOWN if known is None else str(known),
            audience=AlertAudience.EVERYONE if pages else AlertAudience.RECORDS,
        )

    def of(self, judge: str | None, risk: float | None) -> Precision | None:
        """Of alerts by this judge at this risk or less, down to the next threshold that was measured; None: unknown.
        What was measured of the label alone (`risk_from` 0) holds for answers of any risk, or without one."""
        known = (row for row in self._rows if row.judge == judge and (risk or 0.0) >= row.risk_from)
        row = next(known, None)
        return None if row is None else _precision(row, self._bad_share)


def read_measured(path: str | None) -> Sequence[Measured]:
    """The shipped rows, or those that you measured: JSON Lines of `Measured`, or what `rag-otel judge check --output`
    wrote. Raises ConfigurationError."""
    if path is None:
        return MEASURED
    try:
        text = Path(path).read_text(encoding="utf-8")
        if (checked := _judge_check(text)) is not None:
            return [checked]
        return [_row(json.loads(line)) for line in text.splitlines() if line.strip()]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"alert_precision_file (environment: RAG_OTEL_ALERT_PRECISION_FILE) = {path!r}: no lines of "
            f'{{"judge", "risk_from", "bad", "bad_told", "good", "good_told"}}, and not written by '
            f"`rag-otel judge check --output`: {error}"
        ) from None


def _judge_check(text: str) -> Measured | None:
    """The counts of a judge check: of its pairs, the unfaithful and the faithful answers that were labelled unfaithful.
    None for any other file."""
    try:
        given = json.loads(text)
        pairs, caught, false = (given["all"][name] for name in ("pairs", "caught", "false_alarms"))
        counts = {"bad_told": round(pairs * caught["value"]), "good_told": round(pairs * false["value"])}
        return _row({"judge": given["judge"], "risk_from": 0.0, "bad": pairs, "good": pairs, **counts})
    except (ValueError, KeyError, TypeError):
        return None


def _row(given: Any) -> Measured:
    counts = {name: int(given[name]) for name in _FIELDS}
    if not (0 <= counts["bad_told"] <= counts["bad"] > 0 and 0 <= counts["good_told"] <= counts["good"] > 0):
        raise ValueError(f"counts that cannot be: {counts}")
    return Measured(judge=str(given["judge"]), risk_from=float(given["risk_from"]), **counts)


def _precision(row: Measured, bad_share: float) -> Precision:
    """The estimate takes half an answer for each side that was never seen (Jeffreys); the interval joins the Wilson
    intervals of both shares, which is wider than needed."""

    def right(hits: float, false: float) -> float:
        return bad_share * hits / (bad_share * hits + (1 - bad_share) * false)

    hits, false = _wilson(row.bad_told, row.bad), _wilson(row.good_told, row.good)
    return Precision(
        right=right((row.bad_told + 0.5) / (row.bad + 1), (row.good_told + 0.5) / (row.good + 1)),
        low=right(max(hits[0], 1e-9), false[1]),
        high=right(hits[1], max(false[0], 1e-9)),
        answers=row.bad + row.good,
        bad_share=bad_share,
    )


def _wilson(found: int, total: int) -> tuple[float, float]:
    share, z2 = found / total, _Z**2
    middle = share + z2 / (2 * total)
    spread = _Z * math.sqrt(share * (1 - share) / total + z2 / (4 * total**2))
    return (middle - spread) / (1 + z2 / total), (middle + spread) / (1 + z2 / total)
