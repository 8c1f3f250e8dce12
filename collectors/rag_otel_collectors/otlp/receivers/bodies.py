"""Bodies within bounds: how many are received at once, and what they unpack to. A few kilobytes must not become
gigabytes."""

from __future__ import annotations

import asyncio
import contextlib
import time
import zlib
from collections import OrderedDict
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


class Arrivals:
    """Bodies of unknown size that are being received: at most `places` at once, and all but one from one client.

    One that arrives in time is never in another one's way for long: a body that takes longer than `_SLOW_S` loses its
    place as soon as somebody waits for one, and every body loses it after `_WHOLE_S`.
    """

    def __init__(self, places: int) -> None:
        self._places = asyncio.Semaphore(places)
        self._of_client = max(1, places - 1)
        self._waiting = 0
        self._present: OrderedDict[asyncio.Timeout, tuple[str, float]] = OrderedDict()
        """Who is receiving from which client, since when (monotonic seconds), the first one first."""
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
            async with asyncio.timeout(_WHOLE_S) as mine:
                self._present[mine] = (host, time.monotonic())
                if self._waiting:
                    self._hurry()
                try:
                    yield
                finally:
                    del self._present[mine]
        finally:
            self._places.release()
            own.release()

    async def _wait(self, host: str, own: asyncio.Semaphore) -> None:
        """Take a place of the client's, and one of all. Raises TimeoutError where there is none."""
        self._waiting += 1
        try:
            async with asyncio.timeout(2 * _SLOW_S):
                if own.locked():
                    self._hurry(host)
                await own.acquire()
                try:
                    if self._places.locked():
                        self._hurry()
                    await self._places.acquire()
                except BaseException:
                    own.release()
                    raise
        finally:
            self._waiting -= 1

    def _hurry(self, host: str | None = None) -> None:
        """Somebody waits: who has been here for longest has until `_SLOW_S` after its start. `host`: of this client."""
        now, loop = time.monotonic(), asyncio.get_running_loop()
        for each, (client, since) in self._present.items():
            if host in (None, client) and each.when() is not None and not each.expired():
                each.reschedule(loop.time() + max(0.0, since + _SLOW_S - now))


class ArrivingBody:
    """A body that is being received."""

    def __init__(self, host: str, timeout: asyncio.Timeout) -> None:
        self.host = host
        self.timeout = timeout
        self.since = time.monotonic()
        self.size = 0

    def add(self, received: int) -> None:
        self.size += received


class ArrivingBytes:
    """What is being received of bodies that come in pieces: at most `most` bytes together, and half of it from one
    client. While there is no room, bodies that take longer than `_SLOW_S` are given up."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._present: dict[ArrivingBody, None] = {}

    def crowded(self, host: str) -> bool:
        """True while there is no room for one more body of a client; it may try again after `_SLOW_S`."""
        own = [each for each in self._present if each.host == host]
        if sum(each.size for each in own) > self._most // 2:
            self._hurry(own)
            return True
        if sum(each.size for each in self._present) > self._most:
            self._hurry(list(self._present))
            return True
        return False

    @contextlib.asynccontextmanager
    async def body(self, host: str) -> AsyncIterator[ArrivingBody]:
        """Receive inside the block. Raises TimeoutError after `_WHOLE_S`, or earlier when room is needed."""
        async with asyncio.timeout(_WHOLE_S) as timeout:
            arriving = ArrivingBody(host, timeout)
            self._present[arriving] = None
            try:
                yield arriving
            finally:
                del self._present[arriving]

    def _hurry(self, bodies: list[ArrivingBody]) -> None:
        now, loop = time.monotonic(), asyncio.get_running_loop()
        for each in bodies:
            if not each.timeout.expired():
                each.timeout.reschedule(loop.time() + max(0.0, each.since + _SLOW_S - now))


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
