"""Monitors and alert channels are built with the first result, so start-up stays fast.

Only for settings that need no check: what may be wrong is built, and refused, while the application starts.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from rag_otel.safety.background_import import background_import
from rag_otel.safety.guard import counters

if TYPE_CHECKING:
    from rag_otel.delivery.dispatcher import Dispatcher
    from rag_otel.model import EvaluatedTrace

_TRACES: Final = 10
"""So many traces without a result make it too, so that somebody notices that there is none. Fewer raise no alert."""
_MOST_WAITING: Final = 1_000


class LateDelivery:
    """Takes results as a `Dispatcher` does, and hands them to one that is made with the first of them. Thread-safe.

    It is made where everything else is imported (`rag_otel.safety.background_import`), so that a fork waits for it.
    """

    def __init__(self, make: Callable[[], Dispatcher]) -> None:
        self._make = make
        self._made: Dispatcher | None = None
        self._closed = False
        self._start_over()

    def _start_over(self) -> None:
        self._lock = threading.RLock()
        self._waiting: deque[tuple[EvaluatedTrace, Callable[[], None] | None]] = deque()
        self._seen = 0
        self._begun = False
        self._through = threading.Event()

    def start(self) -> bool:
        """A trace was seen. True: no later one needs to be told."""
        if self._made is not None:
            return self._made.start()
        if self._seen < _TRACES:
            self._seen += 1
            if self._seen == _TRACES:
                self._begin()
        return False

    def submit(self, result: EvaluatedTrace, on_written: Callable[[], None] | None = None) -> None:
        """Take a result; returns at once and never raises."""
        with self._lock:
            if self._made is None:
                if self._closed or len(self._waiting) >= _MOST_WAITING:
                    counters.add("delivery.not_ready")
                    return
                self._waiting.append((result, on_written))
        if self._made is not None:
            self._made.submit(result, on_written)
        else:
            self._begin()

    def _begin(self) -> None:
        with self._lock:
            if self._begun or self._closed:
                return
            self._begun = True
        background_import(self._make_now)

    def _make_now(self) -> None:
        try:
            made = self._make()
            made.start()
            with self._lock:
                while self._waiting:
                    made.submit(*self._waiting.popleft())
                self._made = made
        finally:
            self._through.set()

    def flush(self, timeout_s: float) -> bool:
        """Deliver what was submitted so far; False when something is left."""
        deadline = time.monotonic() + timeout_s
        if self._begun and not self._through.wait(timeout_s):
            return False
        made = self._made
        return not self._waiting if made is None else made.flush(max(0.0, deadline - time.monotonic()))

    def shutdown(self, timeout_s: float) -> None:
        """Deliver what can be delivered in `timeout_s`, then stop. Safe to call twice."""
        deadline = time.monotonic() + timeout_s
        self._closed = True
        if self._begun:
            self._through.wait(timeout_s)
        if self._made is not None:
            self._made.shutdown(max(0.0, deadline - time.monotonic()))

    def after_fork(self) -> None:
        """Start empty in a forked child: the parent delivers its own."""
        if self._made is not None:
            self._made.after_fork()
        else:
            self._start_over()
