"""What was accepted and waits, on disk: values under keys, and marks that a key is done.

The collector keeps held spans here under their trace id, the application its traces and what a queue has not delivered.
A value is written before anybody relies on it; when all work on its key is done, a mark says so. After a crash, what
has no mark is taken up again: by the next process that opens the journal or, where processes share a state folder, by
one that adopts it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from rag_otel.durable.segment_files import Position
from rag_otel.durable.segments import SegmentLog
from rag_otel.durable.state_folder import StateFolder
from rag_otel.safety.guard import logger

_HELD: Final = b"H"
_DONE: Final = b"D"
_MOVED: Final = b"M"
"""A held value that was written anew, and the first of its key: what stood before it counts no longer."""
TRACE_ID_BYTES: Final = 16
_SEGMENT_BYTES: Final = 4 * 2**20
_SEGMENTS: Final = 16
"""Files that a bounded journal has at least, so that one that is kept does not take up the bound."""


class Journal:
    """A log of (key, value) and of marks. For one thread at a time."""

    def __init__(
        self,
        folder: Path,
        *,
        readable: Callable[[bytes], bool],
        key_bytes: int = TRACE_ID_BYTES,
        segment_bytes: int = _SEGMENT_BYTES,
        max_bytes: int | None = None,
        fsync: bool = False,
    ) -> None:
        """Open or create, with what an earlier process did not finish. Raises OSError.

        All keys have `key_bytes` bytes. A value that is not `readable` is passed over as damaged bytes are. `max_bytes`
        is what `has_room` goes by; None: no bound.
        """
        self._key_bytes = key_bytes
        self._is_value = readable
        self._max_bytes = max_bytes
        self._segment_bytes = segment_bytes if max_bytes is None else max(1, min(segment_bytes, max_bytes // _SEGMENTS))
        self.log: Final = SegmentLog(folder, segment_bytes=self._segment_bytes, fsync=fsync, readable=self._is_entry)
        self._positions: dict[bytes, list[Position]] = {}
        """Key that is not done -> where its values are."""
        self._needed: Counter[int] = Counter()
        """Segment -> how many of these values are in it."""
        self._unmarked: dict[bytes, None] = {}
        """Keys that are done and have no mark yet: the disk did not take it."""
        self._last: list[bytes] = []
        """The keys of what was appended last, one for each value."""
        for record, position in self.log.records():
            kind, key, _ = self._parts(record)
            if kind != _HELD:
                self._forget(key)
            if kind != _DONE:
                self._note(key, position)

    @property
    def keys(self) -> list[bytes]:
        """What is not done, the key seen first first."""
        return list(self._positions)

    def __contains__(self, key: bytes) -> bool:
        return key in self._positions

    @property
    def disk_bytes(self) -> int:
        """How much disk the log takes."""
        return self.log.disk_bytes

    def has_room(self, size: int) -> bool:
        """True when so many more bytes are within the bound."""
        return self._max_bytes is None or self.disk_bytes + size <= self._max_bytes

    def append(self, values: Iterable[tuple[bytes, bytes]]) -> None:
        """Write values under their keys, all or none; there must be one at least. Raises OSError when the disk does not
        take them."""
        if self.log.is_deleted:  # somebody has emptied the folder
            self.log.roll()
        self._last = self._write([(_HELD, key, value) for key, value in values])

    def read(self, key: bytes) -> list[bytes]:
        """The values of a key that is not done, oldest first; none for another one. Raises OSError when they cannot be
        read any more."""
        return [self._value(position) for position in self._positions.get(key, ())]

    def take_back(self) -> None:
        """Undo the last `append`: its request is refused."""
        first = None
        for key in reversed(self._last):
            first = self._positions[key].pop()
            self._unneed(first)
            if not self._positions[key]:
                del self._positions[key]
        self._last = []
        if first is not None:
            self.log.take_back(first)

    def done(self, *keys: bytes) -> None:
        """Mark keys whose work is done, and delete the files that only hold such keys.

        Raises OSError when the disk does not take the marks. `tend` writes them then; if the process dies before, the
        work is done once more.
        """
        for key in keys:
            self._forget(key)
            self._unmarked[key] = None
        self._mark()

    def tend(self) -> None:
        """Write the marks that are missing, delete what is not needed, and make room in a bounded journal: a few old
        values in a file keep it, and all after it, on the disk. Raises OSError."""
        self._mark()
        first = min(self._needed, default=self.log.end.segment)
        if self._max_bytes is None or 2 * self.disk_bytes < self._max_bytes or first == self.log.end.segment:
            return
        old = [key for key, found in self._positions.items() if any(each.segment == first for each in found)]
        values = {key: self.read(key) for key in old}
        if 2 * sum(len(value) for each in values.values() for value in each) <= self._segment_bytes:
            for key in old:
                self._move(key, values[key])
            self._mark()

    def relieve(self) -> None:
        """Make what is in the file of now deletable as soon as its keys are done. Raises OSError."""
        self.log.roll()
        self._drop()

    def clear(self) -> None:
        """Delete what the files hold of keys that are done, if all are: their texts need not lie there. Raises
        OSError."""
        if not self._positions and self.log.end.offset:
            self.relieve()

    def adopt(self, folder: StateFolder) -> list[bytes]:
        """Take over what the journals of this name hold in the parts of processes that are gone; returns the keys.
        Raises OSError.

        They are written here, then those files are deleted. A process that dies between the two leaves them twice,
        under the same keys.
        """
        found: list[bytes] = []
        with folder.orphans() as parts:
            for path in (part / self.log.folder.name for part in parts):
                try:
                    files = list(path.glob("*.log"))
                    if files and self.has_room(sum(each.lstat().st_size for each in files)):
                        self._take(path, found)
                except OSError as error:  # what was taken is ours; the rest stays where it is
                    logger.warning("rag-otel: what is in %s cannot be taken over: %s", path, error)
        return found

    def close(self) -> None:
        """Close the files. Safe to call twice."""
        self.log.close()

    def _take(self, path: Path, found: list[bytes]) -> None:
        """Adopt what is in a dead process's journal; adds the keys to `found`."""
        theirs = Journal(path, readable=self._is_value, key_bytes=self._key_bytes, segment_bytes=self._segment_bytes)
        try:
            for key in theirs.keys:
                if key not in self._positions:
                    self._move(key, theirs.read(key))
                    found.append(key)
                theirs.done(key)
            theirs.log.delete()
        finally:
            theirs.close()

    def _move(self, key: bytes, values: list[bytes]) -> None:
        """Write all values of a key anew, at the end of the log: its older files can be deleted then."""
        before = self._positions.pop(key, [])
        try:
            # All or none: `append` is. The first one says that what stood before counts no longer.
            self._write([(_HELD if n else _MOVED, key, value) for n, value in enumerate(values)])
        except OSError:
            self._positions[key] = before
            raise
        for position in before:
            self._unneed(position)

    def _write(self, entries: list[tuple[bytes, bytes, bytes]]) -> list[bytes]:
        positions = self.log.append([kind + key + value for kind, key, value in entries])
        keys = [key for _, key, _ in entries]
        for key, position in zip(keys, positions, strict=True):
            self._unmarked.pop(key, None)  # a mark that was written now would be one for what has just come, too
            self._note(key, position)
        return keys

    def _mark(self) -> None:
        # Oldest first only: a mark must not go before what it marks.
        self._drop()
        if self._unmarked:
            self.log.append([_DONE + key for key in self._unmarked])
            self._unmarked.clear()
            self._drop()

    def _drop(self) -> None:
        self.log.drop_before(min(self._needed, default=self.log.end.segment))

    def _note(self, key: bytes, position: Position) -> None:
        self._positions.setdefault(key, []).append(position)
        self._needed[position.segment] += 1

    def _forget(self, key: bytes) -> None:
        for position in self._positions.pop(key, ()):
            self._unneed(position)

    def _unneed(self, position: Position) -> None:
        self._needed[position.segment] -= 1
        if not self._needed[position.segment]:
            del self._needed[position.segment]

    def _value(self, position: Position) -> bytes:
        found = self.log.read(position)
        if found is None:
            raise OSError(f"nothing is at {position}")
        return self._parts(found[0])[2]

    def _parts(self, record: bytes) -> tuple[bytes, bytes, bytes]:
        """Kind, key and value."""
        end = 1 + self._key_bytes
        return record[:1], record[1:end], record[end:]

    def _is_entry(self, record: bytes) -> bool:
        kind, key, value = self._parts(record)
        return len(key) == self._key_bytes and (kind == _DONE or (kind in (_HELD, _MOVED) and self._is_value(value)))
