"""Converts metrics of the OpenTelemetry SDK to metric families of prometheus-client, with exemplars.

OpenTelemetry's Prometheus exporter has no exemplars. Here a bucket of the score histogram links to a trace.
prometheus-client writes the families as Prometheus text or as OpenMetrics.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias, cast

from opentelemetry.sdk.metrics.export import (
    Gauge,
    Histogram,
    HistogramDataPoint,
    InMemoryMetricReader,
    Metric,
    NumberDataPoint,
    Sum,
)
from opentelemetry.trace import format_span_id, format_trace_id

from rag_otel.errors import ConfigurationError
from rag_otel.telemetry.names import INSTRUMENTS

try:
    from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
    from prometheus_client.metrics_core import Metric as Family
    from prometheus_client.registry import Collector, CollectorRegistry
    from prometheus_client.samples import Exemplar
except ImportError as error:
    raise ConfigurationError(f"/metrics needs prometheus-client: pip install prometheus-client ({error})") from None

_NAMES: Final = {row.name: row.prometheus for row in INSTRUMENTS}
_NS: Final = 1e9
_Point: TypeAlias = NumberDataPoint | HistogramDataPoint
_Bucket: TypeAlias = tuple[str, float] | tuple[str, float, Exemplar]


class ScrapeReader(InMemoryMetricReader):
    """Collects only when Prometheus scrapes, because a collection resets the exemplars."""

    def force_flush(self, timeout_millis: float = 10_000) -> bool:
        """Does nothing, because Prometheus pulls the metrics."""
        return True


class Scraped(Collector):
    """The response to a scrape: all metrics of the meter provider of `reader`, collected at that moment.

    A bucket keeps its newest exemplar until it gets another one, so several scrapers all receive it.
    """

    def __init__(self, reader: ScrapeReader) -> None:
        self._reader = reader
        self._exemplars: dict[tuple[str, ...], Exemplar] = {}

    def collect(self) -> Iterable[Family]:
        """Yields one family for each instrument that has a value."""
        data = self._reader.get_metrics_data()
        for resource in () if data is None else data.resource_metrics:
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    if (family := self._family(metric)) is not None:
                        yield family

    def _family(self, metric: Metric) -> Family | None:
        """Converts one metric of the SDK to a family. None for a metric that rag-otel does not export."""
        name = _NAMES.get(metric.name)
        points: list[_Point] = list(cast("Any", metric.data).data_points)
        meaning = metric.description or ""
        if name is None or not points:
            return None
        labels = sorted({label for point in points for label in point.attributes or ()})
        if isinstance(metric.data, Histogram):
            histogram = HistogramMetricFamily(name, meaning, labels=labels)
            for point in cast("Sequence[HistogramDataPoint]", points):
                values = _values(point, labels)
                histogram.add_metric(values, list(self._buckets(point, (name, *values))), float(point.sum))
            return histogram
        numbers = cast("Sequence[NumberDataPoint]", points)
        if isinstance(metric.data, Sum) and metric.data.is_monotonic:
            counter = CounterMetricFamily(name, meaning, labels=labels)
            for number in numbers:
                values = _values(number, labels)
                exemplar = self._newest((name, *values), number.exemplars)
                counter.add_metric(values, number.value, exemplar=exemplar)
            return counter
        if isinstance(metric.data, Gauge):
            gauge = GaugeMetricFamily(name, meaning, labels=labels)
            for number in numbers:
                gauge.add_metric(_values(number, labels), number.value)
            return gauge
        return None

    def _buckets(self, point: HistogramDataPoint, series: tuple[str, ...]) -> Iterator[_Bucket]:
        """Yields (upper edge, cumulative count, newest exemplar if there is one) for each bucket."""
        edges = list(point.explicit_bounds)
        measured: dict[int, list[Any]] = {}
        for each in point.exemplars:
            measured.setdefault(bisect.bisect_left(edges, each.value), []).append(each)
        total = 0
        for index, count in enumerate(point.bucket_counts):
            total += count
            edge = repr(float(edges[index])) if index < len(edges) else "+Inf"
            exemplar = self._newest((*series, edge), measured.get(index, ()))
            yield (edge, total) if exemplar is None else (edge, total, exemplar)

    def _newest(self, series: tuple[str, ...], measured: Sequence[Any]) -> Exemplar | None:
        traced = [each for each in measured if each.trace_id]
        if traced:
            newest = max(traced, key=lambda each: each.time_unix_nano)
            ids = {"trace_id": format_trace_id(newest.trace_id), "span_id": format_span_id(newest.span_id or 0)}
            self._exemplars[series] = Exemplar(ids, float(newest.value), newest.time_unix_nano / _NS)
        return self._exemplars.get(series)


def registry_of(*collectors: Collector) -> CollectorRegistry:
    """Returns the registry that prometheus-client serves. It calls these collectors at every scrape."""
    registry = CollectorRegistry(support_collectors_without_names=True)
    for collector in collectors:
        registry.register(collector)
    return registry


def _values(point: _Point, labels: Sequence[str]) -> list[str]:
    """The values of these labels. An absent label is empty; Prometheus treats both alike."""
    attributes = point.attributes or {}
    return [str(attributes.get(label, "")) for label in labels]
