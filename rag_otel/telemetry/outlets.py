"""Where metrics and events go, from set-up to shutdown: the application's providers, or ones of our own.

A provider of our own is made at the start and once more in every forked child, whose numbers are its own.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from opentelemetry import _logs as logs_api
from opentelemetry import metrics as metrics_api
from opentelemetry._logs import Logger, LoggerProvider
from opentelemetry.metrics import MeterProvider
from opentelemetry.sdk.resources import Resource

from rag_otel import semconv
from rag_otel.safety.time_limit import LimitedCall
from rag_otel.telemetry.instruments import Instruments

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import MetricReader

    from rag_otel.telemetry.otlp import QuietLogExporter

_INSTANCE: Final = "service.instance.id"


class Outlet(Protocol):
    """A destination that is started, flushed and stopped with its set-up."""

    def start(self) -> None:
        """Start. Raises nothing that the application would have to handle."""
        ...

    def flush(self, timeout_s: float) -> bool:
        """Export what is pending; False when that failed."""
        ...

    def shutdown(self, timeout_s: float) -> None:
        """Export what is pending and stop. Safe to call twice."""
        ...

    def after_fork(self) -> None:
        """Start over in a forked child."""
        ...


class ApplicationMetrics:
    """Instruments on the application's meter provider, which the application itself starts and stops."""

    def __init__(self, provider: MeterProvider | None = None) -> None:
        """`provider` stands in for the global one, which may also be set later."""
        self._provider = provider
        self._instruments: Instruments | None = None

    def instruments(self) -> Instruments | None:
        """The instruments; None while the application has no provider."""
        if self._provider is None and _does_nothing(metrics_api.get_meter_provider()):
            return None
        return self._instruments

    def start(self) -> None:
        # Made now, so that they are read as soon as there is a provider.
        self._instruments = _global_instruments() if self._provider is None else _made_on(self._provider)

    def flush(self, timeout_s: float) -> bool:
        return True

    def shutdown(self, timeout_s: float) -> None:
        pass

    def after_fork(self) -> None:
        pass


class OwnMetrics:
    """Instruments on a meter provider of our own."""

    def __init__(
        self, readers: Callable[[], Sequence[MetricReader]], *, resource: Callable[[], Resource], forks: bool = True
    ) -> None:
        """`readers` makes those of a new provider; with `forks=False` a forked child gets none."""
        self._readers = readers
        self._resource = resource
        self._forks = forks
        self._provider: Any = None
        self._instruments: Instruments | None = None
        self._export = LimitedCall("telemetry.export", here_at_exit=True)

    def instruments(self) -> Instruments | None:
        """The instruments; None before the start and after the shutdown."""
        return self._instruments

    def start(self) -> None:
        from opentelemetry.sdk.metrics import MeterProvider as SdkMeterProvider

        # Not by itself at exit: the last results are delivered then, and come first.
        self._provider = SdkMeterProvider(
            metric_readers=self._readers(), resource=_instance_of(self._resource()), shutdown_on_exit=False
        )
        self._instruments = _made_on(self._provider)

    def flush(self, timeout_s: float) -> bool:
        provider = self._provider
        return provider is None or self._export.within(timeout_s, lambda: provider.force_flush(timeout_s * 1000))

    def shutdown(self, timeout_s: float) -> None:
        provider, self._provider, self._instruments = self._provider, None, None
        if provider is not None:
            self._export.within(timeout_s, lambda: provider.shutdown(timeout_s * 1000) or True)

    def after_fork(self) -> None:
        # The parent's provider stays behind: its exporter knows that this is not its process.
        started, self._provider, self._instruments = self._provider is not None, None, None
        if started and self._forks:
            self.start()


class ApplicationEvents:
    """Events by the application's logger provider."""

    def __init__(self, provider: LoggerProvider | None = None) -> None:
        """`provider` stands in for the global one, which may also be set later."""
        self._provider = provider

    def logger(self) -> Logger | None:
        """The logger; None while the application has no provider."""
        if self._provider is None and _does_nothing(logs_api.get_logger_provider()):
            return None
        return logs_api.get_logger(semconv.SCOPE, logger_provider=self._provider)

    def start(self) -> None:
        pass

    def flush(self, timeout_s: float) -> bool:
        return True

    def shutdown(self, timeout_s: float) -> None:
        pass

    def after_fork(self) -> None:
        pass


class OwnEvents:
    """Events by a logger provider of our own."""

    def __init__(self, exporter: QuietLogExporter, *, resource: Callable[[], Resource]) -> None:
        self._exporter = exporter
        self._resource = resource
        self._provider: Any = None
        self._export = LimitedCall("telemetry.export", here_at_exit=True)

    def logger(self) -> Logger | None:
        """The logger; None before the start and after the shutdown."""
        if self._provider is None:
            return None
        logger: Logger = self._provider.get_logger(semconv.SCOPE)
        return logger

    def start(self) -> None:
        from opentelemetry.sdk._logs import LoggerProvider as SdkLoggerProvider
        from opentelemetry.sdk._logs.export import BatchLogRecordProcessor

        self._provider = SdkLoggerProvider(resource=_instance_of(self._resource()), shutdown_on_exit=False)
        self._provider.add_log_record_processor(BatchLogRecordProcessor(cast("Any", self._exporter)))

    def flush(self, timeout_s: float) -> bool:
        provider = self._provider
        return provider is None or self._export.within(timeout_s, lambda: provider.force_flush(int(timeout_s * 1000)))

    def shutdown(self, timeout_s: float) -> None:
        provider, self._provider = self._provider, None
        if provider is not None:
            self._export.within(timeout_s, lambda: provider.shutdown() or True)

    def after_fork(self) -> None:
        pass  # its processor starts over by itself, with an empty queue


_of_the_application: Instruments | None = None


def _global_instruments() -> Instruments:
    """Made once per process: instruments on the global provider cannot be removed, and need not be."""
    global _of_the_application
    if _of_the_application is None:
        _of_the_application = _made_on(None)
    return _of_the_application


def _made_on(provider: MeterProvider | None) -> Instruments:
    return Instruments(metrics_api.get_meter(semconv.SCOPE, meter_provider=provider))


def _does_nothing(provider: object) -> bool:
    """True for the API's proxies, which stand in until the application sets a provider."""
    return type(provider).__module__.startswith(("opentelemetry.metrics", "opentelemetry._logs"))


def _instance_of(resource: Resource) -> Resource:
    """The resource of this very process: two that report one counter under one name would overwrite each other."""
    return resource.merge(Resource({_INSTANCE: str(uuid.uuid4())}))
