"""Since when: the moment from which on a series has been below its floor, as its history tells.

The likeliest start and the ones near it are a measured heuristic: a likelihood of independent values, with the evidence
divided by how far they depend on each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rag_otel.drift.history import Moments, total
from rag_otel.lazy_dataclass import dataclass

_INDISTINGUISHABLE: Final = 2.0
"""Starts whose log-likelihood is this little lower are as good: about 95%."""
_POSSIBLE: Final = 6.0
"""The same for starts that can hardly be left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePoint:
    """When a drop began. Times are seconds since the epoch."""

    at_s: float
    """The likeliest start."""
    earliest_s: float
    latest_s: float
    at: int
    """`at_s` as an order of values (see `History`): what times say depends on clocks, this does not."""
    surely_before: int
    """No start before this one is possible: values before it are untouched by the change."""
    since: Moments
    """Everything from `at_s` on."""
    before: Moments
    """Everything before, as far back as the history reaches."""


def change_point(buckets: Sequence[Moments], floor: float, inflation: float = 1.0) -> ChangePoint | None:
    """The start b that makes the most of betting on everything since b; None where nothing speaks for a drop.
    `inflation`: how many values are worth one independent one.

    The best bet's log payoff over values with sum S of (floor - x) * w and sum of squares Q is about S*S/(2*Q): a
    generalised likelihood ratio (Siegmund and Venkatraman, Ann. Statist. 23, 1995), as fine as the buckets are.
    """
    gain = squares = 0.0
    scores: list[tuple[float, int]] = []
    for index in range(len(buckets) - 1, -1, -1):
        bucket = buckets[index]
        gain += floor * bucket.weight - bucket.x
        squares += floor * floor * bucket.weight2 - 2 * floor * bucket.x1 + bucket.x2
        if gain > 0.0 and squares > 0.0:
            scores.append((gain * gain / (2 * squares * inflation), index))
    if not scores:
        return None
    best, at = max(scores)  # of starts that are as good the latest
    possible = min(index for score, index in scores if best - score <= _POSSIBLE)
    near = [index for score, index in scores if best - score <= _INDISTINGUISHABLE]
    return ChangePoint(
        at_s=buckets[at].start_s,
        earliest_s=buckets[min(near)].start_s,
        latest_s=buckets[max(near)].end_s,
        at=buckets[at].first,
        surely_before=buckets[possible].first,
        since=total(buckets[at:]),
        before=total(buckets[:at]),
    )
