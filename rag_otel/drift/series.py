"""One series of one slice: its history, what is normal for it, and the detectors that watch it."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from rag_otel.drift.baseline import DEFAULT_COUNT, DEFAULT_ERROR, STAGES, Baseline, BaselineLearner
from rag_otel.drift.change import ChangePoint, change_point
from rag_otel.drift.detector import NO_EVIDENCE, DropDetector
from rag_otel.drift.history import History, total
from rag_otel.drift.seasons import Seasons
from rag_otel.drift.units import Blocks, Runs

_CALM: Final = 0.01
"""Share of the threshold that a detector's money is below while nothing is suspected; so is `_SMALL` anyway."""
_SMALL: Final = 8.0
_PROVISIONAL: Final = 2
"""Stages after which it is known whether answers come in runs; before, a suspicion must last."""
_LASTING: Final = 0.25
"""For so many answers, as a share of `baseline_count`."""
_SEEN: Final = 0.02
"""So many values tell how such values come, as a share of `baseline_count`; three at least."""
_GONE: Final = 0.1
"""Share of an alarm's evidence below which a suspicion is over."""
_EPISODE: Final = 0.5
"""An alarm that was over after fewer answers than this, as a share of `baseline_count`, was a run: that is normal."""
_RECOVERY: Final = 0.03
"""Share of an alarm's evidence that tells its end: it ends sooner than it begins."""
_DAYS: Final = (1.0, 2.0)
"""Where 5,000 answers are fewer than two days, the shape of the day is learned again after so many days."""
_LEAST_RISE: Final = 0.005
"""Room above a ceiling that a gain must have to be looked for."""


class Turn(enum.StrEnum):
    """What a value has changed."""

    ALARM = "alarm"
    DEEPER = "deeper"
    """The mean has fallen below what the alarm has told."""
    RESOLVED = "resolved"
    COMPLETE = "complete"
    """There are enough values for a baseline, or for a better one: `freeze` it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesSettings:
    """How one series is watched."""

    threshold: float
    """Guaranteed average run length of the detector, in values."""
    baseline_count: int = DEFAULT_COUNT
    margin: float = 0.0
    least_probability: float = 1.0
    stages: int = len(STAGES)
    """How often the baseline is learned better."""
    follow: bool = True
    """Learn a second baseline where the mean has risen: a gain that is lost again is told."""


class Series:
    """Values in 0..1, higher is better, with the probability that each was picked with.

    After an alarm two more detectors bet: one on a deeper drop, below what the alarm told; one on the recovery, that
    the mean is above the middle between the floor and the upper end of what it has dropped to.
    """

    __slots__ = (
        "_before_from", "_blocks", "_deeper", "_floor", "_gains", "_learner", "_recovery", "_rise", "_room", "_runs",
        "_seasons", "_settings", "_suspected", "alarm_from", "alarm_since", "baseline", "detector", "history", "last_s",
    )  # fmt: skip

    def __init__(self, settings: SeriesSettings, baseline: Baseline | None = None) -> None:
        """Without a `baseline` it is learned from the first values; with one only how they depend on each other."""
        self._settings = settings
        self.history = History()
        self.baseline: Baseline | None = None
        """None while it is being learned."""
        self.detector: DropDetector | None = None
        self._runs = Runs()
        self._blocks = Blocks()
        self._room = 0.0
        self._learner: BaselineLearner | None = BaselineLearner(settings.baseline_count, stages=settings.stages)
        self._seasons: Seasons | None = None
        """The shape of the days, where the baseline was learned from less than two of them."""
        self._gains = 0
        self._rise: DropDetector | None = None
        self._recovery: DropDetector | None = None
        self._deeper: DropDetector | None = None
        self.alarm_since: float | None = None
        """While an alarm is on: when the drop began, seconds since the epoch."""
        self.alarm_from: int | None = None
        """The same as the order of a value."""
        self._floor = 0.0
        """What the mean was bet to be below by the detector that alarmed last, else by the first one."""
        self._suspected = 0
        """Units since the evidence was enough for an alarm, while it is still near."""
        self._before_from = 0
        """Since when what was before the last alarm holds, as the order of a value."""
        self.last_s = 0.0
        if baseline is not None:
            self._watch(baseline)

    def _watch(self, baseline: Baseline) -> None:
        settings = self._settings
        self.baseline = baseline
        self._blocks = Blocks(baseline.block)
        # A margin that was chosen and one that was measured are for the same wandering.
        self._floor = max(0.0, baseline.lower - max(settings.margin, baseline.wander))
        self.detector = self._detector(self._floor)
        self._rise = None
        ceiling = 2.0 * baseline.mean - self._floor
        if settings.follow and baseline.source == "learned" and ceiling < 1.0 - _LEAST_RISE:
            self._rise = self._detector(1.0 - ceiling, around=ceiling)

    def _detector(self, floor: float, *, around: float | None = None, share: float = 1.0) -> DropDetector:
        """One that observes blocks. `around`: what values are, where `floor` is theirs
        turned around."""
        baseline = self.baseline
        assert baseline is not None
        return DropDetector(
            floor,
            threshold=self._threshold(baseline, share),
            mean_weight=baseline.mean_weight,
            second_moment=baseline.second_moment_around(floor if around is None else around),
            least_probability=self._settings.least_probability,
            room=self._room,
        )

    def _threshold(self, baseline: Baseline, share: float) -> float:
        """In blocks of runs, which come more seldom than answers."""
        return max(1.0, share * self._settings.threshold / (baseline.block * baseline.answers))

    @property
    def firing(self) -> bool:
        return self._recovery is not None

    @property
    def floor(self) -> float:
        """What the mean was bet to be below, or is."""
        return self._floor

    @property
    def evidence(self) -> float:
        """log10 of the evidence over the alarm's threshold; never below 0 while the alarm is on."""
        if self.detector is None:
            return NO_EVIDENCE
        return max(0.0, self.detector.evidence) if self.firing else self.detector.evidence

    @property
    def learned(self) -> int:
        """How many values of the first baseline there are so far, while it is being learned."""
        return len(self._learner) if self._learner and self.detector is None else 0

    @property
    def gains(self) -> int:
        """How often the mean has risen, and a further baseline was begun."""
        return self._gains

    @property
    def stage(self) -> int:
        """How often the baseline has been learned."""
        return self._learner.stage if self._learner is not None else self._settings.stages

    def observe(
        self,
        time_s: float,
        value: float,
        probability: float,
        order: int | None = None,
        *,
        shift: float = 0.0,
        cluster: int | None = None,
    ) -> Turn | None:
        """Take one value. `order` is its place in the stream (see `History`), `cluster` the key of the run that it is
        of (see `Runs`), `shift` what its kind of answer is usually above the mean."""
        self.last_s = time_s
        weight = 1.0 / probability
        self.history.add(time_s, value, weight, order)
        runs = self._runs
        if cluster is not None and not runs.several:
            if not runs.second(cluster):
                cluster = None
            elif self._learner is not None and self.detector is None:
                # What was learned so far was one run.
                self._learner = BaselineLearner(self._settings.baseline_count, stages=self._settings.stages)
        if cluster is None and not runs.open:
            return self._take(time_s, (value - shift) * weight, weight, 1)
        unit = runs.add(time_s, value - shift, weight, cluster)
        return None if unit is None else self._take(time_s, *unit)

    def _take(self, time_s: float, weighted: float, weight: float, answers: int) -> Turn | None:
        """One unit: an answer or a run of them."""
        learner = self._learner
        due = False
        if learner is not None and (self._recovery is None or learner.since_mark <= self._episode):
            due = learner.add(time_s, weighted / weight, weight, self.history.last, answers)
        elif self._seasons is not None and self._recovery is None:
            due = self._learn_shape(self._seasons, time_s, weighted, weight)
        if self.detector is None:
            return Turn.COMPLETE if due else None
        block = self._blocks.add(weighted, weight)
        turn = None if block is None else self._bet(time_s, block[0] / block[1], 1.0 / block[1])
        if turn is None and due and self._calm():
            return Turn.COMPLETE
        return turn

    @staticmethod
    def _learn_shape(seasons: Seasons, time_s: float, weighted: float, weight: float) -> bool:
        """True once another day has gone by."""
        before = seasons.days
        seasons.add(time_s, weighted, weight)
        return any(before < day <= seasons.days for day in _DAYS)

    @property
    def _episode(self) -> float:
        return _EPISODE * self._settings.baseline_count

    def _calm(self) -> bool:
        """Nothing is suspected: what was seen may be learned."""
        detector = self.detector
        return detector is not None and not self.firing and detector.money <= max(_SMALL, _CALM * detector.threshold)

    def _bet(self, time_s: float, value: float, probability: float) -> Turn | None:
        detector = self.detector
        assert detector is not None
        alarm = detector.observe(value, probability)
        if self._recovery is not None:
            if self._deeper is not None and self._deeper.observe(value, probability):
                return self._begin_deeper(time_s)
            return self._recover(value, probability)
        if (alarm or self._suspected) and self._lasts(detector, alarm):
            return self._begin_alarm(time_s, detector.floor)
        if self._rise is not None and self._rise.observe(1.0 - value, probability):
            # What is normal has become better: it is learned beside the baseline, which watches on until then.
            self._learner = BaselineLearner(self._settings.baseline_count, stages=self._settings.stages)
            self._rise = None
            self._gains += 1
        return None

    def _lasts(self, detector: DropDetector, alarm: bool) -> bool:
        """Whether a suspicion is to be told. One run of answers on a hard document looks like a drop as long as no such
        run has been seen: it is over soon, and money that is held back is soon lost."""
        learner = self._learner
        given = self.baseline is not None and self.baseline.source == "given"
        if learner is None or learner.stage > _PROVISIONAL or self._gains or given:
            return alarm
        if not alarm and detector.money < _GONE * detector.threshold:
            self._suspected = 0
            return False
        if alarm and not self._suspected and self._is_known(learner):
            return True
        self._suspected += self._blocks.size
        detector.restrain()
        return alarm and self._suspected > _LASTING * self._settings.baseline_count

    def _is_known(self, learner: BaselineLearner) -> bool:
        """Whether values as low as those that raise the suspicion have been seen before it: then it is known whether
        they come in runs."""
        found = self.change()
        mean = None if found is None else found.since.mean
        enough = max(3.0, _SEEN * self._settings.baseline_count)
        return found is not None and mean is not None and learner.below(mean, found.since.count) >= enough

    def freeze(self, *, error: float = DEFAULT_ERROR, room: float = 0.0, wander: float = 0.0) -> None:
        """What was seen so far is normal; all stages' bounds are too high with probability `error` at most.

        `room` is how far values may lie outside of 0..1 (see `observe`'s shift), `wander` what is known from elsewhere
        of how far the mean wanders.
        """
        learner, before = self._learner, self.baseline
        if learner is None or not learner.due:
            self._widen()
            return
        self._room = max(self._room, room)
        found = learner.learn(
            error=error * learner.error_share / 2**self._gains,
            least_probability=self._settings.least_probability,
            room=self._room,
            wander=max(wander, before.wander if before is not None and self._gains else 0.0),
        )
        if found.change_from is not None:
            after = next((each for each in self.history.buckets if each.last >= (found.change_from or 0)), None)
            found = replace(found, change_s=self.last_s if after is None else after.start_s)
        if before is not None and before.source == "given":
            found = found.standing_for(before)
        if learner.last:
            self._learner = None
            self._seasons = learner.seasons if learner.seasons.days < _DAYS[-1] and self._settings.follow else None
        else:
            learner.advance()
        if before is None or before.source == "given" or not self._gains or found.floor > before.floor:
            self._watch(found)

    def _widen(self) -> None:
        """Another day of the shape is known."""
        if self._seasons is None or self.baseline is None:
            return
        wider = self.baseline.wandering_like(self._seasons)
        if self._seasons.days >= _DAYS[-1]:
            self._seasons = None
        if wider.wander > self.baseline.wander:
            self._watch(wider)

    def allow(self, whole: Baseline) -> None:
        """All traffic wanders so far, and depends on itself so much, while nothing is wrong: this slice may too."""
        if self.baseline is None or self.firing or self.baseline.source == "given":
            return
        allowed = self.baseline.at_least_as(whole)
        if allowed is not self.baseline:
            self._watch(allowed)

    def _begin_alarm(self, time_s: float, floor: float) -> Turn:
        self._floor, self._suspected = floor, 0
        if self._learner is not None:
            self._learner.mark()
        self._tell_since(time_s)
        return Turn.ALARM

    def _begin_deeper(self, time_s: float) -> Turn:
        assert self._deeper is not None
        self._floor, self._before_from = self._deeper.floor, self.alarm_from or 0
        self._tell_since(time_s)
        return Turn.DEEPER

    def _tell_since(self, time_s: float) -> None:
        found = self.change()
        self.alarm_since = found.at_s if found else time_s
        self.alarm_from = found.at if found else self.history.last
        bounds = found.since.bounds(inflation=self.inflation) if found else None
        low, high = bounds if bounds is not None else (0.0, 0.0)
        middle = (self._floor + min(self._floor, high)) / 2
        # The recovery is a drop of 1 - value below 1 - middle.
        self._recovery = self._detector(1.0 - middle, around=middle, share=_RECOVERY)
        self._deeper = self._detector(low) if low > 0.0 else None

    def _recover(self, value: float, probability: float) -> Turn | None:
        assert self._recovery is not None
        assert self.detector is not None
        if not self._recovery.observe(1.0 - value, probability):
            return None
        if self._learner is not None:
            self._learner.settle(normal=self._learner.since_mark <= self._episode)
        self._recovery = self._deeper = self.alarm_since = self.alarm_from = None
        self._before_from = 0
        self.detector.restart()
        self._floor = self.detector.floor
        return Turn.RESOLVED

    @property
    def inflation(self) -> float:
        """How many answers are worth one independent one, as far as is known."""
        return 1.0 if self.baseline is None else self.baseline.inflation * self.baseline.answers

    def change(self) -> ChangePoint | None:
        """Since when, what before and what after; None while nothing speaks for a drop."""
        baseline = self.baseline
        if self.detector is None or baseline is None:
            return None
        buckets = self.history.buckets
        # What the baseline was learned from is not what has drifted from it, but where it holds a drop itself.
        start = baseline.until + 1 if baseline.change_from is None else baseline.change_from
        start = max(start, self._before_from)
        recent = [bucket for bucket in buckets if bucket.last >= start] or buckets[-1:]
        found = change_point(recent, self._floor, self.inflation)
        if found is None:
            return None
        return replace(found, before=total(each for each in buckets if self._before_from <= each.first < found.at))

    def relearn(self) -> None:
        """Forget what was normal: what comes now is."""
        fresh = Series(self._settings)
        for name in self.__slots__:
            if name not in ("history", "last_s", "_room"):
                setattr(self, name, getattr(fresh, name))

    def to_state(self) -> dict[str, Any]:
        state: dict[str, Any] = {
            "history": self.history.to_state(),
            "last_s": self.last_s,
            "runs": self._runs.to_state(),
            "blocks": self._blocks.to_state(),
            "room": self._room,
            "gains": self._gains,
            "floor": self._floor,
            "before_from": self._before_from,
            "suspected": self._suspected,
        }
        if self.baseline is not None:
            state["baseline"] = self.baseline.to_state()
        if self.firing:
            state["alarm_since"], state["alarm_from"] = self.alarm_since, self.alarm_from
        for name in ("_learner", "_seasons", "detector", "_rise", "_recovery", "_deeper"):
            if (each := getattr(self, name)) is not None:
                state[name.strip("_")] = each.to_state()
        return state

    def restore(self, state: Mapping[str, Any], *, keep_baseline: bool = False) -> None:
        """Go on where `to_state` was called. `keep_baseline`: this series' own baseline is a number that was given and
        stays; where it was another one then, the detector starts anew."""
        self.history = History.from_state(state["history"])
        self.last_s = float(state["last_s"])
        stored = Baseline.from_state(state["baseline"]) if "baseline" in state else None
        given = self.baseline
        if keep_baseline and given is not None and (stored is None or not stored.same_numbers(given)):
            return
        self._runs = Runs.from_state(state["runs"])
        self._room = float(state["room"])
        self._gains, self._suspected = int(state["gains"]), int(state["suspected"])
        self._learner = BaselineLearner.from_state(state["learner"]) if "learner" in state else None
        self._seasons = Seasons.from_state(state["seasons"]) if "seasons" in state else None
        self.baseline = self.detector = None
        if stored is None:
            return
        self._watch(stored)
        assert self.detector is not None
        self._blocks = Blocks.from_state(state["blocks"])
        self.detector = self._restored(state["detector"], floor=self.detector.floor)
        self._rise = self._restored(state["rise"]) if "rise" in state and self._rise is not None else None
        if "recovery" in state:
            self._floor, self._before_from = float(state["floor"]), int(state["before_from"])
            self._recovery = self._restored(state["recovery"], share=_RECOVERY)
            self._deeper = self._restored(state["deeper"]) if "deeper" in state else None
            self.alarm_since, self.alarm_from = float(state["alarm_since"]), int(state["alarm_from"])

    def _restored(self, state: Mapping[str, Any], *, floor: float | None = None, share: float = 1.0) -> DropDetector:
        assert self.baseline is not None
        return DropDetector.from_state(state, threshold=self._threshold(self.baseline, share), floor=floor)
