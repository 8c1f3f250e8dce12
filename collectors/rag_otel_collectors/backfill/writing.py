"""Writes the results of a backfill in batches, while others are still being evaluated."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Final

from rag_otel.model import EvaluatedTrace

AT_ONCE: Final = 100
"""Results per batch: as many spans as Phoenix stores in one transaction."""
_LINGER_S: Final = 2.0
"""A result waits at most this long for others. What waits is lost if the process is killed."""


class BatchWriter:
    """Hands results to `write`, on another thread and in the order in which they came. For one event loop.

    Results are never dropped: what was added before `close` is written, also if the run was cancelled. After `write`
    has failed nothing more is written, and `room` and `close` raise its error.
    """

    def __init__(self, write: Callable[[Sequence[EvaluatedTrace]], None], *, unwritten: int) -> None:
        """`unwritten`: how many results may be under way at once, from `room` until they are written."""
        self._write = write
        self._room = asyncio.Semaphore(unwritten)
        self._waiting: asyncio.Queue[EvaluatedTrace | None] = asyncio.Queue()
        self._failure: Exception | None = None
        self._task = asyncio.create_task(self._run())

    async def room(self) -> None:
        """Waits until one more result may be evaluated. Raises the error that `write` failed with."""
        await self._room.acquire()
        self._raise()

    def add(self, result: EvaluatedTrace) -> None:
        """Adds a result for which there was room."""
        self._waiting.put_nowait(result)

    async def close(self) -> None:
        """Writes what was added. Raises the error that `write` failed with."""
        self._waiting.put_nowait(None)
        await asyncio.shield(self._task)
        self._raise()

    def _raise(self) -> None:
        if self._failure is not None:
            raise self._failure

    async def _run(self) -> None:
        while (first := await self._waiting.get()) is not None:
            batch = [first]
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LINGER_S):
                    await self._gather(batch)
            if self._failure is None:
                try:
                    await asyncio.to_thread(self._write, batch)
                except Exception as error:  # noqa: BLE001 - who waits for the writing gets it
                    self._failure = error
            for _ in batch:
                self._room.release()

    async def _gather(self, batch: list[EvaluatedTrace]) -> None:
        """Adds results to a batch until it is full or no more will come."""
        while len(batch) < AT_ONCE:
            result = await self._waiting.get()
            if result is None:
                self._waiting.put_nowait(None)  # for the loop, which ends at it
                return
            batch.append(result)
