"""An append-only log in a folder, in files of bounded size: what is in it outlives the process.

An append returns once the operating system has the bytes: they survive the death of the process, and with `fsync` that
of the machine. Files are written by one process only; what an earlier one left is read and never changed. Everything
that is kept on disk in portions is kept in such a log.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from rag_otel.durable.record_format import OVERHEAD, pieces
from rag_otel.durable.segment_files import Position, SegmentFiles
from rag_otel.durable.state_folder import private_folder

_PARTS_A_WRITE: Final = 512
"""Below IOV_MAX, 1024."""


class SegmentLog(SegmentFiles):
    """The files `<number>.log` of a folder. For one process and one thread at a time."""

    def __init__(
        self,
        folder: Path,
        *,
        segment_bytes: int,
        fsync: bool = False,
        readable: Callable[[bytes], bool] | None = None,
    ) -> None:
        """Open or create. Appends go to a new file. Raises OSError where the folder cannot be used.

        `readable` says whether somebody can read the payload of a record that an earlier process left; else it is
        passed over as damaged bytes are.
        """
        private_folder(folder)
        super().__init__(folder, readable=readable)
        self._segment_bytes = segment_bytes
        self._fsync = fsync
        self.trouble: str | None = None
        """What the last write failed with; None after one that worked."""
        self._uncertain = False
        """The file may end in bytes that belong to no record."""
        self._current = self._highest
        self._file = -1
        self.roll()

    @property
    def end(self) -> Position:
        """Where the next record will start."""
        return Position(self._current, self._sizes.get(self._current, 0))

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

    def is_end_of(self, position: Position) -> bool:
        """True when nothing more can come in the file of this position."""
        return position.segment < self._current and position.offset >= self._sizes.get(position.segment, 0)

    def drop_before(self, segment: int) -> None:
        """Delete every file before `segment`; the one being written to stays."""
        try:
            super().drop_before(segment)
        except OSError as error:  # a folder that has become read-only: it is tried again with the next one
            self.trouble = error.strerror or str(error)

    @property
    def is_deleted(self) -> bool:
        """Somebody has deleted the file that is written to: what is appended would be nowhere. `roll` helps."""
        return os.fstat(self._file).st_nlink == 0

    def forget_deleted(self) -> None:
        """Count the files no longer that another process has read and deleted."""
        for number in [each for each in self._sizes if each != self._current and not self._path(each).exists()]:
            del self._sizes[number]
            self._forget(number)

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
        super().close()
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

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
