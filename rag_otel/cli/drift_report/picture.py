"""`rag-otel drift --png`: the charts of the page as a picture. Needs matplotlib (extra `drift`)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from rag_otel.cli.drift_report.view import SeriesView, title
from rag_otel.drift.observation import ALL
from rag_otel.errors import ConfigurationError

MAX_CHARTS: Final = 8


def write_picture(views: Sequence[SeriesView], path: Path, *, heading: str) -> None:
    """Draws the series of all traffic and those with an alarm. Raises ConfigurationError if matplotlib is missing."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise ConfigurationError("--png needs matplotlib: pip install 'rag-otel[drift]' (or use --html)") from None
    wanted = [view for view in views if view.slice == ALL or view.firing or view.events]
    charted = [view for view in wanted if len(view.points) > 1][:MAX_CHARTS]
    figure = Figure(figsize=(11, 1 + 2.6 * max(1, len(charted))), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(heading if charted else f"{heading}: too few evaluations")
    axes: Any = figure.subplots(max(1, len(charted)), 1, squeeze=False)
    for view, (axis,) in zip(charted, axes, strict=False):
        _draw(axis, view)
    figure.savefig(path, dpi=110, format="png")


def _draw(axis: Any, view: SeriesView) -> None:
    times = [_time(point.time_s) for point in view.points]
    axis.fill_between(times, [p.low for p in view.points], [p.high for p in view.points], alpha=0.2, linewidth=0)
    axis.plot(times, [p.mean for p in view.points], linewidth=1.6, label="weighted mean, 95%")
    if view.baseline is not None:
        axis.axhline(view.baseline, color="#2c8a4b", linewidth=1.2, label="baseline")
    if view.floor is not None:
        axis.axhline(view.floor, color="#2c8a4b", linewidth=1, linestyle="--", label="alarm threshold")
    open_alarm = None
    for event in view.events:
        if event.resolved and open_alarm is not None:
            axis.axvspan(_time(open_alarm.since_s), _time(event.time_s), color="#d84337", alpha=0.12, linewidth=0)
        if not event.resolved:
            axis.axvline(_time(event.time_s), color="#d84337", linewidth=1.2)
        open_alarm = None if event.resolved else event
    if open_alarm is not None:
        axis.axvspan(_time(open_alarm.since_s), times[-1], color="#d84337", alpha=0.12, linewidth=0)
    axis.set_title(f"{title(view)}: {view.state}", loc="left", fontsize=10)
    axis.legend(loc="best", fontsize=8, frameon=False)


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
