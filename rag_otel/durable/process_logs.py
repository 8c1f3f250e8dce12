"""A log for each process of a folder, which others read: what the processes of a host observed.

    <folder>/<log>/lock                 held by the writer; the kernel releases it when the process dies
    <folder>/<log>/0000000001.log       the files of a `SegmentLog`

A process writes its own log alone; who reads them deletes what it has no more use for. A position in a log is one
number, because it is kept in the states of those who read: the file's number and the offset in it.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rag_otel.durable.record_format import OVERHEAD
from rag_otel.durable.segment_files import Position, SegmentFiles
from rag_otel.durable.segments import SegmentLog
from rag_otel.durable.state_folder import hold, make_folder

_SEGMENT_BYTES: Final = 4 * 2**20
_MAX_BYTES: Final = 64 * 2**20
"""Of one process, that nobody has read: beyond, the log takes nothing more."""
_READ_BYTES: Final = 2**20
_DAMAGED: Final = "damaged"
"""The folder of damaged bytes, beside that of the logs."""
_OFFSET_BITS: Final = 32


class LogWriter:
    """Appends to a log of its own in `folder`. Not thread-safe."""

    def __init__(self, folder: Path, *, segment_bytes: int = _SEGMENT_BYTES, max_bytes: int = _MAX_BYTES) -> None:
        """Raises OSError."""
        self._max_bytes = max_bytes
        self.name = f"{time.time_ns():020d}-{os.getpid()}-{secrets.token_hex(3)}"
        fresh = folder / f".{self.name}"
        make_folder(fresh)
        lock = hold(fresh)  # before others can see the log: one without a writer is deleted
        if lock is None:
            raise OSError(errno.EBUSY, "somebody else holds the lock", str(fresh))
        self._lock: int | None = lock
        self._path = folder / self.name
        fresh.rename(self._path)
        self._log = SegmentLog(self._path, segment_bytes=segment_bytes)

    def append(self, payloads: Sequence[bytes]) -> list[int]:
        """Write records, all or none; the position after each. Raises OSError: the disk or the log is full, or somebody
        has deleted it."""
        size = sum(map(len, payloads)) + OVERHEAD * len(payloads)
        if self._log.disk_bytes + size > self._max_bytes:
            self._log.forget_deleted()
            if self._log.disk_bytes + size > self._max_bytes:
                raise OSError(errno.ENOSPC, "nobody has read the log", str(self._path))
        if self._log.is_deleted:
            self._log.roll()
        starts = self._log.append(payloads)
        return [_number(SegmentLog.after(start, payload)) for start, payload in zip(starts, payloads, strict=True)]

    def close(self) -> None:
        """Release the log: whoever reads it deletes it when it has been read. Safe to call twice."""
        self._log.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


class LogReader:
    """Reads the log of one process, and deletes it. Not thread-safe."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name
        self._files = SegmentFiles(path, damaged=path.parent.with_name(_DAMAGED), growing=True)

    def read(self, position: int, *, limit: int = _READ_BYTES) -> tuple[list[tuple[int, bytes]], int, bool]:
        """Records from `position` on, each with the position after it; the position after all that was looked at; and
        whether more may be there than the `limit` of bytes. Raises OSError."""
        files = self._files
        files.growing = not self._abandoned()  # before the files are looked at: after that nothing more can come
        files.refresh()
        at, size = _place(position), 0
        records: list[tuple[int, bytes]] = []
        while size < limit and (found := files.read(at)) is not None:
            payload, at = found
            size += len(payload) + OVERHEAD
            records.append((_number(at), payload))
        if size < limit and not files.growing:
            at = max(at, files.end)
        return records, _number(at), size >= limit

    def _abandoned(self) -> bool:
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
        """Delete the files before `position`; the whole log where its writer has gone and all was read (True). Raises
        OSError."""
        gone = self._abandoned()
        self._files.refresh()
        self._files.drop_before(_place(position).segment)
        if not gone or _place(position) < self._files.end:
            return False
        self.close()
        shutil.rmtree(self.path, ignore_errors=True)
        return True

    def close(self) -> None:
        """Close the files. Safe to call twice."""
        self._files.close()


def logs_in(folder: Path) -> list[Path]:
    """The folders of the logs of all processes, living and dead."""
    try:
        found = sorted(each for each in folder.iterdir() if not each.name.startswith("."))
    except FileNotFoundError:
        return []
    return [each for each in found if each.is_dir()]


def _number(place: Position) -> int:
    return place.segment << _OFFSET_BITS | place.offset


def _place(position: int) -> Position:
    return Position(position >> _OFFSET_BITS, position & (1 << _OFFSET_BITS) - 1)
