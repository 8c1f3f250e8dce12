"""How many checks may be under way: a judge that hangs must not collect the application's calls."""

from __future__ import annotations

import threading
import weakref
from typing import Final

from rag_otel.safety.fork import after_fork_in_child
from rag_otel.setup.runtime import Runtime

MOST_OVERDUE: Final = 32
"""Checks that nobody waits for any more and that have not returned. With so many no other one is begun."""
MOST_AT_ONCE: Final = 256
"""Checks under way in all."""
HANGING: Final = "hanging"
"""Reason: too many checks are overdue. The first that returns lets the next one begin."""
BUSY: Final = "busy"


class Circuit:
    """Counts the checks of one runtime. Thread-safe."""

    def __init__(self) -> None:
        self._start_over()
        after_fork_in_child(self._start_over)

    def _start_over(self) -> None:
        self._lock = threading.RLock()
        self._under_way: set[object] = set()
        self._overdue: set[object] = set()

    @property
    def overdue(self) -> int:
        return len(self._overdue)

    def begin(self, ticket: object) -> str | None:
        """Count a check that begins, which `ticket` stands for; None, or the reason why it may not."""
        with self._lock:
            if len(self._overdue) >= MOST_OVERDUE:
                return HANGING
            if len(self._under_way) >= MOST_AT_ONCE:
                return BUSY
            self._under_way.add(ticket)
            return None

    def late(self, ticket: object) -> None:
        """The check has passed its deadline."""
        with self._lock:
            if ticket in self._under_way:
                self._overdue.add(ticket)

    def end(self, ticket: object) -> None:
        """The check has returned. Safe to call twice."""
        with self._lock:
            self._under_way.discard(ticket)
            self._overdue.discard(ticket)


_circuits: Final[weakref.WeakKeyDictionary[Runtime, Circuit]] = weakref.WeakKeyDictionary()


def circuit_of(runtime: Runtime) -> Circuit:
    """The circuit of a runtime."""
    return _circuits.get(runtime) or _circuits.setdefault(runtime, Circuit())
