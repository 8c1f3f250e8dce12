"""One thread that calls parts when they are due: digests, resolved problems, monitors that detect missing results.

The first `wake` starts it, also in a forked child. It sleeps until the next due time; with nothing due it waits for
`wake`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Final, Protocol, runtime_checkable

from rag_otel.safety.guard import guarded
from rag_otel.safety.tracing_suppression import suppressed

_LONGEST_S: Final = 60.0
"""Longest sleep: the wall clock may have been set in between."""
_SHORTEST_S: Final = 0.05
"""Shortest sleep: a part that is always due must not keep a core busy."""


@runtime_checkable
class Ticking(Protocol):
    """Has work to do at certain times."""

    def due(self) -> float | None:
        """When `tick` has something to do next, in seconds since the epoch; None: nothing to do."""
        ...

    def tick(self) -> None:
        """Do what is due. Returns soon."""
        ...

    def after_fork(self) -> None:
        """Start over in a forked child."""
        ...

    def close(self) -> None:
        """The process ends: save what must survive it. May be called twice."""
        ...


class Ticker:
    """Calls `tick` of every part at its `due` time."""

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
        """Start the thread, unless it runs or there are no parts."""
        if self._thread is None and not self._closed and self._parts:
            self.wake()

    def wake(self) -> None:
        """Ask every part again when it is due. Starts the thread."""
        with self._changed:
            self._woken = True
            self._changed.notify_all()
            if self._thread is not None or self._closed:
                return
            thread = threading.Thread(target=self._run, name="rag-otel-ticker", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the interpreter ends: shutdown does what is due
                return
            self._thread = thread

    def close(self) -> None:
        """End the thread. Safe to call twice."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def after_fork(self) -> None:
        """Start over without a thread: the running one is the parent's."""
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
        """Wait until something is due or `wake` was called; False after `close`."""
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
