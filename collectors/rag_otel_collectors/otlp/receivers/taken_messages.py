"""Which messages of a topic this collector has taken, so that none is taken twice after a kill.

A commit follows a moment after a message was taken. A process that is killed in between reads the message again, while
its spans are in the data folder already. So each message that was taken is noted there, by partition, offset and
checksum: a topic that was deleted and made anew has the offsets again, but not the contents.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from collections import OrderedDict
from pathlib import Path
from typing import Final

from rag_otel.durable.folders import private_folder

_MAX_BYTES: Final = 256 * 2**10
"""Of one file; there are two."""
_REMEMBERED: Final = 20_000


class TakenMessages:
    """The last messages of one topic, about 10,000 at least. Belongs to the event loop's thread."""

    def __init__(self, folder: Path, topic: str) -> None:
        """Raises OSError."""
        private_folder(folder)
        self._path = folder / f"{topic}.taken"
        self._older = folder / f"{topic}.taken.older"
        self._known: OrderedDict[tuple[int, int], int] = OrderedDict()
        """(partition, offset) -> checksum; the oldest first."""
        for path in (self._older, self._path):
            self._load(path)
        self._file = _open(self._path)
        self._size = os.fstat(self._file).st_size

    def has(self, partition: int, offset: int, content: bytes) -> bool:
        """True for a message that was taken."""
        checksum = self._known.get((partition, offset))
        return checksum is not None and checksum == zlib.crc32(content)

    def add(self, partition: int, offset: int, content: bytes) -> None:
        """Note a message. Raises OSError; then it may be taken again after a kill."""
        checksum = zlib.crc32(content)
        self._remember(partition, offset, checksum)
        if self._size > _MAX_BYTES:
            self._begin_file()
        self._size += os.write(self._file, f"{partition} {offset} {checksum:08x}\n".encode("ascii"))

    def close(self) -> None:
        """Safe to call twice."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _begin_file(self) -> None:
        with contextlib.suppress(FileNotFoundError):  # it was moved before, and the new one could not be opened
            os.replace(self._path, self._older)
        fresh = _open(self._path)
        os.close(self._file)
        self._file, self._size = fresh, 0

    def _load(self, path: Path) -> None:
        with contextlib.suppress(FileNotFoundError):
            for line in path.read_bytes().splitlines():
                with contextlib.suppress(ValueError):  # the last line of a process that was killed
                    partition, offset, checksum = line.split()
                    self._remember(int(partition), int(offset), int(checksum, 16))

    def _remember(self, partition: int, offset: int, checksum: int) -> None:
        self._known[partition, offset] = checksum
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)


def _open(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
