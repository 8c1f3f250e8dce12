"""Charts as inline SVG: a histogram, a box plot, and a series over time with its band.

The functions take numbers and labels. They escape the labels. The page's style sheet sets colours by CSS class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final, Protocol

BINS: Final = 20
"""Each bin is 0.05 wide. The last one includes 1."""
_WHISKER: Final = 1.5
"""Maximum length of a whisker, in interquartile ranges beyond the quartile (Tukey, Exploratory Data Analysis, 1977)."""
_TICKS: Final = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_TOP: Final = 16
_SCORES_WIDTH: Final = 640
_BARS_HEIGHT: Final = 150
_BOX_HEIGHT: Final = 64
_SERIES_WIDTH: Final = 880
_SERIES_HEIGHT: Final = 220
_GRID_LINES: Final = 5
_TIMES: Final = 5
"""Labels below a series over time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Maps values from `low` to `high` linearly to SVG coordinates. Values outside are clamped."""

    low: float
    high: float
    start: float
    """The coordinate of `low`."""
    end: float
    """The coordinate of `high`."""

    def __call__(self, value: float) -> float:
        share = (min(self.high, max(self.low, value)) - self.low) / ((self.high - self.low) or 1.0)
        return self.start + share * (self.end - self.start)


_SCORE: Final = Scale(low=0.0, high=1.0, start=44, end=_SCORES_WIDTH - 16)


class BandPoint(Protocol):
    """One point of a series: a value at a time (seconds since the epoch) and the interval around it."""

    @property
    def time_s(self) -> float: ...
    @property
    def mean(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A horizontal line through a whole series."""

    value: float
    css_class: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """A shaded stretch of time, whose start is marked and labelled. Seconds since the epoch."""

    start_s: float
    end_s: float
    label: str
    """Written beside the mark."""
    title: str
    """Shown when the pointer rests on the mark."""


def histogram(scores: Sequence[float], name: str) -> str:
    """A histogram of `scores` (0..1) with `BINS` bins. `name` is used in the chart's description."""
    counts = bin_counts(scores)
    most = max(counts, default=0) or 1
    bottom = _TOP + _BARS_HEIGHT
    step = (_SCORE.end - _SCORE.start) / BINS
    parts = [line(_SCORE.start, bottom, _SCORE.end, bottom, "axis")]
    for number, count in enumerate(counts):
        if not count:
            continue
        height = _BARS_HEIGHT * count / most
        closing = "]" if number == BINS - 1 else ")"
        left = _SCORE.start + number * step
        title = f"{number / BINS:.2f} to {(number + 1) / BINS:.2f}{closing}: {count} rows"
        parts.append(rectangle(left + 1, bottom - height, step - 2, height, "bar", radius=2, title=title))
        parts.append(text(left + step / 2, bottom - height - 4, str(count), "middle"))
    parts += _score_axis(bottom)
    return svg(parts, _SCORES_WIDTH, bottom + 26, f"Histogram of {name}: {len(scores)} rows with a score")


def box_plot(
    scores: Sequence[float],
    name: str,
    *,
    quartiles: tuple[float, float, float],
    mean: float,
    interval: tuple[float, float] | None,
) -> str:
    """A box plot of `scores` (0..1, at least one): quartiles, whiskers, outliers, and the mean with its interval."""
    low, median, high = quartiles
    reach = _WHISKER * (high - low)
    inside = [score for score in scores if low - reach <= score <= high + reach]
    ends = (min(inside), max(inside))
    outliers = sorted({round(score, 3) for score in scores if not ends[0] <= score <= ends[1]})
    y, half = 24, 13
    parts = [
        line(_SCORE(ends[0]), y, _SCORE(low), y, "whisker"),
        line(_SCORE(high), y, _SCORE(ends[1]), y, "whisker"),
        *(line(_SCORE(end), y - 6, _SCORE(end), y + 6, "whisker") for end in ends),
        rectangle(_SCORE(low), y - half, max(1.0, _SCORE(high) - _SCORE(low)), 2 * half, "box", radius=3),
        line(_SCORE(median), y - half, _SCORE(median), y + half, "median"),
        *(f'<circle class="outlier" cx="{_SCORE(outlier):.1f}" cy="{y}" r="2.5"/>' for outlier in outliers),
        *_mean(mean, interval or (mean, mean), y + half + 9),
        *_score_axis(_BOX_HEIGHT - 4),
    ]
    figures = f"median {median:.3f}, quartiles {low:.3f} and {high:.3f}, mean {mean:.3f}"
    return svg(parts, _SCORES_WIDTH, _BOX_HEIGHT + 22, f"Box plot of {name}: {figures}")


def time_series(
    points: Sequence[BandPoint],
    label: str,
    *,
    levels: Sequence[Level] = (),
    periods: Sequence[Period] = (),
    time_label: Callable[[float], str],
    value_axis: str,
    time_axis: str,
) -> str:
    """Means (0..1) over time with the band of their intervals, horizontal `levels` and shaded `periods`.

    `points` has at least two points, in order of time. `time_label` formats the times below the chart. `value_axis` and
    `time_axis` are the names of the axes.
    """
    bottom, right = _SERIES_HEIGHT - 42, _SERIES_WIDTH - 8
    start_s, end_s = points[0].time_s, points[-1].time_s
    x = Scale(low=start_s, high=end_s, start=64, end=right)
    low, high = _range_of_values(points, levels)
    y = Scale(low=low, high=high, start=bottom, end=24)
    band = [(x(point.time_s), y(point.high)) for point in points]
    band += [(x(point.time_s), y(point.low)) for point in reversed(points)]
    parts = [*_grid(x, y), *(part for period in periods for part in _period(period, x, y))]
    parts.append(polygon(band, "band"))
    parts.append(f'<polyline class="mean" points="{_path([(x(point.time_s), y(point.mean)) for point in points])}"/>')
    parts += [line(x.start, y(level.value), x.end, y(level.value), level.css_class) for level in levels]
    for number in range(_TIMES):
        at_s = start_s + (end_s - start_s) * number / (_TIMES - 1)
        anchor = "start" if number == 0 else "end" if number == _TIMES - 1 else "middle"
        parts.append(text(x(at_s), bottom + 16, time_label(at_s), anchor))
    parts.append(text((x.start + x.end) / 2, _SERIES_HEIGHT - 6, time_axis, "middle"))
    parts.append(f'<g transform="rotate(-90 12 {bottom / 2:.1f})">{text(12, bottom / 2, value_axis, "middle")}</g>')
    return svg(parts, _SERIES_WIDTH, _SERIES_HEIGHT, label)


def bin_counts(scores: Sequence[float]) -> list[int]:
    """How many scores lie in each of `BINS` equal bins of 0..1."""
    counts = [0] * BINS
    for score in scores:
        # A score of 0.15 belongs to the bin that starts there, although 0.15 * 20 is a little less than 3.
        counts[min(BINS - 1, int(score * BINS + 1e-9))] += 1
    return counts


def line(x1: float, y1: float, x2: float, y2: float, css_class: str, *, title: str = "") -> str:
    """A straight line. `title` is shown when the pointer rests on it."""
    place = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return _element("line", f'class="{css_class}" {place}', title)


def rectangle(
    x: float, y: float, width: float, height: float, css_class: str, *, radius: float = 0, title: str = ""
) -> str:
    """A filled rectangle with corners of `radius`. `title` is shown when the pointer rests on it."""
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{radius:g}"'
    return _element("rect", f'class="{css_class}" {place}', title)


def polygon(points: Sequence[tuple[float, float]], css_class: str, *, title: str = "") -> str:
    """A filled shape. `title` is shown when the pointer rests on it."""
    return _element("polygon", f'class="{css_class}" points="{_path(points)}"', title)


def text(x: float, y: float, content: str, anchor: str) -> str:
    """A label. `anchor` says which part of the text is at `x`: `start`, `middle` or `end`."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(content)}</text>'


def svg(parts: Sequence[str], width: float, height: float, label: str) -> str:
    """The SVG element that contains `parts`. `label` is its description for screen readers."""
    attributes = f'viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(label)}"'
    return f"<svg {attributes}>{''.join(parts)}</svg>"


def _element(name: str, attributes: str, title: str) -> str:
    return f"<{name} {attributes}><title>{escape(title)}</title></{name}>" if title else f"<{name} {attributes}/>"


def _path(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _mean(mean: float, interval: tuple[float, float], y: float) -> list[str]:
    x = _SCORE(mean)
    diamond = [(x, y - 5), (x + 5, y), (x, y + 5), (x - 5, y)]
    return [
        line(_SCORE(interval[0]), y, _SCORE(interval[1]), y, "interval"),
        polygon(diamond, "mean", title=f"mean {mean:.3f}"),
    ]


def _score_axis(y: float) -> list[str]:
    ticks = [line(_SCORE(tick), y, _SCORE(tick), y + 4, "axis") for tick in _TICKS]
    return ticks + [text(_SCORE(tick), y + 17, f"{tick:.1f}", "middle") for tick in _TICKS]


def _range_of_values(points: Sequence[BandPoint], levels: Sequence[Level]) -> tuple[float, float]:
    """The lowest and the highest value of the axis: the range of all values with a margin, within 0..1."""
    low = min([*(point.low for point in points), *(level.value for level in levels)])
    high = max([*(point.high for point in points), *(level.value for level in levels)])
    room = max(0.02, (high - low) * 0.08)
    return max(0.0, low - room), min(1.0, high + room)


def _grid(x: Scale, y: Scale) -> list[str]:
    parts = []
    for number in range(_GRID_LINES):
        value = y.low + (y.high - y.low) * number / (_GRID_LINES - 1)
        parts.append(line(x.start, y(value), x.end, y(value), "grid"))
        parts.append(text(x.start - 6, y(value) + 4, f"{value:.2f}", "end"))
    return parts


def _period(period: Period, x: Scale, y: Scale) -> list[str]:
    left, right = x(period.start_s), x(period.end_s)
    before = left > (x.start + x.end) / 2  # the label is above the chart, on the side where there is room
    return [
        rectangle(left, y.end, max(1.0, right - left), y.start - y.end, "span"),
        line(left, y.end, left, y.start, "begin", title=period.title),
        text(left, y.end - 8, period.label, "end" if before else "start"),
    ]
