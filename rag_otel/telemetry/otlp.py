"""OTLP exporters of rag-otel's metrics and events, as OpenTelemetry's variables say. The SDK suppresses spans of their
requests."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics.export import MetricExporter, MetricExportResult, PeriodicExportingMetricReader

from rag_otel.errors import ConfigurationError

if TYPE_CHECKING:
    from opentelemetry.sdk._logs.export import LogRecordExporter

_HTTP: Final = "http/protobuf"


def metric_readers() -> Callable[[], list[PeriodicExportingMetricReader]]:
    """Returns a function that creates the reader of a provider. The reader exports every minute, or as
    OTEL_METRIC_EXPORT_INTERVAL says, to where OpenTelemetry's variables say. Raises ConfigurationError for an
    unsupported protocol immediately, not at the first export.
    """
    metric_exporter().shutdown()
    return lambda: [PeriodicExportingMetricReader(metric_exporter())]


def metric_exporter() -> MetricExporter:
    """Returns an exporter that exports only in the process that created it: the SDK starts the reader again in a forked
    child, whose values are its parent's. Errors as for `metric_readers`."""
    exporter: MetricExporter
    if _protocol("METRICS") == "grpc":
        exporter = _grpc("metric_exporter", "OTLPMetricExporter")
    else:
        exporter = OTLPMetricExporter()
    export, process = exporter.export, os.getpid()

    def export_here(*arguments: Any, **options: Any) -> MetricExportResult:
        return export(*arguments, **options) if os.getpid() == process else MetricExportResult.SUCCESS

    exporter.export = export_here  # type: ignore[method-assign]
    return exporter


def log_exporter() -> LogRecordExporter:
    """Returns the exporter of events. Errors as for `metric_readers`."""
    if _protocol("LOGS") == "grpc":
        exporter: LogRecordExporter = _grpc("_log_exporter", "OTLPLogExporter")
        return exporter
    return OTLPLogExporter()


def _protocol(signal: str) -> str:
    names = (f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
    name, protocol = next(((name, os.environ[name]) for name in names if os.environ.get(name)), ("", _HTTP))
    if protocol not in (_HTTP, "grpc"):
        raise ConfigurationError(f"{name}={protocol!r} is not one of {_HTTP}, grpc")
    return protocol


def _grpc(module: str, name: str) -> Any:
    try:
        return getattr(importlib.import_module(f"opentelemetry.exporter.otlp.proto.grpc.{module}"), name)()
    except ImportError:
        raise ConfigurationError(
            "OTLP over gRPC needs the gRPC exporter: pip install 'rag-otel[otlp]'; "
            "or set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"
        ) from None
