"""Values that are read at each collection: the counters of the process as labelled totals, and its gauges.

A counter's name is `<family>.<...>`. The rules here map each family to an instrument and the other parts of the name
to labels. A counter whose name matches no rule is not exported.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from rag_otel.safety.guard import counters
from rag_otel.telemetry import names
from rag_otel.telemetry.gauges import Sample, gauges
from rag_otel.telemetry.labels import BoundedLabels, BoundedSets
from rag_otel.telemetry.names import Instrument, Kind

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
            values[key] = known + value if row.kind is Kind.GAUGE_SUM else max(known, value)
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
