"""The files of a log, for reading: what is in them, record by record, and past what is damaged.

    <folder>/0000000001.log, 0000000002.log, ...

What cannot be read is passed over: copied to a folder beside the log, counted and logged. `SegmentLog` is the one that
writes; another process may read along (`growing`).
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from rag_otel.durable.damage import Damage
from rag_otel.durable.record_format import HEADER, OVERHEAD, next_record, record_at

_SUFFIX: Final = ".log"
_NAME: Final = re.compile(r"[0-9]{10,18}\.log")
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


class SegmentFiles:
    """The files `<number>.log` of a folder as they are now. For one thread at a time."""

    def __init__(
        self,
        folder: Path,
        *,
        damaged: Path | None = None,
        readable: Callable[[bytes], bool] | None = None,
        growing: bool = False,
    ) -> None:
        """Take up the files that are there. Raises OSError where the folder cannot be read.

        `damaged` is where damaged bytes are copied to, by default a folder beside the log. `readable` says whether
        somebody can read a payload; else it is passed over as damaged bytes are. With `growing` another process writes
        the log: what is not whole at its end may become so, and is waited for.
        """
        self._folder = folder
        self._readable = readable
        self.growing = growing
        self.damage = Damage(folder, damaged)
        self._open_files: dict[int, int] = {}
        self._sizes: dict[int, int] = {}
        self._highest = 0
        """The highest number that is taken, by a file or by anything else."""
        self._left_alone: set[Path] = set()
        self.refresh()
        self._last_found = max(self._sizes, default=0)
        """The last file that was there at first."""

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
        return Position(min(self._sizes, default=0), 0)

    @property
    def end(self) -> Position:
        """Where the next record will start, as far as is known."""
        last = max(self._sizes, default=0)
        return Position(last, self._sizes.get(last, 0))

    def refresh(self) -> None:
        """Look which files there are and how long they are. What is not ours stays where it is. Raises OSError."""
        found: dict[int, int] = {}
        for path in sorted(self._folder.glob(f"*{_SUFFIX}")):
            number = int(path.stem) if _NAME.fullmatch(path.name) else 0
            self._highest = max(self._highest, number)
            if path in self._left_alone:
                continue
            if not number or path != self._path(number):
                self._leave_alone(path, "its name is none of ours")
            elif (size := self._size_of(path)) is not None:
                found[number] = size
        for number in self._sizes.keys() - found.keys():
            self._forget(number)
        self._sizes = found

    def read(self, position: Position) -> tuple[bytes, Position] | None:
        """The first readable record at or after `position` and where the next one starts; None at the end of the log.

        Raises OSError when the disk cannot be read at all.
        """
        found = self._find(position)
        return None if found is None else found[1:]

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

    def drop_before(self, segment: int) -> None:
        """Delete every file before `segment`, but not the last one. Raises OSError."""
        for number in sorted(each for each in self._sizes if each < min(segment, self.end.segment)):
            self._path(number).unlink(missing_ok=True)
            del self._sizes[number]
            self._forget(number)

    def drop_oldest(self, *, kept_bytes: int) -> None:
        """Delete the oldest files, as long as so many bytes stay. Raises OSError."""
        size = self.disk_bytes
        for number in sorted(self._sizes):
            size -= self._sizes[number]
            if size < kept_bytes:
                self.drop_before(number)
                return

    def close(self) -> None:
        """Close the files; nothing is deleted. Safe to call twice."""
        for file in self._open_files.values():
            os.close(file)
        self._open_files.clear()

    # --- records ------------------------------------------------------------------------------------------------------

    def _find(self, position: Position) -> tuple[Position, bytes, Position] | None:
        """Where the first readable record at or after `position` starts, its payload and where the next one starts."""
        while position < self.end:
            if position.segment in self._sizes and position.offset < self._sizes[position.segment]:
                try:
                    if (found := self._record(position)) is not None:
                        return position, *found
                    following = self._after_damage(position)
                except OSError as error:
                    raise _UnreadableFileError(error, position.segment) from None
                if following is None:
                    return None
                position = following
            else:
                later = [number for number in self._sizes if number > position.segment]
                position = Position(min(later, default=self.end.segment), 0)
        return None

    def _record(self, position: Position) -> tuple[bytes, Position] | None:
        """The record at a position and where it ends; None where none that is whole starts."""
        file, at = self._file_of(position.segment), position.offset
        header = os.pread(file, HEADER.size, at)
        if len(header) < HEADER.size:
            return None
        size = HEADER.size + HEADER.unpack(header)[0]
        if size > self._sizes[position.segment] - at:  # a damaged length may claim gigabytes
            return None
        data = os.pread(file, size, at)
        if (found := record_at(memoryview(data), 0)) is None:
            return None
        if position.segment <= self._last_found and self._readable is not None and not self._readable(found.payload):
            self.damage.found(self._path(position.segment), position.segment, at, data)
            return None
        return found.payload, Position(position.segment, at + size)

    def _after_damage(self, position: Position) -> Position | None:
        """Where to go on after damage that starts at a position; None where it may not be damage."""
        segment, start = position
        known = self.damage.end(segment, start)
        if known is None:
            size = self._sizes[segment]
            data = os.pread(self._file_of(segment), size, 0)
            found = next_record(data, start)
            if found is None and self.growing and segment == self.end.segment:
                return None
            known = size if found is None else found.start
            self.damage.found(self._path(segment), segment, start, data[start:known])
        return Position(segment, known)

    # --- files --------------------------------------------------------------------------------------------------------

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:010}{_SUFFIX}"

    def _file_of(self, segment: int) -> int:
        if segment not in self._open_files:
            while len(self._open_files) >= _MAX_READERS:
                os.close(self._open_files.pop(next(iter(self._open_files))))
            self._open_files[segment] = os.open(self._path(segment), os.O_RDONLY | os.O_CLOEXEC)
        return self._open_files[segment]

    def _forget(self, number: int) -> None:
        """A file is gone."""
        if (file := self._open_files.pop(number, None)) is not None:
            os.close(file)
        self.damage.forget(number)

    def _size_of(self, path: Path) -> int | None:
        """The size of a file that can be opened; None, said in the log, for what cannot."""
        try:
            if not stat.S_ISREG(path.lstat().st_mode):  # a pipe would be waited for
                self._leave_alone(path, "it is no file")
                return None
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                return os.fstat(file).st_size
            finally:
                os.close(file)
        except FileNotFoundError:  # deleted by who has read it
            return None
        except OSError as error:
            self._leave_alone(path, error.strerror)
            return None

    def _leave_alone(self, path: Path, why: object) -> None:
        if path not in self._left_alone:
            self._left_alone.add(path)
            self.damage.unreadable(path, why)
