"""Metrics, judges, and `evaluate` for data sets. Independent of OpenTelemetry.

`evaluate` is imported when it is first used, because applications that evaluate live traces do not need it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag_otel_evaluators.offline.evaluate import evaluate as evaluate

__all__ = ["evaluate"]


def __getattr__(name: str) -> Any:
    if name == "evaluate":
        from rag_otel_evaluators.offline.evaluate import evaluate

        return evaluate
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
