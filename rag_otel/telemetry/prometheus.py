"""A `/metrics` endpoint: the SDK's metrics in Prometheus' text format or, where the scraper asks for it, OpenMetrics.

OpenMetrics carries the exemplars (a bucket of the score histogram points to a trace), which OpenTelemetry's own
Prometheus exporter leaves out. The format itself is prometheus-client's.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, cast

from opentelemetry.sdk.metrics.export import (
    Gauge,
    Histogram,
    HistogramDataPoint,
    InMemoryMetricReader,
    Metric,
    MetricReader,
    NumberDataPoint,
    Sum,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.trace import format_span_id, format_trace_id

from rag_otel.errors import ConfigurationError
from rag_otel.guard import counters, guarded, logger
from rag_otel.telemetry.names import INSTRUMENTS
from rag_otel.telemetry.outlets import OwnMetrics

try:
    from prometheus_client import start_http_server
    from prometheus_client.metrics_core import (
        CounterMetricFamily,
        GaugeMetricFamily,
        HistogramMetricFamily,
    )
    from prometheus_client.metrics_core import Metric as Family
    from prometheus_client.registry import Collector, CollectorRegistry
    from prometheus_client.samples import Exemplar
except ImportError as error:
    raise ConfigurationError(f"/metrics needs more: pip install 'rag-otel[prometheus]' ({error})") from None

_NAMES: Final = {row.name: row.prometheus for row in INSTRUMENTS}
_NS: Final = 1e9


class Scraped(Collector):
    """What a scrape gets: everything that the meter provider of `reader` has, collected at that moment."""

    def __init__(self, reader: InMemoryMetricReader) -> None:
        self._reader = reader

    def collect(self) -> Iterable[Family]:
        """One family for each instrument that has a value."""
        data = self._reader.get_metrics_data()
        for resource in () if data is None else data.resource_metrics:
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    if (family := _family(metric)) is not None:
                        yield family


class PrometheusMetrics(OwnMetrics):
    """Metrics of our own, shown at `http://<address>/metrics` by a thread of the process that started it."""

    def __init__(
        self, address: str, *, resource: Callable[[], Resource], readers: Callable[[], Sequence[MetricReader]] = tuple
    ) -> None:
        """`address` is `host:port`; port 0 takes a free one. `readers` makes others for the same provider.

        Raises ConfigurationError for an address that is none.
        """
        host, _, port = address.rpartition(":")
        if not host or not port.isdigit():
            raise ConfigurationError(f"telemetry_address must be host:port, not {address!r}")
        super().__init__(self._with_ours, resource=resource, forks=False)
        self._host, self._wanted = host.strip("[]"), int(port)
        self._others = readers
        self._reader = InMemoryMetricReader()
        self._server: Any = None

    @property
    def port(self) -> int | None:
        """Where it listens; None while it does not."""
        return None if self._server is None else int(self._server.server_port)

    def start(self) -> None:
        """Listen. An address that is taken is logged and counted: the application goes on, and so does evaluation."""
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
        self._reader = InMemoryMetricReader()
        return [self._reader, *self._others()]


def registry_of(*collectors: Collector) -> CollectorRegistry:
    """What prometheus-client serves: these collectors, asked anew at every scrape."""
    registry = CollectorRegistry(support_collectors_without_names=True)
    for collector in collectors:
        registry.register(collector)
    return registry


def _family(metric: Metric) -> Family | None:
    """A metric of the SDK as a family of Prometheus; None for a kind that is none of ours."""
    name = _NAMES.get(metric.name)
    points: list[NumberDataPoint | HistogramDataPoint] = list(cast("Any", metric.data).data_points)
    meaning = metric.description or ""
    if name is None or not points:
        return None
    labels = sorted({label for point in points for label in point.attributes or ()})
    if isinstance(metric.data, Histogram):
        histogram = HistogramMetricFamily(name, meaning, labels=labels)
        for point in cast("Sequence[HistogramDataPoint]", points):
            histogram.add_metric(_values(point, labels), list(_buckets(point)), float(point.sum))
        return histogram
    numbers = cast("Sequence[NumberDataPoint]", points)
    if isinstance(metric.data, Sum) and metric.data.is_monotonic:
        counter = CounterMetricFamily(name, meaning, labels=labels)
        for number in numbers:
            counter.add_metric(_values(number, labels), number.value, exemplar=_newest(number.exemplars))
        return counter
    if isinstance(metric.data, Gauge):
        gauge = GaugeMetricFamily(name, meaning, labels=labels)
        for number in numbers:
            gauge.add_metric(_values(number, labels), number.value)
        return gauge
    return None


def _values(point: NumberDataPoint | HistogramDataPoint, labels: Sequence[str]) -> list[str]:
    """The values of these labels; an absent one is empty, which to Prometheus is the same."""
    attributes = point.attributes or {}
    return [str(attributes.get(label, "")) for label in labels]


def _buckets(point: HistogramDataPoint) -> Iterator[tuple[str, float] | tuple[str, float, Exemplar]]:
    """(upper edge, count up to it[, newest exemplar in it])"""
    edges = list(point.explicit_bounds)
    kept: dict[int, list[Any]] = {}
    for each in point.exemplars:
        kept.setdefault(bisect.bisect_left(edges, each.value), []).append(each)
    total = 0
    for index, count in enumerate(point.bucket_counts):
        total += count
        edge = repr(float(edges[index])) if index < len(edges) else "+Inf"
        exemplar = _newest(kept.get(index, ()))
        yield (edge, total) if exemplar is None else (edge, total, exemplar)


def _newest(exemplars: Sequence[Any]) -> Exemplar | None:
    traced = [each for each in exemplars if each.trace_id]
    if not traced:
        return None
    newest = max(traced, key=lambda each: each.time_unix_nano)
    ids = {"trace_id": format_trace_id(newest.trace_id), "span_id": format_span_id(newest.span_id or 0)}
    return Exemplar(ids, float(newest.value), newest.time_unix_nano / _NS)
