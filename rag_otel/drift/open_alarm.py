"""What is watched while an alarm is on: whether the mean falls further, and whether it is back."""

from __future__ import annotations

from typing import Final

from rag_otel.drift.change import ChangePoint
from rag_otel.drift.detector import DropDetector
from rag_otel.drift.history import History, Moments
from rag_otel.drift.records import stored
from rag_otel.drift.watch import Watch

_RECOVERY: Final = 0.03
"""Share of an alarm's evidence that tells the end of a large drop: it ends sooner than it begins."""
_SMALL_RECOVERY: Final = 0.3
"""The same of a small drop: a mean just below the floor must not be told to be back again and again."""
_SMALL: Final = 0.06
"""Below the floor by less than this is small."""
_CALM: Final = 8.0
"""Money of a detector that suspects nothing."""
_SURE_Z: Final = 2.9
"""Standard errors below an estimate that a deeper drop must lie."""
_FURTHER: Final = 0.5
"""And so much of the drop that was told."""


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
        self._small = self.floor - (since.mean or 0.0) < _SMALL
        # The recovery is a drop of 1 - value below 1 - middle.
        return watch.detect(1.0 - middle, around=middle, share=self._share)

    @property
    def _share(self) -> float:
        return _SMALL_RECOVERY if self._small else _RECOVERY

    def estimate_again(self, watch: Watch, history: History, inflation: float) -> None:
        """At the moment of an alarm the estimate is lowest. When twice, four times ... as many answers have come, a
        drop may turn out to be small, unless it may just be coming back."""
        length = history.last - self.from_order
        if self._small or length < 2 * (self._until - self.from_order) or self.recovery.money >= _CALM:
            return
        self._until = history.last
        since = history.between(self.from_order)
        if self.floor - (since.mean or 0.0) < _SMALL:
            self.recovery = self._look_for_the_end(watch, since, inflation)

    def adopt(self, watch: Watch) -> None:
        """Go on with the settings of `watch`, after it was restored."""
        self.recovery.threshold = watch.threshold(self._share)
        if self.deeper is not None:
            self.deeper.threshold = watch.threshold()


def _bounds(since: Moments, inflation: float) -> tuple[float, float]:
    return since.bounds(inflation=inflation, low_z=_SURE_Z) or (0.0, 0.0)
