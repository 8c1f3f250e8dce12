"""How a record stands in a file, and where the next whole one starts after damage.

A record is a header (length and CRC-32 of what follows, little endian), a mark that is the same in every record, and
the payload. The mark is what a search looks for when a length cannot be believed: a flipped byte costs one record, not
the rest of its file.
"""

from __future__ import annotations

import struct
import zlib
from typing import Final, NamedTuple, TypeAlias

HEADER: Final = struct.Struct("<II")
_MARK: Final = b"\xf7\xe3rag\xc5\x9e\x01"
"""No request in protobuf and no journal entry starts so, and no text has it inside."""
_MARK_CRC: Final = zlib.crc32(_MARK)
OVERHEAD: Final = HEADER.size + len(_MARK)
"""Bytes that a record takes beside its payload."""
_MAX_SEARCHED: Final = 256 * 2**20
"""Bytes whose checksum one search computes at most: what looks like a record may claim to be long, again and again."""
Bytes: TypeAlias = bytes | memoryview


class Record(NamedTuple):
    """A whole record that was found."""

    payload: bytes
    start: int
    end: int


def pieces(payload: bytes) -> tuple[bytes, bytes]:
    """What is written for a payload, in two pieces, so that it is not copied."""
    return HEADER.pack(len(_MARK) + len(payload), zlib.crc32(payload, _MARK_CRC)) + _MARK, payload


def record_at(data: Bytes, at: int) -> Record | None:
    """The record that starts at `at`; None where none that is whole does."""
    body = at + HEADER.size
    if at < 0 or body > len(data):
        return None
    length, checksum = HEADER.unpack(data[at:body])
    # Eight zero bytes would be an empty record with a right checksum; there are no empty records.
    if not 0 < length <= len(data) - body or zlib.crc32(data[body : body + length]) != checksum:
        return None
    if data[body : body + len(_MARK)] != _MARK:
        return None
    return Record(bytes(data[body + len(_MARK) : body + length]), at, body + length)


def next_record(data: bytes, at: int) -> Record | None:
    """The first whole record after the damaged one at `at`; None where there is none any more.

    Its own length is tried first: a byte that is wrong in a payload leaves the length right. Then the marks are.
    """
    view = memoryview(data)
    if at + HEADER.size <= len(data):
        following = at + HEADER.size + HEADER.unpack(view[at : at + HEADER.size])[0]
        if (found := record_at(view, following)) is not None:
            return found
    searched, mark = 0, data.find(_MARK, at + 1)
    while mark >= 0 and searched < _MAX_SEARCHED:
        start = mark - HEADER.size
        if start > at:
            if (found := record_at(view, start)) is not None:
                return found
            searched += min(HEADER.unpack(view[start:mark])[0], len(data) - mark)
        mark = data.find(_MARK, mark + 1)
    return None
