"""An append-only log in a folder, in files of bounded size: what is in it outlives the process.

A record is a header (length and CRC-32 of the payload) and the payload. An append returns once the operating system
has the bytes: they survive the death of the process, and with `fsync` that of the machine. A record that was being
written when the process died is cut off when the log is opened again.
"""

from __future__ import annotations

import contextlib
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

_HEADER: Final = struct.Struct("<II")
_SUFFIX: Final = ".log"


class Position(NamedTuple):
    """Where a record starts: the number of its file and the offset in it. Positions are ordered as the log is."""

    segment: int
    offset: int


class SegmentLog:
    """The files `<number>.log` of a folder. For one process and one thread at a time."""

    def __init__(self, folder: Path, *, segment_bytes: int, fsync: bool = False) -> None:
        """Open or create. Appends go to a new file, so that what an earlier process left is never written to.

        Raises OSError where the folder cannot be used.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._segment_bytes = segment_bytes
        self._fsync = fsync
        self._sizes = {int(path.stem): path.stat().st_size for path in sorted(folder.glob(f"*{_SUFFIX}"))}
        for number in self._sizes:
            self._cut_torn_end(number)
        self._readers: dict[int, int] = {}
        self._current = max(self._sizes, default=0)
        self._file = -1
        self._roll()

    @property
    def disk_bytes(self) -> int:
        """The size of all files together."""
        return sum(self._sizes.values())

    @property
    def start(self) -> Position:
        """Where the oldest record starts."""
        return Position(min(self._sizes), 0)

    @property
    def end(self) -> Position:
        """Where the next record will start."""
        return Position(self._current, self._sizes[self._current])

    def append(self, payloads: Sequence[bytes]) -> list[Position]:
        """Write records, all of them or none. Raises OSError (a full disk), after which the log is as it was."""
        if self._sizes[self._current] >= self._segment_bytes:
            self._roll()
        size = self._sizes[self._current]
        positions, pieces, end = [], [], size
        for payload in payloads:
            positions.append(Position(self._current, end))
            pieces += [_HEADER.pack(len(payload), zlib.crc32(payload)), payload]
            end += _HEADER.size + len(payload)
        try:
            self._write(pieces, end - size)
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, size)
            raise
        self._sizes[self._current] = end
        return positions

    def read(self, position: Position) -> tuple[bytes, Position] | None:
        """The record at or after `position` and where the next one starts; None at the end of the log."""
        while True:
            if position.segment > self._current or position >= self.end:
                return None
            if position.segment in self._sizes and position.offset < self._sizes[position.segment]:
                return self._record(position)
            later = [number for number in self._sizes if number > position.segment]
            position = Position(min(later, default=self._current), 0)

    def records(self) -> Iterator[tuple[bytes, Position]]:
        """Every record, oldest first, with its own position."""
        position = self.start
        while (found := self.read(position)) is not None:
            payload, following = found
            yield payload, Position(following.segment, following.offset - len(payload) - _HEADER.size)
            position = following

    @staticmethod
    def after(position: Position, payload: bytes) -> Position:
        """Where the record ends that starts at `position`."""
        return Position(position.segment, position.offset + _HEADER.size + len(payload))

    def drop_before(self, segment: int) -> None:
        """Delete every file before `segment`; the one being written to stays."""
        for number in [each for each in self._sizes if each < min(segment, self._current)]:
            with contextlib.suppress(FileNotFoundError):
                self._path(number).unlink()
            del self._sizes[number]
            if (reader := self._readers.pop(number, None)) is not None:
                os.close(reader)

    def close(self) -> None:
        """Close the files; nothing is deleted. Safe to call twice."""
        for file in (*self._readers.values(), self._file):
            if file >= 0:
                os.close(file)
        self._readers.clear()
        self._file = -1

    def _record(self, position: Position) -> tuple[bytes, Position]:
        file = self._reader(position.segment)
        length, checksum = _HEADER.unpack(os.pread(file, _HEADER.size, position.offset))
        payload = os.pread(file, length, position.offset + _HEADER.size)
        if zlib.crc32(payload) != checksum:
            raise OSError(f"{self._path(position.segment)}: damaged at byte {position.offset}")
        return payload, self.after(position, payload)

    def _reader(self, segment: int) -> int:
        if segment not in self._readers:
            self._readers[segment] = os.open(self._path(segment), os.O_RDONLY)
        return self._readers[segment]

    def _write(self, pieces: list[bytes], size: int) -> None:
        # IOV_MAX is 1024; two pieces a record.
        for first in range(0, len(pieces), 512):
            portion = pieces[first : first + 512]
            wanted = sum(map(len, portion))
            written = os.writev(self._file, portion)
            if written < wanted:  # only a disk that is filling up writes less than it was given
                rest = b"".join(portion)[written:]
                while rest:
                    rest = rest[os.write(self._file, rest) :]
        if self._fsync:
            os.fdatasync(self._file)

    def _roll(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._current += 1
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._file = os.open(self._path(self._current), flags, 0o600)
        self._sizes[self._current] = 0

    def _cut_torn_end(self, number: int) -> None:
        """Keep the whole records of a file: a dying process leaves half a one at the end at most."""
        path, at = self._path(number), 0
        with path.open("rb") as file:
            while len(header := file.read(_HEADER.size)) == _HEADER.size:
                length, checksum = _HEADER.unpack(header)
                payload = file.read(length)
                if len(payload) < length or zlib.crc32(payload) != checksum:
                    break
                at += _HEADER.size + length
        if at < self._sizes[number]:
            os.truncate(path, at)
            self._sizes[number] = at

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:010}{_SUFFIX}"
