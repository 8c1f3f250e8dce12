"""OTLP exporters of our own metrics and events. Their own requests make no spans."""

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
    """Exports under suppression, and only in the process that made it: a forked child inherits the numbers of its
    parent, who reports them itself."""

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
    """Exports under suppression. By its methods a `LogRecordExporter`, whose name changed with SDK 1.39."""

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


def metric_readers(endpoint: str | None, *, interval_s: float) -> Callable[[], list[MetricReader]]:
    """Makes the reader that exports every `interval_s` seconds, anew for every provider.

    `endpoint` as for `metric_exporter`. Raises ConfigurationError now, not when traffic flows.
    """
    metric_exporter(endpoint).shutdown()
    return lambda: [PeriodicExportingMetricReader(metric_exporter(endpoint), interval_s * 1000)]


def metric_exporter(endpoint: str | None) -> MetricExporter:
    """To `endpoint` (an address without a path), or to the endpoint of OpenTelemetry's environment variables.

    Raises ConfigurationError for a protocol that cannot be spoken.
    """
    if endpoint is None and _protocol("METRICS") == "grpc":
        return QuietMetricExporter(_grpc("metric_exporter", "OTLPMetricExporter"))
    return QuietMetricExporter(OTLPMetricExporter(endpoint=_address(endpoint, "/v1/metrics")))


def log_exporter(endpoint: str | None) -> QuietLogExporter:
    """The same for events."""
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
