"""What a series goes on to learn while it is watched: better baselines, the shape of its days, gains."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

from rag_otel.drift.baseline import Baseline
from rag_otel.drift.learner import DEFAULT_COUNT, BaselineLearner
from rag_otel.drift.records import stored
from rag_otel.drift.seasons import Seasons
from rag_otel.drift.watch import SeriesSettings, Watch

_EPISODE: Final = 0.5
"""An alarm that was over after fewer answers than this, as a share of `baseline_count`, was a run: that is normal."""
_DAYS: Final = (1.0, 2.0, 7.0)
"""Where 5,000 answers are fewer days, the shape of the days is learned again after so many."""
_NEAR: Final = -1.0
"""log10 of the evidence over an alarm's from which on nothing is learned."""
_SURE: Final = 2
"""Stages after which a gain is told from a baseline that is not known well yet."""


@stored
class Learning:
    """The learner of the baseline while there is one, then the shape of the days until a week was seen."""

    __slots__ = ("_before_gain", "_seasons", "_settings", "_shape_s", "gains", "learner", "room")

    NOT_STORED = ("_settings",)

    def __init__(self, settings: SeriesSettings) -> None:
        self._settings = settings
        self.learner: BaselineLearner | None = BaselineLearner(settings.baseline_count, stages=settings.stages)
        """None once all was learned."""
        self._seasons: Seasons | None = None
        """The shape of the days, where the baseline was learned from less than a week."""
        self._shape_s = math.inf
        """When another day of it will be known."""
        self.gains = 0
        """How often the mean has risen, and a further baseline was begun."""
        self._before_gain: Baseline | None = None
        self.room = 0.0
        """How far values may lie outside of 0..1."""

    def adopt(self, settings: SeriesSettings) -> None:
        """Go on with these settings, after it was restored."""
        self._settings = settings

    @property
    def ended(self) -> bool:
        """Nothing more is learned."""
        return self.learner is None and self._seasons is None

    @property
    def stage(self) -> int:
        """How often the baseline has been learned."""
        return self.learner.stage if self.learner is not None else self._settings.stages

    @property
    def sure(self) -> bool:
        """The baseline is known well."""
        return self.stage > _SURE

    def start_over(self) -> None:
        """What was learned so far was one run."""
        self.learner = BaselineLearner(self._settings.baseline_count, stages=self._settings.stages)

    def add(self, time_s: float, weighted: float, weight: float, order: int, answers: int, *, firing: bool) -> bool:
        """Take one value times its weight, the one of that order, for so many answers; True where there is enough to
        learn. While an alarm is on, what may be a run is taken, and no more."""
        learner, seasons = self.learner, self._seasons
        if learner is not None:
            if firing and learner.since_mark > self._episode:
                return False
            return learner.add(time_s, weighted / weight, weight, order, answers)
        if seasons is None or firing:
            return False
        seasons.add(time_s, weighted, weight)
        if time_s < self._shape_s:
            return False
        self._shape_s = seasons.next_s(_DAYS)
        return True

    @property
    def _episode(self) -> float:
        return _EPISODE * self._settings.baseline_count

    def may_learn(self, watch: Watch, *, suspected: bool) -> bool:
        """Nothing is suspected: what was seen may be learned. What is suspected for too long ends the learning."""
        learner = self.learner
        if learner is not None and learner.late:
            self.learner = None
            return False
        if suspected:
            return False
        return watch.calm or (learner is not None and learner.owed and watch.detector.evidence < _NEAR)

    def suspect(self) -> None:
        """An alarm begins."""
        if self.learner is not None:
            self.learner.mark()

    def resolve(self) -> None:
        """It is over: it was a run, or what came is forgotten."""
        if self.learner is None:
            return
        short = self.learner.since_mark <= self._episode
        self.learner.settle(normal=short)
        if short:
            self.learner.learn_again()

    def was_run(self) -> None:
        """A suspicion was over soon."""
        if self.learner is not None:
            self.learner.learn_again()

    def begin_gain(self, watch: Watch) -> None:
        """What is normal has become better: it is learned beside the baseline, which watches on until then."""
        watch.rise = None
        if not self.sure:
            return
        self.learner = BaselineLearner(self._settings.baseline_count, stages=self._settings.stages, stage=1)
        self._before_gain = watch.baseline
        self.gains += 1

    def learn(self, watch: Watch | None, *, error: float, room: float, keys: bool) -> Baseline | None:
        """The better baseline; None where the watched one stays. `keys` tell runs apart. See `Series.freeze`."""
        learner, before = self.learner, None if watch is None else watch.baseline
        if learner is None or not learner.due:
            return self._wider(before)
        self.room = max(self.room, room)
        earlier = self._before_gain
        found = learner.learn(
            error=error * learner.error_share / 2**self.gains,
            least_probability=self._settings.least_probability,
            room=self.room,
            wander=0.0 if earlier is None else earlier.wander,
        )
        if before is not None and before.source == "given":
            found = found.standing_for(before)
        elif before is not None and learner.hardly_more and before.block == found.block == 1:
            found = replace(found, lower=min(found.mean, max(found.lower, before.lower)))
        # What is wrong now is not learned, though there was too little of it for an alarm.
        # Of a default's 500 answers the first stages do not know runs yet: one that is hard looks like a drop.
        sure = self.sure or ((keys or learner.count < DEFAULT_COUNT) and learner.fell_lately)
        wrong = watch is not None and sure and learner.lately_mean < watch.floor
        if before is not None and wrong:
            found = before
        if not learner.advance(taken=not wrong):
            self.learner = None
            self._learn_days(learner.seasons if self._settings.follow else None)
        if earlier is not None and earlier.floor >= found.floor:
            found = earlier
        return None if found is before else found

    def _learn_days(self, seasons: Seasons | None) -> None:
        """Go on to learn the shape of the days, as long as a week has not been seen."""
        self._seasons = seasons if seasons is not None and seasons.days < _DAYS[-1] else None
        self._shape_s = math.inf if self._seasons is None else self._seasons.next_s(_DAYS)

    def _wider(self, baseline: Baseline | None) -> Baseline | None:
        """With another day of the shape, where that changes anything."""
        if self._seasons is None or baseline is None:
            return None
        wider = baseline.wandering_like(self._seasons)
        if self._seasons.days >= _DAYS[-1]:
            self._seasons = None
        return None if wider.wander == baseline.wander else wider
