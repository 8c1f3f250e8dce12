"""Spans that end after the candidate that they belong to, and what the worker waits for before it reads a trace.

Three things come late. A stream ends with its reader, long after the chain that returned it, and only the model's span
has the answer. A stream that its reader leaves ends its chain first, and the model's span, which has the proof, a
moment later. And a retrieval and the model call beside it, under a span of nobody's dialect, are known for one
question only when nothing more is under way there.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Hashable, Iterable

from opentelemetry.sdk.trace import ReadableSpan


class LateSpans:
    """Open spans that somebody waits for. Ends are told by application threads, waited for by the worker."""

    def __init__(self, waited_for: Iterable[Hashable]) -> None:
        self._lock = threading.RLock()
        self._waited_for = set(waited_for)
        self._spans: list[ReadableSpan] = []
        self._wake: Callable[[], object] | None = None

    def ended(self, one: Hashable, span: ReadableSpan) -> None:
        """One of them has ended."""
        with self._lock:
            if one not in self._waited_for:
                return
            self._waited_for.discard(one)
            self._spans.append(span)
            if self._waited_for or self._wake is None:
                return
            wake = self._wake
        wake()

    @property
    def all_ended(self) -> bool:
        return not self._waited_for

    async def wait(self, timeout_s: float) -> list[ReadableSpan]:
        """Those that have ended, once all have or the time is up; later ones are not waited for."""
        loop, all_ended = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with contextlib.suppress(RuntimeError):  # the worker has ended meanwhile
                loop.call_soon_threadsafe(all_ended.set)

        with self._lock:
            if not self._waited_for:
                all_ended.set()
            self._wake = wake
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await all_ended.wait()
        with self._lock:
            return list(self._spans)


class Turn:
    """What ended side by side under one span of nobody's dialect: retrievals, then the calls that were told of them.

    It is over when that span ends, or when the next retrieval there begins another one.
    """

    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []
        self.size = 0
        """Characters of text in them."""
        self.complete = True
        """False when there were too many to keep."""
        self.answered = False
        """True once a call that may have been told of the retrievals has ended."""
        self._late_spans = LateSpans([self])

    def over(self, span: ReadableSpan) -> None:
        """Nothing more belongs to it; `span` is what tells."""
        self._late_spans.ended(self, span)

    async def wait_until_over(self, timeout_s: float) -> bool:
        """False when the time was up: more may come."""
        return bool(await self._late_spans.wait(timeout_s))
