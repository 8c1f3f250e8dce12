"""What was accepted and waits, on disk: values under keys, and marks that a key is done.

The collector keeps held spans here under their trace id, the application its traces. A value is written before anybody
relies on it; when all work on its key is done, a mark says so. After a crash, what has no mark is taken up again.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from rag_otel.durable.segment_files import Position
from rag_otel.durable.segments import SegmentLog

_HELD: Final = b"H"
_DONE: Final = b"D"
_MOVED: Final = b"M"
"""A held value that was written anew, and the first of its key: what stood before it counts no longer."""
TRACE_ID_BYTES: Final = 16


class Journal:
    """A log of (key, value) and of marks. For one thread at a time."""

    def __init__(
        self,
        folder: Path,
        *,
        readable: Callable[[bytes], bool],
        key_bytes: int = TRACE_ID_BYTES,
        segment_bytes: int = 16 * 2**20,
        fsync: bool = False,
    ) -> None:
        """Open or create; `left` is what an earlier process did not finish. Raises OSError.

        All keys have `key_bytes` bytes. A value that is not `readable` is passed over as damaged bytes are.
        """
        self._key_bytes = key_bytes
        self._is_value = readable
        self.log: Final = SegmentLog(folder, segment_bytes=segment_bytes, fsync=fsync, readable=self._is_entry)
        self._open: defaultdict[int, set[bytes]] = defaultdict(set)
        """Segment -> keys that are written in it and not done."""
        self._unmarked: dict[bytes, None] = {}
        """Keys that are done and have no mark yet: the disk did not take it."""
        self._last: tuple[Position, set[bytes]] = (self.log.end, set())
        """Where the last `held` wrote, and which keys were new in that file."""
        self.left: OrderedDict[bytes, list[Position]] = OrderedDict()
        """Key -> where its values are, the key seen first first."""
        for record, position in self.log.records():
            kind, key, _ = self._parts(record)
            if kind == _MOVED:
                self.left.pop(key, None)
                self._forget(key)
            if kind == _DONE:
                self.left.pop(key, None)
                self._forget(key)
            else:
                self.left.setdefault(key, []).append(position)
                self._open[position.segment].add(key)

    @property
    def disk_bytes(self) -> int:
        """How much disk the log takes."""
        return self.log.disk_bytes

    def held(self, values: Mapping[bytes, bytes]) -> list[Position]:
        """Write one value for each of some keys; returns where they are. Raises OSError when the disk does not take
        them."""
        return self.append(values.items())

    def append(self, values: Iterable[tuple[bytes, bytes]]) -> list[Position]:
        """The same for values of which several may have one key. There must be one at least."""
        return self._write([(_HELD, key, value) for key, value in values])

    def moved(self, key: bytes, values: list[bytes]) -> list[Position]:
        """Write all values of a key anew, at the end of the log: its older files can be deleted then. Raises OSError.

        The values are those that were written before, or others in their place.
        """
        # All or none: `append` is. The first one says that what stood before counts no longer.
        written = self._write([(_HELD if n else _MOVED, key, value) for n, value in enumerate(values)])
        self._forget(key)
        self._open[written[0].segment].add(key)
        return written

    def read(self, position: Position) -> bytes:
        """The value at a position. Raises OSError when it cannot be read any more."""
        found = self.log.read(position)
        if found is None:
            raise OSError(f"nothing is at {position}")
        return self._parts(found[0])[2]

    def take_back(self) -> None:
        """Undo the last `held`: its request is refused."""
        position, fresh = self._last
        self.log.take_back(position)
        self._open[position.segment] -= fresh
        if not self._open[position.segment]:
            del self._open[position.segment]

    def done(self, *keys: bytes) -> None:
        """Mark keys whose work is done, and delete the files that only hold such keys.

        Raises OSError when the disk does not take the marks. `tend` writes them then; if the process dies before, the
        work is done once more.
        """
        for key in keys:
            self._forget(key)
            self._unmarked[key] = None
        self.tend()

    def tend(self) -> None:
        """Write the marks that are missing, delete what is not needed. Raises OSError."""
        # Oldest first only: a mark must not go before what it marks.
        self.log.drop_before(min(self._open, default=self.log.end.segment))
        if self._unmarked:
            self.log.append([_DONE + key for key in self._unmarked])
            self._unmarked.clear()
            self.log.drop_before(min(self._open, default=self.log.end.segment))

    def relieve(self) -> None:
        """Make what is in the file of now deletable as soon as its keys are done. Raises OSError."""
        self.log.roll()
        self.log.drop_before(min(self._open, default=self.log.end.segment))

    def oldest(self) -> frozenset[bytes]:
        """The keys that keep the oldest file, where that is not the one being written to."""
        first = min(self._open, default=self.log.end.segment)
        return frozenset(self._open[first]) if first < self.log.end.segment else frozenset()

    def close(self) -> None:
        """Close the files. Safe to call twice."""
        self.log.close()

    def _write(self, entries: list[tuple[bytes, bytes, bytes]]) -> list[Position]:
        positions = self.log.append([kind + key + value for kind, key, value in entries])
        segment, keys = positions[0].segment, {key for _, key, _ in entries}
        self._last = positions[0], keys - self._open[segment]
        self._open[segment].update(keys)
        for key in keys:  # a mark that was written now would be one for what has just come, too
            self._unmarked.pop(key, None)
        return positions

    def _forget(self, key: bytes) -> None:
        for segment in [each for each, open_keys in self._open.items() if key in open_keys]:
            self._open[segment].discard(key)
            if not self._open[segment]:
                del self._open[segment]

    def _parts(self, record: bytes) -> tuple[bytes, bytes, bytes]:
        """Kind, key and value."""
        end = 1 + self._key_bytes
        return record[:1], record[1:end], record[end:]

    def _is_entry(self, record: bytes) -> bool:
        kind, key, value = self._parts(record)
        return len(key) == self._key_bytes and (kind == _DONE or (kind in (_HELD, _MOVED) and self._is_value(value)))
