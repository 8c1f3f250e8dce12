"""Values that are read at each collection: the counters of the process as labelled totals, and its gauges.

A counter's name is `<family>.<...>`. The rules here map each family to an instrument and the other parts of the name
to labels. A counter whose name matches no rule is not exported.
"""

from __future__ import annotations

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

_ALERT_QUEUE: Final = "alert_"
_ALERT_OUTCOMES: Final = frozenset({"raised", "suppressed", "held", "sent", "resolved", "untold"})
_GIVEN_UP: Final = frozenset({"lost", "refused", "abandoned"})
_SPANS_DROPPED: Final = {"spans.not_kept": "not_kept", "spans.forgotten": "forgotten"}
_CACHE: Final = "judge.cache."


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


def _trace(name: str) -> _Labels | None:
    family, _, rest = name.partition(".")
    status, _, reason = rest.partition(".")
    return {"status": status, "reason": reason} if family == "trace" else None


def _cache(name: str) -> _Labels | None:
    return {"outcome": name.removeprefix(_CACHE)} if name.startswith(_CACHE) else None


def _guarded(name: str) -> _Labels | None:
    """`guarded.<outcome>.<finding>`, or `guarded.<outcome>.<finding>.<reason>`."""
    family, _, rest = name.partition(".")
    outcome, _, found = rest.partition(".")
    finding, _, reason = found.partition(".")
    return {"outcome": outcome, "finding": finding, "reason": reason} if family == "guarded" else None


def _delivery(name: str) -> _Labels | None:
    queue = _queue_name(name)
    return None if queue is None else {"destination": queue[0], "outcome": queue[1]}


def _dropped(name: str) -> _Labels | None:
    if name in _SPANS_DROPPED:
        return {"what": "span", "reason": _SPANS_DROPPED[name]}
    queue = _queue_name(name)
    if queue is None or queue[1] not in _GIVEN_UP:
        return None
    return {"what": "alert" if queue[0].startswith(_ALERT_QUEUE) else "result", "reason": queue[1]}


def _alert(name: str) -> _Labels | None:
    """`alerts.<outcome>`, or `alerts.<outcome>.<name>`."""
    family, _, rest = name.partition(".")
    outcome, _, alert = rest.partition(".")
    return {"name": alert, "outcome": outcome} if family == "alerts" and outcome in _ALERT_OUTCOMES else None


def _queue_name(name: str) -> tuple[str, str] | None:
    """(destination, outcome) of `delivery.<destination>.<outcome>`."""
    family, _, rest = name.partition(".")
    destination, _, outcome = rest.rpartition(".")
    return (destination, outcome) if family == "delivery" else None


_RULES: Final[dict[str, Callable[[str], _Labels | None]]] = {
    names.TRACES.name: _trace,
    names.JUDGE_CACHE.name: _cache,
    names.GUARDED.name: _guarded,
    names.DELIVERY.name: _delivery,
    names.DROPPED.name: _dropped,
    names.ALERTS.name: _alert,
}
