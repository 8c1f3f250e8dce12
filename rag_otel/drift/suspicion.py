"""Delays an alarm until the drop has lasted for a number of answers.

A run of answers on one hard document looks like a drop as long as no such run has been seen. It is one observation,
however many answers it has. A measured heuristic.
"""

from __future__ import annotations

from typing import Final

from rag_otel.drift.detector import DropDetector
from rag_otel.drift.learner import BaselineLearner
from rag_otel.drift.records import stored

_PROVISIONAL: Final = 2
"""Stages after which it is known well whether answers come in runs."""
_LASTING: Final = 0.22
"""So many answers a suspicion must last, as a share of `baseline_count`, while such values have not been seen."""
_PART: Final = 0.25
"""And as a share of all answers so far, while little is known: a run may be that long without having been seen."""
_MOST: Final = 110
"""Answers that a suspicion must last at most: a sharp drop that lasts longer is told, however little is known."""
_GONE: Final = 0.1
"""Share of an alarm's evidence below which a suspicion is over."""


@stored
class Suspicion:
    """How long there has been enough evidence for an alarm on values that have not been seen before."""

    __slots__ = ("values",)

    def __init__(self, values: int = 0) -> None:
        self.values = values
        """Since the evidence was enough, while it is still near; 0 while nothing is suspected."""

    def lasts(self, reached: bool, detector: DropDetector, *, seen: bool, size: int, needed: float) -> bool:
        """Whether to tell. `reached`: the evidence is enough now; `seen`: so are values as low as these; `size`: values
        of a block; `needed`: values that it must last."""
        if not reached and detector.money < _GONE * detector.threshold:
            self.values = 0
            return False
        if reached and not self.values and seen:
            return True
        self.values += size
        detector.restrain()
        return reached and self.values > needed


def needed(count: int, learner: BaselineLearner | None, *, runs: bool) -> float:
    """How many values a suspicion must last; `count`: what a baseline is learned from first, `runs`: a run of any
    length may not have been seen yet."""
    least = _LASTING * count
    if learner is not None and learner.stage <= _PROVISIONAL and runs:
        least = max(least, _PART * len(learner))
    return min(least, _MOST)
