"""Metrics, judges, and `evaluate` for data sets. Independent of OpenTelemetry.

The public names are imported when they are first used, because applications that evaluate live traces do not need them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rag_otel_evaluators.assertions import assert_faithful as assert_faithful
    from rag_otel_evaluators.offline.compare import compare as compare
    from rag_otel_evaluators.offline.evaluate import aevaluate as aevaluate
    from rag_otel_evaluators.offline.evaluate import evaluate as evaluate
    from rag_otel_evaluators.offline.partitions import evaluate_file as evaluate_file
    from rag_otel_evaluators.offline.partitions import evaluate_partition as evaluate_partition

__all__ = ["aevaluate", "assert_faithful", "compare", "evaluate", "evaluate_file", "evaluate_partition"]

_MODULES: Final = {
    "aevaluate": "rag_otel_evaluators.offline.evaluate",
    "assert_faithful": "rag_otel_evaluators.assertions",
    "compare": "rag_otel_evaluators.offline.compare",
    "evaluate": "rag_otel_evaluators.offline.evaluate",
    "evaluate_file": "rag_otel_evaluators.offline.partitions",
    "evaluate_partition": "rag_otel_evaluators.offline.partitions",
}
"""Public name -> the module that defines it."""


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(importlib.import_module(_MODULES[name]), name)
    from rag_otel_evaluators.metrics.registry import ragas_advice

    problem, hint = f"module {__name__!r} has no attribute {name!r}", ragas_advice(name)
    raise AttributeError(problem if hint is None else f"{problem}; in metrics= {hint}")


def __dir__() -> list[str]:
    return sorted(__all__)
