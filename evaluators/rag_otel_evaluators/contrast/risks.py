"""How far a judge's risks are probabilities: where it says .8, eight in ten answers should be unfaithful."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rag_otel_evaluators.contrast.judging import JudgedPair

_BINS: Final = 10


def calibration_error(judged: Sequence[JudgedPair]) -> float | None:
    """Expected calibration error, 0..1: the mean distance of risk and share of unfaithful answers, in ten bins of equal
    width, weighted by their answers. None without a risk. Half of the answers of pairs are unfaithful, and made to be
    hard: it compares judges, and says nothing of traffic."""
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(_BINS)]
    for one in judged:
        for evaluation, bad in ((one.faithful, False), (one.unfaithful, True)):
            if evaluation.risk is not None:
                bins[min(_BINS - 1, int(evaluation.risk * _BINS))].append((evaluation.risk, bad))
    count = sum(map(len, bins))
    if not count:
        return None
    return sum(abs(sum(risk - bad for risk, bad in each)) for each in bins) / count
