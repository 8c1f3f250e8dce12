"""Which alarms are one problem: a drop shows in several series and slices, and is told once."""

from __future__ import annotations

import math
from dataclasses import field

from rag_otel.drift.event import DriftEvent
from rag_otel.drift.family import SeriesKey
from rag_otel.drift.records import stored
from rag_otel.lazy_dataclass import dataclass


@stored
@dataclass(slots=True, kw_only=True)
class _AlarmGroup:
    metric: str
    latest_s: float
    """Alarms of the metric that began no later than this belong to it."""
    told: SeriesKey
    """(series, slice) of the alarm that was told."""
    firing: set[SeriesKey] = field(default_factory=set)
    deeper_s: float = -math.inf
    """When it was last told that it has become worse: worsenings that began no later belong to that."""


@stored
class AlarmGroups:
    """Open problems. An alarm joins one of its metric whose beginning overlaps its own; the problem is over with the
    last of its alarms."""

    __slots__ = ("_open",)

    def __init__(self) -> None:
        self._open: list[_AlarmGroup] = []

    def open(self, event: DriftEvent) -> SeriesKey | None:
        """What a problem that is new, or has become worse, is told with: (series, slice); None where it was told."""
        key = (event.series, event.slice)
        if event.deeper:
            return self._deepen(key, event)
        for problem in self._open:
            if problem.metric == event.metric and event.earliest_s <= problem.latest_s:
                problem.firing.add(key)
                return None
        self._open.append(
            _AlarmGroup(metric=event.metric, latest_s=max(event.time_s, event.latest_s), told=key, firing={key})
        )
        return key

    def _deepen(self, key: SeriesKey, event: DriftEvent) -> SeriesKey | None:
        """A problem that has become worse is told again, under its own name; once for one worsening."""
        for problem in self._open:
            if key in problem.firing:
                if event.earliest_s <= problem.deeper_s:
                    return None
                problem.deeper_s = event.time_s
                return problem.told
        return None

    def forget(self, metric: str | None) -> None:
        """Drop the problems of a metric, or all: what was normal is learned anew."""
        self._open = [each for each in self._open if metric not in (None, each.metric)]

    def close(self, event: DriftEvent) -> SeriesKey | None:
        """What the problem that ends with this alarm was told with; None where others of it go on."""
        key = (event.series, event.slice)
        for problem in self._open:
            if key in problem.firing:
                problem.firing.discard(key)
                if problem.firing:
                    return None
                self._open.remove(problem)
                return problem.told
        return None
