"""`/healthz` and `/readyz` of a worker, as the collector has them on its HTTP port.

`/healthz` answers as long as the event loop works. `/readyz` answers 503 with the reason while no jobs can come. Only
`/healthz` is for liveness: a broker that is away must not make a supervisor restart the worker.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from http import HTTPStatus
from typing import Final

from rag_otel.errors import ConfigurationError

_REQUEST_S: Final = 5.0
_LINES: Final = 100


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

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, ValueError, TimeoutError, asyncio.IncompleteReadError):
            async with asyncio.timeout(_REQUEST_S):
                writer.write(_answer((await _request_line(reader)).split(), trouble))
                await writer.drain()
        writer.close()

    try:
        server = await asyncio.start_server(answer, host.strip("[]"), int(port))
    except (OSError, OverflowError) as error:
        raise ConfigurationError(f"--health: cannot listen at {address}: {error}") from None
    async with server:
        yield server.sockets[0].getsockname()[1]


async def _request_line(reader: asyncio.StreamReader) -> bytes:
    """The first line. The others are read and ignored."""
    first = await reader.readline()
    for _ in range(_LINES):
        if not (await reader.readline()).strip():
            break
    return first


def _answer(request: list[bytes], trouble: Callable[[], str | None]) -> bytes:
    method, path = (*request, b"", b"")[:2]
    status, text = HTTPStatus.NOT_FOUND, "There are /healthz and /readyz."
    if method not in (b"GET", b"HEAD"):
        status, text = HTTPStatus.METHOD_NOT_ALLOWED, "GET only"
    elif path == b"/healthz":
        status, text = HTTPStatus.OK, "ok"
    elif path == b"/readyz":
        reason = trouble()
        status, text = (HTTPStatus.OK, "ready") if reason is None else (HTTPStatus.SERVICE_UNAVAILABLE, reason)
    body = f"{text}\n".encode()
    head = f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n"
    return f"{head}Connection: close\r\n\r\n".encode() + (b"" if method == b"HEAD" else body)
