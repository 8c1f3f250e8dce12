"""The append log of one process: what it observed, for the process that watches for all.

    <folder>/<log>/lock                         held by the writer; the kernel releases it when the process dies
    <folder>/<log>/00000000000000000000.log     segments, named by the position of their first byte

A record is its length and its CRC-32 in hexadecimal, then JSON on one line. A record that was cut or damaged is
skipped. A process writes its own log alone; the leader reads all and deletes what it has no more use for.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from rag_otel.delivery.state_folder import hold, make_folder

SEGMENT_BYTES: Final = 4 * 2**20
MAX_SEGMENTS: Final = 16
"""Of one process, that nobody has read: beyond, the log takes nothing more."""
_HEAD: Final = re.compile(rb"([0-9a-f]{8}) ([0-9a-f]{8}) ")
_HEAD_BYTES: Final = 18
_READ_BYTES: Final = 2**20
_LARGEST: Final = 2**28
"""Bytes of a payload; a larger length is damage."""


def encode_record(payload: bytes) -> bytes:
    """A payload without line feeds as a record."""
    return b"%08x %08x %b\n" % (len(payload), zlib.crc32(payload), payload)


class LogWriter:
    """Appends to a log of its own in `folder`. Not thread-safe."""

    def __init__(self, folder: Path, *, segment_bytes: int = SEGMENT_BYTES, max_segments: int = MAX_SEGMENTS) -> None:
        """Raises OSError."""
        self._segment_bytes, self._max_segments = segment_bytes, max_segments
        self.name = f"{time.time_ns():020d}-{os.getpid()}-{secrets.token_hex(3)}"
        self._path = folder / self.name
        fresh = folder / f".{self.name}"
        make_folder(fresh)
        lock = hold(fresh)  # before others can see the log: one without a writer is deleted
        if lock is None:
            raise OSError(errno.EBUSY, "somebody else holds the lock", str(fresh))
        self._lock: int | None = lock
        fresh.rename(self._path)
        self._end = 0
        self._segment: int | None = None
        self._size = 0

    def append(self, payloads: Sequence[bytes]) -> None:
        """Write records; a record is there as a whole or not at all. Raises OSError: the disk or the log is full."""
        data = b"".join(map(encode_record, payloads))
        segment = self._room_for(len(data))
        try:
            written = os.write(segment, data)
            if written < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._path))
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(segment, self._size)
            raise
        self._end += written
        self._size += written

    def _room_for(self, count: int) -> int:
        if self._segment is not None and self._size + count <= self._segment_bytes:
            if os.fstat(self._segment).st_nlink > 0:
                return self._segment
            raise OSError(errno.ENOENT, "somebody has deleted it", str(self._path))
        if sum(1 for _ in self._path.glob("*.log")) >= self._max_segments:
            raise OSError(errno.ENOSPC, "nobody has read the log", str(self._path))
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        fresh = os.open(self._path / f"{self._end:020d}.log", flags, 0o600)
        if self._segment is not None:
            os.close(self._segment)
        self._segment, self._size = fresh, 0
        return fresh

    def close(self) -> None:
        """Release the log: whoever reads it deletes it when it has been read. Safe to call twice."""
        for descriptor in (self._segment, self._lock):
            if descriptor is not None:
                os.close(descriptor)
        self._segment = self._lock = None


class LogReader:
    """Reads the log of one process, and deletes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name

    def read(self, position: int, *, limit: int = _READ_BYTES) -> tuple[list[tuple[int, bytes]], int, bool]:
        """Records from `position` on, each with the position after it; the position after all that was looked at; and
        whether more may be there than the `limit` of bytes."""
        segments = self._segments()
        records: list[tuple[int, bytes]] = []
        for index, (start, path) in enumerate(segments):
            last = index + 1 == len(segments)
            if not last and segments[index + 1][0] <= position:
                continue
            position = max(position, start)
            with open(path, "rb") as file:
                file.seek(position - start)
                data = file.read(limit)
            used = 0
            for end, payload in _records(data):
                used = end
                if payload is not None:
                    records.append((position + end, payload))
            full = len(data) >= limit
            if full and not used:  # a record that is larger than the limit
                return self.read(position, limit=limit * 4)
            position += used
            if full:
                return records, position, True
            if not last:  # what is left of this segment was cut
                position = segments[index + 1][0]
            elif used < len(data) and self.abandoned():
                position += len(data) - used
        return records, position, False

    def abandoned(self) -> bool:
        """True when the writer has gone."""
        try:
            held = hold(self.path)
        except OSError:
            return True
        if held is None:
            return False
        os.close(held)
        return True

    def forget(self, position: int) -> bool:
        """Delete the segments before `position`; the whole log where its writer has gone and all was read (True)."""
        segments = self._segments()
        for index, (_, path) in enumerate(segments[:-1]):
            if segments[index + 1][0] <= position:
                path.unlink(missing_ok=True)
        end = segments[-1][0] + segments[-1][1].stat().st_size if segments else 0
        if position < end or not self.abandoned():
            return False
        shutil.rmtree(self.path, ignore_errors=True)
        return True

    def _segments(self) -> list[tuple[int, Path]]:
        try:
            names = sorted(each for each in os.listdir(self.path) if each.endswith(".log"))
        except FileNotFoundError:
            return []
        return [(int(name.removesuffix(".log")), self.path / name) for name in names]


def logs_in(folder: Path) -> list[LogReader]:
    """The logs of all processes, living and dead."""
    try:
        names = sorted(each for each in os.listdir(folder) if not each.startswith("."))
    except FileNotFoundError:
        return []
    return [LogReader(folder / name) for name in names]


def _records(data: bytes) -> Iterator[tuple[int, bytes | None]]:
    """(end, payload) of each whole record; None for what is damaged. What may still be being written is left."""
    at = 0
    while at < len(data):
        head = _HEAD.match(data, at)
        length = int(head[1], 16) if head else 0
        if head and length <= _LARGEST:
            end = at + _HEAD_BYTES + length + 1
            if end > len(data):
                return
            payload = data[at + _HEAD_BYTES : end - 1]
            if data[end - 1 : end] == b"\n" and zlib.crc32(payload) == int(head[2], 16):
                yield end, payload
                at = end
                continue
        after = data.find(b"\n", at) + 1
        if not after:
            return
        yield after, None
        at = after
