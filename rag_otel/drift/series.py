"""One series of one slice: its history, what is normal for it, and the detector that watches it."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rag_otel.drift.baseline import DEFAULT_COUNT, DEFAULT_ERROR, Baseline, BaselineLearner
from rag_otel.drift.change import ChangePoint, change_point
from rag_otel.drift.detector import DropDetector
from rag_otel.drift.history import History


class Turn(enum.StrEnum):
    """What a value has changed."""

    ALARM = "alarm"
    RESOLVED = "resolved"
    LEARNED = "learned"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesSettings:
    """What all series of one signal have in common, less what depends on the slice."""

    threshold: float
    """Guaranteed average run length of the detector, in values."""
    baseline_count: int = DEFAULT_COUNT
    margin: float = 0.0
    error: float = DEFAULT_ERROR
    """Probability that a learned baseline's lower bound is too high."""
    least_probability: float = 1.0


class Series:
    """Values in 0..1, higher is better, with the probability that each was picked with."""

    __slots__ = ("_learner", "_settings", "alarm_since", "detector", "history", "last_s")

    def __init__(self, settings: SeriesSettings, baseline: Baseline | None = None) -> None:
        """Without a `baseline` it is learned from the first values."""
        self._settings = settings
        self.history = History()
        self._learner: BaselineLearner | None = None
        self.detector: DropDetector | None = None
        self.alarm_since: float | None = None
        """While an alarm is on: when the drop began, seconds since the epoch."""
        self.last_s = 0.0
        if baseline is None:
            self._learner = BaselineLearner(settings.baseline_count)
        else:
            self._watch(baseline)

    def _watch(self, baseline: Baseline) -> None:
        settings = self._settings
        self._learner = None
        self.detector = DropDetector(
            baseline,
            threshold=settings.threshold,
            margin=settings.margin,
            least_probability=settings.least_probability,
        )

    @property
    def baseline(self) -> Baseline | None:
        """None while it is being learned."""
        return self.detector.baseline if self.detector else None

    @property
    def firing(self) -> bool:
        return self.detector is not None and self.detector.firing

    @property
    def learned(self) -> int:
        """How many values of the baseline there are so far, while it is being learned."""
        return len(self._learner) if self._learner else 0

    def observe(self, time_s: float, value: float, probability: float, *, error: float | None = None) -> Turn | None:
        """Take one value; `error` is that of the baseline, should it be learned with this one."""
        self.last_s = time_s
        self.history.add(time_s, value, 1.0 / probability)
        detector = self.detector
        if detector is None:
            return self._learn(time_s, value, probability, error)
        if not detector.observe(value, probability):
            return None
        if detector.firing:
            found = self.change()
            self.alarm_since = found.at_s if found else time_s
            return Turn.ALARM
        self.alarm_since = None
        return Turn.RESOLVED

    def _learn(self, time_s: float, value: float, probability: float, error: float | None) -> Turn | None:
        learner = self._learner
        if learner is None or not learner.add(time_s, value, 1.0 / probability):
            return None
        self._watch(learner.learn(error=self._settings.error if error is None else error))
        return Turn.LEARNED

    def change(self) -> ChangePoint | None:
        """Since when, and what before and after; the values of the baseline itself are before."""
        detector = self.detector
        if detector is None:
            return None
        until = detector.baseline.until_s
        buckets = self.history.buckets
        recent = [bucket for bucket in buckets if bucket.start_s >= until] or buckets[-1:]
        found = change_point(recent, detector.floor)
        if found is None:
            return None
        return ChangePoint(
            at_s=found.at_s,
            earliest_s=found.earliest_s,
            latest_s=found.latest_s,
            since=found.since,
            before=self.history.between(0.0, found.at_s),
        )

    def relearn(self) -> None:
        """Forget what was normal: what comes now is."""
        self.detector, self.alarm_since = None, None
        self._learner = BaselineLearner(self._settings.baseline_count)

    def to_state(self) -> dict[str, Any]:
        state: dict[str, Any] = {
            "history": self.history.to_state(),
            "last_s": self.last_s,
            "alarm_since": self.alarm_since,
        }
        if self._learner is not None:
            state["learner"] = self._learner.to_state()
        if self.detector is not None:
            state["baseline"] = self.detector.baseline.to_state()
            state["detector"] = self.detector.to_state()
        return state

    def restore(self, state: Mapping[str, Any], *, keep_baseline: bool = False) -> None:
        """Go on where `to_state` was called. `keep_baseline`: this series' own baseline, a number that was given, stays;
        where it is another one than before, the detector starts anew."""
        self.history = History.from_state(state["history"])
        self.last_s = float(state["last_s"])
        own = self.baseline if keep_baseline else None
        stored = Baseline.from_state(state["baseline"]) if "baseline" in state else None
        if own is not None and own != stored:
            return
        if stored is not None:
            self._watch(stored)
            assert self.detector is not None
            self.detector.restore(state["detector"])
            self.alarm_since = state["alarm_since"]
        elif "learner" in state:
            self.detector, self._learner = None, BaselineLearner.from_state(state["learner"])
