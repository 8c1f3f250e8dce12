"""All series of all slices together, with one budget of false alarms in fixed shares.

Slices of one dimension share the values among them, so their detectors' sum is an e-detector of the whole traffic and
each may use the whole threshold. Only dimensions and signals are weighed against each other (Shin, Ramdas and Rinaldo:
weighted sums of e-detectors are e-detectors).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Final, TypeAlias

from rag_otel.drift.baseline import Baseline
from rag_otel.drift.change import ChangePoint, Movement, movements
from rag_otel.drift.event import DriftEvent
from rag_otel.drift.history import History, Moments
from rag_otel.drift.learner import DEFAULT_COUNT, STAGES
from rag_otel.drift.mix import Effects, effects
from rag_otel.drift.observation import ALL, DIMENSIONS, RISK, SCORE, UNJUDGED, Observation, signal_of
from rag_otel.drift.records import stored
from rag_otel.drift.series import Series, SeriesEvent
from rag_otel.drift.watch import SeriesSettings
from rag_otel.lazy_dataclass import dataclass
from rag_otel.safety.guard import counters

SeriesKey: TypeAlias = tuple[str, str]
"""(series, slice)"""

OTHER: Final = "other"
SIGNAL_SHARES: Final[Mapping[str, float]] = {SCORE: 0.5, RISK: 0.35, UNJUDGED: 0.15}
"""Of the budget of false alarms, divided among all metrics."""
SHARE_OF_ALL: Final = 0.75
"""What all traffic has of a signal's share; the dimensions divide the rest."""
_SLICE_STAGES: Final = 3
"""How often a slice's baseline is learned: from 2,000 values at most, by default."""
_SURE: Final = 2.2
"""Standard errors between the mean of a baseline and its bound."""
_SURE_OF_FEW: Final = 1.4
"""The same where `baseline_count` was set below the default: the first bound is wanted to tell a drop."""
_MORE_OF_SLICE: Final = 1.0
"""And so many more for a slice: of a thousand of them some have an unlucky mean."""
_SURE_HIGH_Z: Final = 2.9
"""Standard errors above an estimate that hold at the moment of an alarm, which is when it is lowest: measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilySettings:
    """What a family watches, and how many false alarms it may raise."""

    average_run_length: float = 10_000.0
    """Evaluations between two false alarms, at least, over all slices and signals together."""
    baseline_count: int = DEFAULT_COUNT
    """Values that a baseline is learned from first; it is learned better until there are ten times as many."""
    baselines: Mapping[SeriesKey, Baseline] = field(default_factory=dict)
    """Given ones, in goodness; those of other series are learned."""
    dimensions: tuple[str, ...] = DIMENSIONS
    max_slices: int = 1000
    """Slices that are told apart; values beyond count as `other` of their dimension."""
    metrics: int = 1
    """How many metrics share the budget."""
    least_probability: float = 1.0
    """The smallest inclusion probability that the sampler gives."""

    def share_of(self, key: SeriesKey) -> float:
        """The share of the budget of false alarms that a series has; the slices of a dimension have theirs together."""
        share = SIGNAL_SHARES.get(signal_of(key[0]), 1.0) / max(1, self.metrics)
        if key[1] == ALL:
            return share * (SHARE_OF_ALL if self.dimensions else 1.0)
        return share * (1.0 - SHARE_OF_ALL) / max(1, len(self.dimensions))


def belongs(series: str, metric: str | None) -> bool:
    """Whether a series is one of a metric; every series is one of None."""
    return metric is None or series.rpartition(".")[0] == metric


@stored
class Family:
    """Feeds observations to their series and tells what turned. Not thread-safe: one writer's queue feeds it."""

    __slots__ = ("_effects", "_series", "_slices", "count", "settings")

    NOT_STORED = ("settings",)

    def __init__(self, settings: FamilySettings) -> None:
        self.settings = settings
        self._series: dict[SeriesKey, Series] = {}
        self._slices: dict[str, None] = {}
        self.count = 0
        """Observations so far: the order of the next one, the same in every series."""
        self._effects: dict[str, Effects] = {}
        """By series: how far its slices are above the mean of all traffic."""

    def __iter__(self) -> Iterator[tuple[SeriesKey, Series]]:
        return iter(list(self._series.items()))

    def __getitem__(self, key: SeriesKey) -> Series:
        return self._series[key]

    @property
    def settled(self) -> bool:
        """True once some series of all traffic has seen as many values as baselines are learned from."""
        whole = (series for (_, name), series in self._series.items() if name == ALL)
        seen = (each.baseline.count + each.detector.count for each in whole if each.baseline and each.detector)
        return any(count >= self.settings.baseline_count for count in seen)

    def observe(self, seen: Observation) -> list[DriftEvent]:
        """Take one result; the alarms that begin, deepen or end with it, `all` first; mostly none."""
        known = self._slices
        slices = [name if name in known else self._admitted(name) for name in seen.slices]
        if seen.in_sample:
            slices.insert(0, ALL)
        time_s, probability, order, cluster = seen.time_s, seen.probability, self.count, seen.cluster
        self.count += 1
        turned = []
        for series_name, value in seen.values:
            found = self._effects.get(series_name) if seen.in_sample else None
            bad = seen.says_bad(series_name, value)
            shift = 0.0 if found is None else found.shift(slices)
            for slice_name in slices:
                key = (series_name, slice_name)
                series = self._series.get(key) or self._add(key)
                own = 0.0 if shift and found and slice_name.startswith(found.dimension) else shift
                turn = series.observe(time_s, value, probability, order, shift=own, cluster=cluster, bad=bad)
                if turn is None:
                    continue
                if turn is SeriesEvent.COMPLETE:
                    self._freeze(key, series)
                else:
                    turned.append((key, turn))
        # Told when every slice has seen the value: what moved most is told by comparing them.
        return [self.event(key, time_s, deeper=turn is SeriesEvent.DEEPER) for key, turn in turned]

    def _admitted(self, name: str) -> str:
        """The name of a new slice; the rest of its dimension where there are too many."""
        if len(self._slices) < self.settings.max_slices:
            self._slices[name] = None
            return name
        counters.add("drift.slices_beyond_cap")
        return f"{name.partition('=')[0]}={OTHER}"

    def _add(self, key: SeriesKey) -> Series:
        series = self._series[key] = Series(self._series_settings(key), self.settings.baselines.get(key))
        return series

    def _series_settings(self, key: SeriesKey) -> SeriesSettings:
        settings = self.settings
        return SeriesSettings(
            threshold=settings.average_run_length / settings.share_of(key),
            baseline_count=settings.baseline_count,
            least_probability=settings.least_probability,
            stages=STAGES if key[1] == ALL else STAGES[:_SLICE_STAGES],
            sure=(_SURE if settings.baseline_count >= DEFAULT_COUNT else _SURE_OF_FEW)
            + (0.0 if key[1] == ALL else _MORE_OF_SLICE),
            follow=key[1] == ALL,
        )

    def _freeze(self, key: SeriesKey, series: Series) -> None:
        """Learn a baseline. What is learned of all traffic holds for its slices and for its mix."""
        name = key[0]
        whole = self._series.get((name, ALL))
        if series is whole and key not in self.settings.baselines:
            own = {each: part.between(0) for each, part in self._histories(name).items()}
            self._effects[name] = effects(own, series.inflation, self._effects.get(name))
        found = self._effects.get(name, Effects())
        series.freeze(room=found.room)
        if whole is None or whole.baseline is None:
            return
        for (own_name, each), slice_series in self._series.items() if series is whole else [(key, series)]:
            if own_name == name and each != ALL:
                slice_series.allow(whole.baseline)

    def _histories(self, series_name: str) -> dict[str, History]:
        """Of the slices of a series."""
        return {
            name: series.history for (own, name), series in self._series.items() if own == series_name and name != ALL
        }

    def event(self, key: SeriesKey, time_s: float, *, deeper: bool = False) -> DriftEvent:
        """What there is to say of a series now."""
        series = self._series[key]
        baseline = series.baseline
        assert baseline is not None
        found = series.change()
        at_s = found.at_s if found else time_s
        since = Moments() if found is None else found.since
        if not series.firing:  # what ended is back at what came lately
            since = self.now(key)
        return DriftEvent(
            series=key[0],
            slice=key[1],
            resolved=not series.firing,
            deeper=deeper,
            time_s=time_s,
            since_s=at_s,
            earliest_s=found.earliest_s if found else time_s,
            latest_s=found.latest_s if found else time_s,
            learned=baseline,
            floor=series.floor,
            before=found.before.mean if found else baseline.mean,
            estimate=since.mean,
            interval=since.bounds(inflation=series.inflation, high_z=_SURE_HIGH_Z),
            count=since.count,
            bad=since.bad_share,
            bad_before=found.before.bad_share if found else None,
            count_before=found.before.count if found else 0,
            worth=since.count / series.inflation,
            evidence=series.evidence,
            movements=self._movements(key[0], found) if found else (),
        )

    def _movements(self, series_name: str, found: ChangePoint) -> tuple[Movement, ...]:
        whole = self._series.get((series_name, ALL))
        if whole is None:
            return ()
        return movements(whole.history, self._histories(series_name), until=found.surely_before, since=found.at)

    def now(self, key: SeriesKey) -> Moments:
        """The latest values of a series: since the drop began while an alarm is on, else the last 64 or so."""
        series = self._series[key]
        start, buckets = series.alarm_from, series.history.buckets
        if start is None:
            start = buckets[-8:][0].first if buckets else 0
        return series.history.between(start)

    def relearn(self, metric: str | None = None) -> None:
        """What comes now is normal: all baselines that were learned (of one metric) are learned again."""
        for key, series in self._series.items():
            if key not in self.settings.baselines and belongs(key[0], metric):
                series.relearn()
        self._effects = {name: each for name, each in self._effects.items() if not belongs(name, metric)}

    def adopt(self, settings: FamilySettings) -> None:
        """Go on with these settings, after it was restored."""
        self.settings = settings
        for key, series in self:
            given = settings.baselines.get(key)
            if given is None or (series.baseline is not None and series.baseline.same_numbers(given)):
                series.adopt(self._series_settings(key))
            else:  # watched by another number than then: it starts anew
                fresh = self._add(key)
                fresh.history, fresh.last_s = series.history, series.last_s
