"""The telemetry that the settings ask for: writers that record results as metrics and events, and own providers."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from opentelemetry._logs import Logger
from opentelemetry.sdk.resources import Resource

from rag_otel.errors import ConfigurationError
from rag_otel.protocols import Writer
from rag_otel.safety.guard import guarded
from rag_otel.settings import Settings
from rag_otel.telemetry.evaluation_event import EvaluationEventWriter, application_logger
from rag_otel.telemetry.instruments import Instruments
from rag_otel.telemetry.providers import OwnEvents, OwnMetrics, OwnProvider
from rag_otel.telemetry.writer import TelemetryWriter, application_instruments

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import MetricReader


class Telemetry:
    """The writers that receive results, and rag-otel's own providers, which export what they record."""

    def __init__(self, writers: Sequence[Writer], providers: Sequence[OwnProvider]) -> None:
        self.writers: Sequence[Writer] = tuple(writers)
        self._providers = tuple(providers)
        self._take_part: Callable[[], object] | None = None

    def share(self, take_part: Callable[[], object]) -> None:
        """One process serves the metrics of all that share a state folder: `start` only calls `take_part`, and `lead`
        starts the providers, in the process that is to serve."""
        self._take_part = take_part

    def start(self) -> None:
        """Starts the providers. A failure is logged and counted."""
        if self._take_part is not None:
            self._take_part()
        else:
            self.lead()

    def lead(self) -> None:
        """Starts the providers of this process, whoever shares its folder."""
        for each in self._providers:
            with guarded("telemetry.start"):
                each.start()

    def flush(self, timeout_s: float) -> bool:
        """Exports pending data within `timeout_s` in total. Returns False if some was not exported."""
        deadline = time.monotonic() + timeout_s
        done = [each.flush(max(0.0, deadline - time.monotonic())) for each in self._providers]
        return all(done)

    def shutdown(self, timeout_s: float) -> None:
        """Exports pending data and stops. Safe to call twice."""
        deadline = time.monotonic() + timeout_s
        for each in self._providers:
            each.shutdown(max(0.1, deadline - time.monotonic()))

    def after_fork(self) -> None:
        """Starts again in a forked child."""
        for each in self._providers:
            with guarded("telemetry.after_fork"):
                each.after_fork()


def telemetry_of(
    settings: Settings,
    *,
    resource: Callable[[], Resource],
    readers: Sequence[MetricReader] = (),
) -> Telemetry:
    """Builds the configured telemetry. Nothing runs before `start`.

    `resource` describes the process for providers that rag-otel creates. If `readers` are given, rag-otel always
    creates a meter provider, and they read it too. Raises ConfigurationError if a setting needs a package that is
    missing.
    """
    if settings.telemetry.exporter == "none":
        return Telemetry((), ())
    metrics, instruments = _metrics(settings, resource, readers)
    events, logger = _events(settings, resource)
    writers: list[Writer] = [TelemetryWriter(instruments)]
    if logger is not None:
        writers.append(EvaluationEventWriter(logger, capture_content=settings.capture_content))
    return Telemetry(writers, [each for each in (metrics, events) if each is not None])


def _metrics(
    settings: Settings,
    resource: Callable[[], Resource],
    readers: Sequence[MetricReader],
) -> tuple[OwnMetrics | None, Callable[[], Instruments | None]]:
    """The own provider, if there is one, and what gives the instruments."""
    if settings.telemetry.exporter == "prometheus":
        from rag_otel.telemetry.metrics_page import PrometheusMetrics

        own: OwnMetrics = PrometheusMetrics(settings.telemetry.address, resource=resource, readers=lambda: readers)
    elif settings.telemetry.exporter == "otlp":
        from rag_otel.telemetry.otlp import metric_readers

        over_otlp = metric_readers()
        own = OwnMetrics(lambda: [*readers, *over_otlp()], resource=resource)
    elif readers:
        own = OwnMetrics(lambda: readers, resource=resource)
    else:
        return None, application_instruments(settings.telemetry.meter_provider)
    return own, own.instruments


def _events(
    settings: Settings, resource: Callable[[], Resource]
) -> tuple[OwnEvents | None, Callable[[], Logger | None] | None]:
    """The same for the logger of events; None where the Logs API is too old for them."""
    if "event_name" not in inspect.signature(Logger.emit).parameters:
        if settings.telemetry.exporter != "otlp":
            return None, None
        raise ConfigurationError("events need a newer Logs API: pip install 'opentelemetry-sdk>=1.38'")
    if settings.telemetry.exporter != "otlp":
        return None, application_logger(settings.telemetry.logger_provider)
    from rag_otel.telemetry.otlp import log_exporter

    own = OwnEvents(log_exporter(), resource=resource)
    return own, own.logger
