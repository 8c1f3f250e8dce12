"""The connections of gRPC's server within the same bound as those of HTTP.

gRPC accepts connections itself and names them to nobody. So we look which sockets the process has, every so often, and
shut down those that are too many; gRPC then finds them closed by their client. Calls say which connections are in use.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import time
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from rag_otel_collectors.otlp.receivers.client_connections import Connections

_DESCRIPTORS: Final = "/dev/fd"
_MAPPED: Final = "::ffff:"
"""An IPv4 client of a socket that listens for both."""


class GrpcConnection:
    """A connection that gRPC has accepted."""

    def __init__(self, descriptor: int, inode: int, host: str, port: int) -> None:
        self.host = host
        self.port = port
        self.calls: dict[Call, None] = {}
        """What it carries now, the oldest first."""
        self._descriptor = descriptor
        self._inode = inode

    @property
    def idle(self) -> bool:
        """True while no request is arriving or being answered."""
        return not self.calls

    @property
    def arriving_since(self) -> float:
        """When the request began that has not arrived whole; now, where there is none. Monotonic seconds."""
        return next((call.since for call in self.calls if call.arriving), time.monotonic())

    def abort(self) -> None:
        """Shut it down at once, unless the descriptor is another socket's by now."""
        with contextlib.suppress(OSError):
            copy = os.dup(self._descriptor)
            same = os.fstat(copy).st_ino == self._inode
            with socket.socket(fileno=copy) as connection:
                if same:
                    connection.shutdown(socket.SHUT_RDWR)


class Call:
    """A request on its way or being answered."""

    def __init__(self, host: str) -> None:
        self.host = host
        self.since = time.monotonic()
        self.arriving = True

    def arrived(self) -> None:
        """The request is here as a whole."""
        self.arriving = False


class GrpcConnections:
    """The connections of one gRPC server, by descriptor and inode. Belongs to the event loop's thread."""

    def __init__(self, kept: Connections) -> None:
        self._kept = kept
        self._seen: dict[tuple[int, int], GrpcConnection | None] = {}
        """Every socket of the process; None: not one of ours."""
        self._of_peer: dict[tuple[str, int], GrpcConnection] = {}

    def look(self, port: int) -> None:
        """Find the connections that came to `port`, forget those that are gone, close those that are too many."""
        try:
            open_now = dict.fromkeys(_sockets())
        except OSError:  # no descriptor is left to look with
            return
        for key in [key for key in self._seen if key not in open_now]:
            self._forget(self._seen.pop(key))
        for key in open_now:
            if key not in self._seen:
                self._seen[key] = connection = _accepted(*key, port)
                if connection is not None:
                    self._of_peer[connection.host, connection.port] = connection
                    self._kept.opened(connection)

    @contextlib.contextmanager
    def call(self, peer: str) -> Iterator[Call]:
        """A call of this peer, as gRPC names it, from its first header to its answer."""
        host, port = host_and_port(peer)
        call = Call(host)
        connection = self._of_peer.get((host, port))
        if connection is None:  # accepted after the last look
            yield call
            return
        self._kept.used(connection)
        connection.calls[call] = None
        try:
            yield call
        finally:
            del connection.calls[call]

    def _forget(self, connection: GrpcConnection | None) -> None:
        if connection is not None:
            self._kept.gone(connection)
            if self._of_peer.get((connection.host, connection.port)) is connection:
                del self._of_peer[connection.host, connection.port]


def host_and_port(peer: str) -> tuple[str, int]:
    """`ipv4:127.0.0.1:4317` and `ipv6:%5B::1%5D:4317` in parts; what is neither is a host without a port."""
    _, _, address = unquote(peer).partition(":")
    host, _, port = address.rpartition(":")
    return (_plain(host.strip("[]")), int(port)) if port.isdigit() else (peer, 0)


def _plain(host: str) -> str:
    return host.removeprefix(_MAPPED) if "." in host else host


def _sockets() -> Iterator[tuple[int, int]]:
    """(descriptor, inode) of every socket of the process."""
    for name in os.listdir(_DESCRIPTORS):
        with contextlib.suppress(OSError):  # the listing's own descriptor is closed by now
            status = os.fstat(int(name))
            if stat.S_ISSOCK(status.st_mode):
                yield int(name), status.st_ino


def _accepted(descriptor: int, inode: int, port: int) -> GrpcConnection | None:
    """The connection behind a descriptor, if it came to this port. Only read from: gRPC may close it meanwhile."""
    found = None
    try:
        found = socket.socket(fileno=descriptor)
        if found.family not in (socket.AF_INET, socket.AF_INET6) or found.getsockname()[1] != port:
            return None
        host, client_port = found.getpeername()[:2]
    except OSError:  # it listens, or it is closed by now
        return None
    finally:
        if found is not None:
            found.detach()
    return GrpcConnection(descriptor, inode, _plain(host), client_port)
