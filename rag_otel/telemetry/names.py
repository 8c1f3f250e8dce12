"""The table of instruments: name, kind, unit, labels, meaning. `docs/observability.md` is generated from it.

The names are OpenTelemetry names. In Prometheus names, dots become underscores, and the unit and `_total` are appended:
https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/. Units in braces are annotations;
Prometheus names do not contain them.
"""

from __future__ import annotations

import enum
from typing import Final

from rag_otel.lazy_dataclass import dataclass

SCORE_EDGES: Final = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.999)
"""Upper edges of the score and risk buckets. Common thresholds are edges. 0.999 separates values of exactly 1."""
SECONDS_EDGES: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 60.0)

_ANSWER: Final = ("metric", "judge", "service", "route", "tenant", "model")
_JUDGE: Final = ("metric", "judge")
_STREAM: Final = ("series", "slice")


class InstrumentKind(enum.StrEnum):
    """The kind of an instrument."""

    HISTOGRAM = "histogram"
    COUNTER = "counter"
    """Incremented when results are recorded."""
    OBSERVED_COUNTER = "observed_counter"
    """Counted elsewhere in the process, and read at each collection."""
    GAUGE_SUM = "gauge_sum"
    """A current value. Values with equal labels are added."""
    GAUGE_MAX = "gauge_max"
    """A current value. Of values with equal labels the largest is reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instrument:
    """One row of the table."""

    name: str
    kind: InstrumentKind
    meaning: str
    unit: str = ""
    labels: tuple[str, ...] = ()
    edges: tuple[float, ...] = ()
    """Upper edges of a histogram's buckets."""

    @property
    def prometheus(self) -> str:
        """The name of its series in Prometheus. For a histogram, the name without `_bucket`, `_sum` or `_count`."""
        base = self.name.replace(".", "_")
        if self.unit == "s":
            base += "_seconds"
        return base + "_total" if self.kind in (InstrumentKind.COUNTER, InstrumentKind.OBSERVED_COUNTER) else base


SCORE: Final = Instrument(
    name="rag_otel.evaluation.score",
    kind=InstrumentKind.HISTOGRAM,
    meaning="Scores, 0..1, higher is better",
    labels=_ANSWER,
    edges=SCORE_EDGES,
)
RISK: Final = Instrument(
    name="rag_otel.evaluation.risk",
    kind=InstrumentKind.HISTOGRAM,
    meaning="Probability, 0..1, that an answer contains at least one unsupported claim",
    labels=_ANSWER,
    edges=SCORE_EDGES,
)
CLAIMS: Final = Instrument(
    name="rag_otel.claims",
    kind=InstrumentKind.COUNTER,
    meaning="Claims by verdict: supported, contradicted, not_enough_info, unjudged",
    unit="{claim}",
    labels=("verdict", *_ANSWER),
)
EVALUATIONS: Final = Instrument(
    name="rag_otel.evaluations",
    kind=InstrumentKind.COUNTER,
    meaning="Evaluations by outcome (scored, unscored, failed) and reason code",
    unit="{evaluation}",
    labels=("metric", "judge", "service", "route", "outcome", "reason"),
)
JUDGE_DURATION: Final = Instrument(
    name="rag_otel.judge.duration",
    kind=InstrumentKind.HISTOGRAM,
    meaning="Duration of one evaluation",
    unit="s",
    labels=_JUDGE,
    edges=SECONDS_EDGES,
)
JUDGE_TOKENS: Final = Instrument(
    name="rag_otel.judge.tokens",
    kind=InstrumentKind.COUNTER,
    meaning="Tokens of judges that are language models, by direction: input, output",
    unit="{token}",
    labels=("direction", *_JUDGE),
)
JUDGE_COST: Final = Instrument(
    name="rag_otel.judge.cost_usd",
    kind=InstrumentKind.COUNTER,
    meaning="Cost of judges in US dollars, if the price is known",
    unit="{USD}",
    labels=_JUDGE,
)
TRACES: Final = Instrument(
    name="rag_otel.traces",
    kind=InstrumentKind.OBSERVED_COUNTER,
    meaning="RAG traces by status (evaluated, skipped, late, failed) and reason",
    unit="{trace}",
    labels=("status", "reason"),
)
JUDGE_CACHE: Final = Instrument(
    name="rag_otel.judge.cache",
    kind=InstrumentKind.OBSERVED_COUNTER,
    meaning="Look-ups in a judge's cache, by outcome: hit, miss",
    unit="{lookup}",
    labels=("outcome",),
)
GUARDED: Final = Instrument(
    name="rag_otel.guarded",
    kind=InstrumentKind.OBSERVED_COUNTER,
    meaning="Answers that a guard has looked at: what left, what the judge found, and why there was no verdict",
    unit="{answer}",
    labels=("outcome", "finding", "reason"),
)
DROPPED: Final = Instrument(
    name="rag_otel.dropped",
    kind=InstrumentKind.OBSERVED_COUNTER,
    meaning="Dropped items, by what was dropped (span, result, alert) and reason",
    unit="{item}",
    labels=("what", "reason"),
)
DELIVERY: Final = Instrument(
    name="rag_otel.delivery",
    kind=InstrumentKind.OBSERVED_COUNTER,
    meaning="Results and alerts by destination and outcome: sent, retries, lost, refused, abandoned",
    unit="{item}",
    labels=("destination", "outcome"),
)
ALERTS: Final = Instrument(
    name="rag_otel.alerts",
    kind=InstrumentKind.OBSERVED_COUNTER,
    meaning="Alerts by name and outcome: raised, suppressed, held, sent, resolved, untold",
    unit="{alert}",
    labels=("name", "outcome"),
)
BREAKER_OPEN: Final = Instrument(
    name="rag_otel.judge.breaker_open",
    kind=InstrumentKind.GAUGE_MAX,
    meaning="1 while a judge is not called because its calls failed repeatedly, else 0",
)
QUEUE_AGE: Final = Instrument(
    name="rag_otel.queue.age",
    kind=InstrumentKind.GAUGE_MAX,
    meaning="Age of the oldest trace that waits for its evaluation, or 0",
    unit="s",
)
QUEUE_ITEMS: Final = Instrument(
    name="rag_otel.queue_items",
    kind=InstrumentKind.GAUGE_SUM,
    meaning="Traces that wait for their evaluation, or are being evaluated",
    unit="{trace}",
)
HELD_SPANS: Final = Instrument(
    name="rag_otel.held_spans",
    kind=InstrumentKind.GAUGE_SUM,
    meaning="Spans that wait for their scores before they are exported",
    unit="{span}",
)
DRIFT_ALARM: Final = Instrument(
    name="rag_otel.drift.alarm",
    kind=InstrumentKind.GAUGE_MAX,
    meaning="1 while a series is in alarm, else 0",
    labels=_STREAM,
)
DRIFT_EVIDENCE: Final = Instrument(
    name="rag_otel.drift.evidence",
    kind=InstrumentKind.GAUGE_MAX,
    meaning="log10 of the e-detector's value divided by its threshold: 0 or more is an alarm",
    labels=_STREAM,
)
DRIFT_MEAN: Final = Instrument(
    name="rag_otel.drift.mean",
    kind=InstrumentKind.GAUGE_MAX,
    meaning="Weighted mean of the recent values of a series",
    labels=_STREAM,
)
DRIFT_BASELINE: Final = Instrument(
    name="rag_otel.drift.baseline",
    kind=InstrumentKind.GAUGE_MAX,
    meaning="The value with which the mean of a series is compared",
    labels=_STREAM,
)

INSTRUMENTS: Final = (
    SCORE, RISK, CLAIMS, EVALUATIONS, TRACES, GUARDED,
    JUDGE_DURATION, JUDGE_TOKENS, JUDGE_COST, JUDGE_CACHE, BREAKER_OPEN,
    QUEUE_AGE, QUEUE_ITEMS, HELD_SPANS, DROPPED, DELIVERY, ALERTS,
    DRIFT_ALARM, DRIFT_EVIDENCE, DRIFT_MEAN, DRIFT_BASELINE,
)  # fmt: skip
"""All instruments, in the order of the docs."""
