"""What is watched while an alarm is on: whether the mean falls further, and whether it is back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rag_otel.drift.change import ChangePoint
from rag_otel.drift.detector import DropDetector
from rag_otel.drift.turns import Turn
from rag_otel.drift.watch import Watch

_RECOVERY: Final = 0.03
"""Share of an alarm's evidence that tells its end: it ends sooner than it begins."""
_SURE_Z: Final = 2.9
"""Standard errors below an estimate that a deeper drop must lie."""
_FURTHER: Final = 0.5
"""And so much of the drop that was told."""


class OpenAlarm:
    """Two detectors: of a deeper drop, below what was told, and of the recovery, that the mean is above the middle
    between the floor and the upper end of what it has dropped to."""

    __slots__ = ("deeper", "floor", "from_order", "recovery", "since_s")

    def __init__(
        self, watch: Watch, floor: float, found: ChangePoint | None, *, inflation: float, time_s: float, order: int
    ) -> None:
        """`floor`: what the mean has fallen below; `found`: since when; `inflation`: answers that are worth one; the
        value that told has `time_s` and `order`."""
        self.floor = floor
        self.since_s = found.at_s if found else time_s
        """When the drop began, seconds since the epoch."""
        self.from_order = found.at if found else order
        """The same as the order of a value."""
        low = high = 0.0
        if found is not None:
            bounds = found.since.bounds(inflation=inflation, low_z=_SURE_Z)
            low, high = bounds if bounds is not None else (0.0, 0.0)
            low = min(low, (found.since.mean or 0.0) - _FURTHER * (floor - (found.since.mean or 0.0)))
        middle = (floor + min(floor, high)) / 2
        # The recovery is a drop of 1 - value below 1 - middle.
        self.recovery = watch.detect(1.0 - middle, around=middle, share=_RECOVERY)
        self.deeper: DropDetector | None = watch.detect(low) if low > 0.0 else None

    def observe(self, value: float, probability: float) -> Turn | None:
        """Take a block: DEEPER, RESOLVED, or nothing new."""
        if self.deeper is not None and self.deeper.observe(value, probability):
            return Turn.DEEPER
        return Turn.RESOLVED if self.recovery.observe(1.0 - value, probability) else None

    def to_state(self) -> dict[str, Any]:
        return {
            "floor": self.floor,
            "since_s": self.since_s,
            "from_order": self.from_order,
            "recovery": self.recovery.to_state(),
            "deeper": None if self.deeper is None else self.deeper.to_state(),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any], watch: Watch) -> OpenAlarm:
        alarm = cls.__new__(cls)
        alarm.floor, alarm.since_s = float(state["floor"]), float(state["since_s"])
        alarm.from_order = int(state["from_order"])
        alarm.recovery = watch.restored(state["recovery"], share=_RECOVERY)
        alarm.deeper = None if state["deeper"] is None else watch.restored(state["deeper"])
        return alarm
