"""Which messages of a topic this collector has taken, so that none is taken twice after a kill.

A commit follows a moment after a message was taken. A process that is killed in between reads the message again, while
its spans are in the data folder already. So each message that was taken is noted there, by partition, offset and
checksum: a topic that was deleted and made anew has the offsets again, but not the contents.
"""

from __future__ import annotations

import struct
import zlib
from collections import OrderedDict
from pathlib import Path
from typing import Final

from rag_otel.durable.segments import SegmentLog

_NOTE: Final = struct.Struct("<iqI")
_BYTES: Final = 320 * 2**10
"""About 10,000 messages: of one file, and of what is kept beside it."""
_REMEMBERED: Final = 20_000


class TakenMessages:
    """The last messages of one topic, about 10,000 at least. Belongs to the event loop's thread."""

    def __init__(self, folder: Path, topic: str) -> None:
        """Raises OSError."""
        self._log = SegmentLog(folder / topic, segment_bytes=_BYTES, readable=_is_note)
        self._known: OrderedDict[tuple[int, int], int] = OrderedDict()
        """(partition, offset) -> checksum; the oldest first."""
        for note, _ in self._log.records():
            self._remember(*_NOTE.unpack(note))

    def has(self, partition: int, offset: int, content: bytes) -> bool:
        """True for a message that was taken."""
        checksum = self._known.get((partition, offset))
        return checksum is not None and checksum == zlib.crc32(content)

    def add(self, partition: int, offset: int, content: bytes) -> None:
        """Note a message. Raises OSError; then it may be taken again after a kill."""
        checksum = zlib.crc32(content)
        self._remember(partition, offset, checksum)
        (position,) = self._log.append([_NOTE.pack(partition, offset, checksum)])
        if not position.offset:  # a file was begun
            self._log.drop_oldest(kept_bytes=_BYTES)

    def close(self) -> None:
        """Safe to call twice."""
        self._log.close()

    def _remember(self, partition: int, offset: int, checksum: int) -> None:
        self._known[partition, offset] = checksum
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)


def _is_note(record: bytes) -> bool:
    return len(record) == _NOTE.size
