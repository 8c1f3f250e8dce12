"""The same question to a model at the same time: one caller asks, the others wait for its answer in the cache."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

from rag_otel.evaluation.current_evaluation import seconds_left
from rag_otel_evaluators.llm.cache import AnswerCache

_FIRST_PAUSE_S: Final = 0.02
_LONGEST_PAUSE_S: Final = 0.5
_SLACK_S: Final = 1.0
_LONGEST_WRITE_S: Final = 2.0


class AskedOnce:
    """Lets one caller at a time ask for the answer of a key: of this process by a lock, of all by a claim in the cache.

    A caller that had to wait finds the answer in the cache. If there is none (the other one failed, or its process
    died), it asks itself.
    """

    def __init__(self, cache: AnswerCache, *, longest_s: float) -> None:
        """`longest_s`: how long one answer may take at most. The claim of a process that has died ends after it, or
        after the deadline of the evaluation that it was for."""
        self._cache = cache
        self._longest_s = longest_s
        self._locks: weakref.WeakValueDictionary[tuple[int, str], asyncio.Lock] = weakref.WeakValueDictionary()

    @asynccontextmanager
    async def asking(self, key: str) -> AsyncIterator[None]:
        """Inside, nobody else asks for the answer of `key`. Look into the cache first."""
        place = (id(asyncio.get_running_loop()), key)  # a lock belongs to an event loop
        lock = self._locks.get(place)
        if lock is None:
            lock = self._locks[place] = asyncio.Lock()
        async with lock:
            pause_s = _FIRST_PAUSE_S
            while not await self._claimed(key):
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
            try:
                yield
            finally:
                await finished_in_thread(self._cache.release, key)

    async def _claimed(self, key: str) -> bool:
        left_s = seconds_left()
        expires_s = self._longest_s if left_s is None else min(self._longest_s, max(0.0, left_s) + _SLACK_S)
        claim = asyncio.ensure_future(asyncio.to_thread(self._cache.claim, key, expires_s))
        try:
            return await asyncio.shield(claim)
        except asyncio.CancelledError:
            # The call goes on in its thread: what it claims after this is given back.
            claim.add_done_callback(lambda done: self._give_back(key, done))
            raise

    def _give_back(self, key: str, claim: asyncio.Future[bool]) -> None:
        if not claim.cancelled() and claim.exception() is None and claim.result():
            asyncio.get_running_loop().run_in_executor(None, self._cache.release, key)


async def finished_in_thread(write: Callable[..., None], *arguments: Any) -> None:
    """Calls `write(*arguments)` in a thread. A cancellation does not stop it, and waits up to two seconds for its end:
    an answer that was paid for is stored, and a claim given back, before the cache is closed."""
    writing = asyncio.ensure_future(asyncio.to_thread(write, *arguments))
    try:
        await asyncio.shield(writing)
    except asyncio.CancelledError:
        await asyncio.wait([writing], timeout=_LONGEST_WRITE_S)
        raise
