"""The instruments of one meter: some are recorded for each result, the others are read at each collection.

Read at each collection are the process's gauges, and its counters as labelled totals. A counter's name is
`<family>.<...>`. The rules here map each family to an instrument and the other parts of the name to labels. A counter
whose name matches no rule is not exported.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from opentelemetry.context import Context
from opentelemetry.metrics import CallbackOptions, Counter, Histogram, Meter, MeterProvider, Observation, get_meter

from rag_otel import semconv
from rag_otel.safety.guard import counters, guarded
from rag_otel.telemetry import names
from rag_otel.telemetry.gauges import Sample, gauges
from rag_otel.telemetry.labels import BoundedLabels, BoundedSets
from rag_otel.telemetry.names import INSTRUMENTS, Instrument, InstrumentKind

_Labels: TypeAlias = dict[str, str | None]
_MAX_VALUES: Final = 200
"""Maximum number of values of one label. Users define only names of alerts, of destinations, and a resolver's
reasons."""
_MAX_SETS: Final = 500
"""Combinations of labels of one instrument."""
_bounded: Final = BoundedLabels(_MAX_VALUES, often=1)
_sets: Final[dict[str, BoundedSets]] = {}

_GIVEN_UP: Final = re.compile(r"delivery\.(?P<alert>alert_)?.+\.(?P<reason>lost|refused|abandoned)")
_SPANS_DROPPED: Final = {"spans.not_kept": "not_kept", "spans.forgotten": "forgotten"}
_elsewhere: Callable[[], Mapping[str, int]] = dict


class Instruments:
    """All instruments of the table on the meter of one provider. On the API's proxy, recording starts when the
    application sets a provider."""

    def __init__(self, provider: MeterProvider | None) -> None:
        """None: on the global provider."""
        meter = get_meter(semconv.SCOPE, meter_provider=provider)
        self._histograms: dict[str, Histogram] = {}
        self._counters: dict[str, Counter] = {}
        for row in INSTRUMENTS:
            self._make(meter, row)

    def record(self, row: Instrument, value: float, labels: Mapping[str, str], context: Context | None = None) -> None:
        """Adds `value` to a counter or a histogram. `context` holds the span to which an exemplar points."""
        if row.kind is InstrumentKind.HISTOGRAM:
            self._histograms[row.name].record(value, labels, context)
        else:
            self._counters[row.name].add(value, labels, context)

    def _make(self, meter: Meter, row: Instrument) -> None:
        if row.kind is InstrumentKind.HISTOGRAM:
            self._histograms[row.name] = meter.create_histogram(
                row.name, row.unit, row.meaning, explicit_bucket_boundaries_advisory=row.edges
            )
        elif row.kind is InstrumentKind.COUNTER:
            self._counters[row.name] = meter.create_counter(row.name, row.unit, row.meaning)
        elif row.kind is InstrumentKind.OBSERVED_COUNTER:
            meter.create_observable_counter(row.name, [_callback(row)], row.unit, row.meaning)
        else:
            meter.create_observable_gauge(row.name, [_callback(row)], row.unit, row.meaning)


def _callback(row: Instrument) -> Callable[[CallbackOptions], Iterable[Observation]]:
    """Returns the callback that the SDK calls at each collection. It uses only module state, so it stays valid after a
    second `instrument()`."""
    samples = total_samples if row.kind is InstrumentKind.OBSERVED_COUNTER else gauge_samples

    def observe(options: CallbackOptions) -> Iterable[Observation]:
        with guarded(f"telemetry.{row.name}"):
            return [Observation(value, labels) for value, labels in samples(row) if math.isfinite(value)]
        return []

    return observe


def count_elsewhere(counts: Callable[[], Mapping[str, int]]) -> None:
    """Report the counters of other processes with those of this one: it serves the metrics of all."""
    global _elsewhere
    _elsewhere = counts


def is_exported(counter: str) -> bool:
    """Whether a counter of the process is reported by an instrument."""
    return any(rule(counter) is not None for rule in _RULES.values())


def total_samples(row: Instrument) -> list[Sample]:
    """Returns the totals of an observed counter, one for each label set."""
    rule = _RULES[row.name]
    sets = _sets.setdefault(row.name, BoundedSets(_MAX_SETS, fading=row.labels))
    totals: defaultdict[tuple[tuple[str, str], ...], int] = defaultdict(int)
    for name, count in (*counters.snapshot().items(), *_elsewhere().items()):
        if (labels := rule(name)) is not None:
            totals[tuple(sets.bounded(_bounded.bounded(labels)).items())] += count
    return [(total, dict(labels)) for labels, total in totals.items()]


def gauge_samples(row: Instrument) -> list[Sample]:
    """Returns the values of a gauge, one for each label set. 0 for a gauge without labels and without sources."""
    values: dict[tuple[tuple[str, str], ...], float] = {} if row.labels else {(): 0.0}
    for value, labels in gauges.read(row.name):
        key = tuple(sorted(labels.items()))
        known = values.get(key)
        if known is None:
            values[key] = value
        else:
            values[key] = known + value if row.kind is InstrumentKind.GAUGE_SUM else max(known, value)
    return [(value, dict(labels)) for labels, value in values.items()]


def _dropped(name: str) -> _Labels | None:
    if name in _SPANS_DROPPED:
        return {"what": "span", "reason": _SPANS_DROPPED[name]}
    found = _GIVEN_UP.fullmatch(name)
    return None if found is None else {"what": "alert" if found["alert"] else "result", "reason": found["reason"]}


def _labels_by(pattern: str) -> Callable[[str], _Labels | None]:
    """The labels of a counter whose name matches: the pattern's groups."""
    whole = re.compile(pattern)

    def labels(name: str) -> _Labels | None:
        found = whole.fullmatch(name)
        return None if found is None else found.groupdict()

    return labels


_RULES: Final[dict[str, Callable[[str], _Labels | None]]] = {
    names.TRACES.name: _labels_by(r"trace\.(?P<status>[^.]*)(?:\.(?P<reason>.*))?"),
    names.JUDGE_CACHE.name: _labels_by(r"judge\.cache\.(?P<outcome>.*)"),
    names.GUARDED.name: _labels_by(r"guarded\.(?P<outcome>[^.]*)(?:\.(?P<finding>[^.]*)(?:\.(?P<reason>.*))?)?"),
    names.DELIVERY.name: _labels_by(r"delivery\.(?P<destination>.+)\.(?P<outcome>[^.]*)"),
    names.DROPPED.name: _dropped,
    names.ALERTS.name: _labels_by(
        r"alerts\.(?P<outcome>raised|suppressed|held|sent|resolved|untold)(?:\.(?P<name>.*))?"
    ),
}
