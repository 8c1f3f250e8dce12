"""Long computation inside somebody else's process: in slices, with the interpreter given up between them.

Judging runs in a thread of a production application. Work is written as a generator that yields often; `cooperatively`
drives it and hands the interpreter over as soon as a slice is used up.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Generator, Iterator
from typing import Final, TypeVar

T = TypeVar("T")

SLICE_S: Final = 0.00025
"""Seconds of work in one go. Work between two yields of a generator should stay below 0.1 ms."""

_slice_s = SLICE_S


@contextlib.contextmanager
def time_slice(seconds: float) -> Iterator[None]:
    """Slices of this length inside the block, for every thread: a process that serves nobody but judges need not give
    way so often."""
    global _slice_s
    before, _slice_s = _slice_s, seconds
    try:
        yield
    finally:
        _slice_s = before


async def cooperatively(work: Generator[None, None, T]) -> T:
    """Run the generator to its end, give way between slices, return its result."""
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
    """Run the generator to its end in one go, for callers with nobody to give way to."""
    while True:
        try:
            next(work)
        except StopIteration as done:
            result: T = done.value
            return result
