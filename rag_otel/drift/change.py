"""Since when a series has been below its floor, as its history tells, and which slices have moved it.

The likeliest start and the ones near it are a measured heuristic: a likelihood of independent values, with the evidence
divided by how far they depend on each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from rag_otel.drift.history import History, Moments, total
from rag_otel.drift.records import stored
from rag_otel.lazy_dataclass import dataclass

_INDISTINGUISHABLE: Final = 2.0
"""Starts whose log-likelihood is this little lower are as good: about 95%."""
_POSSIBLE: Final = 6.0
"""The same for starts that can hardly be left out."""
_EVERYTHING: Final = 0.98
"""A slice with this share of the traffic, before and since, is all of it."""
_TOP: Final = 5


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


@stored
@dataclass(frozen=True, slots=True, kw_only=True)
class Movement:
    """One slice, before and since. Means are goodness in 0..1, shares of all the traffic in 0..1."""

    slice: str
    before: float | None
    """None: the slice was not there."""
    since: float | None
    share_before: float
    share_since: float
    contribution: float
    """What it adds to the change of the mean of all traffic: those of one dimension sum up to the change."""
    explained: float
    """`contribution` as a share of the change; above 1 where other slices moved the other way."""


def movements(whole: History, slices: Mapping[str, History], *, until: int, since: int) -> tuple[Movement, ...]:
    """The slices that pulled the mean down most between all before `until` and all since `since`, worst first.
    Both are orders of values (see `History`), the same in every slice.

    The change of a mean over groups is the sum of share_since * (since - m) - share_before * (before - m), with m the
    mean of all before: a group counts for getting worse and for getting more. A slice that is all of the traffic says
    nothing and is left out.
    """
    before, after = whole.between(0, until), whole.between(since)
    if before.mean is None or after.mean is None or after.mean >= before.mean:
        return ()
    change, mean = after.mean - before.mean, before.mean
    found = []
    for name, history in slices.items():
        old, new = history.between(0, until), history.between(since)
        share_before, share_since = old.weight / before.weight, new.weight / after.weight
        if min(share_before, share_since) >= _EVERYTHING:
            continue
        contribution = share_since * ((new.mean or 0.0) - mean) if new.mean is not None else 0.0
        contribution -= share_before * (old.mean - mean) if old.mean is not None else 0.0
        found.append(
            Movement(
                slice=name,
                before=old.mean,
                since=new.mean,
                share_before=min(1.0, share_before),
                share_since=min(1.0, share_since),
                contribution=contribution,
                explained=contribution / change,
            )
        )
    # Of two slices that explain as much, the one with the larger loss for its size is the more telling one, and of
    # those that are there the first by name: what is gone can be looked at no more.
    found.sort(
        key=lambda each: (round(each.contribution, 3), each.since is None, round(each.share_since, 3), each.slice)
    )
    return tuple(each for each in found[:_TOP] if each.contribution < 0.0)
