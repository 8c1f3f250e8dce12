"""Cooperative scheduling of long computations: work runs in short slices and yields to the event loop between them.

Judges run in a thread of the application and must not block it. A computation is written as a generator that yields
often. `cooperatively` runs it and yields to the event loop, and so to other threads, at the end of each time slice.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Generator, Iterator
from typing import Final, TypeVar

T = TypeVar("T")

SLICE_S: Final = 0.00025
"""Length of a time slice in seconds. A generator should yield at least every 0.1 ms."""

_slice_s = SLICE_S


@contextlib.contextmanager
def time_slice(seconds: float) -> Iterator[None]:
    """Sets the length of time slices inside the block, for all threads. Processes that only evaluate use longer
    slices."""
    global _slice_s
    before, _slice_s = _slice_s, seconds
    try:
        yield
    finally:
        _slice_s = before


async def cooperatively(work: Generator[None, None, T]) -> T:
    """Runs the generator to its end, yields to the event loop between slices, and returns its result."""
    deadline = time.perf_counter() + _slice_s
    while True:
        try:
            next(work)
        except StopIteration as done:
            result: T = done.value
            return result
        if time.perf_counter() >= deadline:
            await asyncio.sleep(0)
            deadline = time.perf_counter() + _slice_s


def finish(work: Generator[None, None, T]) -> T:
    """Runs the generator to its end without yielding, and returns its result. For synchronous callers."""
    while True:
        try:
            next(work)
        except StopIteration as done:
            result: T = done.value
            return result
