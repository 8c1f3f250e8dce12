"""Whether answers have become worse, or only more of a kind that always was: kinds of answers with means of their own.

Where the slices of one dimension differ, every value is taken less what its slice is usually above the mean of all. A
bet on what is left is fair whatever the mix, as long as no slice is worse than it was (direct standardisation). What
slices usually are is estimated from the learning window and shrunk towards the mean of all: a measured heuristic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Final

from rag_otel.drift.change import change_point
from rag_otel.drift.history import History, Moments
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


@dataclass(frozen=True, slots=True, kw_only=True)
class MixShift:
    """The mean of all traffic fell because its mix has changed. No alarm: no kind of answer is worse than it was."""

    series: str
    slice: str
    """Whose share has changed most to the worse."""
    time_s: float
    since_s: float
    before: float
    """The mean of all traffic, before and since; goodness in 0..1."""
    estimate: float
    share_before: float
    share_since: float


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


def mix_shift(
    series: str, whole: History, slices: Mapping[str, History], floor: float, *, time_s: float, after: int
) -> MixShift | None:
    """What a fall of the mean below `floor` since `after` owes to shares that have changed."""
    found = change_point([each for each in whole.buckets if each.last > after], floor)
    if found is None:
        return None
    before, since = whole.between(0, found.surely_before), whole.between(found.at)
    if before.mean is None or since.mean is None:
        return None
    worst, moved = (True, 0.0), None
    for name, history in slices.items():
        old, new = history.between(0, found.surely_before), history.between(found.at)
        mean = new.mean if old.mean is None else old.mean
        if mean is None:
            continue
        share_before, share_since = min(1.0, old.weight / before.weight), min(1.0, new.weight / since.weight)
        contribution = (share_since - share_before) * (mean - before.mean)
        # A share that rose is what people see; where none did, one that fell.
        rank = (share_since <= share_before, contribution)
        if contribution < 0.0 and rank < worst:
            worst, moved = rank, (name, share_before, share_since)
    if moved is None:
        return None
    return MixShift(
        series=series,
        slice=moved[0],
        time_s=time_s,
        since_s=found.at_s,
        before=before.mean,
        estimate=since.mean,
        share_before=moved[1],
        share_since=moved[2],
    )
