"""Open connections within a bound: who needs one gets one, and who has many gives one up.

At the bound a connection is closed for every new one: of the client that has most, one that waits for nothing; or one
whose request has been arriving for too long. Where there is none of either, the new one is closed. No client has more
than half of all.
"""

from __future__ import annotations

import resource
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Protocol

from rag_otel.safety.guard import logger

_WANTED_DESCRIPTORS: Final = 16_384
_OWN_DESCRIPTORS: Final = 128
"""For files, pipes and the connections to backends."""
_MOST: Final = 2000
_FEWEST: Final = 16
_SLOW_S: Final = 2.0
IDLE: Final = "idle"
SLOW: Final = "slow"
FULL: Final = "too_many"


class ClientConnection(Protocol):
    """An open connection of a client."""

    @property
    def host(self) -> str:
        """The client's address, without the port."""

    @property
    def idle(self) -> bool:
        """True while no request is arriving or being answered."""

    @property
    def arriving_since(self) -> float:
        """When the request began that has not arrived whole; now, where there is none. Monotonic seconds."""

    def abort(self) -> None:
        """Close it at once."""


class Connections:
    """The open connections by client. Belongs to the event loop's thread."""

    def __init__(self, most: int, closed: Callable[[str], None]) -> None:
        """`closed` is told the reason of every connection that is closed here."""
        self._most = most
        self._closed = closed
        self._of: dict[str, OrderedDict[ClientConnection, None]] = {}
        """Client -> its connections, the one that was used least recently first."""
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def opened(self, connection: ClientConnection) -> None:
        """Count a new connection, and close one where there are too many; that may be the new one."""
        own = self._of.setdefault(connection.host, OrderedDict())
        own[connection] = None
        self._count += 1
        if len(own) > max(1, self._most // 2):
            self._make_room(own, connection)
        elif self._count > self._most:
            self._make_room(max(self._of.values(), key=len), connection)

    def used(self, connection: ClientConnection) -> None:
        """Something came over a connection."""
        if (own := self._of.get(connection.host)) is not None and connection in own:
            own.move_to_end(connection)

    def gone(self, connection: ClientConnection) -> None:
        """A connection is closed. Safe to call twice."""
        own = self._of.get(connection.host, OrderedDict())
        if connection in own:
            del own[connection]
            self._count -= 1
            if not own:
                del self._of[connection.host]

    def _make_room(self, among: OrderedDict[ClientConnection, None], newcomer: ClientConnection) -> None:
        idle = next((each for each in among if each.idle and each is not newcomer), None)
        if idle is not None:
            self._close(idle, IDLE)
            return
        slowest = min(among, key=lambda each: each.arriving_since)
        if time.monotonic() - slowest.arriving_since > _SLOW_S:
            self._close(slowest, SLOW)
        else:
            self._close(newcomer, FULL)

    def _close(self, connection: ClientConnection, reason: str) -> None:
        self.gone(connection)
        self._closed(reason)
        connection.abort()


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
