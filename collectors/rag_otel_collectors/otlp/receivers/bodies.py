"""Bodies within bounds: how many are received at once, and what they unpack to. A few kilobytes must not become
gigabytes."""

from __future__ import annotations

import asyncio
import contextlib
import time
import zlib
from collections.abc import AsyncIterator
from typing import Final
from weakref import WeakValueDictionary

from rag_otel.errors import InputError

GZIP_MAGIC: Final = b"\x1f\x8b"
"""No export request in protobuf starts so: field 3 with a wire type that does not exist."""
_GZIP_WINDOW: Final = 31
_WHOLE_S: Final = 30.0
"""For a whole body to arrive; a client that takes longer is cut off."""
_SLOW_S: Final = 2.0
"""The same, while somebody waits for room."""


class BodyTooLargeError(InputError):
    """A body is larger than is accepted."""


class ArrivingBody:
    """A body that is being received."""

    def __init__(self, host: str, timeout: asyncio.Timeout) -> None:
        self.host = host
        self.timeout = timeout
        self.since = time.monotonic()
        self.size = 0

    def add(self, received: int) -> None:
        self.size += received


class _Bodies:
    """The bodies that are being received. One that takes longer than `_SLOW_S` is given up as soon as somebody waits
    for room, and every one after `_WHOLE_S`."""

    def __init__(self) -> None:
        self._present: dict[ArrivingBody, None] = {}

    @contextlib.asynccontextmanager
    async def receive(self, host: str) -> AsyncIterator[ArrivingBody]:
        """Receive one of a client inside the block. Raises TimeoutError when it is given up."""
        async with asyncio.timeout(_WHOLE_S) as timeout:
            arriving = ArrivingBody(host, timeout)
            self._present[arriving] = None
            try:
                yield arriving
            finally:
                del self._present[arriving]

    def size(self, host: str | None = None) -> int:
        """Bytes that have come of all of them, or of those of a client."""
        return sum(each.size for each in self._of(host))

    def hurry(self, host: str | None = None) -> None:
        """Somebody waits: each of them, or of those of a client, has until `_SLOW_S` after its start."""
        now, loop = time.monotonic(), asyncio.get_running_loop()
        for each in self._of(host):
            if not each.timeout.expired():
                each.timeout.reschedule(loop.time() + max(0.0, each.since + _SLOW_S - now))

    def _of(self, host: str | None) -> list[ArrivingBody]:
        return [each for each in self._present if host in (None, each.host)]


class Arrivals:
    """Bodies of unknown size that are being received: at most `places` at once, and all but one from one client.

    One that arrives in time is never in another one's way for long: see `_Bodies`.
    """

    def __init__(self, places: int) -> None:
        self._places = asyncio.Semaphore(places)
        self._of_client = max(1, places - 1)
        self._waiting = 0
        self._bodies = _Bodies()
        self._clients: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        """Places of each client from which something arrives."""

    @contextlib.asynccontextmanager
    async def place(self, host: str) -> AsyncIterator[None]:
        """Receive inside the block. Raises TimeoutError where there is no place, or when it is lost."""
        own = self._clients.setdefault(host, asyncio.Semaphore(self._of_client))
        if own.locked() or self._places.locked():
            await self._wait(host, own)
        else:
            await own.acquire()
            await self._places.acquire()
        try:
            async with self._bodies.receive(host):
                if self._waiting:
                    self._bodies.hurry()
                yield
        finally:
            self._places.release()
            own.release()

    async def _wait(self, host: str, own: asyncio.Semaphore) -> None:
        """Take a place of the client's, and one of all. Raises TimeoutError where there is none."""
        self._waiting += 1
        try:
            async with asyncio.timeout(2 * _SLOW_S):
                if own.locked():
                    self._bodies.hurry(host)
                await own.acquire()
                try:
                    if self._places.locked():
                        self._bodies.hurry()
                    await self._places.acquire()
                except BaseException:
                    own.release()
                    raise
        finally:
            self._waiting -= 1


class ArrivingBytes:
    """What is being received of bodies that come in pieces: at most `most` bytes together, and half of it from one
    client."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._bodies = _Bodies()
        self.body: Final = self._bodies.receive
        """Receives a body inside a block, see `_Bodies`."""

    def crowded(self, host: str) -> bool:
        """True while there is no room for one more body of a client; it may try again after `_SLOW_S`."""
        if self._bodies.size(host) > self._most // 2:
            self._bodies.hurry(host)
            return True
        if self._bodies.size() > self._most:
            self._bodies.hurry()
            return True
        return False


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
