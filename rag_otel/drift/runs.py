"""What counts as one observation: a run of answers with one key, and a block of runs that depend on each other."""

from __future__ import annotations

from typing import Final

from rag_otel.drift.records import stored

Run = tuple[float, float, int]
"""(mean of value times weight, mean weight, answers)."""
Block = tuple[float, float]
"""(mean of value times weight, mean weight)."""
_LONGEST_RUN: Final = 64
"""Answers that one run may have: a key that all answers share (a fixed session) hides nothing for longer."""
_LONGEST_PAUSE_S: Final = 3600.0


@stored
class Runs:
    """Takes answers, gives one unit for each run of answers in a row with the same key.

    A key that comes again after others have come is a new run: a popular document is no run. A run is known to be over
    when the next answer comes. As long as no second key was seen the first one says nothing: perhaps all have it.
    """

    __slots__ = ("_key", "_only", "_time_s", "_weight", "_weighted", "count", "several")

    def __init__(self) -> None:
        self._key: int | None = None
        self._only: int | None = None
        """The first key, while it is the only one."""
        self.several = False
        """True once there were two keys."""
        self.count = 0
        """Answers of the run that may go on; 0 where there is none."""
        self._weighted = self._weight = 0.0
        self._time_s = 0.0

    def second(self, key: int) -> bool:
        """Take the key of an answer while there are not several; True for the second one."""
        if self._only is None:
            self._only = key
        self.several = key != self._only
        return self.several

    def add(self, time_s: float, value: float, weight: float, key: int | None) -> Run | None:
        """Take one answer; the run that has ended with it, if any."""
        ended: Run | None = None
        if self.count:
            if (
                key is not None
                and key == self._key
                and self.count < _LONGEST_RUN
                and abs(time_s - self._time_s) <= _LONGEST_PAUSE_S
            ):
                self.count += 1
                self._weighted += value * weight
                self._weight += weight
                self._time_s = time_s
                return None
            ended = self._weighted / self.count, self._weight / self.count, self.count
        self._key, self.count, self._weighted, self._weight, self._time_s = key, 1, value * weight, weight, time_s
        return ended


@stored
class Blocks:
    """Takes units, gives the mean of every `size` of them."""

    __slots__ = ("_count", "_weight", "_weighted", "size")

    def __init__(self, size: int = 1) -> None:
        self.size = size
        self._count = 0
        self._weighted = self._weight = 0.0

    def add(self, weighted: float, weight: float) -> Block | None:
        """Take one unit; the block that is full with it."""
        if self.size == 1:
            return weighted, weight
        self._count += 1
        self._weighted += weighted
        self._weight += weight
        if self._count < self.size:
            return None
        full = self._weighted / self.size, self._weight / self.size
        self._count, self._weighted, self._weight = 0, 0.0, 0.0
        return full
