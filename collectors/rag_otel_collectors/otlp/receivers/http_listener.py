"""An ASGI application on uvicorn, with bounded connections, on an event loop that it shares: its owner starts and stops
it, and gets the signals."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import socket
import ssl
from collections.abc import Callable
from typing import Any, Final, NamedTuple, cast

import uvicorn

from rag_otel.errors import ConfigurationError
from rag_otel_collectors.otlp.receivers.http_connections import BoundedProtocol, Connections

_WAITING: Final = 1024
"""Connections that the system keeps until they are accepted."""
_ACCEPTED_AT_ONCE: Final = 64
"""asyncio takes as many as its backlog before it looks at any: more of them would use up the descriptors."""


class HttpListener:
    """Listens at an address."""

    def __init__(self, address: str, application: Any, connections: Connections, **options: Any) -> None:
        """`address`: host:port, with port 0 any free one. `options`: of uvicorn's Config, for TLS."""
        self._address = address
        self._application = application
        self._protocol = functools.partial(BoundedProtocol, open_connections=connections)
        self._options = options
        self._server: uvicorn.Server | None = None
        self._serving: asyncio.Task[None] | None = None
        self.port = 0

    async def start(self) -> None:
        """Listen. Raises ConfigurationError when the address is taken or a certificate is no use."""
        listening = _listen(self._address)
        self.port = listening.getsockname()[1]
        try:
            config = uvicorn.Config(
                self._application,
                http=cast("Any", self._protocol),
                ws="none",
                interface="asgi3",
                proxy_headers=False,
                lifespan="off",
                log_config=None,
                log_level="error",
                access_log=False,
                server_header=False,
                backlog=_ACCEPTED_AT_ONCE,
                timeout_keep_alive=75,
                **self._options,
            )
            config.load()
        except (OSError, ssl.SSLError) as error:
            listening.close()
            raise ConfigurationError(f"the certificate cannot be used: {error}") from None
        self._server = uvicorn.Server(config)
        # Signals are the owner's business: the collector drains before it stops listening.
        self._server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign,assignment]
        self._serving = asyncio.create_task(self._server.serve(sockets=[listening]))
        while not self._server.started and not self._serving.done():
            await asyncio.sleep(0.01)
        if self._server.started:
            listening.listen(_WAITING)

    async def run(self) -> None:
        """Return when the server has ended; begun anew, start it again. Raises ConfigurationError."""
        if self._serving is not None and self._serving.done():
            self._address = f"{self._address.rpartition(':')[0]}:{self.port}"
            await self.start()
        if self._serving is not None:
            await asyncio.wait({self._serving})

    async def stop(self, grace_s: float) -> None:
        """Take no new connections; answer what has come in. Safe to call twice."""
        if self._server is not None and self._serving is not None:
            self._server.should_exit = True
            done, _ = await asyncio.wait({self._serving}, timeout=grace_s)
            if not done:
                self._server.force_exit = True
                await self._serving
            self._serving = None


class Answer(NamedTuple):
    """An HTTP answer."""

    status: int
    body: bytes = b""
    content_type: str = "text/plain; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()

    async def send(self, send: Any) -> None:
        """`send`: of the ASGI application."""
        fields = (("content-type", self.content_type), ("content-length", str(len(self.body))), *self.headers)
        encoded = [(name.encode(), value.encode()) for name, value in fields]
        await send({"type": "http.response.start", "status": self.status, "headers": encoded})
        await send({"type": "http.response.body", "body": self.body})


def probe_answer(path: str, method: str, not_ready: Callable[[], str | None]) -> Answer | None:
    """The answer to `/healthz`, as long as the event loop works, and to `/readyz`: 503 with the reason while there is
    one. None: another path."""
    if path not in ("/healthz", "/readyz"):
        return None
    if method not in ("GET", "HEAD"):
        return GET_ONLY
    if path == "/healthz":
        return Answer(200, b"ok\n")
    reason = not_ready()
    return Answer(200, b"ready\n") if reason is None else Answer(503, f"{reason}\n".encode())


GET_ONLY: Final = Answer(405, b"GET only\n", headers=(("allow", "GET"),))


def _listen(address: str) -> socket.socket:
    """A listening socket. It is told to be TCP: else asyncio leaves Nagle's algorithm on, and an answer that goes out
    as head and body waits 40 ms for the client's acknowledgement in between."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, int(port)))
        listening.listen(_WAITING)
    except (OSError, OverflowError) as error:
        listening.close()
        raise ConfigurationError(f"cannot listen for HTTP on {address}: {error}") from None
    return listening
