"""A `/metrics` endpoint in the application's process, for Prometheus to scrape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from opentelemetry.sdk.metrics.export import MetricReader
from opentelemetry.sdk.resources import Resource

from rag_otel.errors import ConfigurationError
from rag_otel.safety.guard import counters, guarded, logger
from rag_otel.telemetry.outlets import OwnMetrics
from rag_otel.telemetry.prometheus_families import Scraped, ScrapeReader, registry_of


class PrometheusMetrics(OwnMetrics):
    """Metrics of our own, shown at `http://<address>/metrics` by a thread of the process that started it."""

    def __init__(
        self, address: str, *, resource: Callable[[], Resource], readers: Callable[[], Sequence[MetricReader]] = tuple
    ) -> None:
        """`address` is `host:port`; port 0 takes a free one. `readers` makes further readers for the same provider.

        Raises ConfigurationError for an address that is none.
        """
        host, _, port = address.rpartition(":")
        if not host or not port.isdigit():
            raise ConfigurationError(f"telemetry_address must be host:port, not {address!r}")
        super().__init__(self._with_ours, resource=resource, forks=False)
        self._host, self._wanted = host.strip("[]"), int(port)
        self._others = readers
        self._reader = ScrapeReader()
        self._server: Any = None

    @property
    def port(self) -> int | None:
        """The address it listens on; None while it does not."""
        return None if self._server is None else int(self._server.server_port)

    def start(self) -> None:
        """Listen. An address in use is logged and counted; the application and its evaluations continue."""
        from prometheus_client import start_http_server

        super().start()
        try:
            self._server, _ = start_http_server(self._wanted, self._host, registry_of(Scraped(self._reader)))
        except OSError as error:
            counters.add("telemetry.endpoint_unavailable")
            logger.warning(
                "rag-otel: no metrics are shown on %s:%d: %s; several processes of one server need "
                "telemetry_exporter='otlp'",
                self._host,
                self._wanted,
                error.strerror,
            )

    def shutdown(self, timeout_s: float) -> None:
        server, self._server = self._server, None
        if server is not None:
            with guarded("telemetry.shutdown"):
                server.shutdown()
                server.server_close()
        super().shutdown(timeout_s)

    def after_fork(self) -> None:
        # The parent's thread serves; the child lets go of the address.
        server, self._server = self._server, None
        if server is not None:
            server.socket.close()
        super().after_fork()

    def _with_ours(self) -> list[MetricReader]:
        self._reader = ScrapeReader()
        return [self._reader, *self._others()]
