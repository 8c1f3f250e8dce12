"""Whether answers have become worse, or only more of a kind that always was: kinds of answers with means of their own.

Where the slices of one dimension differ, every value is taken less what its slice is usually above the mean of all. A
bet on what is left is fair whatever the mix, as long as no slice is worse than it was (direct standardisation). What
slices usually are is estimated from the learning window and shrunk towards the mean of all: a measured heuristic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Final

from rag_otel.drift.history import Moments
from rag_otel.drift.records import stored
from rag_otel.lazy_dataclass import dataclass

_LEAST: Final = 30
"""Values that a slice must have to have a mean of its own."""
_SURE: Final = 3.0
"""How many times its error, squared and summed over slices, their differences must be beyond chance."""


@stored
@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """How far the slices of one dimension are above the mean of all traffic, in goodness; others are at 0."""

    dimension: str = ""
    shifts: Mapping[str, float] = field(default_factory=dict)
    shares: Mapping[str, float] = field(default_factory=dict)
    """Of the traffic that they were first told from: the mix to which values are standardised."""

    @property
    def room(self) -> float:
        """The largest of them."""
        return max(map(abs, self.shifts.values()), default=0.0)

    def shift(self, slices: Iterable[str]) -> float:
        """That of an answer of these slices."""
        return next((self.shifts[name] for name in slices if name in self.shifts), 0.0)


def effects(slices: Mapping[str, Moments], inflation: float, known: Effects | None = None) -> Effects:
    """The dimension whose slices differ most, beyond chance; `known`: keep its dimension and its mix."""
    best, found = 0.0, known or Effects()
    for dimension in [known.dimension] if known and known.dimension else _dimensions(slices):
        own = {name: each for name, each in slices.items() if name.startswith(f"{dimension}=") and each.count >= _LEAST}
        if len(own) < 2:
            continue
        total = sum(each.weight for each in own.values())
        reference = (
            known.shares if known and known.dimension else {name: each.weight / total for name, each in own.items()}
        )
        spread, shifts = _shifts(own, reference, inflation)
        if spread > best:
            best, found = spread, Effects(dimension=dimension, shifts=shifts, shares=reference)
    return found


def _dimensions(slices: Mapping[str, Moments]) -> list[str]:
    return list(dict.fromkeys(name.partition("=")[0] for name in slices))


def _shifts(
    own: Mapping[str, Moments], reference: Mapping[str, float], inflation: float
) -> tuple[float, dict[str, float]]:
    """The variance between slices beyond chance, and the shrunk distances; 0 and nothing where it is chance."""
    means = {name: each.mean or 0.0 for name, each in own.items()}
    covered = sum(reference.get(name, 0.0) for name in own)
    if covered <= 0.0:
        return 0.0, {}
    middle = sum(reference.get(name, 0.0) * mean for name, mean in means.items()) / covered
    errors = {name: _squared_error(each, inflation) for name, each in own.items()}
    free = len(own) - 1
    beyond = sum((means[name] - middle) ** 2 / errors[name] for name in own) - free
    if beyond < _SURE * (2.0 * free) ** 0.5:
        return 0.0, {}
    total = sum(each.weight for each in own.values())
    between = sum(own[name].weight * ((means[name] - middle) ** 2 - errors[name]) for name in own) / total
    if between <= 0.0:
        return 0.0, {}
    return between, {name: (means[name] - middle) * between / (between + errors[name]) for name in own}


def _squared_error(part: Moments, inflation: float) -> float:
    bounds = part.bounds(inflation=inflation, low_z=0.0, high_z=1.0)
    mean = part.mean or 0.0
    return 1.0 if bounds is None else max(1e-6, (bounds[1] - mean) ** 2, 1e-4 / part.count)
