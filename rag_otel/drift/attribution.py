"""What moved it: how much of a change of the mean each slice accounts for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rag_otel.drift.history import History
from rag_otel.drift.records import stored
from rag_otel.lazy_dataclass import dataclass

_EVERYTHING: Final = 0.98
_TOP: Final = 5


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
