"""What one process has admitted and not finished, on disk, and what dead processes have left in the same folder.

    <folder>/0/<name>/*.log     the first process, 1/... the second; a lock in each tells which are taken

A process writes its own part only. A part whose process is gone is adopted by the process that gets its lock: its
items are written into that process's own part, then its files are deleted. A process that dies between the two leaves
them twice, under the same keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from rag_otel.durable.journal import Journal
from rag_otel.durable.segment_files import Position
from rag_otel.durable.state_folder import CAN_LOCK, StateFolder, private_folder
from rag_otel.safety.guard import counters, logger

_LARGEST_SEGMENT: Final = 4 * 2**20
_SEGMENTS: Final = 16
_HALF: Final = 0.5


class KeptItems:
    """A journal within bounds. For one thread at a time. All methods may raise OSError.

    Counts `<name>.damaged`, the places that cannot be read.
    """

    def __init__(
        self, folder: StateFolder, name: str, *, key_bytes: int, max_bytes: int, readable: Callable[[bytes], bool]
    ) -> None:
        """An item has a key of `key_bytes` and one value or several; `readable` recognises a value. `folder` is closed
        by whoever opened it."""
        self._folder = folder
        self._name = name
        self._key_bytes = key_bytes
        self._max_bytes = max_bytes
        self._readable = readable
        self._journal: Journal | None = None
        self._positions: dict[bytes, list[Position]] = {}
        """Key -> where the values of an item that is not done are."""
        self._damaged = 0

    def open(self) -> list[bytes]:
        """Claim a part of the folder; returns the keys of the items that an earlier process left in it."""
        journal = self._opened(self._folder.path / self._name)
        self._journal = journal
        self._positions = dict(journal.left)
        journal.left.clear()
        self._count_damage(journal)
        return list(self._positions)

    def adopt(self) -> list[bytes]:
        """Take over the items of processes that are gone; returns their keys."""
        found: list[bytes] = []
        if not CAN_LOCK:  # nobody can tell who is gone
            return found
        with self._folder.orphans() as parts:
            for part in parts:
                try:
                    if any((part / self._name).glob("*.log")):
                        self._take(part / self._name, found)
                except OSError as error:  # what was taken is ours; the rest stays where it is
                    logger.warning("rag-otel: what is in %s cannot be taken over: %s", part / self._name, error)
        return found

    def has_room(self, size: int) -> bool:
        """True when so many more bytes are within the bound."""
        return self._open.disk_bytes + size <= self._max_bytes

    def write(self, values: Sequence[tuple[bytes, bytes]]) -> None:
        """Write values under their keys, all of them or none."""
        if self._open.log.is_deleted:  # somebody has emptied the folder
            self._open.log.roll()
        for (key, _), position in zip(values, self._open.append(values), strict=True):
            self._positions.setdefault(key, []).append(position)

    def done(self, keys: Iterable[bytes]) -> None:
        """Forget items. What the disk does not take is written by `tend`."""
        gone = list(keys)
        for key in gone:
            self._positions.pop(key, None)
        self._open.done(*gone)

    def read(self, key: bytes) -> list[bytes]:
        """The values of an item that is not done, oldest first; none for another one."""
        return [self._open.read(each) for each in self._positions.get(key, ())]

    def tend(self) -> None:
        """Write what is missing, and make room: a few old items in a file keep it, and all after it, on the disk."""
        journal = self._open
        self._count_damage(journal)
        journal.tend()
        if journal.disk_bytes < self._max_bytes * _HALF:
            return
        kept = {key: self.read(key) for key in journal.oldest()}
        if sum(len(value) for values in kept.values() for value in values) > self._segment_bytes * _HALF:
            return
        for key, values in kept.items():
            if values:
                self._positions[key] = journal.moved(key, values)
        journal.tend()

    def clear(self) -> None:
        """Delete what the files hold of items that are done, if all are: their texts need not lie there."""
        if not self._positions and self._open.log.end.offset:
            self._open.relieve()

    def close(self) -> None:
        """Close the files. Safe to call twice."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def after_fork(self) -> None:
        """What is there is the parent's; the child opens a part of its own."""
        self.close()  # the parent has descriptors of its own
        self._positions = {}

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
        return Journal(path, readable=self._readable, key_bytes=self._key_bytes, segment_bytes=self._segment_bytes)

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
            counters.add(f"{self._name}.damaged", found)
        if journal is self._journal:
            self._damaged = damage.places + damage.unreadable_files
