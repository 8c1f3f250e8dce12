"""OTLP exporters of rag-otel's metrics and events. Their HTTP requests create no spans."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics.export import (
    MetricExporter,
    MetricExportResult,
    MetricReader,
    MetricsData,
    PeriodicExportingMetricReader,
)

from rag_otel.errors import ConfigurationError
from rag_otel.safety.guard import counters
from rag_otel.safety.tracing_suppression import suppressed

if TYPE_CHECKING:
    from opentelemetry.sdk._logs import ReadableLogRecord
    from opentelemetry.sdk._logs.export import LogRecordExporter, LogRecordExportResult

_HTTP: Final = "http/protobuf"


class QuietMetricExporter(MetricExporter):
    """Exports with tracing suppressed, and only in the process that created it. A forked child inherits the values of
    its parent, and the parent exports them."""

    def __init__(self, exporter: MetricExporter) -> None:
        super().__init__(exporter._preferred_temporality, exporter._preferred_aggregation)
        self._exporter = exporter
        self._pid = os.getpid()

    def export(self, metrics_data: MetricsData, timeout_millis: float = 10_000, **kwargs: Any) -> MetricExportResult:
        if os.getpid() != self._pid:
            return MetricExportResult.SUCCESS
        with suppressed():
            result = self._exporter.export(metrics_data, timeout_millis=timeout_millis, **kwargs)
        counters.add(f"telemetry.metrics.{result.name.lower()}")
        return result

    def force_flush(self, timeout_millis: float = 10_000) -> bool:
        return self._exporter.force_flush(timeout_millis)

    def shutdown(self, timeout_millis: float = 30_000, **kwargs: Any) -> None:
        self._exporter.shutdown(timeout_millis)


class QuietLogExporter:
    """Exports with tracing suppressed. It has the methods of `LogRecordExporter`, but does not inherit from it, because
    SDK 1.39 renamed that class."""

    def __init__(self, exporter: LogRecordExporter) -> None:
        self._exporter = exporter

    def export(self, batch: Sequence[ReadableLogRecord]) -> LogRecordExportResult:
        with suppressed():
            result = self._exporter.export(batch)
        counters.add(f"telemetry.events.{result.name.lower()}", len(batch))
        return result

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._exporter.force_flush(timeout_millis)

    def shutdown(self) -> None:
        self._exporter.shutdown()  # type: ignore[no-untyped-call]


def metric_readers(endpoint: str | None) -> Callable[[], list[MetricReader]]:
    """Returns a function that creates the reader of a provider. The reader exports every minute, or as
    OTEL_METRIC_EXPORT_INTERVAL says.

    `endpoint` as for `metric_exporter`. Raises ConfigurationError immediately, not at the first export.
    """
    metric_exporter(endpoint).shutdown()
    return lambda: [PeriodicExportingMetricReader(metric_exporter(endpoint))]


def metric_exporter(endpoint: str | None) -> MetricExporter:
    """Returns the exporter to `endpoint` (an address without a path), or to the endpoint that OpenTelemetry's
    environment variables name.

    Raises ConfigurationError for an unsupported protocol.
    """
    if endpoint is None and _protocol("METRICS") == "grpc":
        return QuietMetricExporter(_grpc("metric_exporter", "OTLPMetricExporter"))
    return QuietMetricExporter(OTLPMetricExporter(endpoint=_address(endpoint, "/v1/metrics")))


def log_exporter(endpoint: str | None) -> QuietLogExporter:
    """Returns the exporter of events. Arguments and errors as for `metric_exporter`."""
    if endpoint is None and _protocol("LOGS") == "grpc":
        return QuietLogExporter(_grpc("_log_exporter", "OTLPLogExporter"))
    return QuietLogExporter(OTLPLogExporter(endpoint=_address(endpoint, "/v1/logs")))


def _address(endpoint: str | None, path: str) -> str | None:
    return None if endpoint is None else endpoint.rstrip("/").removesuffix(path) + path


def _protocol(signal: str) -> str:
    names = (f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
    name, protocol = next(((name, os.environ[name]) for name in names if os.environ.get(name)), ("", _HTTP))
    if protocol not in (_HTTP, "grpc"):
        raise ConfigurationError(f"{name}={protocol!r} is not one of {_HTTP}, grpc")
    return protocol


def _grpc(module: str, name: str) -> Any:
    import importlib

    try:
        return getattr(importlib.import_module(f"opentelemetry.exporter.otlp.proto.grpc.{module}"), name)()
    except ImportError:
        raise ConfigurationError(
            "OTLP over gRPC needs the gRPC exporter: pip install 'rag-otel[otlp]'; "
            "or set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"
        ) from None
