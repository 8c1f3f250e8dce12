"""The data that `rag-otel drift` shows for each series: means over time with intervals, the baseline, alarms, and the
worst answers since a change, which a person looks at first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rag_otel.drift.alerting import moment
from rag_otel.drift.baseline import Baseline
from rag_otel.drift.event import DriftEvent
from rag_otel.drift.family import Family, FamilySettings, SeriesKey
from rag_otel.drift.history import Moments, moments, total
from rag_otel.drift.observation import ALL, RISK, Observation, shown, signal_of
from rag_otel.drift.series import Series
from rag_otel_collectors.stored.answers import worst_of

_POINTS: Final = 120
SHOWN: Final = 3
"""The worst answers of a series that are shown."""
_PER_POINT: Final = 24
"""The minimum number of values per point. With fewer, the interval would be too wide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The mean of consecutive values with its 95% interval, on the published scale (a risk is shown as a risk)."""

    time_s: float
    mean: float
    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesView:
    """One series of one slice. Numbers are on the published scale."""

    series: str
    slice: str
    points: tuple[Point, ...]
    count: int
    baseline: float | None
    floor: float | None
    """The detector's alarm threshold. It is above the baseline if higher values are worse."""
    bound: float | None
    """The confidence bound of the baseline's mean, on the worse side."""
    learned: int
    """How many values of the baseline have been learned so far."""
    firing: bool
    evidence: float | None
    latest: Point | None
    """During an alarm, the values since the estimated start of the change. Otherwise the latest values."""
    events: tuple[DriftEvent, ...] = ()
    baseline_details: tuple[str, ...] = ()
    """What the baseline was learned from, what that is worth and what is normal for it, as text."""

    @property
    def state(self) -> str:
        """`alarm`, `ok`, or `learning` with the number of values learned."""
        if self.firing:
            return "alarm"
        return "ok" if self.baseline is not None else f"learning ({self.learned})"


class Timeline:
    """A series as points with an equal number of values. Points are merged in pairs as the series grows, so their
    number stays bounded."""

    def __init__(self) -> None:
        self._size = _PER_POINT
        self._closed: list[Moments] = []
        self._open: list[tuple[float, float, float]] = []

    def add(self, time_s: float, value: float, weight: float) -> None:
        self._open.append((time_s, value, weight))
        if len(self._open) < self._size:
            return
        self._closed.append(moments(self._open))
        self._open = []
        if len(self._closed) >= 2 * _POINTS:
            self._closed = [total(self._closed[at : at + 2]) for at in range(0, len(self._closed), 2)]
            self._size *= 2

    @property
    def parts(self) -> list[Moments]:
        return [*self._closed, *([moments(self._open)] if len(self._open) >= _PER_POINT // 2 else [])]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """The result of a replay."""

    family: Family
    timelines: dict[SeriesKey, Timeline]
    events: tuple[DriftEvent, ...]


def replay(observations: Iterable[Observation], settings: FamilySettings) -> Replay:
    """Passes the observations, in their order, to the detectors that monitor live traffic."""
    family = Family(settings)
    timelines: dict[SeriesKey, Timeline] = {}
    events: list[DriftEvent] = []
    for seen in observations:
        events += family.observe(seen)
        for series, value in seen.values:
            for name in (ALL, *seen.slices):
                timelines.setdefault((series, name), Timeline()).add(seen.time_s, value, 1.0 / seen.probability)
    return Replay(family=family, timelines=timelines, events=tuple(events))


def views(
    family: Family, events: Sequence[DriftEvent], timelines: dict[SeriesKey, Timeline] | None = None
) -> list[SeriesView]:
    """Returns all series, those of all traffic first. `timelines` replace the coarser history of the saved state."""
    found = []
    for key, series in family:
        timeline = (timelines or {}).get(key)
        parts = timeline.parts if timeline else _merged(series.history.buckets)
        own = tuple(event for event in events if (event.series, event.slice) == key)
        found.append(_view(key, series, parts, family.now(key), own))
    return sorted(found, key=lambda each: (each.slice != ALL, not each.firing, each.slice, each.series))


def _view(
    key: SeriesKey, series: Series, parts: Sequence[Moments], now: Moments, events: tuple[DriftEvent, ...]
) -> SeriesView:
    baseline, detector = series.baseline, series.detector
    return SeriesView(
        series=key[0],
        slice=key[1],
        points=tuple(point for part in parts if (point := _point(key[0], part))),
        count=sum(bucket.count for bucket in series.history.buckets),
        baseline=None if baseline is None else shown(key[0], baseline.mean),
        floor=None if detector is None else shown(key[0], detector.floor),
        bound=None if baseline is None else shown(key[0], baseline.lower),
        learned=series.learned,
        firing=series.firing,
        evidence=None if detector is None else series.evidence,
        latest=_point(key[0], now),
        events=events,
        baseline_details=() if baseline is None else tuple(_details(baseline)),
    )


def _details(baseline: Baseline) -> list[str]:
    """Learning window, effective sample size, dependence, seasonality, and what could not be learned."""
    if baseline.source == "given" and not baseline.count:
        return ["baseline given, not learned"]
    lines = [
        f"normal was learned from {baseline.count:,} answers, {moment(baseline.from_s)} to {moment(baseline.until_s)}",
        f"they say as much as {baseline.worth:,.0f} answers that have nothing to do with each other",
    ]
    if baseline.block > 1:
        lines.append(f"answers in a row resemble each other: {baseline.block} of them count as one")
    if baseline.wander > 0.0:
        lines.append(f"a normal hour or stretch may be {baseline.wander:.3f} worse than the mean without an alarm")
    if baseline.change_s is not None:
        lines.append(f"while normal was learned, there was a drop at {moment(baseline.change_s)}")
    return [*lines, *(f"not learned: {each}" for each in baseline.unknown)]


def _point(series: str, part: Moments) -> Point | None:
    mean, interval = part.mean, part.interval
    if mean is None or interval is None:
        return None
    low, high = sorted(shown(series, each) for each in interval)
    return Point(time_s=(part.start_s + part.end_s) / 2, mean=shown(series, mean), low=low, high=high, count=part.count)


def _merged(buckets: Sequence[Moments]) -> list[Moments]:
    """Merges the buckets of the history into points of at least `_PER_POINT` values."""
    parts: list[Moments] = []
    pending: list[Moments] = []
    for bucket in buckets:
        pending.append(bucket)
        if sum(each.count for each in pending) >= _PER_POINT:
            parts.append(total(pending))
            pending = []
    return [*parts, *([total(pending)] if pending and not parts else [])]


def title(view: SeriesView) -> str:
    """`faithfulness score, all traffic`."""
    metric, signal = view.series.rpartition(".")[0], signal_of(view.series)
    words = {"unscored": "unjudged share"}
    return f"{metric} {words.get(signal, signal)}, {'all traffic' if view.slice == ALL else view.slice}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstAnswer:
    """One answer of a series in alarm."""

    trace_id: str
    question: str
    why: str
    """Begins with its worst claim; empty where that is not stored."""


def worst_answers(seen: Sequence[Observation], view: SeriesView) -> list[WorstAnswer]:
    """At most `SHOWN` answers since the view's last alarm began, the worst first; of equal ones the riskiest."""
    begins = [event.since_s for event in view.events if not event.resolved]
    if not begins:
        return []
    metric = view.series.rpartition(".")[0]
    candidates = []
    for each in seen:
        values = dict(each.values)
        if each.answer is None or each.time_s < begins[-1] or view.series not in values:
            continue
        if view.slice == ALL or view.slice in each.slices:
            safe = values.get(f"{metric}.{RISK}", 1.0)
            candidates.append((values[view.series], 1.0 - safe, each.answer))
    return [
        WorstAnswer(trace_id=answer.trace_id, question=answer.question, why=dict(answer.explanations).get(metric, ""))
        for answer in worst_of(candidates, SHOWN)
    ]
