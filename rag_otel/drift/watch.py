"""A baseline and the detectors that bet against it, in blocks of values that go their own ways.

`Watch` looks for drops and gains. `OpenAlarm` looks, while an alarm is on, whether the mean falls further or is back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rag_otel.drift.baseline import Baseline
from rag_otel.drift.change import ChangePoint
from rag_otel.drift.detector import DropDetector
from rag_otel.drift.history import History, Moments
from rag_otel.drift.learner import DEFAULT_COUNT, STAGES
from rag_otel.drift.records import stored
from rag_otel.drift.runs import Blocks
from rag_otel.lazy_dataclass import dataclass

_CALM_MONEY: Final = 8.0
"""Money of a detector that suspects nothing."""
_CALM: Final = 0.01
"""The same as a share of its threshold: what is less than either is calm."""
_NEAR: Final = -1.0
"""log10 of the evidence over an alarm's from which on nothing is learned."""
_LEAST_RISE: Final = 0.005
"""Room above a ceiling that a gain must have to be looked for."""
_RECOVERY: Final = 0.03
"""Share of an alarm's evidence that tells the end of a large drop: it ends sooner than it begins."""
_SMALL_RECOVERY: Final = 0.3
"""The same of a small drop: a mean just below the floor must not be told to be back again and again."""
_SMALL_DROP: Final = 0.06
"""Below the floor by less than this is small."""
_SURE_Z: Final = 2.9
"""Standard errors below an estimate that a deeper drop must lie."""
_FURTHER: Final = 0.5
"""And so much of the drop that was told."""


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
        calm = detector.money <= max(_CALM_MONEY, _CALM * detector.threshold)
        return calm or (owed and detector.evidence < _NEAR)

    def adopt(self, settings: SeriesSettings) -> None:
        """Go on with these settings, after it was restored: with their run length."""
        self._settings = settings
        for detector in (self.detector, self.rise):
            if detector is not None:
                detector.threshold = self.threshold()


@stored
class OpenAlarm:
    """Two detectors: of a deeper drop, below what was told, and of the recovery, that the mean is above the middle
    between the floor and the upper end of what it has dropped to."""

    __slots__ = ("_small", "_until", "deeper", "floor", "from_order", "recovery")

    def __init__(self, watch: Watch, floor: float, found: ChangePoint | None, *, inflation: float, order: int) -> None:
        """`floor`: what the mean has fallen below; `found`: since when; `inflation`: answers that are worth one; the
        value that told has this `order`."""
        self.floor = floor
        self.from_order = found.at if found else order
        """When the drop began, as the order of a value."""
        self._until = order
        """The last value that what it fell to was estimated from."""
        since = Moments() if found is None else found.since
        mean = since.mean or 0.0
        low = min(_bounds(since, inflation)[0], mean - _FURTHER * (floor - mean))
        self.deeper: DropDetector | None = watch.detect(low) if low > 0.0 else None
        self.recovery = self._look_for_the_end(watch, since, inflation)

    def _look_for_the_end(self, watch: Watch, since: Moments, inflation: float) -> DropDetector:
        """A detector of means above the middle between the floor and the upper end of what the mean has fallen to."""
        middle = (self.floor + min(self.floor, _bounds(since, inflation)[1])) / 2
        self._small = self.floor - (since.mean or 0.0) < _SMALL_DROP
        # The recovery is a drop of 1 - value below 1 - middle.
        return watch.detect(1.0 - middle, around=middle, share=self._share)

    @property
    def _share(self) -> float:
        return _SMALL_RECOVERY if self._small else _RECOVERY

    def estimate_again(self, watch: Watch, history: History, inflation: float) -> None:
        """At the moment of an alarm the estimate is lowest. When twice, four times ... as many answers have come, a
        drop may turn out to be small, unless it may just be coming back."""
        length = history.last - self.from_order
        if self._small or length < 2 * (self._until - self.from_order) or self.recovery.money >= _CALM_MONEY:
            return
        self._until = history.last
        since = history.between(self.from_order)
        if self.floor - (since.mean or 0.0) < _SMALL_DROP:
            self.recovery = self._look_for_the_end(watch, since, inflation)

    def adopt(self, watch: Watch) -> None:
        """Go on with the settings of `watch`, after it was restored."""
        self.recovery.threshold = watch.threshold(self._share)
        if self.deeper is not None:
            self.deeper.threshold = watch.threshold()


def _bounds(since: Moments, inflation: float) -> tuple[float, float]:
    return since.bounds(inflation=inflation, low_z=_SURE_Z) or (0.0, 0.0)
