"""Which trace of those that earlier processes left is taken up next."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from rag_otel.durable.trace_records import KeptTrace


class LeftTraces:
    """Keys of traces that nobody has taken up yet. Not thread-safe.

    Traces that a process had begun to evaluate when it ended come last and one at a time: one of them may be the cause,
    and the others must not be taken for it.
    """

    def __init__(self) -> None:
        self._unread: deque[bytes] = deque()
        self._suspects: deque[bytes] = deque()
        self._alone: bytes | None = None
        """The suspect that is being evaluated."""

    def __len__(self) -> int:
        return len(self._unread) + len(self._suspects)

    def add(self, keys: Iterable[bytes]) -> None:
        """More traces that were left."""
        self._unread.extend(keys)

    def next(self, read: Callable[[bytes], KeptTrace | None]) -> KeptTrace | None:
        """The next trace; None where there is none now. `read` returns None for what cannot be evaluated."""
        while self._unread:
            kept = read(self._unread.popleft())
            if kept is not None and kept.begun:
                self._suspects.append(kept.key)
            elif kept is not None:
                return kept
        while self._suspects and self._alone is None:
            kept = read(self._suspects.popleft())
            if kept is not None:
                self._alone = kept.key
                return kept
        return None

    def put_back(self, key: bytes) -> None:
        """There is no room for this one yet."""
        if key == self._alone:
            self._alone = None
            self._suspects.appendleft(key)
        else:
            self._unread.appendleft(key)

    def is_over(self, key: bytes) -> None:
        """The process has survived the evaluation of this one."""
        if key == self._alone:
            self._alone = None
