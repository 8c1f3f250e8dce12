"""One thread that calls what is due: digests, resolved problems, monitors that must notice silence.

Started by the first `wake`, absent from a forked child until its own first `wake`. It sleeps until the next due time
and no longer; with nothing due it waits to be woken.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Final, Protocol, runtime_checkable

from rag_otel.safety.guard import guarded
from rag_otel.safety.tracing_suppression import suppressed

_LONGEST_S: Final = 60.0
"""A due time is looked at again after this long: the wall clock may have been set in between."""
_SHORTEST_S: Final = 0.05
"""A part that is always due must not keep a core busy."""


@runtime_checkable
class Ticking(Protocol):
    """Something that has work of its own to do in time."""

    def due(self) -> float | None:
        """Seconds since the epoch at which `tick` has something to do next; None: nothing waits."""
        ...

    def tick(self) -> None:
        """Do what is due; nothing where nothing is. Returns soon."""
        ...

    def after_fork(self) -> None:
        """Start over in a forked child."""
        ...

    def close(self) -> None:
        """The process ends: keep what must survive. May be called twice."""
        ...


class Ticker:
    """Calls `tick` of every part when its `due` has come."""

    def __init__(self, parts: Sequence[Ticking], clock: Callable[[], float] = time.time) -> None:
        self._parts = tuple(parts)
        self._clock = clock
        self._start_over()

    def _start_over(self) -> None:
        self._changed = threading.Condition()
        self._woken = False
        self._closed = False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread where there is none and something may become due."""
        if self._thread is None and not self._closed and self._parts:
            self.wake()

    def wake(self) -> None:
        """Something may be due earlier than it was."""
        with self._changed:
            self._woken = True
            self._changed.notify_all()
            if self._thread is not None or self._closed:
                return
            thread = threading.Thread(target=self._run, name="rag-otel-ticker", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the interpreter ends: what waits is told at shutdown
                return
            self._thread = thread

    def close(self) -> None:
        """End the thread. Safe to call twice."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def after_fork(self) -> None:
        """The thread is the parent's."""
        closed = self._closed
        self._start_over()
        self._closed = closed

    def _run(self) -> None:
        with suppressed():
            while self._wait():
                for part in self._parts:
                    with guarded("ticker"):
                        if (due := part.due()) is not None and due <= self._clock():
                            part.tick()

    def _wait(self) -> bool:
        """Until something is due, or something has changed; False when it is over."""
        with self._changed:
            self._woken = False
        due = _LONGEST_S
        for part in self._parts:
            with guarded("ticker"):
                if (at := part.due()) is not None:
                    due = min(due, at - self._clock())
        with self._changed:
            self._changed.wait_for(lambda: self._woken or self._closed, max(due, _SHORTEST_S if due <= 0 else 0.0))
            return not self._closed
