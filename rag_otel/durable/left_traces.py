"""Hands out the traces that earlier processes left, to whoever evaluates them."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

from rag_otel.durable.journal import Journal
from rag_otel.durable.trace_records import KeptTrace, trace_of
from rag_otel.safety.guard import counters, logger

_AT_ONCE: Final = 32
"""Traces that are handed out at a time."""


class LeftTraces:
    """Traces in a journal that nobody has taken up yet. Not thread-safe.

    Traces that a process had begun to evaluate when it ended come last and one at a time: one of them may be the cause,
    and the others must not be taken for it.
    """

    def __init__(self, *, max_age_s: float) -> None:
        """Older traces are forgotten."""
        self._max_age_s = max_age_s
        self._takers: list[Callable[[KeptTrace], bool]] = []
        self.clear()

    def clear(self) -> None:
        """Start over without any, in a forked child."""
        self._unread: deque[bytes] = deque()
        self._suspects: deque[bytes] = deque()
        self._alone: bytes | None = None
        """The suspect that is being evaluated."""

    def __len__(self) -> int:
        return len(self._unread) + len(self._suspects)

    def hand_out_to(self, take_up: Callable[[KeptTrace], bool]) -> None:
        """`take_up` returns False where it has no room now. It is called by the scheduler, so it must not wait for
        anything."""
        self._takers.append(take_up)

    def hand_out_no_more(self, take_up: Callable[[KeptTrace], bool]) -> None:
        """Stop that. Safe to call twice."""
        with contextlib.suppress(ValueError):
            self._takers.remove(take_up)

    def add(self, keys: Iterable[bytes]) -> None:
        """More traces that were left."""
        self._unread.extend(keys)

    def hand_out(self, journal: Journal) -> None:
        """Hand out what there is room for now."""
        for _ in range(_AT_ONCE):
            if not self._takers or (kept := self._next(journal)) is None:
                break
            if not any(take_up(kept) for take_up in list(self._takers)):
                self._put_back(kept.key)
                break
            counters.add("traces.taken_up")

    def is_over(self, key: bytes) -> None:
        """The process has survived the evaluation of this one."""
        if key == self._alone:
            self._alone = None

    def _next(self, journal: Journal) -> KeptTrace | None:
        """The next trace; None where there is none now."""
        while self._unread:
            kept = self._read(journal, self._unread.popleft())
            if kept is not None and kept.begun:
                self._suspects.append(kept.key)
            elif kept is not None:
                return kept
        while self._suspects and self._alone is None:
            kept = self._read(journal, self._suspects.popleft())
            if kept is not None:
                self._alone = kept.key
                return kept
        return None

    def _put_back(self, key: bytes) -> None:
        """There is no room for this one yet."""
        if key == self._alone:
            self._alone = None
            self._suspects.appendleft(key)
        else:
            self._unread.appendleft(key)

    def _read(self, journal: Journal, key: bytes) -> KeptTrace | None:
        """A trace that is not done; None where it cannot be read, or is too old. Such a one is forgotten."""
        try:
            kept = trace_of(key, journal.read(key))
        except (OSError, ValueError) as error:
            counters.add("traces.unreadable")
            logger.warning("rag-otel: a trace in %s cannot be read: %s", journal.log.folder, error)
        else:
            if time.time() - kept.admitted_at <= self._max_age_s:
                return kept
            counters.add("traces.expired")
        with contextlib.suppress(OSError):  # the journal writes the mark with the next one
            journal.done(key)
        return None
