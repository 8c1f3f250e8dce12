"""Charts as inline SVG: a histogram and, below it on the same axis, a box plot. Colours come from the page's style."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rag_otel_evaluators.offline.statistics import MetricSummary

BINS: Final = 20
"""Of 0.05 each; the last one holds 1 too."""
_WIDTH: Final = 640
_LEFT: Final = 44
_RIGHT: Final = 16
_TOP: Final = 16
_BARS_HEIGHT: Final = 150
_BOX_HEIGHT: Final = 64
_WHISKER: Final = 1.5
"""In interquartile ranges beyond the quartiles, as Tukey drew it (Exploratory Data Analysis, 1977)."""
_TICKS: Final = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def histogram(scores: Sequence[float], metric: str) -> str:
    """Rows per bin of the score."""
    counts = bin_counts(scores)
    most = max(counts, default=0) or 1
    bottom = _TOP + _BARS_HEIGHT
    step = (_x(1.0) - _x(0.0)) / BINS
    parts = [_line(_LEFT, bottom, _WIDTH - _RIGHT, bottom, "axis")]
    for number, count in enumerate(counts):
        if not count:
            continue
        height = _BARS_HEIGHT * count / most
        low, high = number / BINS, (number + 1) / BINS
        closing = "]" if number == BINS - 1 else ")"
        parts.append(
            f'<rect class="bar" x="{_x(0.0) + number * step + 1:.1f}" y="{bottom - height:.1f}" '
            f'width="{step - 2:.1f}" height="{height:.1f}" rx="2">'
            f"<title>{low:.2f} to {high:.2f}{closing}: {count} rows</title></rect>"
        )
        parts.append(_text(_x(0.0) + (number + 0.5) * step, bottom - height - 4, str(count), "middle"))
    parts += _axis(bottom)
    return _svg(parts, bottom + 26, f"Histogram of {metric}: {len(scores)} rows with a score")


def box_plot(scores: Sequence[float], summary: MetricSummary) -> str:
    """Quartiles, median, whiskers and outliers; the mean as a diamond with its 95% interval. Empty without scores."""
    low, middle, high = summary.lower_quartile, summary.median, summary.upper_quartile
    if low is None or middle is None or high is None or summary.mean is None:
        return ""
    reach = _WHISKER * (high - low)
    inside = [score for score in scores if low - reach <= score <= high + reach]
    ends = (min(inside), max(inside))
    outliers = sorted({round(score, 3) for score in scores if not ends[0] <= score <= ends[1]})
    y, half = 24, 13
    parts = [
        _line(_x(ends[0]), y, _x(low), y, "whisker"),
        _line(_x(high), y, _x(ends[1]), y, "whisker"),
        *(_line(_x(end), y - 6, _x(end), y + 6, "whisker") for end in ends),
        f'<rect class="box" x="{_x(low):.1f}" y="{y - half}" width="{max(1.0, _x(high) - _x(low)):.1f}" '
        f'height="{2 * half}" rx="3"/>',
        _line(_x(middle), y - half, _x(middle), y + half, "median"),
        *(f'<circle class="outlier" cx="{_x(outlier):.1f}" cy="{y}" r="2.5"/>' for outlier in outliers),
        *_mean(summary, y + half + 9),
        *_axis(_BOX_HEIGHT - 4),
    ]
    figures = f"median {middle:.3f}, quartiles {low:.3f} and {high:.3f}, mean {summary.mean:.3f}"
    return _svg(parts, _BOX_HEIGHT + 22, f"Box plot of {summary.metric}: {figures}")


def bin_counts(scores: Sequence[float]) -> list[int]:
    """How many scores lie in each of `BINS` equal bins of 0..1."""
    counts = [0] * BINS
    for score in scores:
        # A score of 0.15 belongs to the bin that starts there, although 0.15 * 20 is a little less than 3.
        counts[min(BINS - 1, int(score * BINS + 1e-9))] += 1
    return counts


def _mean(summary: MetricSummary, y: float) -> list[str]:
    assert summary.mean is not None
    low, high = summary.interval or (summary.mean, summary.mean)
    x = _x(summary.mean)
    diamond = f"{x:.1f},{y - 5} {x + 5:.1f},{y} {x:.1f},{y + 5} {x - 5:.1f},{y}"
    return [
        _line(_x(low), y, _x(high), y, "interval"),
        f'<polygon class="mean" points="{diamond}"><title>mean {summary.mean:.3f}</title></polygon>',
    ]


def _axis(y: float) -> list[str]:
    ticks = [_line(_x(tick), y, _x(tick), y + 4, "axis") for tick in _TICKS]
    return ticks + [_text(_x(tick), y + 17, f"{tick:.1f}", "middle") for tick in _TICKS]


def _x(score: float) -> float:
    return _LEFT + score * (_WIDTH - _LEFT - _RIGHT)


def _line(x1: float, y1: float, x2: float, y2: float, css_class: str) -> str:
    return f'<line class="{css_class}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'


def _svg(parts: Sequence[str], height: float, label: str) -> str:
    """`label` is a metric's name and numbers: nothing in it needs escaping."""
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height:g}" role="img" aria-label="{label}" '
        f'xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
    )
