"""Ctrl-C and SIGTERM, which end a command.

A command that serves waits for them. In one that works on its main thread, Ctrl-C must not be lost: Python raises
KeyboardInterrupt wherever that thread happens to be. In a weak reference's callback or a `__del__` it is printed and
forgotten, and the command would go on. So it is raised again until the block that it is for has ended.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, NoReturn

_AGAIN_S: Final = 5.0
"""Long enough to stop what is under way."""


def until_told_to_stop() -> asyncio.Event:
    """Set by SIGTERM and Ctrl-C. Called on the running event loop."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


async def told_within(stop: asyncio.Event, seconds: float) -> bool:
    """Waits so long for `stop`. True if it was set."""
    try:
        async with asyncio.timeout(seconds):
            return await stop.wait()
    except TimeoutError:
        return False


@contextmanager
def insistent_interrupts() -> Iterator[None]:
    """An interrupt ends this block even where the first KeyboardInterrupt of it was swallowed.

    Does nothing outside of the main thread, on Windows, or where the program handles SIGINT in its own way.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    known = in_main_thread and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not (known and hasattr(signal, "setitimer")):
        yield
        return
    before = signal.signal(signal.SIGALRM, _interrupt)
    signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGALRM, before or signal.SIG_DFL)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
    raise KeyboardInterrupt
