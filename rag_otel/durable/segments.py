"""An append-only log in a folder, in files of bounded size: what is in it outlives the process.

An append returns once the operating system has the bytes: they survive the death of the process, and with `fsync` that
of the machine. Files are written by one process only; what an earlier one left is read and never changed.
The collector's queues and the application's spool are such logs.

What cannot be read is passed over: copied to the folder `damaged` beside the log, counted and logged.
"""

from __future__ import annotations

import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from rag_otel.durable.damage import Damage
from rag_otel.durable.folders import private_folder
from rag_otel.durable.record_format import HEADER, OVERHEAD, content, next_record, pieces
from rag_otel.safety.guard import logger

_SUFFIX: Final = ".log"
_NAME: Final = re.compile(r"[0-9]{10,18}\.log")
_PARTS_A_WRITE: Final = 512
"""Below IOV_MAX, 1024."""
_MAX_READERS: Final = 8
"""Files that are kept open for reading."""


class Position(NamedTuple):
    """Where a record starts: the number of its file and the offset in it. Positions are ordered as the log is."""

    segment: int
    offset: int


class _UnreadableFileError(OSError):
    """The disk does not give what is in a file."""

    def __init__(self, error: OSError, segment: int) -> None:
        super().__init__(error.errno, error.strerror)
        self.segment = segment


class SegmentLog:
    """The files `<number>.log` of a folder. For one process and one thread at a time."""

    def __init__(
        self, folder: Path, *, segment_bytes: int, fsync: bool = False, readable: Callable[[bytes], bool] | None = None
    ) -> None:
        """Open or create. Appends go to a new file. Raises OSError where the folder cannot be used.

        `readable` says whether somebody can read the payload of a record that an earlier process left; else it is
        passed over as damaged bytes are.
        """
        private_folder(folder)
        self._folder = folder
        self._segment_bytes = segment_bytes
        self._fsync = fsync
        self.damage = Damage(folder)
        self.trouble: str | None = None
        """What the last write failed with; None after one that worked."""
        self._uncertain = False
        """The file may end in bytes that belong to no record."""
        self._readers: dict[int, int] = {}
        self._sizes: dict[int, int] = {}
        self._readable = readable
        self._current = self._left = self._find_files()
        """The file that is written to, and the last one of an earlier process."""
        self._file = -1
        self.roll()

    @property
    def disk_bytes(self) -> int:
        """The size of all files together."""
        return sum(self._sizes.values())

    @property
    def folder(self) -> Path:
        """Where the files are."""
        return self._folder

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
        try:
            if self._uncertain or self._sizes[self._current] >= self._segment_bytes:
                self.roll()
            return self._append(payloads)
        except OSError as error:
            self.trouble = error.strerror or str(error)
            raise

    def take_back(self, position: Position) -> None:
        """Undo the last append, whose first record is at `position`."""
        self._cut(position.offset)

    def read(self, position: Position) -> tuple[bytes, Position] | None:
        """The first readable record at or after `position` and where the next one starts; None at the end of the log.

        Raises OSError when the disk cannot be read at all.
        """
        found = self._find(position)
        return None if found is None else found[1:]

    def _find(self, position: Position) -> tuple[Position, bytes, Position] | None:
        """Where the first readable record at or after `position` starts, its payload and where the next one starts."""
        while position < self.end:
            if position.segment in self._sizes and position.offset < self._sizes[position.segment]:
                try:
                    if (found := self._record(position)) is not None:
                        return position, *found
                    position = self._after_damage(position)
                except OSError as error:
                    raise _UnreadableFileError(error, position.segment) from None
            else:
                later = [number for number in self._sizes if number > position.segment]
                position = Position(min(later, default=self._current), 0)
        return None

    def records(self) -> Iterator[tuple[bytes, Position]]:
        """Every readable record, oldest first, and where it starts. A file that the disk does not give is left
        alone."""
        position = self.start
        while True:
            try:
                found = self._find(position)
            except _UnreadableFileError as error:
                self._leave_alone(self._path(error.segment), error.strerror)
                del self._sizes[error.segment]
                continue
            if found is None:
                return
            start, payload, position = found
            yield payload, start

    @staticmethod
    def after(position: Position, payload: bytes) -> Position:
        """Where the record ends that was appended at `position`."""
        return Position(position.segment, position.offset + OVERHEAD + len(payload))

    def is_end_of(self, position: Position) -> bool:
        """True when nothing more can come in the file of this position."""
        return position.segment < self._current and position.offset >= self._sizes.get(position.segment, 0)

    def drop_before(self, segment: int) -> None:
        """Delete every file before `segment`; the one being written to stays."""
        for number in [each for each in self._sizes if each < min(segment, self._current)]:
            if (reader := self._readers.pop(number, None)) is not None:
                os.close(reader)
            try:
                self._path(number).unlink(missing_ok=True)
            except OSError as error:  # a folder that has become read-only: it is tried again with the next one
                self.trouble = error.strerror or str(error)
                return
            del self._sizes[number]
            self.damage.forget(number)

    def roll(self) -> None:
        """Go on in a new file. Raises OSError, after which the log is as it was."""
        number = self._current + 1
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_EXCL
        file = os.open(self._path(number), flags, 0o600)
        if self._file >= 0:
            os.close(self._file)
        self._file, self._current, self._uncertain = file, number, False
        self._sizes[number] = 0

    def delete(self) -> None:
        """Delete the files, with what is in them, and close the log. Raises OSError."""
        self.close()
        for number in sorted(self._sizes):
            self._path(number).unlink(missing_ok=True)
        self._sizes = {self._current: 0}

    def close(self) -> None:
        """Close the files; nothing is deleted. Safe to call twice."""
        for file in (*self._readers.values(), self._file):
            if file >= 0:
                os.close(file)
        self._readers.clear()
        self._file = -1

    # --- writing ------------------------------------------------------------------------------------------------------

    def _append(self, payloads: Sequence[bytes]) -> list[Position]:
        size = self._sizes[self._current]
        parts: list[bytes] = []
        positions, end = [], size
        for payload in payloads:
            positions.append(Position(self._current, end))
            parts += pieces(payload)
            end += OVERHEAD + len(payload)
        try:
            self._write(parts)
        except OSError:
            self._cut(size)
            raise
        self._sizes[self._current] = end
        self.trouble = None
        return positions

    def _write(self, parts: list[bytes]) -> None:
        for first in range(0, len(parts), _PARTS_A_WRITE):
            portion = parts[first : first + _PARTS_A_WRITE]
            wanted = sum(map(len, portion))
            written = os.writev(self._file, portion)
            if written < wanted:  # only a disk that is filling up writes less than it was given
                rest = b"".join(portion)[written:]
                while rest:
                    rest = rest[os.write(self._file, rest) :]
        if self._fsync:
            os.fdatasync(self._file)

    def _cut(self, size: int) -> None:
        self._sizes[self._current] = size
        try:
            os.ftruncate(self._file, size)
        except OSError:
            self._uncertain = True

    # --- reading ------------------------------------------------------------------------------------------------------

    def _record(self, position: Position) -> tuple[bytes, Position] | None:
        """The record at a position and where it ends; None where none that is whole starts."""
        file, at = self._reader(position.segment), position.offset
        header = os.pread(file, HEADER.size, at)
        if len(header) < HEADER.size:
            return None
        length, checksum = HEADER.unpack(header)
        if not 0 < length <= self._sizes[position.segment] - at - HEADER.size:
            return None
        body = os.pread(file, length, at + HEADER.size)
        if zlib.crc32(body) != checksum:
            return None
        payload = content(body)
        if position.segment <= self._left and self._readable is not None and not self._readable(payload):
            self.damage.found(self._path(position.segment), position.segment, at, header + body)
            return None
        return payload, Position(position.segment, at + HEADER.size + length)

    def _after_damage(self, position: Position) -> Position:
        """Where to go on after damage that starts at a position."""
        known = self.damage.end(position.segment, position.offset)
        if known is None:
            size = self._sizes[position.segment]
            data = os.pread(self._reader(position.segment), size, 0)
            found = next_record(data, position.offset)
            known = size if found is None else found.start
            self.damage.found(
                self._path(position.segment), position.segment, position.offset, data[position.offset : known]
            )
        return Position(position.segment, known)

    def _reader(self, segment: int) -> int:
        if segment not in self._readers:
            while len(self._readers) >= _MAX_READERS:
                os.close(self._readers.pop(next(iter(self._readers))))
            self._readers[segment] = os.open(self._path(segment), os.O_RDONLY | os.O_CLOEXEC)
        return self._readers[segment]

    # --- what is there at the start -----------------------------------------------------------------------------------

    def _find_files(self) -> int:
        """Take up the files that are there; returns the highest number that is taken. What is not ours stays."""
        highest = 0
        for path in sorted(self._folder.glob(f"*{_SUFFIX}")):
            number = int(path.stem) if _NAME.fullmatch(path.name) else 0
            highest = max(highest, number)
            if number and path == self._path(number):
                self._take_up(path, number)
            else:
                self._leave_alone(path, "its name is none of ours")
        return highest

    def _take_up(self, path: Path, number: int) -> None:
        try:
            if not stat.S_ISREG(path.lstat().st_mode):  # a pipe would be waited for
                self._leave_alone(path, "it is no file")
                return
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                self._sizes[number] = os.fstat(file).st_size
            finally:
                os.close(file)
        except OSError as error:
            self._leave_alone(path, error.strerror)

    def _leave_alone(self, path: Path, why: object) -> None:
        self.damage.unreadable_files += 1
        logger.error("rag-otel: %s is left where it is and not read: %s", path, why)

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:010}{_SUFFIX}"
