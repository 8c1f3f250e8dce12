"""What a queue has admitted and not delivered, on disk, for the next process after a crash.

An item is in the journal when it is admitted and marked when it is delivered or given up. The queue's own bounds hold
here too. An item that cannot be read is set aside as damage is.
"""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final, Generic, TypeVar

from rag_otel.durable.journal import Journal
from rag_otel.durable.state_folder import StateFolder
from rag_otel.safety.guard import counters, guarded, logger

T = TypeVar("T")
_KEY_BYTES: Final = 16
_MAX_BYTES: Final = 128 * 2**20
"""Of one queue: more than any queue holds. Marks and items that are done are in it too."""


class Undelivered(Generic[T]):
    """The items of one queue, in the order they came. Thread-safe."""

    def __init__(self, folder: StateFolder, name: str, kind: type[T], *, without: frozenset[str] = frozenset()) -> None:
        """`kind` is the dataclass of the items; pydantic writes and reads it, `without` the fields that mean nothing
        in another process. `folder` is closed by whoever opened it."""
        from pydantic import TypeAdapter  # imported only where a state folder is set

        self._folder = folder
        self._name = name
        self._without = set(without)
        self._adapter: Any = TypeAdapter(kind)
        self._journal: Journal | None = None
        self._start_over()

    def _start_over(self) -> None:
        self._lock = threading.RLock()
        self._numbers = itertools.count()

    def keep(self, item: T) -> bytes | None:
        """Write an item to disk; returns its key, or None when that failed, and the queue holds it in memory only."""
        with guarded("undelivered.keep"), self._lock:
            # json escapes what UTF-8 cannot carry (lone surrogates in an answer), pydantic's own writer raises on it.
            fields = self._adapter.dump_python(item, mode="json", exclude=self._without)
            value = json.dumps(fields).encode()
            # The time comes first: a restarted process sorts its items after those that it finds.
            key = time.time_ns().to_bytes(8, "big") + next(self._numbers).to_bytes(8, "big")
            try:
                journal = self._opened()
                if not journal.has_room(len(value)):
                    raise OSError("its bound is reached")
                journal.append([(key, value)])
            except OSError as error:
                if counters.add("state.write_failed") == 1:
                    logger.warning("rag-otel: %s cannot be kept (%s): it is in memory alone", self._name, error)
                return None
            return key
        return None

    def forget(self, keys: Sequence[bytes]) -> None:
        """Mark items as delivered. What the disk does not take is marked with the next ones."""
        with guarded("undelivered.forget"), self._lock:
            if self._journal is None:  # closed; another process may have taken over
                return
            try:
                self._journal.done(*keys)
                self._journal.clear()
            except OSError as error:
                logger.warning("rag-otel: %s cannot be marked as delivered: %s", self._name, error)

    def load(self) -> Iterator[tuple[bytes, T]]:
        """Items that earlier processes left, oldest first: the last one of this part, and those without a successor.
        For a queue that has not begun."""
        with guarded("undelivered.load"), self._lock:
            journal = self._opened()
            journal.adopt(self._folder)
            for key in sorted(journal.keys):
                for value in journal.read(key):
                    item: T = self._adapter.validate_python(json.loads(value))
                    yield key, item

    def close(self) -> None:
        """Close the files; what is in them is for the next process. Safe to call twice."""
        with self._lock:
            if self._journal is not None:
                self._journal.close()
                self._journal = None

    def after_fork(self) -> None:
        """Start empty in a forked child: what is there is the parent's."""
        self._start_over()
        self.close()  # the parent has descriptors of its own

    def _opened(self) -> Journal:
        if self._journal is None:
            self._journal = Journal(
                self._folder.path / self._name, readable=self._is_item, key_bytes=_KEY_BYTES, max_bytes=_MAX_BYTES
            )
        return self._journal

    def _is_item(self, value: bytes) -> bool:
        try:
            self._adapter.validate_python(json.loads(value))
        except (ValueError, TypeError):
            return False
        return True
