"""The traces of one process on disk, and those that dead processes have left in the same folder.

    <folder>/0/traces/*.log     the first process, 1/... the second; a lock in each tells which are taken

A process writes its own part only. A part whose process is gone is adopted by the process that gets its lock: its
traces are written into that process's own part, then its files are deleted. A process that dies between the two leaves
them twice, with the same ids.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from rag_otel.delivery.state_folder import CAN_LOCK, StateFolder
from rag_otel.durable.folders import private_folder
from rag_otel.durable.journal import Journal
from rag_otel.durable.segment_files import Position
from rag_otel.durable.trace_records import KEY_BYTES, KeptTrace, is_value, trace_of
from rag_otel.safety.guard import counters, logger

_LOG: Final = "traces"
_LARGEST_SEGMENT: Final = 4 * 2**20
_SEGMENTS: Final = 16
_HALF: Final = 0.5


class TraceStore:
    """A journal of traces within bounds. For one thread at a time. All methods may raise OSError."""

    def __init__(self, folder: StateFolder, *, max_bytes: int, max_age_s: float) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._max_age_s = max_age_s
        self._journal: Journal | None = None
        self._positions: dict[bytes, list[Position]] = {}
        """Key -> where the values of a trace that is not done are."""
        self._damaged = 0

    def open(self) -> list[bytes]:
        """Claim a part of the folder; returns the keys of the traces that an earlier process left in it."""
        journal = self._opened(self._folder.path / _LOG)
        self._journal = journal
        self._positions = dict(journal.left)
        journal.left.clear()
        self._count_damage(journal)
        return list(self._positions)

    def adopt(self) -> list[bytes]:
        """Take over the traces of processes that are gone; returns their keys."""
        found: list[bytes] = []
        if not CAN_LOCK:  # nobody can tell who is gone
            return found
        with self._folder.orphans() as parts:
            for part in parts:
                try:
                    if any((part / _LOG).glob("*.log")):
                        self._take(part / _LOG, found)
                except OSError as error:  # what was taken is ours; the rest stays where it is
                    logger.warning("rag-otel: the traces in %s cannot be taken over: %s", part, error)
        return found

    def has_room(self, size: int) -> bool:
        """True when so many more bytes are within the bound."""
        return self._open.disk_bytes + size <= self._max_bytes

    def write(self, values: Sequence[tuple[bytes, bytes]]) -> None:
        """Write values under their keys, all of them or none."""
        for (key, _), position in zip(values, self._open.append(values), strict=True):
            self._positions.setdefault(key, []).append(position)

    def done(self, keys: Iterable[bytes]) -> None:
        """Forget traces. What the disk does not take is written by `tend`."""
        gone = list(keys)
        for key in gone:
            self._positions.pop(key, None)
        self._open.done(*gone)

    def read(self, key: bytes) -> KeptTrace | None:
        """A trace that is not done; None where it cannot be read, or is too old. Such a one is forgotten."""
        try:
            kept = trace_of(key, [self._open.read(each) for each in self._positions.get(key, ())])
        except (OSError, ValueError) as error:
            counters.add("spool.unreadable")
            logger.warning("rag-otel: a trace in %s cannot be read: %s", self._folder.root, error)
            kept = None
        if kept is not None and time.time() - kept.admitted_at > self._max_age_s:
            counters.add("spool.expired")
            kept = None
        if kept is None:
            self.done([key])
        return kept

    def tend(self) -> None:
        """Write what is missing, and make room: a few old traces in a file keep it, and all after it, on the disk."""
        journal = self._open
        self._count_damage(journal)
        journal.tend()
        if journal.disk_bytes < self._max_bytes * _HALF:
            return
        kept = {key: [journal.read(each) for each in self._positions.get(key, ())] for key in journal.oldest()}
        if sum(len(value) for values in kept.values() for value in values) > self._segment_bytes * _HALF:
            return
        for key, values in kept.items():
            if values:
                self._positions[key] = journal.moved(key, values)
        journal.tend()

    def clear(self) -> None:
        """Delete what the files hold of traces that are done, if all are: their texts need not lie there."""
        if not self._positions and self._open.log.end.offset:
            self._open.relieve()

    @property
    def trouble(self) -> str | None:
        """What the last write failed with; None after one that worked."""
        return None if self._journal is None else self._journal.log.trouble

    def close(self) -> None:
        """Close the files and release the part. Safe to call twice."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None
        self._folder.close()

    def after_fork(self) -> None:
        """The part is the parent's; the child opens another."""
        if self._journal is not None:
            self._journal.close()  # the parent has descriptors of its own
            self._journal = None
        self._positions = {}
        self._folder.after_fork()

    @property
    def _open(self) -> Journal:
        if self._journal is None:
            raise OSError(f"{self._folder.root} is not open")
        return self._journal

    @property
    def _segment_bytes(self) -> int:
        return max(1, min(_LARGEST_SEGMENT, self._max_bytes // _SEGMENTS))

    def _opened(self, path: Path) -> Journal:
        private_folder(path.parent)
        return Journal(path, readable=is_value, key_bytes=KEY_BYTES, segment_bytes=self._segment_bytes)

    def _take(self, path: Path, found: list[bytes]) -> None:
        """Adopt what is in a dead process's log; adds the keys to `found`."""
        if not self.has_room(sum(each.lstat().st_size for each in path.glob("*.log"))):
            return
        theirs = self._opened(path)
        try:
            self._count_damage(theirs)
            for key, positions in theirs.left.items():
                if key not in self._positions:
                    self._positions[key] = self._open.moved(key, [theirs.read(each) for each in positions])
                    found.append(key)
                theirs.done(key)
            theirs.log.delete()
        finally:
            theirs.close()

    def _count_damage(self, journal: Journal) -> None:
        damage = journal.log.damage
        found = damage.places + damage.unreadable_files - (self._damaged if journal is self._journal else 0)
        if found > 0:
            counters.add("spool.damaged", found)
        if journal is self._journal:
            self._damaged = damage.places + damage.unreadable_files
