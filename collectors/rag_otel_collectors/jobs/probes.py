"""`/healthz` and `/readyz` of a worker, as the collector has them on its HTTP port.

`/healthz` answers as long as the event loop works. `/readyz` answers 503 with the reason while no jobs can come. Only
`/healthz` is for liveness: a broker that is away must not make a supervisor restart the worker.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

from rag_otel.errors import ConfigurationError

_END_S: Final = 1.0
_MOST_CONNECTIONS: Final = 32


@contextlib.asynccontextmanager
async def probes(address: str | None, trouble: Callable[[], str | None]) -> AsyncIterator[int | None]:
    """Answers at `address` (HOST:PORT, port 0: any free one) inside the block, which gets the port. None: nowhere.

    `trouble` says why no jobs come; None if they do. Raises ConfigurationError if nothing can listen there.
    """
    if address is None:
        yield None
        return
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise ConfigurationError(f"--health: {address!r} is not HOST:PORT, for example 0.0.0.0:8080")
    from rag_otel_collectors.otlp.receivers.http_connections import Connections  # these need the extra `collector`
    from rag_otel_collectors.otlp.receivers.http_listener import Answer, HttpListener, probe_answer

    async def application(scope: Any, receive: Any, send: Any) -> None:
        probe = probe_answer(scope["path"], scope["method"], trouble)
        await (probe or Answer(404, b"There are /healthz and /readyz.\n")).send(send)

    listener = HttpListener(address, application, Connections(_MOST_CONNECTIONS, lambda reason: None))
    try:
        await listener.start()
        yield listener.port
    finally:
        await listener.stop(_END_S)
