"""OTLP over HTTP, in, beside `/healthz`, `/readyz` and `/metrics`: a plain ASGI application on uvicorn.

Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import math
import socket
import ssl
from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple, cast

import uvicorn
from google.protobuf.json_format import MessageToJson
from google.protobuf.message import Message
from google.rpc.status_pb2 import Status

from rag_otel.errors import ConfigurationError, InputError
from rag_otel_collectors.otlp.protobuf.json_request import parse_json
from rag_otel_collectors.otlp.receivers.bodies import ArrivingBytes, BodyTooLargeError, gunzip
from rag_otel_collectors.otlp.receivers.client_connections import Connections, connection_limit
from rag_otel_collectors.otlp.receivers.grpc_server import response, retry_status
from rag_otel_collectors.otlp.receivers.http_connections import BoundedProtocol
from rag_otel_collectors.otlp.receivers.intake import CROWDED, RefusedError
from rag_otel_collectors.otlp.receivers.reception import Reception, ServerTls

TRACES: Final = "/v1/traces"
PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"
_HTTP: Final = "http"
_INVALID: Final = 3
"""google.rpc.Code.INVALID_ARGUMENT."""
_BODY_S: Final = 30.0
"""For a whole body to arrive; a client that takes longer is cut off."""
_WAITING: Final = 1024
"""Connections that the system keeps until they are accepted."""
_ACCEPTED_AT_ONCE: Final = 64
"""asyncio takes as many as its backlog before it looks at any: more of them would use up the descriptors."""
_MAX_ARRIVING_BYTES: Final = 64 * 2**20
"""Of all bodies that are being received at once."""


class Answer(NamedTuple):
    """An HTTP answer."""

    status: int
    body: bytes = b""
    content_type: str = "text/plain; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()


class _RejectionError(Exception):
    """A request that is not taken: what to answer, and under which outcome it is counted."""

    def __init__(
        self, status: int, message: str, *, outcome: str = "invalid", retry: RefusedError | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.outcome = outcome
        self.retry = retry


class HttpServer:
    """Listens for OTLP/HTTP and answers the probes."""

    def __init__(self, reception: Reception, *, address: str, not_ready: Callable[[], str | None]) -> None:
        """`not_ready` says why the collector should get no traffic now; None when it should."""
        self._reception = reception
        self._address = address
        self._not_ready = not_ready
        self._max_request_bytes = reception.max_request_bytes
        self._arriving = ArrivingBytes(_MAX_ARRIVING_BYTES)
        self._connections = Connections(connection_limit(), lambda reason: reception.count_closed(_HTTP, reason))
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
                http=cast("Any", functools.partial(BoundedProtocol, open_connections=self._connections)),
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
                **_tls_options(self._reception.tls),
            )
            config.load()
        except (OSError, ssl.SSLError) as error:
            listening.close()
            raise ConfigurationError(f"the certificate cannot be used: {error}") from None
        self._server = uvicorn.Server(config)
        # Signals are the collector's own business: it drains before it stops listening.
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

    # --- requests -----------------------------------------------------------------------------------------------------

    async def _application(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        answer = await self._answer(scope, receive)
        if answer is None:  # the client has gone
            return
        fields = (("content-type", answer.content_type), ("content-length", str(len(answer.body))), *answer.headers)
        headers = [(name.encode(), value.encode()) for name, value in fields]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": answer.body})

    async def _answer(self, scope: Any, receive: Callable[[], Awaitable[Any]]) -> Answer | None:
        path, method = scope["path"], scope["method"]
        if path == TRACES:
            if method != "POST":
                return Answer(405, b"POST only\n", headers=(("allow", "POST"),))
            host = scope["client"][0] if scope["client"] else ""
            return await self._export(host, dict(scope["headers"]), receive)
        probe = {"/healthz": self._healthz, "/readyz": self._readyz, "/metrics": self._show_metrics}.get(path)
        if probe is None:
            return Answer(404, b"There are /v1/traces, /healthz, /readyz and /metrics.\n")
        if method not in ("GET", "HEAD"):
            return Answer(405, b"GET only\n", headers=(("allow", "GET"),))
        return await probe(dict(scope["headers"]))

    async def _healthz(self, headers: dict[bytes, bytes]) -> Answer:
        return Answer(200, b"ok\n")

    async def _readyz(self, headers: dict[bytes, bytes]) -> Answer:
        reason = self._not_ready()
        return Answer(200, b"ready\n") if reason is None else Answer(503, f"{reason}\n".encode())

    async def _show_metrics(self, headers: dict[bytes, bytes]) -> Answer:
        return Answer(200, *await self._reception.metrics.exposition(headers.get(b"accept", b"").decode("latin-1")))

    async def _export(
        self, host: str, headers: dict[bytes, bytes], receive: Callable[[], Awaitable[Any]]
    ) -> Answer | None:
        content_type = headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
        form = JSON if content_type == JSON else PROTOBUF
        try:
            if not self._reception.keys.admit(headers.get(b"authorization"), headers.get(b"x-api-key")):
                raise _RejectionError(401, "no valid API key", outcome="unauthenticated")
            if content_type not in (PROTOBUF, JSON):
                raise _RejectionError(415, f"content-type must be {PROTOBUF} or {JSON}")
            body = await self._body(host, headers, receive)
            if body is None:
                self._reception.count(_HTTP, "cut_off")
                return None
            accepted = self._reception.intake.accept(parse_json(body).SerializeToString() if form == JSON else body)
        except _RejectionError as error:
            return self._rejection(error, form)
        except BodyTooLargeError as error:
            return self._rejection(_RejectionError(413, str(error)), form)
        except InputError as error:
            return self._rejection(_RejectionError(400, str(error)), form)
        except RefusedError as error:
            return self._rejection(_RejectionError(503, str(error), outcome="refused", retry=error), form)
        self._reception.count(_HTTP, "accepted")
        return Answer(200, _serialised(response(accepted), form), form)

    def _rejection(self, error: _RejectionError, form: str) -> Answer:
        self._reception.count(_HTTP, error.outcome)
        if error.retry is None:
            return Answer(error.status, _serialised(Status(code=_INVALID, message=str(error)), form), form)
        wait = str(math.ceil(error.retry.retry_after_s or 1.0))
        return Answer(
            error.status, _serialised(retry_status(error.retry)[0], form), form, headers=(("retry-after", wait),)
        )

    async def _body(
        self, host: str, headers: dict[bytes, bytes], receive: Callable[[], Awaitable[Any]]
    ) -> bytes | None:
        """The whole body, unpacked; None when the client went away or took too long."""
        encoding = headers.get(b"content-encoding", b"identity").decode("latin-1").strip().lower()
        if encoding not in ("identity", "gzip", ""):
            raise _RejectionError(415, "content-encoding must be gzip or absent")
        announced = headers.get(b"content-length", b"0")
        if announced.isdigit() and int(announced) > self._max_request_bytes:
            raise _RejectionError(413, f"larger than {self._max_request_bytes} bytes")
        crowded = self._arriving.crowded(host)
        if (reason := self._reception.intake.refusal()) is not None or crowded:
            refused = self._reception.intake.refused(reason or CROWDED)
            raise _RejectionError(503, str(refused), outcome="refused", retry=refused)
        pieces: list[bytes] = []
        try:
            async with self._arriving.body(host, _BODY_S) as arriving:
                while True:
                    event = await receive()
                    if event["type"] != "http.request":
                        return None
                    pieces.append(event["body"])
                    arriving.add(len(event["body"]))
                    if arriving.size > self._max_request_bytes:
                        raise _RejectionError(413, f"larger than {self._max_request_bytes} bytes")
                    if not event.get("more_body"):
                        break
        except TimeoutError:
            raise _RejectionError(408, "the body took too long", outcome="slow") from None
        body = b"".join(pieces)
        return gunzip(body, self._max_request_bytes) if encoding == "gzip" else body


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
    except OSError as error:
        listening.close()
        raise ConfigurationError(f"cannot listen for HTTP on {address}: {error.strerror}") from None
    return listening


def _serialised(message: Message, form: str) -> bytes:
    if form == JSON:
        return str(MessageToJson(message, indent=None)).encode()
    return bytes(message.SerializeToString())


def _tls_options(tls: ServerTls | None) -> dict[str, Any]:
    if tls is None:
        return {}
    options: dict[str, Any] = {"ssl_certfile": tls.cert_file, "ssl_keyfile": tls.key_file}
    if tls.client_ca_file:
        options |= {"ssl_ca_certs": tls.client_ca_file, "ssl_cert_reqs": ssl.CERT_REQUIRED}
    return options
