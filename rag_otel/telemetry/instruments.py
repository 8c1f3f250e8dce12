"""The instruments of one meter: some are recorded for each result, the others are read at each collection."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

from opentelemetry.context import Context
from opentelemetry.metrics import CallbackOptions, Counter, Histogram, Meter, Observation

from rag_otel.safety.guard import guarded
from rag_otel.telemetry.names import INSTRUMENTS, Instrument, Kind
from rag_otel.telemetry.observed import gauge_samples, total_samples


class Instruments:
    """All instruments of the table on one meter. On a proxy meter, recording starts when the application sets a
    provider."""

    def __init__(self, meter: Meter) -> None:
        self._histograms: dict[str, Histogram] = {}
        self._counters: dict[str, Counter] = {}
        for row in INSTRUMENTS:
            self._make(meter, row)

    def record(self, row: Instrument, value: float, labels: Mapping[str, str], context: Context | None = None) -> None:
        """Adds `value` to a counter or a histogram. `context` holds the span to which an exemplar points."""
        if row.kind is Kind.HISTOGRAM:
            self._histograms[row.name].record(value, labels, context)
        else:
            self._counters[row.name].add(value, labels, context)

    def _make(self, meter: Meter, row: Instrument) -> None:
        if row.kind is Kind.HISTOGRAM:
            self._histograms[row.name] = meter.create_histogram(
                row.name, row.unit, row.meaning, explicit_bucket_boundaries_advisory=row.edges
            )
        elif row.kind is Kind.COUNTER:
            self._counters[row.name] = meter.create_counter(row.name, row.unit, row.meaning)
        elif row.kind is Kind.OBSERVED_COUNTER:
            meter.create_observable_counter(row.name, [_callback(row)], row.unit, row.meaning)
        else:
            meter.create_observable_gauge(row.name, [_callback(row)], row.unit, row.meaning)


def _callback(row: Instrument) -> Callable[[CallbackOptions], Iterable[Observation]]:
    """Returns the callback that the SDK calls at each collection. It uses only module state, so it stays valid after a
    second `instrument()`."""
    samples = total_samples if row.kind is Kind.OBSERVED_COUNTER else gauge_samples

    def observe(options: CallbackOptions) -> Iterable[Observation]:
        with guarded(f"telemetry.{row.name}"):
            return [Observation(value, labels) for value, labels in samples(row) if math.isfinite(value)]
        return []

    return observe
