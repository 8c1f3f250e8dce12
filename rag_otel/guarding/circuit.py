"""How many checks may be under way: a judge that hangs must not collect the application's calls."""

from __future__ import annotations

import threading
import weakref
from typing import Final

from rag_otel.runtime import Runtime
from rag_otel.safety.fork import after_fork_in_child

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
        self._under_way = 0
        self._overdue = 0

    @property
    def overdue(self) -> int:
        return self._overdue

    def begin(self) -> str | None:
        """Count a check that begins; None, or the reason why it may not."""
        with self._lock:
            if self._overdue >= MOST_OVERDUE:
                return HANGING
            if self._under_way >= MOST_AT_ONCE:
                return BUSY
            self._under_way += 1
            return None

    def late(self, ticket: Ticket) -> None:
        """The check has passed its deadline."""
        with self._lock:
            if not (ticket.over or ticket.overdue):
                ticket.overdue = True
                self._overdue += 1

    def end(self, ticket: Ticket) -> None:
        """The check has returned. Safe to call twice."""
        with self._lock:
            if ticket.over:
                return
            ticket.over = True
            self._under_way = max(0, self._under_way - 1)
            self._overdue = max(0, self._overdue - ticket.overdue)


class Ticket:
    """One check, as the circuit sees it."""

    __slots__ = ("over", "overdue")

    def __init__(self) -> None:
        self.overdue = False
        self.over = False


_circuits: Final[weakref.WeakKeyDictionary[Runtime, Circuit]] = weakref.WeakKeyDictionary()


def circuit_of(runtime: Runtime) -> Circuit:
    """The circuit of a runtime."""
    return _circuits.get(runtime) or _circuits.setdefault(runtime, Circuit())
