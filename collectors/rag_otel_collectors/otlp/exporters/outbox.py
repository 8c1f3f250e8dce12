"""What waits to be forwarded: one log on disk, read by every backend at its own pace.

A request is in the log before its sender is told that it was accepted, and stays until every backend has taken it, so
a backend that is away, and a collector that is killed, lose nothing. Each backend's place in the log is kept in a
small file; after a crash it may be a moment old, and what was delivered since then is delivered again.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import struct
import zlib
from collections import deque
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from rag_otel.durable.segment_files import Position
from rag_otel.durable.segments import SegmentLog
from rag_otel.durable.state_folder import private_folder
from rag_otel.safety.guard import logger
from rag_otel_collectors.otlp.requests.wire import is_request

_CURSOR: Final = struct.Struct("<QQI")


class Batch(NamedTuple):
    """Some records of the log, in its order."""

    requests: tuple[bytes, ...]
    """Serialised export requests; written after one another they are one request."""
    end: Position
    """Where the next batch starts."""


class Outbox:
    """The log and its readers. All methods belong to the event loop's thread."""

    def __init__(
        self,
        folder: Path,
        readers: Sequence[str],
        *,
        segment_bytes: int = 16 * 2**20,
        recent_bytes: int = 32 * 2**20,
        fsync: bool = False,
        readable: Callable[[bytes], bool] = is_request,
    ) -> None:
        """`readers` are the names of the backends. At most `recent_bytes` of what was written last are also kept in
        memory, so that readers who keep up read no file. `readable` recognises a record; by default export requests."""
        private_folder(folder)
        self.log: Final = SegmentLog(folder / "log", segment_bytes=segment_bytes, fsync=fsync, readable=readable)
        self._recent: dict[Position, bytes] = {}
        self._recent_bytes = 0
        self._max_recent_bytes = recent_bytes
        self._grown = asyncio.Event()
        self.readers = {name: Reader(self, folder / f"{name}.cursor") for name in readers}

    @property
    def disk_bytes(self) -> int:
        """How much disk the log takes."""
        return self.log.disk_bytes

    @property
    def start(self) -> Position:
        """Where the oldest record starts."""
        return self.log.start

    @property
    def end(self) -> Position:
        """Where the next record will start."""
        return self.log.end

    def append(self, request: bytes) -> None:
        """Keep a serialised request until every backend has taken it. Raises OSError when the disk does not."""
        (position,) = self.log.append([request])
        self._recent[position] = request
        self._recent_bytes += len(request)
        while self._recent_bytes > self._max_recent_bytes:
            self._forget_recent()
        self.look_again()

    async def grown(self) -> None:
        """Wait for the next `append`."""
        await self._grown.wait()

    def read(self, position: Position) -> tuple[bytes, Position] | None:
        """The first readable record at or after `position` and where the next one starts; None at the end of the log.

        Raises OSError when the disk cannot be read.
        """
        recent = self._recent.get(position)
        return self.log.read(position) if recent is None else (recent, self.log.after(position, recent))

    def look_again(self) -> None:
        """Wake the readers that wait: one of them has gone back."""
        self._grown.set()
        self._grown.clear()

    def forget_taken(self) -> None:
        """Delete what all readers have taken."""
        low = min(reader.committed for reader in self.readers.values())
        self.log.drop_before(low.segment + self.log.is_end_of(low))
        while self._recent and next(iter(self._recent)) < low:
            self._forget_recent()

    def tend(self) -> None:
        """Write down the places that the disk did not take. Raises OSError."""
        for reader in self.readers.values():
            reader.save()

    def relieve(self) -> None:
        """Make what is in the file of now deletable as soon as it is taken. Raises OSError."""
        self.log.roll()
        self.forget_taken()

    def close(self) -> None:
        """Write every reader's place down and close the files. Safe to call twice."""
        for reader in self.readers.values():
            reader.close()
        self.log.close()

    def _forget_recent(self) -> None:
        self._recent_bytes -= len(self._recent.pop(next(iter(self._recent))))


class Delivered(NamedTuple):
    """A batch that a backend took, and may have to be given again."""

    end: Position
    mark: bytes
    """The span that tells, once the backend has it, that the batch is stored. Empty: it is, once all before it are."""


class Reader:
    """One backend's place in the log: what is before `committed` is delivered for good, what is before `_next` is
    delivered, and may have to be delivered again."""

    def __init__(self, outbox: Outbox, cursor: Path) -> None:
        self._outbox = outbox
        self._file = _open_cursor(cursor)
        self._unsaved = False
        self.committed = self._load() or outbox.start
        if self.committed > outbox.end:  # the log was deleted and begun anew
            self.committed = outbox.start
        self._commit(self.committed)  # the space of the file is taken before the disk is full
        self._next = self.committed
        self.unconfirmed: deque[Delivered] = deque()
        """What was delivered and is not given up yet, in the log's order."""
        self._ends: deque[Position] = deque()
        """Where the batches ended that are to be delivered again: they keep their bounds, so that a mark that was
        stored the first time stands for no more than it did then."""
        self.rewinds = 0
        """How often what was delivered was taken back."""

    async def next(self, max_bytes: int) -> Batch:
        """Wait for the next records: as many as there are, of at most `max_bytes` together but at least one.

        The same ones again until they are reported as delivered. Raises OSError when the disk cannot be read.
        """
        while (batch := self._peek(max_bytes)) is None:
            await self._outbox.grown()
        return batch

    @property
    def idle(self) -> bool:
        """True when everything in the log is delivered."""
        return self._next >= self._outbox.end or self._outbox.read(self._next) is None

    @property
    def confirmed(self) -> bool:
        """True when nothing that was delivered waits for its mark."""
        return not self.unconfirmed

    def delivered(self, end: Position, *, mark: bytes = b"") -> None:
        """Everything before `end` is delivered. With a mark, `rewind` can take that back until `confirm` is told that
        the mark is stored."""
        self._next = end
        while self._ends and self._ends[0] <= end:
            self._ends.popleft()
        self.unconfirmed.append(Delivered(end, mark))
        self.confirm(())

    def confirm(self, stored: Collection[bytes]) -> int:
        """Give up what the backend has stored, as far as nothing before it is missing; returns how many batches."""
        gone = 0
        while self.unconfirmed and (not self.unconfirmed[0].mark or self.unconfirmed[0].mark in stored):
            self._commit(self.unconfirmed.popleft().end)
            gone += 1
        if gone:
            self._outbox.forget_taken()
        return gone

    def rewind(self) -> int:
        """Deliver again what was not given up yet; returns how many batches those were."""
        again = len(self.unconfirmed)
        if not again:
            return 0
        self._ends.extendleft(each.end for each in reversed(self.unconfirmed))
        self.unconfirmed.clear()
        self._next = self.committed
        self.rewinds += 1
        self._outbox.look_again()
        return again

    def close(self) -> None:
        """What waits for its mark is delivered again by the next process. Safe to call twice."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _peek(self, max_bytes: int) -> Batch | None:
        requests: list[bytes] = []
        size, at = 0, self._next
        while (found := self._outbox.read(at)) is not None:
            request, following = found
            if requests and (size + len(request) > max_bytes or (self._ends and at == self._ends[0])):
                break
            requests.append(request)
            size, at = size + len(request), following
        return Batch(tuple(requests), at) if requests else None

    def save(self) -> None:
        """Write the place down, where it is not. Raises OSError: the next process would deliver again what was
        delivered since the last time."""
        if not self._unsaved or self._file < 0:
            return
        record = struct.pack("<QQ", *self.committed)
        if os.pwrite(self._file, record + struct.pack("<I", zlib.crc32(record)), 0) < _CURSOR.size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._unsaved = False

    def _commit(self, position: Position) -> None:
        """Note the place. That the disk does not take it stops nobody: it is tried again by `save`."""
        self.committed, self._unsaved = position, True
        with contextlib.suppress(OSError):
            self.save()

    def _load(self) -> Position | None:
        record = os.pread(self._file, _CURSOR.size, 0)
        if len(record) < _CURSOR.size or zlib.crc32(record[:16]) != _CURSOR.unpack(record)[2]:
            return None
        segment, offset, _ = _CURSOR.unpack(record)
        return Position(segment, offset)


def _open_cursor(path: Path) -> int:
    """The file of a place in the log. What stands there and is no file is renamed: it prevents no start."""
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    if path.exists() and not path.is_file():
        logger.error("rag-otel: %s is no file and is set aside", path)
        path.replace(path.with_name(f"{path.name}.unreadable"))
    file = os.open(path, flags, 0o600)
    os.fchmod(file, 0o600)
    return file
