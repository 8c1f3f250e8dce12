"""A connection for the settings of a backend."""

from __future__ import annotations

from rag_otel.errors import ConfigurationError
from rag_otel_collectors.otlp.exporters.connection import BackendSettings, Connection


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
