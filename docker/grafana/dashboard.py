"""Writes the Grafana dashboard: python docker/grafana/dashboard.py

The panels stand here as a table, title and queries; positions, ids and Grafana's boilerplate are made. Rare events have
`or vector(0)`: their counters appear with the first one, and a panel without data looks like a broken one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

TARGET: Final = Path(__file__).parent / "dashboards" / "overview.json"
DATASOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}
_COLUMNS: Final = 24
_HEIGHT: Final = 8

_MINE: Final = 'job=~"$job"'
_WHERE: Final = 'metric=~"$metric",service=~"$service",job=~"$job"'
_SCORE: Final = "rag_otel_evaluation_score"
_RISK: Final = "rag_otel_evaluation_risk"


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One chart: legend -> query."""

    title: str
    queries: Mapping[str, str]
    unit: str = "short"
    kind: str = "timeseries"
    width: int = 8
    description: str = ""
    threshold: float | None = None
    """Drawn as a red line."""
    bounds: tuple[float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class Row:
    """A headline and its panels."""

    title: str
    panels: tuple[Panel, ...] = field(default_factory=tuple)


def _increase(name: str, *by: str, where: str = _MINE, or_zero: bool = False) -> str:
    grouped = f"sum by ({', '.join(by)}) (" if by else "sum ("
    query = f"{grouped}increase({name}{{{where}}}[$__rate_interval]))"
    return f"{query} or vector(0)" if or_zero else query


def _quantile(q: float, name: str, *by: str, where: str = _WHERE) -> str:
    labels = ", ".join(("le", *by))
    return f"histogram_quantile({q}, sum by ({labels}) (rate({name}_bucket{{{where}}}[$__rate_interval])))"


def _mean(name: str, *by: str) -> str:
    grouped = f"sum by ({', '.join(by)})" if by else "sum"
    total, count = (f"{grouped} (rate({name}_{part}{{{_WHERE}}}[$__rate_interval]))" for part in ("sum", "count"))
    return f"{total} / ({count} > 0)"


def _share_up_to(name: str, edge: str, *by: str) -> str:
    grouped = f"sum by ({', '.join(by)})" if by else "sum"
    within = f'{grouped} (rate({name}_bucket{{{_WHERE},le="{edge}"}}[$__rate_interval]))'
    return f"{within} / ({grouped} (rate({name}_count{{{_WHERE}}}[$__rate_interval])) > 0)"


_SHARE: Final = (0.0, 1.0)

ROWS: Final = (
    Row(
        title="Answers",
        panels=(
            Panel(title="Evaluations", kind="stat", width=4, queries={
                "": f"sum(increase({_SCORE}_count{{{_WHERE}}}[$__range]))"}),
            Panel(title="Alerts now", kind="stat", width=4, queries={
                "": 'count(ALERTS{alertname=~"Rag.*",alertstate="firing"}) or vector(0)'}),
            Panel(title="Score", unit="percentunit", bounds=_SHARE, threshold=0.7, queries={
                "mean": _mean(_SCORE), "median": _quantile(0.5, _SCORE), "worst tenth": _quantile(0.1, _SCORE)}),
            Panel(title="Risk", unit="percentunit", bounds=_SHARE, threshold=0.3, queries={
                "mean": _mean(_RISK), "median": _quantile(0.5, _RISK), "worst tenth": _quantile(0.9, _RISK)},
                description="Probability that an answer holds at least one unsupported claim."),
            Panel(title="Answers at risk, by model", unit="percentunit", bounds=_SHARE, threshold=0.25, queries={
                "{{model}}": f"1 - {_share_up_to(_RISK, '0.3', 'model')}"},
                description="Share of answers whose risk is above .3."),
            Panel(title="Answers scoring .7 or less, by route", unit="percentunit", bounds=_SHARE, threshold=0.05,
                queries={"{{service}} {{route}}": _share_up_to(_SCORE, "0.7", "service", "route")},
                description="The objective allows 5%."),
            Panel(title="Mean score by tenant", unit="percentunit", bounds=_SHARE, queries={
                "{{tenant}}": _mean(_SCORE, "tenant")}),
            Panel(title="Claims by verdict", queries={
                "{{verdict}}": _increase("rag_otel_claims_total", "verdict", where=_WHERE)}),
            Panel(title="Distribution of scores", kind="heatmap", queries={
                "{{le}}": _increase(f"{_SCORE}_bucket", "le", where=_WHERE)}),
            Panel(title="Burnt of the error budget", unit="percentunit", threshold=0.05, queries={
                "{{service}}, hour": "service:rag_otel_unfaithful_answers:ratio_1h",
                "{{service}}, day": "service:rag_otel_unfaithful_answers:ratio_1d"}),
        ),
    ),
    Row(
        title="Drift",
        panels=(
            Panel(title="Evidence of drift", width=12, threshold=0, queries={
                "{{series}} {{slice}}": f"rag_otel_drift_evidence{{{_MINE}}}"},
                description="log10 of the detector's evidence over its threshold: an alarm at 0 and above."),
            Panel(title="Mean and baseline", width=12, unit="percentunit", queries={
                "{{series}} {{slice}}": f"rag_otel_drift_mean{{{_MINE}}}",
                "{{series}} {{slice}}, baseline": f"rag_otel_drift_baseline{{{_MINE}}}"}),
        ),
    ),
    Row(
        title="Evaluation",
        panels=(
            Panel(title="Traces by status", queries={
                "{{status}} {{reason}}": _increase("rag_otel_traces_total", "status", "reason")}),
            Panel(title="Evaluations by outcome", queries={
                "{{outcome}} {{reason}}": _increase("rag_otel_evaluations_total", "outcome", "reason", where=_WHERE)}),
            Panel(title="Judge latency", unit="s", queries={
                "{{judge}}, median": _quantile(0.5, "rag_otel_judge_duration_seconds", "judge", where=_MINE),
                "{{judge}}, slowest twentieth":
                    _quantile(0.95, "rag_otel_judge_duration_seconds", "judge", where=_MINE)}),
            Panel(title="Queue", queries={
                "waiting": f"sum(rag_otel_queue_items{{{_MINE}}})",
                "spans held": f"sum(rag_otel_held_spans{{{_MINE}}})"}),
            Panel(title="Oldest waiting trace", unit="s", threshold=60, queries={
                "{{instance}}": f"max by (instance) (rag_otel_queue_age_seconds{{{_MINE}}})"}),
            Panel(title="Given up", queries={
                "{{what}} {{reason}}": _increase("rag_otel_dropped_total", "what", "reason", or_zero=True)}),
            Panel(title="Tokens", queries={
                "{{judge}} {{direction}}":
                    _increase("rag_otel_judge_tokens_total", "judge", "direction", or_zero=True)}),
            Panel(title="Cost per hour", unit="currencyUSD", queries={
                "{{judge}}":
                    f"3600 * sum by (judge) (rate(rag_otel_judge_cost_usd_total{{{_MINE}}}[$__rate_interval]))"
                    " or vector(0)"}),
            Panel(title="Judge's cache and breaker", queries={
                "{{outcome}}": _increase("rag_otel_judge_cache_total", "outcome", or_zero=True),
                "breaker open": f"max(rag_otel_judge_breaker_open{{{_MINE}}})"}),
            Panel(title="Deliveries", width=12, queries={
                "{{destination}} {{outcome}}": _increase("rag_otel_delivery_total", "destination", "outcome")}),
            Panel(title="Alerts sent", width=12, queries={
                "{{name}} {{outcome}}": _increase("rag_otel_alerts_total", "name", "outcome", or_zero=True)}),
        ),
    ),
    Row(
        title="Collector",
        panels=(
            Panel(title="Spans", queries={
                "received": _increase("rag_otel_collector_received_spans_total"),
                "passed, {{reason}}": _increase("rag_otel_collector_passed_spans_total", "reason", or_zero=True),
                "held": _increase("rag_otel_collector_held_spans_total", or_zero=True),
                "lost": _increase("rag_otel_collector_lost_spans_total", or_zero=True)}),
            Panel(title="Requests refused", queries={
                "{{reason}}": _increase("rag_otel_collector_refused_requests_total", "reason", or_zero=True)}),
            Panel(title="On disk and in memory", unit="bytes", queries={
                "waits for a backend": f"sum(rag_otel_collector_outbox_bytes{{{_MINE}}})",
                "journal": f"sum(rag_otel_collector_journal_bytes{{{_MINE}}})",
                "held in memory": f"sum(rag_otel_collector_held_bytes{{{_MINE}}})",
                "disk, at most": f"sum(rag_otel_collector_disk_limit_bytes{{{_MINE}}})"}),
            Panel(title="Sent to backends", unit="bytes", queries={
                "{{backend}}": _increase("rag_otel_collector_sent_bytes_total", "backend")}),
            Panel(title="Backends in trouble", queries={
                "backends": f"sum(rag_otel_collector_backends_in_trouble{{{_MINE}}})",
                "retries": _increase("rag_otel_collector_send_retries_total", or_zero=True)}),
            Panel(title="Evaluation processes replaced", queries={
                "restarts": _increase("rag_otel_collector_worker_restarts_total", or_zero=True)}),
        ),
    ),
)  # fmt: skip


def dashboard() -> dict[str, Any]:
    """The dashboard as Grafana reads it."""
    return {
        "uid": "rag-otel-overview",
        "title": "rag-otel: faithfulness",
        "tags": ["rag-otel"],
        "schemaVersion": 39,
        "version": 1,
        "editable": False,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {
            "list": [
                {"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Data source"},
                _variable("job", "label_values(rag_otel_queue_items, job)"),
                _variable("service", f"label_values({_SCORE}_count, service)"),
                {**_variable("metric", f"label_values({_SCORE}_count, metric)"), "current": _chosen("faithfulness")},
            ]
        },
        "annotations": {"list": []},
        "panels": list(_panels()),
    }


def _chosen(value: str) -> dict[str, Any]:
    return {"text": [value], "value": [value]}


def _variable(name: str, query: str) -> dict[str, Any]:
    return {
        "name": name,
        "type": "query",
        "label": name.capitalize(),
        "datasource": DATASOURCE,
        "query": {"query": query, "refId": name},
        "refresh": 2,
        "includeAll": True,
        "allValue": ".*",
        "multi": True,
        "current": {"text": ["All"], "value": ["$__all"]},
    }


def _panels() -> Iterator[dict[str, Any]]:
    number, top = 0, 0
    for row in ROWS:
        number += 1
        yield {"id": number, "type": "row", "title": row.title, "gridPos": _place(0, top, _COLUMNS, 1), "panels": []}
        left, top = 0, top + 1
        for panel in row.panels:
            if left + panel.width > _COLUMNS:
                left, top = 0, top + _HEIGHT
            number += 1
            yield _panel(panel, number, _place(left, top, panel.width, _HEIGHT))
            left += panel.width
        top += _HEIGHT


def _place(x: int, y: int, w: int, h: int) -> dict[str, int]:
    return {"x": x, "y": y, "w": w, "h": h}


def _panel(panel: Panel, number: int, place: dict[str, int]) -> dict[str, Any]:
    defaults: dict[str, Any] = {"unit": panel.unit, "custom": {}}
    if panel.kind == "timeseries":
        defaults["custom"]["showPoints"] = "never"
    if panel.bounds is not None:
        defaults |= {"min": panel.bounds[0], "max": panel.bounds[1]}
    if panel.threshold is not None:
        steps = [{"color": "transparent", "value": None}, {"color": "red", "value": panel.threshold}]
        defaults["thresholds"] = {"mode": "absolute", "steps": steps}
        defaults["custom"]["thresholdsStyle"] = {"mode": "line"}
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.description,
        "datasource": DATASOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "targets": [_target(panel, *each) for each in zip("ABCDEFGH", panel.queries.items(), strict=False)],
    }


def _target(panel: Panel, ref: str, query: tuple[str, str]) -> dict[str, Any]:
    legend, expression = query
    heatmap = panel.kind == "heatmap"
    return {
        "refId": ref,
        "datasource": DATASOURCE,
        "expr": expression,
        "legendFormat": legend,
        "format": "heatmap" if heatmap else "time_series",
        "exemplar": panel.kind == "timeseries" and "_bucket" in expression,
        "instant": panel.kind == "stat",
    }


def text() -> str:
    """The dashboard's file."""
    return json.dumps(dashboard(), indent=2) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), "utf-8")
