"""A `/metrics` endpoint in the application's process that Prometheus scrapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from opentelemetry.sdk.metrics.export import MetricReader
from opentelemetry.sdk.resources import Resource

from rag_otel.errors import ConfigurationError
from rag_otel.safety.guard import counters, guarded, logger
from rag_otel.telemetry.prometheus_families import Scraped, ScrapeReader, registry_of
from rag_otel.telemetry.providers import OwnMetrics


class PrometheusMetrics(OwnMetrics):
    """Metrics on a meter provider created by rag-otel. A thread of the process that called `start` serves them at
    `http://<address>/metrics`."""

    def __init__(
        self, address: str, *, resource: Callable[[], Resource], readers: Callable[[], Sequence[MetricReader]] = tuple
    ) -> None:
        """`address` is `host:port`; port 0 takes a free port. `readers` creates further readers for the same provider.

        Raises ConfigurationError for an invalid address.
        """
        host, _, port = address.rpartition(":")
        if not host or not port.isdigit():
            raise ConfigurationError(f"telemetry_address must be host:port, not {address!r}")
        super().__init__(self._all_readers, resource=resource, forks=False)
        self._host, self._wanted = host.strip("[]"), int(port)
        self._others = readers
        self._reader = ScrapeReader()
        self._server: Any = None

    @property
    def port(self) -> int | None:
        """The port on which it listens. None while it does not listen."""
        return None if self._server is None else int(self._server.server_port)

    def start(self) -> None:
        """Starts to listen. If the address is in use, that is logged and counted, and the application continues."""
        from prometheus_client import start_http_server

        super().start()
        try:
            self._server, _ = start_http_server(self._wanted, self._host, registry_of(Scraped(self._reader)))
        except OSError as error:
            counters.add("telemetry.endpoint_unavailable")
            logger.warning(
                "rag-otel: cannot serve metrics on %s:%d: %s; a server with several processes needs "
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
        # The parent's thread continues to serve; the child closes its copy of the socket.
        server, self._server = self._server, None
        if server is not None:
            server.socket.close()
        super().after_fork()

    def _all_readers(self) -> list[MetricReader]:
        self._reader = ScrapeReader()
        return [self._reader, *self._others()]
