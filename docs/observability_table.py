"""Writes the table of instruments into `docs/observability.md`: `python docs/observability_table.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rag_otel.telemetry.names import INSTRUMENTS, Instrument

PAGE: Final = Path(__file__).with_name("observability.md")
_START: Final = "<!-- instruments -->\n"
_END: Final = "<!-- /instruments -->"
HEAD: Final = """| in Prometheus | kind | unit | labels | meaning | for example |
|---|---|---|---|---|---|
"""

QUERIES: Final = {
    "rag_otel.evaluation.score": "sum(rate(rag_otel_evaluation_score_bucket{le='0.7'}[5m]))"
    " / sum(rate(rag_otel_evaluation_score_count[5m]))",
    "rag_otel.evaluation.risk": "histogram_quantile(0.5, sum by (le) (rate(rag_otel_evaluation_risk_bucket[15m])))",
    "rag_otel.claims": "sum by (route) (rate(rag_otel_claims_total{verdict='contradicted'}[15m]))",
    "rag_otel.evaluations": "sum by (reason) (rate(rag_otel_evaluations_total{outcome='failed'}[5m]))",
    "rag_otel.traces": "sum by (status, reason) (rate(rag_otel_traces_total[5m]))",
    "rag_otel.guarded": "sum by (reason) (rate(rag_otel_guarded_total{finding='not_judged'}[5m]))",
    "rag_otel.judge.duration": "histogram_quantile(0.95,"
    " sum by (le, judge) (rate(rag_otel_judge_duration_seconds_bucket[5m])))",
    "rag_otel.judge.tokens": "sum by (direction) (rate(rag_otel_judge_tokens_total[1h]))",
    "rag_otel.judge.cost_usd": "sum(increase(rag_otel_judge_cost_usd_total[1d]))",
    "rag_otel.judge.cache": "sum(rate(rag_otel_judge_cache_total{outcome='hit'}[1h]))"
    " / sum(rate(rag_otel_judge_cache_total[1h]))",
    "rag_otel.judge.breaker_open": "max(rag_otel_judge_breaker_open) == 1",
    "rag_otel.queue.age": "max(rag_otel_queue_age_seconds) > 60",
    "rag_otel.queue_items": "sum(rag_otel_queue_items)",
    "rag_otel.held_spans": "sum(rag_otel_held_spans)",
    "rag_otel.dropped": "sum by (what, reason) (increase(rag_otel_dropped_total[15m])) > 0",
    "rag_otel.delivery": "sum by (destination, outcome) (rate(rag_otel_delivery_total[5m]))",
    "rag_otel.alerts": "sum by (name, outcome) (increase(rag_otel_alerts_total[1h]))",
    "rag_otel.drift.alarm": "max by (series, slice) (rag_otel_drift_alarm) == 1",
    "rag_otel.drift.evidence": "topk(5, rag_otel_drift_evidence)",
    "rag_otel.drift.mean": "rag_otel_drift_mean - on (series, slice) rag_otel_drift_baseline",
    "rag_otel.drift.baseline": "rag_otel_drift_baseline",
}
"""A useful question for each instrument."""


def table() -> str:
    """All instruments as a Markdown table."""
    return HEAD + "\n".join(_row(row) for row in INSTRUMENTS) + "\n"


def page() -> str:
    """The whole page with today's table."""
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.partition(_START)[0], text.partition(_END)[2]
    return before + _START + table() + _END + after


def _row(row: Instrument) -> str:
    labels = ", ".join(f"`{label}`" for label in row.labels)
    kind = row.kind.value.removeprefix("observed_").removesuffix("_sum").removesuffix("_max")
    unit = row.unit.strip("{}")
    return f"| `{row.prometheus}` | {kind} | {unit} | {labels} | {row.meaning} | `{QUERIES[row.name]}` |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
