"""Charts as SVG: bins, places of values, escaping."""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_otel.rendering.svg_charts import BINS, Level, Period, bin_counts, box_plot, histogram, time_series

scores = st.lists(st.floats(0.0, 1.0), min_size=2, max_size=30)
HOSTILE = "<script>&\"'"


@dataclass(frozen=True)
class Point:
    """A mean with an interval of 0.1 on each side."""

    time_s: float
    mean: float

    @property
    def low(self) -> float:
        return self.mean - 0.1

    @property
    def high(self) -> float:
        return self.mean + 0.1


@settings(deadline=None)
@given(scores)
def test_every_score_is_in_one_bin(values: list[float]) -> None:
    """None is lost at the borders; 1 is in the last bin."""
    counts = bin_counts(values)
    assert (sum(counts), len(counts)) == (len(values), BINS)


@pytest.mark.parametrize(("score", "position"), [(0.0, 0), (0.05, 1), (0.15, 3), (0.1499, 2), (0.95, 19), (1.0, 19)])
def test_borders_of_bins(score: float, position: int) -> None:
    """A bin begins at its border, whatever floating point makes of it."""
    assert bin_counts([score])[position] == 1


def test_outliers_of_a_box_plot() -> None:
    """Scores beyond the whiskers are drawn as circles, once for each value."""
    values = [0.1, 0.1, 0.79, 0.8, 0.81, 0.82]
    plot = box_plot(values, "m", quartiles=(0.79, 0.8, 0.81), mean=0.57, interval=(0.4, 0.7))
    assert plot.count('class="outlier"') == 1
    assert "mean 0.570" in plot


def test_what_a_series_shows() -> None:
    """A period is shaded from its start to its end; a level lies where its value is on the axis; times are labelled."""
    points = [Point(time_s=100.0 * n, mean=0.5) for n in range(11)]
    chart = time_series(
        points,
        "m",
        levels=[Level(value=0.5, css_class="base")],
        periods=[Period(start_s=500.0, end_s=1000.0, label="since", title="alarm")],
        time_label=lambda time_s: f"second {time_s:g}",
        value_axis="score",
        time_axis="time",
    )
    shade = re.search(r'class="span" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', chart)
    mark = re.search(r'class="begin" x1="([\d.]+)"', chart)
    level = re.search(r'class="base" x1="64.0" y1="([\d.]+)"', chart)
    assert shade is not None
    assert mark is not None
    assert level is not None
    assert [float(shade[1]), float(shade[2]), float(mark[1])] == [468.0, 404.0, 468.0]
    assert float(level[1]) == (178 + 24) / 2
    assert ">second 0<" in chart
    assert ">second 1000<" in chart
    assert all(f">{name}<" in chart for name in ("since", "score", "time"))


def test_labels_are_escaped() -> None:
    """Names from a data set cannot become markup: each chart stays well-formed XML and keeps the label."""
    points = [Point(time_s=float(n), mean=0.5) for n in range(2)]
    charts = [
        histogram([0.5], HOSTILE),
        box_plot([0.5], HOSTILE, quartiles=(0.5, 0.5, 0.5), mean=0.5, interval=None),
        time_series(
            points,
            HOSTILE,
            periods=[Period(start_s=0.0, end_s=1.0, label=HOSTILE, title=HOSTILE)],
            time_label=lambda _: HOSTILE,
            value_axis=HOSTILE,
            time_axis=HOSTILE,
        ),
    ]
    for chart in charts:
        assert HOSTILE in (ElementTree.fromstring(chart).get("aria-label") or "")
        assert "<script" not in chart
