"""Synchronous evaluation for notebooks and scripts. It also works while an event loop is running.

All calls share one event loop on one background thread, so that objects that a judge binds to its event loop
(connections, limits) can be reused by later calls.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

R = TypeVar("R")


def run_sync(coroutine: Coroutine[Any, Any, R]) -> R:
    """Runs the coroutine on the background loop and waits for its result. If the wait is interrupted, the coroutine is
    cancelled."""
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
    """The background loop of this process. A forked child starts its own, because it does not have the parent's
    thread."""
    global _loop, _loop_process
    with _lock:
        if _loop is None or _loop_process != os.getpid():
            _loop, _loop_process = asyncio.new_event_loop(), os.getpid()
            threading.Thread(target=_loop.run_forever, name="rag-otel-sync", daemon=True).start()
        return _loop


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=lambda: globals().update(_lock=threading.Lock()))
