"""OTLP over HTTP, in, beside `/healthz`, `/readyz` and `/metrics`: a plain ASGI application.

Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp
"""

from __future__ import annotations

import math
import ssl
from collections.abc import Awaitable, Callable
from typing import Any, Final

from google.protobuf.json_format import MessageToJson
from google.protobuf.message import Message
from google.rpc.status_pb2 import Status

from rag_otel.errors import InputError
from rag_otel_collectors.otlp.receivers.bodies import ArrivingBytes, BodyTooLargeError, gunzip
from rag_otel_collectors.otlp.receivers.grpc_server import response, retry_status
from rag_otel_collectors.otlp.receivers.http_connections import Connections, connection_limit
from rag_otel_collectors.otlp.receivers.http_listener import GET_ONLY, Answer, HttpListener, probe_answer
from rag_otel_collectors.otlp.receivers.intake import CROWDED, RefusedError
from rag_otel_collectors.otlp.receivers.reception import Reception, ServerTls
from rag_otel_collectors.otlp.requests.json_request import parse_json

TRACES: Final = "/v1/traces"
_METRICS: Final = "/metrics"
PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"
_HTTP: Final = "http"
_INVALID: Final = 3
"""google.rpc.Code.INVALID_ARGUMENT."""
_MAX_ARRIVING_BYTES: Final = 64 * 2**20
"""Of all bodies that are being received at once."""


class _RejectionError(Exception):
    """A request that is not taken: what to answer, and under which outcome it is counted."""

    def __init__(
        self, status: int, message: str, *, outcome: str = "invalid", retry: RefusedError | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.outcome = outcome
        self.retry = retry


class HttpServer(HttpListener):
    """Listens for OTLP/HTTP and answers the probes."""

    def __init__(self, reception: Reception, *, address: str, not_ready: Callable[[], str | None]) -> None:
        """`not_ready` says why the collector should get no traffic now; None when it should."""
        self._reception = reception
        self._not_ready = not_ready
        self._max_request_bytes = reception.max_request_bytes
        self._arriving = ArrivingBytes(_MAX_ARRIVING_BYTES)
        connections = Connections(connection_limit(), lambda reason: reception.count_closed(_HTTP, reason))
        super().__init__(address, self._respond, connections, **_tls_options(reception.tls))

    # --- requests -----------------------------------------------------------------------------------------------------

    async def _respond(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        found = await self._answer(scope, receive)
        if found is not None:  # else the client has gone
            await found.send(send)

    async def _answer(self, scope: Any, receive: Callable[[], Awaitable[Any]]) -> Answer | None:
        path, method = scope["path"], scope["method"]
        if path == TRACES:
            if method != "POST":
                return Answer(405, b"POST only\n", headers=(("allow", "POST"),))
            host = scope["client"][0] if scope["client"] else ""
            return await self._export(host, dict(scope["headers"]), receive)
        if path == _METRICS:
            return await self._metrics(method, dict(scope["headers"]))
        probe = probe_answer(path, method, self._not_ready)
        return probe or Answer(404, b"There are /v1/traces, /healthz, /readyz and /metrics.\n")

    async def _metrics(self, method: str, headers: dict[bytes, bytes]) -> Answer:
        if method not in ("GET", "HEAD"):
            return GET_ONLY
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
            async with self._arriving.body(host) as arriving:
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
