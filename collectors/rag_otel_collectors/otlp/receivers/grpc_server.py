"""OTLP over gRPC, in: requests as bytes, refusals with the delay after which to try again.

The delay stands in the rich status, where the specification puts it, and in the trailing metadata
`google.rpc.retryinfo-bin`, where the Python exporter looks.
Source: https://opentelemetry.io/docs/specs/otlp/#otlpgrpc-throttling
"""

from __future__ import annotations

import asyncio
from typing import Any, Final, NoReturn

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)

from rag_otel.errors import ConfigurationError, InputError
from rag_otel_collectors.otlp.exporters.grpc_backend import RETRY_INFO, STATUS_DETAILS
from rag_otel_collectors.otlp.receivers.bodies import GZIP_MAGIC, Arrivals, gunzip
from rag_otel_collectors.otlp.receivers.http_connections import connection_limit
from rag_otel_collectors.otlp.receivers.intake import CROWDED, Accepted, RefusedError
from rag_otel_collectors.otlp.receivers.reception import Reception

SERVICE: Final = "opentelemetry.proto.collector.trace.v1.TraceService"
_GRPC: Final = "grpc"
_MAX_STREAMS: Final = 32
"""Requests at once on one connection; the client keeps others back."""
_MAX_ARRIVING_BYTES: Final = 128 * 2**20
"""Of all bodies that are being received at once, as large as they may be."""
_HANDSHAKE_MS: Final = 5_000
_IDLE_MS: Final = 60_000
"""Clients whose connection was idle for so long open another one, without being told of it."""
_FEWEST_BODIES: Final = 4


class GrpcServer:
    """Listens for OTLP/gRPC."""

    def __init__(self, reception: Reception, *, address: str) -> None:
        self._reception = reception
        self._address = address
        self._max_request_bytes = reception.max_request_bytes
        self._arrivals = Arrivals(max(_FEWEST_BODIES, _MAX_ARRIVING_BYTES // reception.max_request_bytes))
        self._server: Any = None
        self._ended = False
        self.port = 0

    async def start(self) -> None:
        """Listen. Raises ConfigurationError when the address is taken or a certificate is no use."""
        self._server = grpc.aio.server(
            options=[
                ("grpc.max_receive_message_length", self._max_request_bytes),
                ("grpc.max_concurrent_streams", _MAX_STREAMS),
                # Bodies come as they were sent: we unpack them, within our own bound.
                ("grpc.per_message_decompression", 0),
                ("grpc.so_reuseport", 0),
                ("grpc.http2.max_ping_strikes", 0),
                ("grpc.keepalive_time_ms", 60_000),
                ("grpc.keepalive_timeout_ms", 20_000),
                ("grpc.max_allowed_incoming_connections", connection_limit()),
                ("grpc.server_handshake_timeout_ms", _HANDSHAKE_MS),
                ("grpc.max_connection_idle_ms", _IDLE_MS),
            ]
        )
        # As a stream of one message: it is read when we ask for it, not before the call has reached us.
        handler = grpc.stream_unary_rpc_method_handler(self._export)
        self._server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(SERVICE, {"Export": handler}),),
        )
        try:
            tls = self._reception.tls
            if tls is None:
                self.port = self._server.add_insecure_port(self._address)
            else:
                credentials = grpc.ssl_server_credentials(
                    [(tls.key, tls.certificate)], tls.client_ca, tls.client_ca is not None
                )
                self.port = self._server.add_secure_port(self._address, credentials)
        except RuntimeError:
            self.port = 0
        if not self.port:
            raise ConfigurationError(
                f"cannot listen for gRPC on {self._address}: is the address in use? Phoenix listens on port 4317 too; "
                "--grpc HOST:PORT gives another address, --grpc '' none"
            )
        await self._server.start()
        self._ended = False

    async def run(self) -> None:
        """Return when the server has ended; begun anew, start it again. Raises ConfigurationError."""
        if self._ended:
            self._address = f"{self._address.rpartition(':')[0]}:{self.port}"
            await self.start()
        # Waited for in a task of its own, which is not cancelled with this one.
        await asyncio.wait({asyncio.ensure_future(self._server.wait_for_termination())})
        self._ended = True

    async def stop(self, grace_s: float) -> None:
        """Take no new connections; answer what has come in. Safe to call twice."""
        if self._server is not None:
            await self._server.stop(grace_s)

    async def _export(self, _: Any, context: Any) -> bytes:
        headers = dict(context.invocation_metadata() or ())
        if not self._reception.keys.admit(headers.get("authorization"), headers.get("x-api-key")):
            self._reception.count(_GRPC, "unauthenticated")
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "no valid API key")
        try:
            self._reception.intake.admit()
            accepted = self._reception.intake.accept(await self._body(context))
        except InputError as error:
            self._reception.count(_GRPC, "invalid")
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
        except RefusedError as error:
            self._reception.count(_GRPC, "refused")
            await _refuse(context, error)
        self._reception.count(_GRPC, "accepted")
        return bytes(response(accepted).SerializeToString())

    async def _body(self, context: Any) -> bytes:
        """The request, unpacked. Raises InputError, and RefusedError when there is no room to receive it."""
        try:
            async with self._arrivals.place(_host(context.peer())):
                request = await context.read()
        except TimeoutError:
            raise self._reception.intake.refused(CROWDED) from None
        if request is grpc.aio.EOF:
            raise InputError("the call has no request")
        if request[:2] == GZIP_MAGIC:
            request = gunzip(request, self._max_request_bytes)
        return bytes(request)


def _host(peer: str) -> str:
    """The client's address in `ipv4:127.0.0.1:4317` or `ipv6:%5B::1%5D:4317`, as gRPC names a connection."""
    return peer.rpartition(":")[0]


def response(accepted: Accepted) -> ExportTraceServiceResponse:
    """The answer to a request that was taken in: empty, or what was malformed in it."""
    if not accepted.rejected_spans:
        return ExportTraceServiceResponse()
    partial = ExportTracePartialSuccess(rejected_spans=accepted.rejected_spans, error_message=accepted.message)
    return ExportTraceServiceResponse(partial_success=partial)


def retry_status(error: RefusedError) -> tuple[Status, RetryInfo]:
    """UNAVAILABLE, and when to come back."""
    seconds = error.retry_after_s or 1.0
    info = RetryInfo(retry_delay=Duration(seconds=int(seconds), nanos=int(seconds % 1 * 1e9)))
    detail = AnyMessage()
    detail.Pack(info)
    return Status(code=grpc.StatusCode.UNAVAILABLE.value[0], message=str(error), details=[detail]), info


async def _refuse(context: Any, error: RefusedError) -> NoReturn:
    status, info = retry_status(error)
    trailing = ((STATUS_DETAILS, status.SerializeToString()), (RETRY_INFO, info.SerializeToString()))
    await context.abort(grpc.StatusCode.UNAVAILABLE, str(error), trailing)
    raise AssertionError("abort always raises")
