"""`rag-otel drift --adwin`: runs the detector ADWIN of river on a replay, for comparison (extra `drift`).

Source: Bifet and Gavalda, "Learning from time-changing data with adaptive windowing", SDM 2007. ADWIN needs no baseline
and detects changes in both directions. But it does not bound false alarms over time, and it cannot weight values: if
sampling probabilities differ, its result is not reliable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rag_otel.drift.observation import Observation, shown
from rag_otel.errors import ConfigurationError


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """ADWIN's result for one series of all traffic."""

    series: str
    changes: tuple[tuple[float, float, float], ...]
    """(seconds since the epoch, mean before, mean after) of each change. Means are on the published scale."""
    evenly_picked: bool
    """False if sampling probabilities differed, because ADWIN cannot weight values."""


def second_opinion(observations: Sequence[Observation]) -> list[Opinion]:
    """Returns ADWIN's result for each series, over all traffic. Raises ConfigurationError if river is missing."""
    try:
        from river.drift import ADWIN
    except ImportError:
        raise ConfigurationError("--adwin needs river: pip install 'rag-otel[drift]'") from None
    detectors: dict[str, Any] = {}
    changes: dict[str, list[tuple[float, float, float]]] = {}
    probabilities: dict[str, set[float]] = {}
    for seen in observations:
        for series, value in seen.values:
            detector = detectors.setdefault(series, ADWIN())
            found = changes.setdefault(series, [])
            probabilities.setdefault(series, set()).add(round(seen.probability, 6))
            before = shown(series, float(detector.estimation))
            detector.update(value)
            if detector.drift_detected:
                found.append((seen.time_s, before, shown(series, float(detector.estimation))))
    return [
        Opinion(series=series, changes=tuple(found), evenly_picked=len(probabilities[series]) == 1)
        for series, found in sorted(changes.items())
    ]
