"""Providers of metrics and events that rag-otel creates, where the application's are not to be used.

They are created at the start, and again in every forked child, which reports its own values.
"""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from opentelemetry._logs import Logger
from opentelemetry.sdk.resources import Resource

from rag_otel import semconv
from rag_otel.safety.time_limit import LimitedCall
from rag_otel.telemetry.instruments import Instruments

if TYPE_CHECKING:
    from opentelemetry.sdk._logs.export import LogRecordExporter
    from opentelemetry.sdk.metrics.export import MetricReader

_INSTANCE: Final = "service.instance.id"


class OwnProvider(ABC):
    """A provider of OpenTelemetry's SDK that rag-otel creates at `start`."""

    def __init__(self, resource: Callable[[], Resource]) -> None:
        self._resource = resource
        self._provider: Any = None
        """None before the start and after the shutdown."""
        self._export = LimitedCall("telemetry.export", here_at_exit=True)

    @abstractmethod
    def start(self) -> None:
        """Create it. It must not shut down by itself at exit: the last results are delivered at exit before it."""

    def flush(self, timeout_s: float) -> bool:
        """Exports pending data. Returns False if that was not done in time."""
        provider = self._provider
        return provider is None or self._export.within(timeout_s, lambda: provider.force_flush(int(timeout_s * 1000)))

    def shutdown(self, timeout_s: float) -> None:
        """Exports pending data and stops. Safe to call twice."""
        provider, self._provider = self._provider, None
        if provider is not None:
            self._export.within(timeout_s, lambda: self._stop(provider, timeout_s))

    def _stop(self, provider: Any, timeout_s: float) -> None:
        provider.shutdown()

    @abstractmethod
    def after_fork(self) -> None:
        """Go on in a forked child."""

    def _of_process(self) -> Resource:
        """The resource with an id of this process. Without it, processes that report the same counter would overwrite
        each other's values."""
        return self._resource().merge(Resource({_INSTANCE: str(uuid.uuid4())}))


class OwnMetrics(OwnProvider):
    """Instruments on a meter provider created by rag-otel."""

    def __init__(
        self, readers: Callable[[], Sequence[MetricReader]], *, resource: Callable[[], Resource], forks: bool = True
    ) -> None:
        """`readers` creates the readers of a new provider. With `forks=False` a forked child gets no provider."""
        super().__init__(resource)
        self._readers = readers
        self._forks = forks
        self._instruments: Instruments | None = None

    def instruments(self) -> Instruments | None:
        """The instruments. None before the start and after the shutdown."""
        return None if self._provider is None else self._instruments

    def start(self) -> None:
        from opentelemetry.sdk.metrics import MeterProvider as SdkMeterProvider

        provider = SdkMeterProvider(metric_readers=self._readers(), resource=self._of_process(), shutdown_on_exit=False)
        self._instruments, self._provider = Instruments(provider), provider

    def after_fork(self) -> None:
        """The child drops the parent's provider, whose exporter does nothing in another process (`otlp`)."""
        started, self._provider = self._provider is not None, None
        if started and self._forks:
            self.start()

    def _stop(self, provider: Any, timeout_s: float) -> None:
        provider.shutdown(timeout_s * 1000)


class OwnEvents(OwnProvider):
    """Events on a logger provider created by rag-otel."""

    def __init__(self, exporter: LogRecordExporter, *, resource: Callable[[], Resource]) -> None:
        super().__init__(resource)
        self._exporter = exporter

    def logger(self) -> Logger | None:
        """The logger. None before the start and after the shutdown."""
        if self._provider is None:
            return None
        logger: Logger = self._provider.get_logger(semconv.SCOPE, schema_url=semconv.GEN_AI_SCHEMA_URL)
        return logger

    def start(self) -> None:
        from opentelemetry.sdk._logs import LoggerProvider as SdkLoggerProvider
        from opentelemetry.sdk._logs.export import BatchLogRecordProcessor

        self._provider = SdkLoggerProvider(resource=self._of_process(), shutdown_on_exit=False)
        self._provider.add_log_record_processor(BatchLogRecordProcessor(self._exporter))

    def after_fork(self) -> None:
        """Nothing to do: the SDK's processor starts again by itself in the child, with an empty queue."""
