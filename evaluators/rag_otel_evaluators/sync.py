"""The synchronous twin of an evaluator, for notebooks and scripts: works inside a running event loop too.

All calls share one event loop on one background thread, so that what a judge binds to its loop (connections, limits)
outlives the call.
"""

from __future__ import annotations

import asyncio
import os
import threading
from abc import abstractmethod
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from rag_otel.model import Chunk, Evaluation

R = TypeVar("R")


class SyncTwin:
    """Gives an evaluator `evaluate_sync`, which returns what `await evaluate(...)` does."""

    @abstractmethod
    async def evaluate(
        self, *, question: str | None, chunks: Sequence[Chunk | str], response: str, reference: str | None = None
    ) -> Evaluation: ...

    def evaluate_sync(
        self, *, question: str | None = None, chunks: Sequence[Chunk | str], response: str, reference: str | None = None
    ) -> Evaluation:
        """Like `evaluate`, but blocks until the result is there. Not for use inside a coroutine that must not block."""
        return run_sync(self.evaluate(question=question, chunks=chunks, response=response, reference=reference))


def run_sync(coroutine: Coroutine[Any, Any, R]) -> R:
    """Run the coroutine on the background loop and wait for it; interrupting the wait cancels it."""
    future = asyncio.run_coroutine_threadsafe(coroutine, _background_loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_loop_process = 0


def _background_loop() -> asyncio.AbstractEventLoop:
    """The loop of this process; a forked child has its parent's variable but not its thread, and starts its own."""
    global _loop, _loop_process
    with _lock:
        if _loop is None or _loop_process != os.getpid():
            _loop, _loop_process = asyncio.new_event_loop(), os.getpid()
            threading.Thread(target=_loop.run_forever, name="rag-otel-sync", daemon=True).start()
        return _loop


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=lambda: globals().update(_lock=threading.Lock()))
