"""HTTP connections within bounds that uvicorn lacks: on how many are open, and on the time of a request's head.

At the bound a connection is closed for every new one: of the client that has most, one that waits for nothing; or one
whose request has been arriving for too long. Where there is none of either, the new one is closed. No client has more
than half of all.
"""

from __future__ import annotations

import asyncio
import resource
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

from rag_otel.safety.guard import logger

_WANTED_DESCRIPTORS: Final = 16_384
_OWN_DESCRIPTORS: Final = 128
"""For files, pipes and the connections to backends."""
_MOST: Final = 2000
_FEWEST: Final = 16
_SLOW_S: Final = 2.0
_HEADER_S: Final = 10.0
IDLE: Final = "idle"
SLOW: Final = "slow"
FULL: Final = "too_many"


class Connections:
    """The open connections by client. Belongs to the event loop's thread."""

    def __init__(self, most: int, closed: Callable[[str], None]) -> None:
        """`closed` is told the reason of every connection that is closed here."""
        self._most = most
        self._closed = closed
        self._of: dict[str, OrderedDict[BoundedProtocol, None]] = {}
        """Client -> its connections, the one that was used least recently first."""
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def opened(self, connection: BoundedProtocol) -> None:
        """Count a new connection, and close one where there are too many; that may be the new one."""
        own = self._of.setdefault(connection.host, OrderedDict())
        own[connection] = None
        self._count += 1
        if len(own) > max(1, self._most // 2):
            self._make_room(own, connection)
        elif self._count > self._most:
            self._make_room(max(self._of.values(), key=len), connection)

    def used(self, connection: BoundedProtocol) -> None:
        """Something came over a connection."""
        if (own := self._of.get(connection.host)) is not None and connection in own:
            own.move_to_end(connection)

    def gone(self, connection: BoundedProtocol) -> None:
        """A connection is closed. Safe to call twice."""
        own = self._of.get(connection.host, OrderedDict())
        if connection in own:
            del own[connection]
            self._count -= 1
            if not own:
                del self._of[connection.host]

    def _make_room(self, among: OrderedDict[BoundedProtocol, None], newcomer: BoundedProtocol) -> None:
        idle = next((each for each in among if each.idle and each is not newcomer), None)
        if idle is not None:
            self._close(idle, IDLE)
            return
        slowest = min(among, key=lambda each: each.arriving_since)
        if time.monotonic() - slowest.arriving_since > _SLOW_S:
            self._close(slowest, SLOW)
        else:
            self._close(newcomer, FULL)

    def _close(self, connection: BoundedProtocol, reason: str) -> None:
        self.gone(connection)
        self._closed(reason)
        connection.abort()


class BoundedProtocol(H11Protocol):
    """uvicorn's protocol, told to `Connections`."""

    _head_timer: asyncio.TimerHandle | None = None

    def __init__(self, *arguments: Any, open_connections: Connections, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._open = open_connections
        self._began = time.monotonic()
        self.host = ""

    @property
    def idle(self) -> bool:
        """True while no request is arriving or being answered."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def arriving_since(self) -> float:
        """When the request began that has not arrived whole; now, where there is none. Monotonic seconds."""
        return self._began if self.cycle is not None and self.cycle.more_body else time.monotonic()

    def abort(self) -> None:
        """Close it at once."""
        self.transport.abort()

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.host = self.client[0] if self.client else ""
        self._expect_head()
        self._open.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._open.gone(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.idle:
            self._began = time.monotonic()
        super().data_received(data)
        self._open.used(self)
        if not self.idle:
            self._stop_waiting()
        elif self._head_timer is None:
            self._expect_head()

    def _expect_head(self) -> None:
        self._head_timer = self.loop.call_later(_HEADER_S, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


def connection_limit() -> int:
    """How many connections may be open at a time, over HTTP and as many over gRPC. Raises the soft limit of descriptors
    as far as is wanted and allowed: they are also what the queues and the children need.

    A quarter is left over: connections that wait for their TLS handshake are counted by nobody.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _WANTED_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(_WANTED_DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
        except (OSError, ValueError) as error:
            logger.warning("rag-otel: the limit of open files stays at %d: %s", soft, error)
    room = _WANTED_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft
    return min(_MOST, max(_FEWEST, (room - _OWN_DESCRIPTORS) * 3 // 8))
