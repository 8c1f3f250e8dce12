"""Metrics and judges by name: what a setting, a command line or a file says -> evaluators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from rag_otel.errors import ConfigurationError
from rag_otel.protocols import Evaluator
from rag_otel_evaluators.faithfulness import Faithfulness
from rag_otel_evaluators.judge import Judge
from rag_otel_evaluators.judges.embedded import EmbeddedJudge

METRICS: Final[Mapping[str, Callable[[Judge], Evaluator]]] = {
    "faithfulness": lambda judge: Faithfulness(judge=judge),
}
"""Metric -> evaluator with this judge."""

JUDGES: Final[Mapping[str, Callable[[], Judge]]] = {
    "embedded": EmbeddedJudge,
}
"""Judge -> a new one."""


def build(metrics: Sequence[str], *, judge: str = "embedded") -> tuple[Evaluator, ...]:
    """One evaluator per metric, in order, sharing one judge.

    Raises ConfigurationError that names what is unknown and what there is.
    """
    if judge not in JUDGES:
        raise ConfigurationError(f"unknown judge {judge!r}; there are: {', '.join(JUDGES)}")
    if unknown := [name for name in metrics if name not in METRICS]:
        raise ConfigurationError(f"unknown metric {', '.join(unknown)}; there are: {', '.join(METRICS)}")
    if not metrics:
        raise ConfigurationError(f"no metric given; there are: {', '.join(METRICS)}")
    shared = JUDGES[judge]()
    return tuple(METRICS[name](shared) for name in dict.fromkeys(metrics))
