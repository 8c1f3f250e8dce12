"""One series of one slice: its history, what is normal for it, and the detectors that watch it."""

from __future__ import annotations

import enum
import math
import statistics
from dataclasses import replace
from typing import Final

from rag_otel.drift.baseline import Baseline
from rag_otel.drift.change import ChangePoint, change_point
from rag_otel.drift.detector import NO_EVIDENCE, DropDetector
from rag_otel.drift.history import History, total
from rag_otel.drift.learner import DEFAULT_COUNT, GAIN_STAGES, Learner
from rag_otel.drift.records import stored
from rag_otel.drift.runs import Runs
from rag_otel.drift.watch import OpenAlarm, SeriesSettings, Watch

_SURE_STAGES: Final = 3
"""Stages from which on the baseline is known well."""
_LASTING: Final = 0.22
"""For so many answers, as a share of `baseline_count`, there must be evidence of a drop that may be a run; for `_MOST`
at most."""
_MOST: Final = 110
_LATEST: Final = 5
"""Values that tell what is usual just now."""
_SURELY: Final = 1.645
_GONE: Final = 0.1
"""Share of an alarm's evidence below which it was a run."""


class SeriesEvent(enum.StrEnum):
    """What a value has changed."""

    ALARM = "alarm"
    DEEPER = "deeper"
    """The mean has fallen below what the alarm has told."""
    RESOLVED = "resolved"
    COMPLETE = "complete"
    """There are enough values for a baseline, or for a better one: `freeze` it."""


@stored
class Series:
    """Values in 0..1, higher is better, with the probability that each was picked with."""

    __slots__ = (
        "_alarm", "_before_from", "_earlier", "_latest", "_learner", "_room", "_runs", "_settings", "_sure",
        "_watch", "history", "last_s",
    )  # fmt: skip

    NOT_STORED = ("_settings",)

    def __init__(self, settings: SeriesSettings, baseline: Baseline | None = None) -> None:
        """Without a `baseline` it is learned from the first values; with one only how they depend on each other."""
        self._settings = settings
        self.history = History()
        self._runs = Runs()
        self._learner: Learner | None = self._new_learner()
        """None once all was learned."""
        self._room = 0.0
        """How far values may lie outside of 0..1."""
        self._sure = False
        """The baseline is known well."""
        self._earlier: Baseline | None = None
        """What was normal before the mean rose, while that is being learned."""
        self._watch: Watch | None = None
        """None while the first baseline is being learned."""
        self._alarm: OpenAlarm | None = None
        self._latest: tuple[float, ...] = ()
        """The last few values."""
        self._before_from = 0
        """Since when what was before the last alarm holds, as the order of a value."""
        self.last_s = 0.0
        if baseline is not None:
            self._watch = Watch(baseline, settings)

    def _new_learner(self) -> Learner:
        settings = self._settings
        return Learner(settings.baseline_count, stages=settings.stages, days=settings.follow)

    # --- what is known ----------------------------------------------------------------------------------------------

    @property
    def baseline(self) -> Baseline | None:
        """None while it is being learned."""
        return None if self._watch is None else self._watch.baseline

    @property
    def detector(self) -> DropDetector | None:
        """The one that bets on a drop."""
        return None if self._watch is None else self._watch.detector

    @property
    def firing(self) -> bool:
        """An alarm is on."""
        return self._alarm is not None

    @property
    def alarm_from(self) -> int | None:
        """While an alarm is on: when the drop began, as the order of a value."""
        return None if self._alarm is None else self._alarm.from_order

    @property
    def floor(self) -> float:
        """What the mean is bet to be below; while an alarm is on, what it has fallen below."""
        if self._alarm is not None:
            return self._alarm.floor
        return 0.0 if self._watch is None else self._watch.floor

    @property
    def evidence(self) -> float:
        """log10 of the evidence over the alarm's threshold; never below 0 while the alarm is on."""
        if self._watch is None:
            return NO_EVIDENCE
        evidence = self._watch.detector.evidence
        return max(0.0, evidence) if self.firing else evidence

    @property
    def learned(self) -> int:
        """How many values of the first baseline there are so far, while it is being learned."""
        return len(self._learner) if self._learner and self._watch is None else 0

    @property
    def inflation(self) -> float:
        """How many answers are worth one independent one, as far as is known."""
        baseline = self.baseline
        return 1.0 if baseline is None else baseline.inflation * baseline.answers

    # --- values -----------------------------------------------------------------------------------------------------

    def observe(
        self,
        time_s: float,
        value: float,
        probability: float,
        order: int | None = None,
        *,
        shift: float = 0.0,
        cluster: int | None = None,
        bad: bool = False,
    ) -> SeriesEvent | None:
        """Take one value. `order` is its place in the stream (see `History`), `cluster` the key of the run that it is
        of (see `Runs`), `shift` what its kind of answer is usually above the mean; `bad`: it is bad by itself."""
        self.last_s = time_s
        weight = 1.0 / probability
        self.history.add(time_s, value, weight, order, bad=bad)
        self._latest = (*self._latest[1 - _LATEST :], value)
        runs = self._runs
        if cluster is not None and not runs.several:
            if not runs.second(cluster):
                cluster = None
            elif self._watch is None:
                self._learner = self._new_learner()  # what was learned so far was one run
        if cluster is None and not runs.count:
            watch = self._watch
            if watch is not None and watch.blocks.size == 1 and self._learner is None:
                return self._bet(watch, value - shift, probability)
            return self._take(time_s, (value - shift) * weight, weight, 1)
        unit = runs.add(time_s, value - shift, weight, cluster)
        return None if unit is None else self._take(time_s, *unit)

    def _take(self, time_s: float, weighted: float, weight: float, answers: int) -> SeriesEvent | None:
        """One unit: an answer or a run of them."""
        watch, learner, due = self._watch, self._learner, False
        # While an alarm is on, what may be a run is learned, and no more.
        if learner is not None and (self._alarm is None or learner.in_episode):
            due = learner.add(time_s, weighted / weight, weight, self.history.last, answers)
        if watch is None:
            return SeriesEvent.COMPLETE if due else None
        block = watch.blocks.add(weighted, weight)
        turn = None if block is None else self._bet(watch, block[0] / block[1], 1.0 / block[1])
        if turn is None and learner is not None and due and self._alarm is None:
            if watch.may_learn(owed=learner.owed):
                return SeriesEvent.COMPLETE
            if learner.ended:
                self._learner = None
        return turn

    def _bet(self, watch: Watch, value: float, probability: float) -> SeriesEvent | None:
        detector = watch.detector
        reached = detector.observe(value, probability)
        if self._alarm is not None:
            return self._follow(watch, self._alarm, value, probability)
        if self._is_told(watch, detector, reached):
            if self._learner is not None:
                self._learner.mark()
            self._open(watch, detector.floor)
            return SeriesEvent.ALARM
        if watch.rise is not None and watch.rise.observe(1.0 - value, probability):
            self._begin_gain(watch)
        return None

    def _is_told(self, watch: Watch, detector: DropDetector, reached: bool) -> bool:
        """Whether evidence that is enough, or was, is told now. A run of answers on one hard document looks like a drop
        as long as no such run was seen, however many answers it has: then a drop has to last. A measured heuristic."""
        baseline = watch.baseline
        if baseline.source == "given" or not (reached or detector.held):
            return reached
        if not reached and detector.money < _GONE * detector.threshold:
            detector.held = 0
            if self._learner is not None:
                self._learner.learn_again()  # it was a run
            return False
        in_runs = baseline.block > 1 and not self._sure
        # Where keys tell runs apart, low values that come in a row are no run.
        known = self._runs.several or (baseline.rare is not None and statistics.median(self._latest) >= baseline.rare)
        if reached and not detector.held and known and not in_runs:
            return True
        detector.hold(baseline.block)
        return reached and detector.held > min(_LASTING * self._settings.baseline_count, _MOST)

    def _open(self, watch: Watch, floor: float) -> None:
        self._alarm = OpenAlarm(watch, floor, self.change(floor), inflation=self.inflation, order=self.history.last)

    def _follow(self, watch: Watch, alarm: OpenAlarm, value: float, probability: float) -> SeriesEvent | None:
        """While an alarm is on."""
        alarm.estimate_again(watch, self.history, self.inflation)
        deeper = alarm.deeper
        if deeper is not None and self._is_told(watch, deeper, deeper.observe(value, probability)):
            self._before_from = alarm.from_order
            self._open(watch, deeper.floor)
            return SeriesEvent.DEEPER
        if not alarm.recovery.observe(1.0 - value, probability):
            return None
        if self._learner is not None:
            self._learner.settle()
        self._alarm, self._before_from = None, self.history.last + 1
        watch.detector.restart()
        return SeriesEvent.RESOLVED

    # --- baselines --------------------------------------------------------------------------------------------------

    def _begin_gain(self, watch: Watch) -> None:
        """What is normal has become better: it is learned beside the baseline, which watches on until then."""
        watch.rise = None
        self._earlier = watch.baseline
        self._learner = Learner(self._settings.baseline_count, stages=GAIN_STAGES, days=True)

    def freeze(self, *, room: float = 0.0) -> None:
        """What was seen so far is normal, but where the latest of it lies below the floor. `room` is how far values may
        lie outside of 0..1 (see `observe`'s shift)."""
        learner, watch, earlier = self._learner, self._watch, self._earlier
        if learner is None or not learner.due:
            return
        self._room = max(self._room, room)
        found = learner.learn(
            sure=self._settings.sure, wander=0.0 if earlier is None else earlier.wander, mixed=self._room > 0.0
        )
        wrong = watch is not None and self._fell(learner, watch.floor, found.inflation)
        learner.advance(taken=not wrong)
        self._sure = self._sure or learner.stage >= _SURE_STAGES
        if learner.ended:
            self._learner = None
        if wrong or (earlier is not None and earlier.floor >= found.floor):
            return
        if watch is not None and watch.baseline.source == "given":
            found = found.standing_for(watch.baseline)
        if found.change_from is not None:
            after = next((each for each in self.history.buckets if each.last >= (found.change_from or 0)), None)
            found = replace(found, change_s=self.last_s if after is None else after.start_s)
        self._watch = Watch(found, self._settings, room=self._room, gains=self._sure)

    def _fell(self, learner: Learner, floor: float, inflation: float) -> bool:
        """Whether what came since it was learned last is wrong, though there was too little of it for an alarm."""
        if self._sure:
            return learner.fell_below(floor)
        # Of a default's 500 answers without keys the first stages do not know runs yet: a hard one looks like a drop.
        told_apart = self._runs.several or learner.count < DEFAULT_COUNT
        return told_apart and learner.fell_below(floor, surely=_SURELY * math.sqrt(inflation))

    def allow(self, whole: Baseline) -> None:
        """All traffic wanders so far, and depends on itself so much, while nothing is wrong: this slice may too."""
        baseline = self.baseline
        if baseline is None or self.firing or baseline.source == "given":
            return
        allowed = baseline.at_least_as(whole)
        if allowed is not baseline:
            self._watch = Watch(allowed, self._settings, room=self._room, gains=self._sure)

    def change(self, floor: float | None = None) -> ChangePoint | None:
        """Since when the mean has been below `floor` (by default the one that it was told to be below), what was before
        and what after; None while nothing speaks for a drop."""
        baseline = self.baseline
        if baseline is None:
            return None
        buckets = self.history.buckets
        # What the baseline was learned from is not what has drifted from it, but where it holds a drop itself.
        start = baseline.until + 1 if baseline.change_from is None else baseline.change_from
        start = max(start, self._before_from)
        recent = [bucket for bucket in buckets if bucket.last >= start] or buckets[-1:]
        found = change_point(recent, self.floor if floor is None else floor, self.inflation)
        if found is None:
            return None
        return replace(found, before=total(each for each in buckets if self._before_from <= each.first < found.at))

    def relearn(self) -> None:
        """Forget what was normal: what comes now is."""
        fresh = Series(self._settings)
        for name in self.__slots__:
            if name not in ("history", "last_s", "_room"):
                setattr(self, name, getattr(fresh, name))

    def adopt(self, settings: SeriesSettings) -> None:
        """Go on with these settings, after it was restored."""
        self._settings = settings
        if self._watch is not None:
            self._watch.adopt(settings)
            if self._alarm is not None:
                self._alarm.adopt(self._watch)
