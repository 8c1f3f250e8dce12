"""A thread of its own for a model that computes in this process: calls wait their turn there, not on the event loop.

torch gives up the interpreter while it computes, so the application goes on; two calls at once would only share the
same processors.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

R = TypeVar("R")


class ModelThread:
    """Runs one model's calls one after the other. A forked child starts a thread of its own."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._executor: ThreadPoolExecutor | None = None
        self._process = 0

    async def run(self, call: Callable[[threading.Event], R]) -> R:
        """`call(cancelled)` in the thread. When who waits is cancelled, the event is set: long calls look at it."""
        cancelled = threading.Event()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._of_this_process(), call, cancelled)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    def _of_this_process(self) -> ThreadPoolExecutor:
        if self._executor is None or self._process != os.getpid():
            self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"rag-otel-{self._name}")
            self._process = os.getpid()
        return self._executor
