"""How much the answers of a series depend on each other, and how far its mean wanders while nothing is wrong.

A measured heuristic, not a theorem: from one stretch of a stream nobody can tell all the dependence that there is. What
is measured are means of blocks. Where neighbouring blocks go together, answers come in runs, and only blocks that are
long enough to go their own ways count as observations (batch means; Flegal and Jones, "Batch means and spectral
variance estimators in MCMC", Ann. Statist. 38, 2010). Where long stretches differ by more than their answers can
explain, the mean has a shape, and the worst stretch is normal too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from rag_otel.lazy_dataclass import dataclass

_LEAST_BLOCKS: Final = 8
"""Fewer blocks tell nothing of each other."""
_SHORT: Final = 32
"""Dependence within so many answers counts even where the next ones do not show it: two runs may alternate."""
_FAR: Final = 128
"""What is as alike at this distance is a slow shape, not a run."""
_TOLERATED: Final = (0.1, 0.2)
"""Correlation of neighbouring blocks that does no harm: of short ones, of those of `_LONG` and more."""
_LONG: Final = 4
"""As a power of two."""
_Z: Final = 1.645
_SURELY: Final = 2.3
_INSIDE: Final = 1.95
"""The largest of a Brownian bridge's distances from 0 is beyond this in one of 1,000 (Kolmogorov)."""
_STRETCHES: Final = (128, 256, 512)
"""Lengths at which a worse stretch may pass for a drop: shorter ones hold too little evidence."""
_LEAST_STRETCHES: Final = 4
_BLOCKS_OF_STRETCH: Final = 4
_WORST: Final = 2.4
"""Standard deviations below the mean that the worst stretch to come lies, where stretches differ beyond chance."""
_RATIOS: Final = (8, 16, 32)
"""Lengths of blocks whose means must not vary more than independent values would."""
_MANY_BLOCKS: Final = 24
"""Blocks from which on their variance says how much values may depend on each other at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependence:
    """What is known of a series' dependence."""

    block: int = 1
    """Values in a row that count as one observation: a power of two; 1 where they are independent."""
    inflation: float = 1.0
    """How many values are worth one independent one, at least 1: the design effect of their mean."""
    most: float = 1.0
    """The upper end of what `inflation` may be."""
    known: bool = True
    """False where even the longest blocks that fit go together: what the values are worth is a guess."""


def dependence(residuals: Sequence[float]) -> Dependence:
    """The least block whose means do not go together, and what it says of the variance of a mean.

    `residuals` are values less their mean, times their weights, in the order in which they came.
    """
    levels = _levels(residuals)
    spread = _variance(levels[0])
    if spread <= 1e-12:
        return Dependence()
    fits = [_goes_its_own_way(level, power) for power, level in enumerate(levels)]
    if fits[0] and _varies(levels, spread):
        fits[0] = False
    # Where single answers go their own ways, a few long blocks that do not are chance.
    failed = [] if fits[0] else [power for power, fit in enumerate(fits) if not fit and 2**power <= _SHORT]
    power = failed[-1] + 1 if failed else 0
    while power < len(levels) and not fits[power]:
        power += 1
    known = power < len(levels)
    power = min(power, len(levels) - 1)
    near = max(0.0, _correlation(levels[power], 1))
    if near < _Z / math.sqrt(len(levels[power])) and known:
        near = 0.0
    inflation = max(2**power * _variance(levels[power]) / spread * (1.0 + 2.0 * near), 1.0)
    return Dependence(
        block=2**power, inflation=inflation, most=max(inflation * _doubt(len(levels[power])), _most(levels, spread)),
        known=known,
    )  # fmt: skip


def _varies(levels: Sequence[Sequence[float]], spread: float) -> bool:
    """Means of blocks vary more than those of independent values would: a variance ratio (Lo and MacKinlay, Review of
    Financial Studies 1, 1988), which sees weak dependence over long that neighbours do not show."""
    for length in _RATIOS:
        power = length.bit_length() - 1
        if power < len(levels) and len(levels[power]) >= _MANY_BLOCKS:
            ratio = length * _variance(levels[power]) / spread
            if ratio > 1.0 + _SURELY * math.sqrt(2.0 / len(levels[power])):
                return True
    return False


def _doubt(blocks: int) -> float:
    """The upper end of what a variance may be that was estimated from so many blocks, over the estimate."""
    return 1.0 + math.sqrt(_LEAST_BLOCKS / blocks)


def _most(levels: Sequence[Sequence[float]], spread: float) -> float:
    """How many values one independent one may be worth where no dependence was found: what cannot be excluded."""
    fitting = [power for power, level in enumerate(levels) if len(level) >= _MANY_BLOCKS]
    if not fitting:
        return 1.0
    power = fitting[-1]
    return float(2**power) * _variance(levels[power]) / spread


def drop_inside(residuals: Sequence[float]) -> int | None:
    """The place where some values drop among themselves; None where chance explains it, and how they depend on each
    other but for the drop. A CUSUM of their distances from their own mean."""
    sums = list(accumulate(residuals))
    at = max(range(len(sums) - 1), key=sums.__getitem__, default=0)
    if min(at + 1, len(residuals) - at - 1) < _LEAST_BLOCKS:
        return None
    flat = around_parts(residuals, at + 1)
    found = dependence(flat)
    if sums[at] <= _INSIDE * math.sqrt(len(flat) * _variance(flat) * found.inflation):
        return None
    return at + 1


def around_parts(values: Sequence[float], at: int) -> list[float]:
    """The values before and from `at` on, each less the mean of its part."""
    parts = values[:at], values[at:]
    return [value - math.fsum(part) / len(part) for part in parts for value in part]


def wandering(residuals: Sequence[float], found: Dependence) -> float:
    """How far below its mean the worst stretch of a series lies while nothing is wrong, 0 where chance explains it:
    `_WORST` deviations of what is left of the variance of stretches when what chance explains is taken away."""
    levels = _levels(residuals)
    # Where blocks depend on each other their number is small, and what chance explains is not known well.
    noise = _variance(levels[0]) * (found.most if found.block > 1 else found.inflation)
    worst = 0.0
    for length in _STRETCHES:
        power = length.bit_length() - 1
        if length < _BLOCKS_OF_STRETCH * found.block or power >= len(levels) or len(levels[power]) < _LEAST_STRETCHES:
            continue
        beyond = _variance(levels[power]) - noise / length * (1.0 + math.sqrt(2.0 / (len(levels[power]) - 1)))
        if beyond > 0.0:
            worst = max(worst, _WORST * math.sqrt(beyond))
    return worst


def _levels(values: Sequence[float]) -> list[list[float]]:
    """Means of blocks of 1, 2, 4 ... values."""
    levels = [list(values)]
    while len(levels[-1]) >= 2 * _LEAST_BLOCKS or (len(levels[-1]) >= 2 * _LEAST_STRETCHES and len(levels) <= 9):
        last = levels[-1]
        levels.append([(last[at] + last[at + 1]) / 2 for at in range(0, len(last) - 1, 2)])
    return levels


def _goes_its_own_way(blocks: Sequence[float], power: int) -> bool:
    """Neighbours are no more alike than blocks far apart."""
    count = len(blocks)
    far = min(max(2, _FAR >> power), count // 3)
    distant = _correlation(blocks, far) if count >= 2 * _LEAST_BLOCKS else 0.0
    tolerated = max(_TOLERATED[power >= _LONG], 1.3 * _Z / math.sqrt(count))
    return _correlation(blocks, 1) - max(0.0, distant) <= tolerated


def _variance(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / max(1, len(values) - 1)


def _correlation(values: Sequence[float], lag: int) -> float:
    count = len(values)
    if count - lag < 2:
        return 0.0
    mean = math.fsum(values) / count
    around = [value - mean for value in values]
    squares = math.fsum(value * value for value in around)
    if squares <= 0.0:
        return 0.0
    return math.fsum(a * b for a, b in zip(around, around[lag:], strict=False)) / squares * count / (count - lag)
