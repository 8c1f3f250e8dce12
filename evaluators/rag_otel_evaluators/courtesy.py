"""Long computation inside somebody else's process: in slices, with the interpreter given up between them.

Judging runs in a thread of a production application. Work is written as a generator that yields often; `courteous`
drives it and hands the interpreter over as soon as a slice is used up.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator
from typing import Final, TypeVar

T = TypeVar("T")

SLICE_S: Final = 0.00025
"""Seconds of work in one go. Work between two yields of a generator should stay below 0.1 ms."""


async def courteous(work: Generator[None, None, T]) -> T:
    """Run the generator to its end, give way between slices, return its result."""
    deadline = time.perf_counter() + SLICE_S
    while True:
        try:
            next(work)
        except StopIteration as done:
            result: T = done.value
            return result
        if time.perf_counter() >= deadline:
            await asyncio.sleep(0)
            deadline = time.perf_counter() + SLICE_S


def finish(work: Generator[None, None, T]) -> T:
    """Run the generator to its end in one go, for callers with nobody to give way to."""
    while True:
        try:
            next(work)
        except StopIteration as done:
            result: T = done.value
            return result
