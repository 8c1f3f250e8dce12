"""A connection to a backend: where it goes, what it can do, how it fails."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from rag_otel.errors import ConfigurationError, PermanentError, RetryableError

_REASON_CHARS: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendSettings:
    """Where spans are forwarded to."""

    name: str = "default"
    """Names the backend's place in the queue on disk: keep it when the address changes."""
    endpoint: str
    """`host:port` or an http(s) address; for HTTP, `/v1/traces` is added where the address does not end in it.
    For Kafka, the topic."""
    protocol: Literal["grpc", "http", "kafka"] = "http"
    headers: dict[str, str] = field(default_factory=dict)
    properties: dict[str, str] = field(default_factory=dict, repr=False)
    """Of librdkafka, for Kafka; beside those of the collector's settings."""
    tls: bool = False
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    compression: Literal["none", "gzip"] = "none"
    timeout_s: float = 10.0


class BackendRefusalError(PermanentError):
    """The backend will never take this request as it is."""


class BackendAwayError(RetryableError):
    """There is no connection, or it broke: the backend may have been restarted."""


class Rejected(NamedTuple):
    """Of a request that was taken: a partial success."""

    spans: int = 0
    reason: str = ""


def rejected_in(answer: bytes) -> Rejected:
    """What a successful answer to an OTLP export rejects all the same.

    Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp-response and #otlpgrpc-response.
    """
    from google.protobuf.message import DecodeError  # here: the settings do without
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    try:
        partial = ExportTraceServiceResponse.FromString(answer).partial_success
    except DecodeError:  # Phoenix and others answer with nothing, or with JSON
        return Rejected()
    return Rejected(int(partial.rejected_spans), " ".join(partial.error_message.split())[:_REASON_CHARS])


class Connection(ABC):
    """How requests get to a backend."""

    tells_what_is_stored: bool = False
    """True for a backend that answers before it stores, and can be asked with `stored`; known after an answer."""

    @abstractmethod
    async def send(self, request: bytes) -> Rejected:
        """Deliver a serialised export request; returns how many of its spans the backend rejected, and why.

        Raises RetryableError, or BackendRefusalError where sending the same again is no use.
        """

    async def stored(self, span_ids: Sequence[bytes]) -> set[bytes]:
        """Those of the spans that the backend has stored. Raises RetryableError, or PermanentError where it will
        never say."""
        raise PermanentError("such a backend cannot be asked for spans")

    @abstractmethod
    async def close(self) -> None: ...


def connect(backend: BackendSettings) -> Connection:
    """Over gRPC, HTTP or to Kafka, as the settings say; nothing is sent yet. Raises ConfigurationError."""
    try:
        if backend.protocol == "grpc":
            from rag_otel_collectors.otlp.exporters.grpc_backend import GrpcConnection

            return GrpcConnection(backend)
        if backend.protocol == "kafka":
            from rag_otel_collectors.otlp.exporters.kafka_backend import KafkaConnection

            return KafkaConnection(backend)
        from rag_otel_collectors.otlp.exporters.http_backend import HttpConnection

        return HttpConnection(backend)
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"backend {backend.name}: {error}") from None
