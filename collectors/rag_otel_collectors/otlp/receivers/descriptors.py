"""How many connections the process can have open: file descriptors are also what the queues and the children need."""

from __future__ import annotations

import resource
from typing import Final, NamedTuple

from rag_otel.safety.guard import logger

_WANTED: Final = 16_384
_OWN: Final = 128
"""For files, pipes and the connections to backends."""
_MOST_HTTP: Final = 2000
_MOST_GRPC: Final = 2000
_FEWEST: Final = 16


class ConnectionLimits(NamedTuple):
    """Connections that may be open at a time."""

    http: int
    grpc: int


def connection_limits() -> ConnectionLimits:
    """Raise the soft limit of descriptors as far as is wanted and allowed; what the limit has room for.

    A quarter is left over: connections that wait for their TLS handshake are counted by nobody.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _WANTED if hard == resource.RLIM_INFINITY else min(_WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
        except (OSError, ValueError) as error:
            logger.warning("rag-otel: the limit of open files stays at %d: %s", soft, error)
    room = _WANTED if soft == resource.RLIM_INFINITY else soft
    each = max(_FEWEST, (room - _OWN) * 3 // 8)
    return ConnectionLimits(http=min(_MOST_HTTP, each), grpc=min(_MOST_GRPC, each))
