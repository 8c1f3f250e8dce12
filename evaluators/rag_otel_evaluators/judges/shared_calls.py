"""One call for several who need its result at about the same time: the metrics of one answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Hashable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

R = TypeVar("R")
_MOST_KEPT: Final = 128
"""Results that somebody has not taken yet; of more the oldest is forgotten, and asked for again."""


@dataclass(slots=True, eq=False)
class _Call(Generic[R]):
    place: Hashable
    task: asyncio.Task[R]
    taken_by: set[str] = field(default_factory=set)


class SharedCalls(Generic[R]):
    """Makes a call for the first who asks; the others of the group get its result, each once."""

    def __init__(self) -> None:
        self._calls: list[_Call[R]] = []

    async def once(
        self, key: Hashable, who: str, group: Collection[str], call: Callable[[], Awaitable[R]]
    ) -> tuple[R, bool]:
        """(result, whether `who` is the one who made the call). Errors of the call are everybody's.

        Who asks a second time gets another call. A caller that is cancelled does not take the call from the others.
        """
        place = (id(asyncio.get_running_loop()), key)
        kept = next((each for each in self._calls if each.place == place and who not in each.taken_by), None)
        made = kept is None
        if kept is None:
            kept = _Call(place, asyncio.ensure_future(_awaited(call)))
            kept.task.add_done_callback(_looked_at)
            self._calls = [*self._calls[-_MOST_KEPT + 1 :], kept]
        kept.taken_by.add(who)
        if kept.taken_by >= set(group):
            self._calls.remove(kept)
        return await asyncio.shield(kept.task), made


async def _awaited(call: Callable[[], Awaitable[R]]) -> R:
    return await call()


def _looked_at(task: asyncio.Task[R]) -> None:
    """An error that nobody waits for any more is no news to the event loop."""
    if not task.cancelled():
        task.exception()
