"""An event loop whose clock jumps: sleeps take no time and always the same number of seconds.

    with virtual_loop() as loop:
        loop.run_until_complete(...)   # inside, `loop.time()` tells the virtual seconds

For code that waits on purpose (limits, backoff). Nothing outside the loop may be waited for in it: no sockets.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _JumpingSelector(selectors.DefaultSelector):
    """Where a real selector would block for a timeout, the clock is moved on by it."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is not None and timeout > 0:
            self.now += timeout
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop that lives in virtual seconds, starting at 0."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


@contextmanager
def virtual_loop() -> Iterator[VirtualLoop]:
    """The loop, closed at the end."""
    loop = VirtualLoop()
    try:
        yield loop
    finally:
        loop.close()
