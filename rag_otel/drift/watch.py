"""A baseline and the detectors that bet against it, in blocks of values that go their own ways."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rag_otel.drift.baseline import Baseline
from rag_otel.drift.detector import DropDetector
from rag_otel.drift.learner import DEFAULT_COUNT, STAGES
from rag_otel.drift.runs import Blocks
from rag_otel.drift.seasons import DAY_S
from rag_otel.lazy_dataclass import dataclass

_CALM: Final = 0.01
"""Share of the threshold that a detector's money is below while nothing is suspected; so is `_SMALL` anyway."""
_SMALL: Final = 8.0
_LEAST_RISE: Final = 0.005
"""Room above a ceiling that a gain must have to be looked for."""
_DRIFT_PER_S: Final = 0.006 / 3600.0
"""How fast a mean may change over hours of the day that have not been seen yet; a day of +-.023 does at most."""
MOST_UNSEEN: Final = 0.04
"""How far that may go."""


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
    runs: bool = True
    """A run of answers on one hard document may look like a drop of this series."""
    follow: bool = True
    """Learn a second baseline where the mean has risen: a gain that is lost again is told."""


class Watch:
    """The detector of drops below the baseline's floor, and the one of gains."""

    __slots__ = ("_room", "_settings", "baseline", "blocks", "detector", "floor", "rise", "unseen_from_s")

    def __init__(self, baseline: Baseline, settings: SeriesSettings, *, room: float = 0.0, gains: bool = False) -> None:
        """`room`: how far values may lie outside of 0..1. `gains`: look for gains too."""
        self.baseline = baseline
        self.blocks = Blocks(baseline.block)
        self._settings = settings
        self.unseen_from_s = baseline.unseen_from_s
        """Since when hours of the day have not been seen; None once a whole day has."""
        self._room = room if self.unseen_from_s is None else room + MOST_UNSEEN
        # A margin that was chosen and one that was measured are for the same wandering.
        self.floor = max(0.0, baseline.lower - max(settings.margin, baseline.margin))
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
            threshold=self._threshold(share),
            mean_weight=baseline.mean_weight,
            second_moment=baseline.second_moment_around(floor if around is None else around),
            least_probability=self._settings.least_probability,
            room=self._room,
        )

    def _threshold(self, share: float) -> float:
        """In blocks of runs, which come more seldom than answers."""
        return max(1.0, share * self._settings.threshold / (self.baseline.block * self.baseline.answers))

    def allowance(self, time_s: float) -> float:
        """How far the mean may have wandered, at an hour of the day that nobody has seen yet."""
        baseline = self.baseline
        if self.unseen_from_s is None:
            return 0.0
        seen_s, since_s = self.unseen_from_s - baseline.from_s, (time_s - baseline.from_s) % DAY_S
        if since_s <= seen_s:
            return 0.0
        allowed = _DRIFT_PER_S * (since_s - seen_s / 2)
        return allowed if allowed < MOST_UNSEEN else MOST_UNSEEN

    def least(self, time_s: float) -> float:
        """What the mean is at least while nothing is wrong."""
        return self.floor - self.allowance(time_s)

    @property
    def calm(self) -> bool:
        """Nothing is suspected: what was seen may be learned."""
        return self.detector.money <= max(_SMALL, _CALM * self.detector.threshold)

    def to_state(self) -> dict[str, Any]:
        return {
            "baseline": self.baseline.to_state(),
            "blocks": self.blocks.to_state(),
            "detector": self.detector.to_state(),
            "rise": None if self.rise is None else self.rise.to_state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on where `to_state` was called, with this one's own floor."""
        self.blocks = Blocks.from_state(state["blocks"])
        self.detector = self.restored(state["detector"], floor=self.floor)
        self.rise = None if state["rise"] is None else self.restored(state["rise"])

    def restored(self, state: Mapping[str, Any], *, floor: float | None = None, share: float = 1.0) -> DropDetector:
        """A detector as it was saved."""
        return DropDetector.from_state(state, threshold=self._threshold(share), floor=floor)
