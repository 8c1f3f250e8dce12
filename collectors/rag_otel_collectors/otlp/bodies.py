"""Compressed bodies, unpacked within a bound: a few kilobytes must not become gigabytes."""

from __future__ import annotations

import zlib
from typing import Final

from rag_otel.errors import InputError

GZIP_MAGIC: Final = b"\x1f\x8b"
"""No export request in protobuf starts so: field 3 with a wire type that does not exist."""
_GZIP_WINDOW: Final = 31


class BodyTooLargeError(InputError):
    """A body is larger than is accepted."""


def gunzip(body: bytes, max_bytes: int) -> bytes:
    """The content of a gzip body. Raises InputError for anything else, BodyTooLargeError once it is too much."""
    unpacker = zlib.decompressobj(_GZIP_WINDOW)
    pieces: list[bytes] = []
    size, rest = 0, body
    try:
        while rest:
            piece = unpacker.decompress(rest, max_bytes - size + 1)
            size += len(piece)
            pieces.append(piece)
            if size > max_bytes:
                raise BodyTooLargeError(f"larger than {max_bytes} bytes when unpacked")
            if unpacker.eof:
                rest = unpacker.unused_data
                unpacker = zlib.decompressobj(_GZIP_WINDOW)
            else:
                rest = unpacker.unconsumed_tail
                if not rest and not unpacker.eof:
                    raise InputError("the gzip data ends too early")
    except zlib.error as error:
        raise InputError(f"not gzip: {error}") from None
    return b"".join(pieces)
