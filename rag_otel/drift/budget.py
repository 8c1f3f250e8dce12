"""One budget of false alarms for all series together, in fixed shares that sum up to 1.

Slices of one dimension share the values among them, so their detectors' sum is an e-detector of the whole traffic and
each may use the whole threshold. Only dimensions and signals are weighed against each other (Shin, Ramdas and Rinaldo:
weighted sums of e-detectors are e-detectors). The bounds of learned baselines share their error by the same shares: the
j-th slice to learn has 1/(j*(j+1)) of its dimension's, which sums up to 1 for any number of slices.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rag_otel.drift.learner import DEFAULT_ERROR
from rag_otel.drift.observation import ALL, RISK, SCORE, UNJUDGED, signal_of

SIGNAL_SHARES: Final[Mapping[str, float]] = {SCORE: 0.5, RISK: 0.35, UNJUDGED: 0.15}
SHARE_OF_ALL: Final = 0.75


def share_of(series: str, slice_name: str, *, metrics: int, dimensions: int) -> float:
    """The share of the budget of false alarms that a series has; the slices of one dimension have theirs together."""
    signal = SIGNAL_SHARES.get(signal_of(series), 1.0) / max(1, metrics)
    if slice_name == ALL:
        return signal * (SHARE_OF_ALL if dimensions else 1.0)
    return signal * (1.0 - SHARE_OF_ALL) / max(1, dimensions)


def error_of(share: float, rank: int | None) -> float:
    """The probability that the bounds of a series with this share of the budget are too high; `rank`: which slice of
    its dimension it was to learn, from 1 on; None for all traffic."""
    return DEFAULT_ERROR * share / (1 if rank is None else rank * (rank + 1))
