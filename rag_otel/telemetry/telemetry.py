"""The telemetry that the settings ask for: writers that record results as metrics and events, and their outlets."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from opentelemetry._logs import Logger, LoggerProvider
from opentelemetry.metrics import MeterProvider
from opentelemetry.sdk.resources import Resource

from rag_otel.errors import ConfigurationError
from rag_otel.protocols import Writer
from rag_otel.safety.guard import guarded
from rag_otel.settings import Settings
from rag_otel.telemetry.evaluation_event import EvaluationEventWriter
from rag_otel.telemetry.outlets import ApplicationEvents, ApplicationMetrics, Outlet, OwnEvents, OwnMetrics
from rag_otel.telemetry.writer import TelemetryWriter

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import MetricReader


class Telemetry:
    """The writers that receive results, and the outlets that export what they record."""

    def __init__(self, writers: Sequence[Writer], outlets: Sequence[Outlet]) -> None:
        self.writers: Sequence[Writer] = tuple(writers)
        self._outlets = tuple(outlets)
        self._take_part: Callable[[], object] | None = None

    def share(self, take_part: Callable[[], object]) -> None:
        """One process serves the metrics of all that share a state folder: `start` only calls `take_part`, and `lead`
        starts the outlets, in the process that is to serve."""
        self._take_part = take_part

    def start(self) -> None:
        """Starts the outlets. A failure is logged and counted."""
        if self._take_part is not None:
            self._take_part()
        else:
            self.lead()

    def lead(self) -> None:
        """Starts the outlets of this process, whoever shares its folder."""
        for outlet in self._outlets:
            with guarded("telemetry.start"):
                outlet.start()

    def flush(self, timeout_s: float) -> bool:
        """Exports pending data within `timeout_s` in total. Returns False if some was not exported."""
        deadline = time.monotonic() + timeout_s
        done = [outlet.flush(max(0.0, deadline - time.monotonic())) for outlet in self._outlets]
        return all(done)

    def shutdown(self, timeout_s: float) -> None:
        """Exports pending data and stops. Safe to call twice."""
        deadline = time.monotonic() + timeout_s
        for outlet in self._outlets:
            outlet.shutdown(max(0.1, deadline - time.monotonic()))

    def after_fork(self) -> None:
        """Starts again in a forked child."""
        for outlet in self._outlets:
            with guarded("telemetry.after_fork"):
                outlet.after_fork()


def telemetry_of(
    settings: Settings,
    *,
    resource: Callable[[], Resource],
    meter_provider: MeterProvider | None = None,
    logger_provider: LoggerProvider | None = None,
    readers: Sequence[MetricReader] = (),
) -> Telemetry:
    """Builds the configured telemetry. Nothing runs before `start`.

    `resource` describes the process for providers that rag-otel creates. `meter_provider` and `logger_provider` are
    used instead of the application's global providers. If `readers` are given, rag-otel always creates a meter
    provider, and they read it too. Raises ConfigurationError if a setting needs a package that is missing.
    """
    writers: list[Writer] = []
    outlets: list[Outlet] = []
    metrics = _metrics(settings, resource, meter_provider, readers)
    if metrics is not None:
        outlets.append(metrics)
        writers.append(TelemetryWriter(metrics.instruments))
    events = _events(settings, resource, logger_provider)
    if events is not None:
        outlets.append(events)
        writers.append(EvaluationEventWriter(events.logger, capture_content=settings.capture_content))
    return Telemetry(writers, outlets)


def _metrics(
    settings: Settings,
    resource: Callable[[], Resource],
    provider: MeterProvider | None,
    readers: Sequence[MetricReader],
) -> ApplicationMetrics | OwnMetrics | None:
    if settings.telemetry.exporter == "none":
        return None
    if settings.telemetry.exporter == "prometheus":
        from rag_otel.telemetry.metrics_page import PrometheusMetrics

        return PrometheusMetrics(settings.telemetry.address, resource=resource, readers=lambda: readers)
    if settings.telemetry.exporter == "otlp":
        from rag_otel.telemetry.otlp import metric_readers

        over_otlp = metric_readers(settings.telemetry.endpoint)
        return OwnMetrics(lambda: [*readers, *over_otlp()], resource=resource)
    return OwnMetrics(lambda: readers, resource=resource) if readers else ApplicationMetrics(provider)


def _events(
    settings: Settings, resource: Callable[[], Resource], provider: LoggerProvider | None
) -> ApplicationEvents | OwnEvents | None:
    if settings.telemetry.exporter == "none":
        return None
    if "event_name" not in inspect.signature(Logger.emit).parameters:
        if settings.telemetry.exporter != "otlp":
            return None
        raise ConfigurationError("events need a newer Logs API: pip install 'opentelemetry-sdk>=1.38'")
    if settings.telemetry.exporter == "otlp":
        from rag_otel.telemetry.otlp import log_exporter

        return OwnEvents(log_exporter(settings.telemetry.endpoint), resource=resource)
    return ApplicationEvents(provider)
