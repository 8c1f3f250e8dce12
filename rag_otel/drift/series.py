"""One series of one slice: its history, what is normal for it, and the detectors that watch it."""

from __future__ import annotations

from dataclasses import replace

from rag_otel.drift.baseline import Baseline
from rag_otel.drift.change import ChangePoint, change_point
from rag_otel.drift.detector import NO_EVIDENCE, DropDetector
from rag_otel.drift.history import History, total
from rag_otel.drift.learner import DEFAULT_ERROR
from rag_otel.drift.learning import Learning
from rag_otel.drift.open_alarm import OpenAlarm
from rag_otel.drift.records import stored
from rag_otel.drift.runs import Runs
from rag_otel.drift.suspicion import Suspicion, needed
from rag_otel.drift.turns import Turn
from rag_otel.drift.watch import SeriesSettings, Watch


@stored
class Series:
    """Values in 0..1, higher is better, with the probability that each was picked with."""

    __slots__ = (
        "_alarm", "_before_from", "_further", "_learning", "_runs", "_settings", "_suspicion", "_watch", "history",
        "last_s",
    )  # fmt: skip

    NOT_STORED = ("_settings",)

    def __init__(self, settings: SeriesSettings, baseline: Baseline | None = None) -> None:
        """Without a `baseline` it is learned from the first values; with one only how they depend on each other."""
        self._settings = settings
        self.history = History()
        self._runs = Runs()
        self._learning = Learning(settings)
        self._watch: Watch | None = None
        """None while the first baseline is being learned."""
        self._alarm: OpenAlarm | None = None
        self._suspicion = Suspicion()
        self._further = Suspicion()
        """The same of a deeper drop."""
        self._before_from = 0
        """Since when what was before the last alarm holds, as the order of a value."""
        self.last_s = 0.0
        if baseline is not None:
            self._begin_watch(baseline)

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
        learner = self._learning.learner
        return len(learner) if learner and self._watch is None else 0

    @property
    def gains(self) -> int:
        """How often the mean has risen, and a further baseline was begun."""
        return self._learning.gains

    @property
    def stage(self) -> int:
        """How often the baseline has been learned."""
        return self._learning.stage

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
    ) -> Turn | None:
        """Take one value. `order` is its place in the stream (see `History`), `cluster` the key of the run that it is
        of (see `Runs`), `shift` what its kind of answer is usually above the mean; `bad`: it is bad by itself."""
        self.last_s = time_s
        weight = 1.0 / probability
        self.history.add(time_s, value, weight, order, bad=bad)
        runs = self._runs
        if cluster is not None and not runs.several:
            if not runs.second(cluster):
                cluster = None
            elif self._watch is None:
                self._learning.start_over()
        if cluster is None and not runs.count:
            watch = self._watch
            if watch is None or watch.blocks.size > 1 or not self._learning.ended:
                return self._take(time_s, (value - shift) * weight, weight, 1)
            return self._bet(watch, value - shift, probability)
        unit = runs.add(time_s, value - shift, weight, cluster)
        return None if unit is None else self._take(time_s, *unit)

    def _take(self, time_s: float, weighted: float, weight: float, answers: int) -> Turn | None:
        """One unit: an answer or a run of them."""
        watch, learning, firing = self._watch, self._learning, self._alarm is not None
        due = learning.add(time_s, weighted, weight, self.history.last, answers, firing=firing)
        if watch is None:
            return Turn.COMPLETE if due else None
        block = watch.blocks.add(weighted, weight)
        turn = None if block is None else self._bet(watch, block[0] / block[1], 1.0 / block[1])
        if turn is None and due and learning.may_learn(watch, suspected=self.firing or self._suspicion.values > 0):
            return Turn.COMPLETE
        return turn

    def _bet(self, watch: Watch, value: float, probability: float) -> Turn | None:
        detector = watch.detector
        reached = detector.observe(value, probability)
        if self._alarm is not None:
            return self._follow(self._alarm, value, probability)
        if (reached or self._suspicion.values) and self._is_told(self._suspicion, detector, reached):
            self._suspicion.values = 0
            self._learning.suspect()
            self._open(watch, detector.floor)
            return Turn.ALARM
        if watch.rise is not None and watch.rise.observe(1.0 - value, probability):
            self._learning.begin_gain(watch)
        return None

    def _is_told(self, suspicion: Suspicion, detector: DropDetector, reached: bool) -> bool:
        """Whether evidence that is enough, or was, is told now."""
        learner, baseline = self._learning.learner, self.baseline
        if baseline is None or baseline.source == "given" or (learner is not None and self.gains):
            return reached
        before = suspicion.values
        rare = baseline.rare if learner is None else learner.rare
        latest = self.history.level if learner is None else learner.lately()
        told = suspicion.lasts(
            reached,
            detector,
            # Where keys tell runs apart, low values that come in a row are no run.
            seen=(self._runs.several or (rare is not None and latest >= rare)) and not self._in_runs(baseline),
            size=baseline.block,
            needed=needed(self._settings.baseline_count, learner, runs=self._settings.runs),
        )
        if before and not suspicion.values and not told:
            self._learning.was_run()
        return told

    def _in_runs(self, baseline: Baseline) -> bool:
        """Answers depend on each other, and how much has hardly been seen."""
        return baseline.block > 1 and not self._learning.sure

    def _open(self, watch: Watch, floor: float) -> None:
        self._further.values = 0
        self._alarm = OpenAlarm(watch, floor, self.change(floor), inflation=self.inflation, order=self.history.last)

    def _follow(self, alarm: OpenAlarm, value: float, probability: float) -> Turn | None:
        """While an alarm is on."""
        watch, deeper = self._watch, alarm.deeper
        assert watch is not None
        alarm.estimate_again(watch, self.history, self.inflation)
        if deeper is not None:
            reached = deeper.observe(value, probability)
            if (reached or self._further.values) and self._is_told(self._further, deeper, reached):
                self._before_from = alarm.from_order
                self._open(watch, deeper.floor)
                return Turn.DEEPER
        if not alarm.recovery.observe(1.0 - value, probability):
            return None
        self._learning.resolve()
        self._alarm, self._before_from = None, self.history.last + 1
        watch.detector.restart()
        return Turn.RESOLVED

    # --- baselines --------------------------------------------------------------------------------------------------

    def _begin_watch(self, baseline: Baseline) -> None:
        learning = self._learning
        self._watch = Watch(baseline, self._settings, room=learning.room, gains=learning.sure)

    def freeze(self, *, error: float = DEFAULT_ERROR, room: float = 0.0) -> None:
        """What was seen so far is normal; all stages' bounds are too high with probability `error` at most.

        `room` is how far values may lie outside of 0..1 (see `observe`'s shift).
        """
        found = self._learning.learn(self._watch, error=error, room=room, keys=self._runs.several)
        if found is None:
            return
        if found.change_from is not None and found.change_s is None:
            after = next((each for each in self.history.buckets if each.last >= (found.change_from or 0)), None)
            found = replace(found, change_s=self.last_s if after is None else after.start_s)
        self._begin_watch(found)

    def allow(self, whole: Baseline) -> None:
        """All traffic wanders so far, and depends on itself so much, while nothing is wrong: this slice may too."""
        baseline = self.baseline
        if baseline is None or self.firing or baseline.source == "given":
            return
        allowed = baseline.at_least_as(whole)
        if allowed is not baseline:
            self._begin_watch(allowed)

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
        fresh, room = Series(self._settings), self._learning.room
        for name in self.__slots__:
            if name not in ("history", "last_s"):
                setattr(self, name, getattr(fresh, name))
        self._learning.room = room

    def adopt(self, settings: SeriesSettings) -> None:
        """Go on with these settings, after it was restored."""
        self._settings = settings
        self._learning.adopt(settings)
        if self._watch is not None:
            self._watch.adopt(settings)
            if self._alarm is not None:
                self._alarm.adopt(self._watch)
