"""`rag-otel drift --html`: one HTML page with series, intervals, baselines and alarms. It loads no scripts or files."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from rag_otel.cli.drift_report.view import SeriesView, title
from rag_otel.drift.alerting import describe, moment
from rag_otel.drift.event import DriftEvent
from rag_otel.drift.observation import ALL, shown
from rag_otel.rendering.svg_charts import Level, Period, time_series

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
MAX_CHARTS: Final = 24
_STYLE: Final = """
:root{color-scheme:light dark;--ink:#1c2430;--soft:#69727f;--line:#d9dee5;--series:#2468c2;--band:#2468c233;
--base:#2c8a4b;--alarm:#d8433722;--mark:#d84337;--ground:#fff}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ee;--soft:#98a2b0;--line:#39414d;--series:#6ea8ff;--band:#6ea8ff33;
--base:#5fc37f;--alarm:#ff6b5e2e;--mark:#ff7b6f;--ground:#14181e}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--ground);margin:0}
main{max-width:960px;margin:0 auto;padding:24px}h1{font-size:24px}h2{font-size:17px;margin:32px 0 4px}
p{margin:4px 0;color:var(--soft)}.alarm{color:var(--mark);font-weight:600}.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:13px}th,td{text-align:left;padding:4px 10px 4px 0;
border-bottom:1px solid var(--line);vertical-align:top}th{color:var(--soft);font-weight:500}
svg{width:100%;height:auto;display:block}svg text{font:11px system-ui,sans-serif;fill:var(--soft)}
.grid{stroke:var(--line)}.mean{fill:none;stroke:var(--series);stroke-width:2}.band{fill:var(--band)}
.base{stroke:var(--base);stroke-width:1.5}.floor{stroke:var(--base);stroke-width:1;stroke-dasharray:4 4}
.span{fill:var(--alarm)}.begin{stroke:var(--mark);stroke-width:1.5}
"""


def render_page(views: Sequence[SeriesView], events: Sequence[DriftEvent], *, heading: str) -> str:
    """Returns one HTML document: a table of all series, and at most `MAX_CHARTS` charts.

    The charts show the series of all traffic and the series that are or were in alarm.
    """
    charted = [view for view in views if view.slice == ALL or view.firing or view.events][:MAX_CHARTS]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(heading)}</title><style>{_STYLE}</style></head><body><main>"
        f"<h1>{escape(heading)}</h1>{_verdict(views)}"
        f"{''.join(_section(view) for view in charted)}{_event_table(events)}<h2>All series</h2>{_series_table(views)}"
        "</main></body></html>\n"
    )


def _verdict(views: Sequence[SeriesView]) -> str:
    firing = [view for view in views if view.firing]
    if not firing:
        return f"<p>{len(views)} series, no alarm.</p>"
    named = ", ".join(escape(title(view)) for view in firing[:5])
    return f'<p><span class="alarm">{len(firing)} of {len(views)} series in alarm</span>: {named}</p>'


def _section(view: SeriesView) -> str:
    state = '<span class="alarm">alarm</span>' if view.firing else escape(view.state)
    numbers = f"baseline {_number(view.baseline)}, alarm threshold {_number(view.floor)}, {view.count:,} evaluations"
    details = "".join(f"<p>{escape(each)}</p>" for each in view.baseline_details)
    return f"<section><h2>{escape(title(view))}</h2><p>{state}; {numbers}</p>{details}{chart(view)}</section>"


def chart(view: SeriesView) -> str:
    """The chart of one series: weighted mean with 95% interval, baseline, alarm threshold (dashed), alarms (shaded)."""
    if len(view.points) < 2:
        return "<p>Too few evaluations for a chart.</p>"
    levels = (("base", view.baseline), ("floor", view.floor))
    return time_series(
        view.points,
        f"{title(view)} over time",
        levels=[Level(value=value, css_class=css_class) for css_class, value in levels if value is not None],
        periods=_alarms(view, view.points[-1].time_s),
        time_label=moment,
    )


def _alarms(view: SeriesView, end_s: float) -> list[Period]:
    """Each alarm from its estimated start to its end or to `end_s`."""
    periods, open_alarm = [], None
    for event in view.events:
        if not event.resolved:
            open_alarm = event
            continue
        if open_alarm is not None:
            periods.append(_alarm(open_alarm, event.time_s))
        open_alarm = None
    return periods + ([_alarm(open_alarm, end_s)] if open_alarm is not None else [])


def _alarm(event: DriftEvent, end_s: float) -> Period:
    return Period(start_s=event.since_s, end_s=end_s, marked_s=event.time_s, title=f"alarm {moment(event.time_s)}")


def _event_table(events: Sequence[DriftEvent]) -> str:
    if not events:
        return ""
    rows = "".join(_event_row(event) for event in reversed(events[-100:]))
    head = "".join(f"<th>{each}</th>" for each in ("detected", "series", "since", "before", "estimate", "most moved"))
    return f'<h2>Alarms</h2><div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _event_row(event: DriftEvent) -> str:
    if event.resolved:
        what = escape(f"resolved: {event.series}, {event.slice}")
        return f'<tr><td>{escape(moment(event.time_s))}</td><td colspan="5">{what}</td></tr>'
    cells = [
        escape(moment(event.time_s)),
        f'<span class="alarm">alarm</span>: {escape(event.series)}, {escape(event.slice)}',
        escape(moment(event.since_s)),
        _number(None if event.before is None else shown(event.series, event.before)),
        _estimate(event),
        "<br>".join(escape(describe(movement, event.series)) for movement in event.movements[:3]),
    ]
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _estimate(event: DriftEvent) -> str:
    if event.estimate is None or event.interval is None:
        return "-"
    low, high = sorted(shown(event.series, each) for each in event.interval)
    return f"{shown(event.series, event.estimate):.3f} ({low:.3f} to {high:.3f})"


def _series_table(views: Sequence[SeriesView]) -> str:
    head = "".join(
        f"<th>{each}</th>" for each in ("series", "slice", "state", "evaluations", "baseline", "latest", "evidence")
    )
    rows = "".join(
        f"<tr><td>{escape(view.series)}</td><td>{escape(view.slice)}</td><td>{escape(view.state)}</td>"
        f"<td>{view.count:,}</td><td>{_number(view.baseline)}</td><td>{latest(view)}</td>"
        f"<td>{'-' if view.evidence is None else f'{view.evidence:.2f}'}</td></tr>"
        for view in views
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def latest(view: SeriesView) -> str:
    """The mean of the latest values with its interval: `0.812 (0.774 to 0.850)`."""
    point = view.latest
    return "-" if point is None else f"{point.mean:.3f} ({point.low:.3f} to {point.high:.3f})"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
