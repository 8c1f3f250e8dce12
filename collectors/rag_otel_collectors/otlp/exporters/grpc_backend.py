"""A backend that speaks OTLP over gRPC.

Source: https://opentelemetry.io/docs/specs/otlp/#failures and #otlpgrpc-throttling.
"""

from __future__ import annotations

from typing import Any, Final

import grpc
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

from rag_otel.errors import RetryableError
from rag_otel_collectors.otlp.exporters.connection import (
    BackendAwayError,
    BackendRefusalError,
    BackendSettings,
    Connection,
    Rejected,
    rejected_in,
)

METHOD: Final = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
RETRY_INFO: Final = "google.rpc.retryinfo-bin"
STATUS_DETAILS: Final = "grpc-status-details-bin"
_REFUSALS: Final = frozenset({grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.FAILED_PRECONDITION})
"""Sending the same again is no use."""
_TOO_LARGE: Final = "larger than max"
"""What servers say of a message above their limit, under a status that also stands for overload."""


class GrpcConnection(Connection):
    """A channel to one backend."""

    def __init__(self, settings: BackendSettings) -> None:
        """Raises OSError where a certificate cannot be read. Connects with the first `send`."""
        options = [
            ("grpc.max_send_message_length", -1),
            ("grpc.initial_reconnect_backoff_ms", 250),
            ("grpc.max_reconnect_backoff_ms", 2000),
            # A pause between pings that servers allow; it finds a backend that vanished without a word.
            ("grpc.keepalive_time_ms", 300_000),
        ]
        compression = grpc.Compression.Gzip if settings.compression == "gzip" else grpc.Compression.NoCompression
        if settings.tls:
            credentials = grpc.ssl_channel_credentials(
                _content(settings.ca_file), _content(settings.key_file), _content(settings.cert_file)
            )
            self._channel = grpc.aio.secure_channel(settings.endpoint, credentials, options, compression)
        else:
            self._channel = grpc.aio.insecure_channel(settings.endpoint, options, compression)
        self._export = self._channel.unary_unary(METHOD)
        self._metadata = tuple((name.lower(), value) for name, value in settings.headers.items())
        self._timeout_s = settings.timeout_s

    async def send(self, request: bytes) -> Rejected:
        try:
            answer = await self._export(request, timeout=self._timeout_s, metadata=self._metadata)
        except grpc.aio.AioRpcError as error:
            raise _problem(error) from None
        return rejected_in(answer)

    async def close(self) -> None:
        await self._channel.close()


def _problem(error: grpc.aio.AioRpcError) -> RetryableError | BackendRefusalError:
    code, said = error.code(), f"{error.code().name}: {error.details()}"
    too_large = code is grpc.StatusCode.RESOURCE_EXHAUSTED and _TOO_LARGE in (error.details() or "").lower()
    if code in _REFUSALS or too_large:
        return BackendRefusalError(said)
    retry_after_s = _retry_after(error)
    if code is grpc.StatusCode.UNAVAILABLE and retry_after_s is None:
        return BackendAwayError(said)
    # Also what only the operator can mend (a wrong key, a wrong address): what waits is safe in the meantime.
    return RetryableError(said, retry_after_s=retry_after_s)


def _retry_after(error: grpc.aio.AioRpcError) -> float | None:
    """The delay that the server asks for: in the trailing metadata of its own, or within the rich status."""
    info = error_details_pb2.RetryInfo()
    for name, value in error.trailing_metadata() or ():
        try:
            if name == RETRY_INFO and isinstance(value, bytes):
                info.ParseFromString(value)
                return _seconds(info)
            if name == STATUS_DETAILS and isinstance(value, bytes):
                for detail in status_pb2.Status.FromString(value).details:
                    if detail.Unpack(info):
                        return _seconds(info)
        except DecodeError:
            continue
    return None


def _seconds(info: Any) -> float:
    return float(info.retry_delay.seconds + info.retry_delay.nanos / 1e9)


def _content(path: str | None) -> bytes | None:
    if path is None:
        return None
    with open(path, "rb") as file:
        return file.read()
