"""Answers of a model that are paid for once: kept in a cache, and asked for by one caller at a time.

Who asks the same question at the same time waits, and finds the answer in the cache.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, Final

from rag_otel.delivery.retry import Backoff
from rag_otel.evaluation.current_evaluation import seconds_left
from rag_otel.model import Usage
from rag_otel_evaluators.llm.cache import AnswerCache, content_key
from rag_otel_evaluators.llm.transport import ChatRequest, Reply, Transport

_FORMAT: Final = 1
"""Increase it when the meaning of stored answers or of their keys changes."""
_PAUSES: Final = Backoff(base_s=0.02, longest_wait_s=0.5)
"""Between two looks whether another process has its answer."""
_SLACK_S: Final = 1.0
_LONGEST_WRITE_S: Final = 2.0


class StoredAnswers:
    """The answers of one model in a cache.

    One caller at a time asks for the answer of a key: of this process by a lock, of all by a claim in the cache. If a
    caller that had to wait finds none (the other one failed, or its process died), it asks itself.
    """

    def __init__(self, cache: AnswerCache, *, longest_s: float) -> None:
        """`longest_s`: how long one answer may take at most. The claim of a process that has died ends after it, or
        after the deadline of the evaluation that it was for."""
        self._cache = cache
        self._longest_s = longest_s
        self._locks: weakref.WeakValueDictionary[tuple[int, str], asyncio.Lock] = weakref.WeakValueDictionary()

    async def get(self, key: str) -> Reply | None:
        """The answer; it costs nothing now. None where there is none."""
        stored = await asyncio.to_thread(self._cache.get, key)
        if stored is None:
            return None
        return Reply(
            text=str(stored["text"]), cut_off=bool(stored["cut_off"]), usage=Usage(cost_usd=0.0, cached_calls=1)
        )

    async def put(self, key: str, reply: Reply) -> None:
        """Store an answer that was paid for, also where the caller is cancelled meanwhile."""
        usage = {"input_tokens": reply.usage.input_tokens, "output_tokens": reply.usage.output_tokens}
        await _finished_in_thread(self._cache.put, key, {"text": reply.text, "cut_off": reply.cut_off, **usage})

    @asynccontextmanager
    async def asking(self, key: str) -> AsyncIterator[None]:
        """Inside, nobody else asks for the answer of `key`. Look into the cache first."""
        place = (id(asyncio.get_running_loop()), key)  # a lock belongs to an event loop
        lock = self._locks.get(place)
        if lock is None:
            lock = self._locks[place] = asyncio.Lock()
        async with lock:
            for looks in count(1):
                if await self._claimed(key):
                    break
                await asyncio.sleep(_PAUSES.pause_s(looks))
            try:
                yield
            finally:
                await _finished_in_thread(self._cache.release, key)

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


def key_of(transport: Transport, request: ChatRequest) -> str:
    """The key of an answer: everything that decides it."""
    return content_key(
        {
            "format": _FORMAT,
            "model": transport.name,
            "identity": transport.identity,
            "messages": [[message.role, message.content] for message in request.messages],
            "schema": request.strict_schema,
            "max_output_tokens": request.max_output_tokens,
        }
    )


async def _finished_in_thread(write: Callable[..., None], *arguments: Any) -> None:
    """Calls `write(*arguments)` in a thread. A cancellation does not stop it, and waits up to two seconds for its end:
    an answer that was paid for is stored, and a claim given back, before the cache is closed."""
    writing = asyncio.ensure_future(asyncio.to_thread(write, *arguments))
    try:
        await asyncio.shield(writing)
    except asyncio.CancelledError:
        await asyncio.wait([writing], timeout=_LONGEST_WRITE_S)
        raise
