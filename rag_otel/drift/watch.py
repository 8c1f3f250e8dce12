"""A baseline and the detectors that bet against it, in blocks of values that go their own ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rag_otel.drift.baseline import Baseline
from rag_otel.drift.detector import DropDetector
from rag_otel.drift.learner import DEFAULT_COUNT, STAGES
from rag_otel.drift.records import stored
from rag_otel.drift.runs import Blocks
from rag_otel.lazy_dataclass import dataclass

_CALM: Final = 0.01
"""Share of the threshold that a detector's money is below while nothing is suspected; so is `_SMALL` anyway."""
_SMALL: Final = 8.0
_NEAR: Final = -1.0
"""log10 of the evidence over an alarm's from which on nothing is learned."""
_LEAST_RISE: Final = 0.005
"""Room above a ceiling that a gain must have to be looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesSettings:
    """How one series is watched."""

    threshold: float
    """Guaranteed average run length of the detector, in values."""
    baseline_count: int = DEFAULT_COUNT
    least_probability: float = 1.0
    stages: Sequence[int] = STAGES
    """When the baseline is learned better, as times `baseline_count`."""
    sure: float = 2.5
    """How many standard errors the baseline's bound lies below its mean."""
    follow: bool = True
    """Learn the shape of the days, and a second baseline where the mean has risen: a gain that is lost again is told.
    """


@stored
class Watch:
    """The detector of drops below the baseline's floor, and the one of gains."""

    __slots__ = ("_room", "_settings", "baseline", "blocks", "detector", "rise")

    NOT_STORED = ("_settings",)

    def __init__(self, baseline: Baseline, settings: SeriesSettings, *, room: float = 0.0, gains: bool = False) -> None:
        """`room`: how far values may lie outside of 0..1. `gains`: look for gains too."""
        self.baseline = baseline
        self.blocks = Blocks(baseline.block)
        self._settings = settings
        self._room = room
        self.detector = self.detect(self.floor)
        self.rise: DropDetector | None = None
        ceiling = 2.0 * baseline.mean - self.floor
        if gains and settings.follow and baseline.source == "learned" and ceiling < 1.0 - _LEAST_RISE:
            self.rise = self.detect(1.0 - ceiling, around=ceiling)

    def detect(self, floor: float, *, around: float | None = None, share: float = 1.0) -> DropDetector:
        """A detector of means below `floor`, from blocks. `around`: what values are, where `floor` is theirs turned
        around; `share` of the evidence of an alarm."""
        baseline = self.baseline
        return DropDetector(
            floor,
            threshold=self.threshold(share),
            mean_weight=baseline.mean_weight,
            second_moment=baseline.second_moment_around(floor if around is None else around),
            least_probability=self._settings.least_probability,
            room=self._room,
        )

    @property
    def floor(self) -> float:
        """What the mean is bet to be below."""
        return self.baseline.floor

    def threshold(self, share: float = 1.0) -> float:
        """Of a detector, in blocks of runs, which come more seldom than answers."""
        return max(1.0, share * self._settings.threshold / (self.baseline.block * self.baseline.answers))

    def may_learn(self, *, owed: bool) -> bool:
        """Nothing is suspected: what was seen may be learned. What is owed is learned already when little is."""
        detector = self.detector
        calm = detector.money <= max(_SMALL, _CALM * detector.threshold)
        return calm or (owed and detector.evidence < _NEAR)

    def adopt(self, settings: SeriesSettings) -> None:
        """Go on with these settings, after it was restored: with their run length."""
        self._settings = settings
        for detector in (self.detector, self.rise):
            if detector is not None:
                detector.threshold = self.threshold()
