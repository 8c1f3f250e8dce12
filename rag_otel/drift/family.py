"""All series of all slices together: one budget of false alarms for the whole, however many slices there are.

Slices of one dimension share the values among them, so their detectors' sum is an e-detector of the whole traffic and
each may use the whole threshold. Only dimensions and signals are weighed against each other, by fixed shares that sum
up to 1 (Shin, Ramdas and Rinaldo: weighted sums of e-detectors are e-detectors). Learned baselines share their error
likewise: the j-th slice to learn has 1/(j*(j+1)) of it, which sums up to 1 for any number of slices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from rag_otel.drift.attribution import Movement, movements
from rag_otel.drift.baseline import DEFAULT_COUNT, DEFAULT_ERROR, Baseline
from rag_otel.drift.change import ChangePoint
from rag_otel.drift.event import DriftEvent
from rag_otel.drift.history import History, Moments
from rag_otel.drift.observation import ALL, DIMENSIONS, RISK, SCORE, UNJUDGED, Observation, signal_of
from rag_otel.drift.series import Series, SeriesSettings, Turn
from rag_otel.guard import counters

Key: TypeAlias = tuple[str, str]
"""(series, slice)"""

SIGNAL_SHARES: Final[Mapping[str, float]] = {SCORE: 0.5, RISK: 0.35, UNJUDGED: 0.15}
SHARE_OF_ALL: Final = 0.75
OTHER: Final = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftSettings:
    """How watchful, and over what."""

    average_run_length: float = 10_000.0
    """Evaluations between two false alarms, at least, over all slices and signals together."""
    margin: float = 0.0
    """Drops of the mean below the baseline's lower bound that do not matter, 0..1."""
    baseline_count: int = DEFAULT_COUNT
    """Values that a baseline is learned from."""
    baselines: Mapping[Key, Baseline] = field(default_factory=dict)
    """Given ones, in goodness; those of other series are learned."""
    dimensions: tuple[str, ...] = DIMENSIONS
    max_slices: int = 1000
    """Slices that are told apart; values beyond count as `other` of their dimension."""
    metrics: int = 1
    """How many metrics share the budget."""
    least_probability: float = 1.0
    """The smallest inclusion probability that the sampler gives."""


class Family:
    """Feeds observations to their series and tells what turned. Not thread-safe: one writer's lane feeds it."""

    def __init__(self, settings: DriftSettings) -> None:
        self.settings = settings
        self._series: dict[Key, Series] = {}
        self._slices: dict[str, None] = {}
        self._count = 0
        """Observations so far: the order of the next one, the same in every series."""
        self._learned: dict[str, int] = {}
        """How many slices of a series have learned their baseline."""

    def __iter__(self) -> Iterator[tuple[Key, Series]]:
        return iter(list(self._series.items()))

    def __getitem__(self, key: Key) -> Series:
        return self._series[key]

    @property
    def settled(self) -> bool:
        """True once some series of all traffic has seen as many values as baselines are learned from."""
        count = self.settings.baseline_count
        return any(
            series.detector is not None
            and series.baseline is not None
            and series.baseline.count + series.detector.count >= count
            for (_, name), series in self._series.items()
            if name == ALL
        )

    def observe(self, seen: Observation) -> list[DriftEvent]:
        """Take one result; the alarms that begin or end with it, `all` first; mostly none."""
        known = self._slices
        slices = [ALL, *(name if name in known else self._admitted(name) for name in seen.slices)]
        time_s, probability, order = seen.time_s, seen.probability, self._count
        self._count += 1
        turned = []
        for series_name, value in seen.values:
            for slice_name in slices:
                key = (series_name, slice_name)
                series = self._series.get(key) or self._add(key)
                turn = series.observe(time_s, value, probability, order)
                if turn is None:
                    continue
                if turn is Turn.COMPLETE:
                    self._freeze(key, series)
                else:
                    turned.append(key)
        # Told when every slice has seen the value: what moved most is told by comparing them.
        return [self.event(key, time_s) for key in turned]

    def _admitted(self, name: str) -> str:
        """The name of a new slice; the rest of its dimension where there are too many."""
        if len(self._slices) < self.settings.max_slices:
            self._slices[name] = None
            return name
        counters.add("drift.slices_beyond_cap")
        return f"{name.partition('=')[0]}={OTHER}"

    def _add(self, key: Key) -> Series:
        series = self._series[key] = Series(self._series_settings(key), self.settings.baselines.get(key))
        return series

    def _series_settings(self, key: Key) -> SeriesSettings:
        settings = self.settings
        return SeriesSettings(
            threshold=settings.average_run_length / share_of(key, settings),
            baseline_count=settings.baseline_count,
            margin=settings.margin,
            least_probability=settings.least_probability,
        )

    def _freeze(self, key: Key, series: Series) -> None:
        if key[1] == ALL:
            series.freeze(error=DEFAULT_ERROR)
            return
        rank = self._learned[key[0]] = self._learned.get(key[0], 0) + 1
        series.freeze(error=DEFAULT_ERROR / (rank * (rank + 1)))

    def event(self, key: Key, time_s: float) -> DriftEvent:
        """What there is to say of a series now."""
        series = self._series[key]
        detector, baseline = series.detector, series.baseline
        assert detector is not None
        assert baseline is not None
        found = series.change()
        at_s = found.at_s if found else time_s
        since = found.since if found else Moments()
        return DriftEvent(
            series=key[0],
            slice=key[1],
            resolved=not series.firing,
            time_s=time_s,
            since_s=at_s,
            earliest_s=found.earliest_s if found else time_s,
            latest_s=found.latest_s if found else time_s,
            baseline=baseline.mean,
            floor=detector.floor,
            before=found.before.mean if found else baseline.mean,
            estimate=since.mean,
            interval=since.interval,
            count=since.count,
            evidence=series.evidence,
            movements=self._movements(key[0], found) if found else (),
        )

    def _movements(self, series_name: str, found: ChangePoint) -> tuple[Movement, ...]:
        whole = self._series.get((series_name, ALL))
        if whole is None:
            return ()
        slices: dict[str, History] = {
            name: series.history for (own, name), series in self._series.items() if own == series_name and name != ALL
        }
        return movements(whole.history, slices, until=found.surely_before, since=found.at)

    def now(self, key: Key) -> Moments:
        """The latest values of a series: since the drop began while an alarm is on, else the last 64 or so."""
        series = self._series[key]
        start = series.alarm_from
        buckets = series.history.buckets
        if start is None:
            start = buckets[-8:][0].first if buckets else 0
        return series.history.between(start)

    def relearn(self) -> None:
        """What comes now is normal: all baselines that were learned are learned again."""
        for key, series in self._series.items():
            if key not in self.settings.baselines:
                series.relearn()
        self._learned.clear()

    def to_state(self) -> dict[str, Any]:
        return {
            "learned": self._learned,
            "count": self._count,
            "series": [{"series": key[0], "slice": key[1], **series.to_state()} for key, series in self],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on where `to_state` was called, with this family's own settings. Raises KeyError, TypeError or ValueError
        for what `to_state` has not written."""
        self._learned = {str(name): int(count) for name, count in state["learned"].items()}
        self._count = int(state["count"])
        for each in state["series"]:
            key = (str(each["series"]), str(each["slice"]))
            if key[1] != ALL and not key[1].endswith(f"={OTHER}"):
                self._slices[key[1]] = None
            self._add(key).restore(each, keep_baseline=key in self.settings.baselines)


def share_of(key: Key, settings: DriftSettings) -> float:
    """The share of the budget of false alarms that a series has; the slices of one dimension have theirs together."""
    signal = SIGNAL_SHARES.get(signal_of(key[0]), 1.0) / max(1, settings.metrics)
    if key[1] == ALL:
        return signal * (SHARE_OF_ALL if settings.dimensions else 1.0)
    return signal * (1.0 - SHARE_OF_ALL) / max(1, len(settings.dimensions))
