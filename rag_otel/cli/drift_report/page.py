"""`rag-otel drift --html`: one HTML page that says what drifted, shows it, and leads to the worst answers.

It loads no scripts or files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Final

from rag_otel.cli.drift_report.view import SeriesView, WorstAnswer, title
from rag_otel.drift.alerting import describe, moment
from rag_otel.drift.event import DriftEvent
from rag_otel.drift.observation import ALL
from rag_otel.drift.sentence import sentence, subject
from rag_otel.rendering.svg_charts import Level, Period, time_series
from rag_otel.rendering.text_cutting import shorten

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
MAX_CHARTS: Final = 24
_DAYS_S: Final = 2 * 86_400.0
"""Times of a longer chart are days."""
_WHY: Final = 240
"""Characters of an explanation."""
_STYLE: Final = """
:root{color-scheme:light dark;--ink:#1c2430;--soft:#69727f;--line:#d9dee5;--series:#2468c2;--band:#2468c233;
--base:#2c8a4b;--alarm:#d8433722;--mark:#d84337;--ground:#fff}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ee;--soft:#98a2b0;--line:#39414d;--series:#6ea8ff;--band:#6ea8ff33;
--base:#5fc37f;--alarm:#ff6b5e2e;--mark:#ff7b6f;--ground:#14181e}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--ground);margin:0}
main{max-width:960px;margin:0 auto;padding:24px}h1{font-size:24px}h2{font-size:19px;margin:36px 0 4px}
h3{font-size:15px;margin:16px 0 4px}p{margin:4px 0}ul,ol{margin:4px 0;padding-left:22px}li{margin:4px 0}
.soft,summary,.legend{color:var(--soft)}.alarm{color:var(--mark);font-weight:600}details{margin:8px 0}
.legend{font-size:13px}.legend span{margin-right:18px;white-space:nowrap}.key{display:inline-block;width:18px;
margin-right:6px;vertical-align:middle;border-top:2px solid}.key.mean{border-color:var(--series)}
.key.band,.key.span{height:10px;border:0}.key.band{background:var(--band)}.key.span{background:var(--alarm)}
.key.base{border-color:var(--base)}.key.floor{border-color:var(--base);border-top-style:dashed}
svg{width:100%;height:auto;display:block}svg text{font:11px system-ui,sans-serif;fill:var(--soft)}
.grid{stroke:var(--line)}svg .mean{fill:none;stroke:var(--series);stroke-width:2}svg .band{fill:var(--band)}
svg .base{stroke:var(--base);stroke-width:1.5}svg .floor{stroke:var(--base);stroke-width:1;stroke-dasharray:4 4}
svg .span{fill:var(--alarm)}.begin{stroke:var(--mark);stroke-width:1.5}
"""


def render_page(
    views: Sequence[SeriesView],
    events: Sequence[DriftEvent],
    *,
    heading: str,
    worst: Mapping[tuple[str, str], Sequence[WorstAnswer]] | None = None,
    link: Callable[[str], str] | None = None,
) -> str:
    """Returns one HTML document: what is in alarm, each with its chart and its worst answers; what was; what is fine.

    `worst`: answers by (series, slice). `link` turns a trace id into an address; without it there are no links.
    """
    firing = [view for view in views if view.firing][:MAX_CHARTS]
    over = [view for view in views if view.events and not view.firing][: MAX_CHARTS - len(firing)]
    fine = [view for view in views if not view.firing and not view.events]
    answers = worst or {}
    sections = [_section(view, answers.get((view.series, view.slice), ()), link) for view in (*firing, *over)]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(heading)}</title><style>{_STYLE}</style></head><body><main>"
        f"<h1>{escape(heading)}</h1>{_verdict(firing, len(views))}{''.join(sections)}{_fine(fine)}{_events(events)}"
        "</main></body></html>\n"
    )


def _verdict(firing: Sequence[SeriesView], count: int) -> str:
    if not firing:
        return f"<p>Nothing drifts: {count} series are watched.</p>"
    return f'<p class="alarm">{len(firing)} of {count} series have drifted.</p>'


def _section(view: SeriesView, answers: Sequence[WorstAnswer], link: Callable[[str], str] | None) -> str:
    told = view.events[-1]
    said = f'<p class="{"alarm" if view.firing else "soft"}">{escape(sentence(told))}.</p>'
    return (
        f"<section><h2>{escape(title(view))}</h2>{said}{chart(view)}{_worst(answers, link)}{_details(view)}</section>"
    )


def chart(view: SeriesView) -> str:
    """The chart of one series with its legend: mean with 95% interval, what is normal, the alarm's threshold, and since
    when it has drifted."""
    if len(view.points) < 2:
        return "<p>Too few answers for a chart.</p>"
    levels = (("base", view.baseline), ("floor", view.floor))
    drawn = time_series(
        view.points,
        f"{title(view)} over time",
        levels=[Level(value=value, css_class=css_class) for css_class, value in levels if value is not None],
        periods=_alarms(view, view.points[-1].time_s),
        time_label=_day if view.points[-1].time_s - view.points[0].time_s > _DAYS_S else _hour,
        value_axis=subject(view.series).removeprefix("The ").lower(),
        time_axis="time (UTC)",
    )
    keys = {"mean": "mean", "band": "95% interval"}
    keys |= {"base": "normal"} if view.baseline is not None else {}
    keys |= {"floor": "beyond this is drift"} if view.floor is not None else {}
    keys |= {"span": "drifted"} if view.events else {}
    legend = "".join(f'<span><i class="key {css_class}"></i>{said}</span>' for css_class, said in keys.items())
    return f'{drawn}<p class="legend">{legend}</p>'


def _day(time_s: float) -> str:
    at = datetime.fromtimestamp(time_s, UTC)
    return f"{at.day} {at:%b}"


def _hour(time_s: float) -> str:
    return f"{datetime.fromtimestamp(time_s, UTC):%H:%M}"


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
    since = f"{_day(event.since_s)}, {_hour(event.since_s)}"
    return Period(start_s=event.since_s, end_s=end_s, label=since, title=f"told {moment(event.time_s)}")


def _worst(answers: Sequence[WorstAnswer], link: Callable[[str], str] | None) -> str:
    if not answers:
        return ""
    rows = []
    for answer in answers:
        question = escape(answer.question or answer.trace_id)
        shown = question if link is None else f'<a href="{escape(link(answer.trace_id))}">{question}</a>'
        why = shorten(answer.why, _WHY)
        rows.append(f"<li>{shown}{f'<br>{escape(why)}' if why else ''}</li>")
    return f"<h3>Its worst answers since then</h3><ol>{''.join(rows)}</ol>"


def _details(view: SeriesView) -> str:
    moved = next((event.movements for event in reversed(view.events) if not event.resolved), ())
    lines = [f"{view.count:,} answers; normal is {_number(view.baseline)}, drift is beyond {_number(view.floor)}"]
    lines += [describe(movement, view.series) for movement in moved[:3]]
    lines += view.baseline_details
    items = "".join(f"<li>{escape(each)}</li>" for each in lines)
    return f"<details><summary>How this was found</summary><ul>{items}</ul></details>"


def _fine(views: Sequence[SeriesView]) -> str:
    if not views:
        return ""
    rows = "".join(f"<li>{escape(_one_line(view))}</li>" for view in sorted(views, key=lambda each: each.slice != ALL))
    return f"<h2>No drift</h2><ul>{rows}</ul>"


def _one_line(view: SeriesView) -> str:
    if view.baseline is None:
        return f"{title(view)}: {latest(view)}, still learning what is normal ({view.learned:,} answers so far)"
    return f"{title(view)}: {latest(view)}, normal is {_number(view.baseline)} ({view.count:,} answers)"


def _events(events: Sequence[DriftEvent]) -> str:
    if not events:
        return ""
    rows = "".join(f"<li>{moment(each.time_s)}: {escape(sentence(each))}</li>" for each in reversed(events[-100:]))
    return f"<details><summary>Everything that was told</summary><ul>{rows}</ul></details>"


def latest(view: SeriesView) -> str:
    """The mean of the latest values with its interval: `0.812 (0.774 to 0.850)`."""
    point = view.latest
    return "-" if point is None else f"{point.mean:.3f} ({point.low:.3f} to {point.high:.3f})"


def _number(value: float | None) -> str:
    return "not known yet" if value is None else f"{value:.3f}"
