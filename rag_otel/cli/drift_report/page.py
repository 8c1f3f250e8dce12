"""`rag-otel drift --html`: one page that loads nothing and runs nothing: series, interval, baseline, alarms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Final, TypeAlias

from rag_otel.cli.drift_report.view import Point, SeriesView, title
from rag_otel.drift.alerting import describe, moment
from rag_otel.drift.event import DriftEvent
from rag_otel.drift.observation import ALL, shown

_Scale: TypeAlias = Callable[[float], float]
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_WIDTH: Final = 880
_HEIGHT: Final = 220
_LEFT: Final = 46
_BOTTOM: Final = 24
_TOP: Final = 10
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
    """One HTML document. Charts of all traffic and of what has been in alarm, at most `MAX_CHARTS`; tables of all."""
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
    numbers = f"baseline {_number(view.baseline)}, alarm beyond {_number(view.floor)}, {view.count:,} evaluations"
    return f"<section><h2>{escape(title(view))}</h2><p>{state}; {numbers}</p>{chart(view)}</section>"


def chart(view: SeriesView) -> str:
    """The series as SVG: the weighted mean with its 95% interval, the baseline, the floor (dashed), alarms shaded."""
    points = view.points
    if len(points) < 2:
        return "<p>Too few evaluations for a chart.</p>"
    start, end = points[0].time_s, points[-1].time_s
    marks = [each for each in (view.baseline, view.floor) if each is not None]
    low = min([*(point.low for point in points), *marks])
    high = max([*(point.high for point in points), *marks])
    room = max(0.02, (high - low) * 0.08)
    low, high = max(0.0, low - room), min(1.0, high + room)

    def x(time_s: float) -> float:
        share = min(1.0, max(0.0, (time_s - start) / ((end - start) or 1.0)))
        return _LEFT + share * (_WIDTH - _LEFT - 8)

    def y(value: float) -> float:
        share = (min(high, max(low, value)) - low) / ((high - low) or 1.0)
        return _HEIGHT - _BOTTOM - share * (_HEIGHT - _BOTTOM - _TOP)

    band = [(x(point.time_s), y(point.high)) for point in points]
    band += [(x(point.time_s), y(point.low)) for point in reversed(points)]
    line = [(x(point.time_s), y(point.mean)) for point in points]
    parts = [*_grid(low, high, y), *_alarms(view, x, end), f'<polygon class="band" points="{_path(band)}"/>']
    parts.append(f'<polyline class="mean" points="{_path(line)}"/>')
    for name, value in (("base", view.baseline), ("floor", view.floor)):
        if value is not None:
            parts.append(
                f'<line class="{name}" x1="{_LEFT}" x2="{_WIDTH - 8}" y1="{y(value):.1f}" y2="{y(value):.1f}"/>'
            )
    parts += _times(points)
    label = escape(f"{title(view)} over time")
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def _grid(low: float, high: float, y: _Scale) -> list[str]:
    parts = []
    for step in range(5):
        value = low + (high - low) * step / 4
        at = y(value)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - 8}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{value:.2f}</text>')
    return parts


def _alarms(view: SeriesView, x: _Scale, end: float) -> list[str]:
    """A shade from the likely beginning to the end of each alarm, a line where it was raised."""
    parts, begun = [], None
    for event in view.events:
        if not event.resolved:
            begun = event
            continue
        if begun is not None:
            parts += _alarm(begun, event.time_s, x)
        begun = None
    return parts + (_alarm(begun, end, x) if begun is not None else [])


def _alarm(event: DriftEvent, until: float, x: _Scale) -> list[str]:
    left, right, raised = (x(each) for each in (event.since_s, until, event.time_s))
    top, height = _TOP, _HEIGHT - _BOTTOM - _TOP
    return [
        f'<rect class="span" x="{left:.1f}" y="{top}" width="{max(1.0, right - left):.1f}" height="{height}"/>',
        f'<line class="begin" x1="{raised:.1f}" x2="{raised:.1f}" y1="{top}" y2="{top + height}">'
        f"<title>alarm {escape(moment(event.time_s))}</title></line>",
    ]


def _times(points: Sequence[Point]) -> list[str]:
    at = _HEIGHT - 6
    return [
        f'<text x="{_LEFT}" y="{at}">{escape(moment(points[0].time_s))}</text>',
        f'<text x="{_WIDTH - 8}" y="{at}" text-anchor="end">{escape(moment(points[-1].time_s))}</text>',
    ]


def _path(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _event_table(events: Sequence[DriftEvent]) -> str:
    if not events:
        return ""
    rows = "".join(_event_row(event) for event in reversed(events[-100:]))
    head = "".join(f"<th>{each}</th>" for each in ("noticed", "what", "since", "before", "estimate", "most moved"))
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
    """`0.812 (0.774 to 0.850)` of the latest values."""
    point = view.latest
    return "-" if point is None else f"{point.mean:.3f} ({point.low:.3f} to {point.high:.3f})"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
