"""One series of one slice: its history, what is normal for it, and the detectors that watch it."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rag_otel.drift.baseline import DEFAULT_COUNT, DEFAULT_ERROR, Baseline, BaselineLearner
from rag_otel.drift.change import ChangePoint, change_point
from rag_otel.drift.detector import NO_EVIDENCE, DropDetector
from rag_otel.drift.history import History


class Turn(enum.StrEnum):
    """What a value has changed."""

    ALARM = "alarm"
    RESOLVED = "resolved"
    COMPLETE = "complete"
    """There are enough values for a baseline: `freeze` it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesSettings:
    """How one series is watched."""

    threshold: float
    """Guaranteed average run length of the detector, in values."""
    baseline_count: int = DEFAULT_COUNT
    margin: float = 0.0
    least_probability: float = 1.0


class Series:
    """Values in 0..1, higher is better, with the probability that each was picked with.

    After an alarm a second detector bets on the recovery: that the mean is above the middle between the floor and the
    upper end of what it has dropped to. The alarm ends when that one has as much evidence as the alarm took.
    """

    __slots__ = (
        "_learner", "_recovery", "_settings", "alarm_from", "alarm_since", "baseline", "detector", "history", "last_s",
    )  # fmt: skip

    def __init__(self, settings: SeriesSettings, baseline: Baseline | None = None) -> None:
        """Without a `baseline` it is learned from the first values."""
        self._settings = settings
        self.history = History()
        self.baseline: Baseline | None = None
        """None while it is being learned."""
        self.detector: DropDetector | None = None
        self._learner: BaselineLearner | None = None
        self._recovery: DropDetector | None = None
        self.alarm_since: float | None = None
        """While an alarm is on: when the drop began, seconds since the epoch."""
        self.alarm_from: int | None = None
        """The same as the order of a value."""
        self.last_s = 0.0
        if baseline is None:
            self._learner = BaselineLearner(settings.baseline_count)
        else:
            self._watch(baseline)

    def _watch(self, baseline: Baseline) -> None:
        settings = self._settings
        self._learner = None
        self.baseline = baseline
        floor = max(0.0, baseline.lower - settings.margin)
        self.detector = DropDetector(
            floor,
            threshold=settings.threshold,
            mean_weight=baseline.mean_weight,
            second_moment=baseline.second_moment_around(floor),
            least_probability=settings.least_probability,
        )

    @property
    def firing(self) -> bool:
        return self._recovery is not None

    @property
    def evidence(self) -> float:
        """log10 of the evidence over the alarm's threshold; never below 0 while the alarm is on."""
        if self.detector is None:
            return NO_EVIDENCE
        return max(0.0, self.detector.evidence) if self.firing else self.detector.evidence

    @property
    def learned(self) -> int:
        """How many values of the baseline there are so far, while it is being learned."""
        return len(self._learner) if self._learner else 0

    def observe(self, time_s: float, value: float, probability: float, order: int | None = None) -> Turn | None:
        """Take one value; `order` is its place in the stream (see `History`)."""
        self.last_s = time_s
        weight = 1.0 / probability
        self.history.add(time_s, value, weight, order)
        detector = self.detector
        if detector is None:
            complete = self._learner is not None and self._learner.add(time_s, value, weight, self.history.last)
            return Turn.COMPLETE if complete else None
        alarm = detector.observe(value, probability)
        if self._recovery is not None:
            return self._recover(value, probability)
        return self._begin_alarm(time_s, detector) if alarm else None

    def freeze(self, *, error: float = DEFAULT_ERROR) -> None:
        """What was seen so far is normal; the baseline's lower bound is too high with probability `error` at most."""
        if self._learner is not None:
            self._watch(self._learner.learn(error=error))

    def _begin_alarm(self, time_s: float, detector: DropDetector) -> Turn:
        found = self.change()
        self.alarm_since = found.at_s if found else time_s
        self.alarm_from = found.at if found else self.history.last
        interval = found.since.interval if found else None
        middle = (detector.floor + min(detector.floor, interval[1] if interval else 0.0)) / 2
        baseline = self.baseline
        assert baseline is not None
        # The recovery is a drop of 1 - value below 1 - middle.
        self._recovery = DropDetector(
            1.0 - middle,
            threshold=detector.threshold,
            mean_weight=baseline.mean_weight,
            second_moment=baseline.second_moment_around(middle),
            least_probability=self._settings.least_probability,
        )
        return Turn.ALARM

    def _recover(self, value: float, probability: float) -> Turn | None:
        assert self._recovery is not None
        assert self.detector is not None
        if not self._recovery.observe(1.0 - value, probability):
            return None
        self._recovery = self.alarm_since = self.alarm_from = None
        self.detector.restart()
        return Turn.RESOLVED

    def change(self) -> ChangePoint | None:
        """Since when, what before and what after; None while nothing speaks for a drop."""
        if self.detector is None or self.baseline is None:
            return None
        buckets = self.history.buckets
        # What the baseline was learned from is not what has drifted from it.
        recent = [bucket for bucket in buckets if bucket.last > self.baseline.until] or buckets[-1:]
        found = change_point(recent, self.detector.floor)
        if found is None:
            return None
        return ChangePoint(
            at_s=found.at_s,
            earliest_s=found.earliest_s,
            latest_s=found.latest_s,
            at=found.at,
            surely_before=found.surely_before,
            since=found.since,
            before=self.history.between(0, found.at),
        )

    def relearn(self) -> None:
        """Forget what was normal: what comes now is."""
        self.baseline = self.detector = self._recovery = self.alarm_since = self.alarm_from = None
        self._learner = BaselineLearner(self._settings.baseline_count)

    def to_state(self) -> dict[str, Any]:
        state: dict[str, Any] = {"history": self.history.to_state(), "last_s": self.last_s}
        if self._learner is not None:
            state["learner"] = self._learner.to_state()
        if self.detector is not None and self.baseline is not None:
            state["baseline"] = self.baseline.to_state()
            state["detector"] = self.detector.to_state()
        if self._recovery is not None:
            state["recovery"] = self._recovery.to_state()
            state["alarm_since"] = self.alarm_since
            state["alarm_from"] = self.alarm_from
        return state

    def restore(self, state: Mapping[str, Any], *, keep_baseline: bool = False) -> None:
        """Go on where `to_state` was called. `keep_baseline`: this series' own baseline is a number that was given and
        stays; where it was another one then, the detector starts anew."""
        self.history = History.from_state(state["history"])
        self.last_s = float(state["last_s"])
        if "learner" in state:
            if not keep_baseline:
                self.baseline = self.detector = None
                self._learner = BaselineLearner.from_state(state["learner"])
            return
        stored = Baseline.from_state(state["baseline"])
        if keep_baseline and stored != self.baseline:
            return
        self._watch(stored)
        threshold = self._settings.threshold
        if self.detector is not None:
            self.detector = DropDetector.from_state(state["detector"], threshold=threshold, floor=self.detector.floor)
        if "recovery" in state:
            self._recovery = DropDetector.from_state(state["recovery"], threshold=threshold)
            self.alarm_since = float(state["alarm_since"])
            self.alarm_from = int(state["alarm_from"])
