"""Guards that decorate functions: a guard whose metric is not evaluated is told when the process is set up."""

from __future__ import annotations

import weakref
from collections.abc import Collection, Iterable

from rag_otel.errors import ConfigurationError
from rag_otel.guarding.rules import Guard

_declared: weakref.WeakSet[Guard] = weakref.WeakSet()


def declare(guard: Guard) -> None:
    """Remember a guard for as long as a function uses it."""
    _declared.add(guard)


def check_declared(metrics: Collection[str]) -> None:
    """`check_metrics` for all of them."""
    check_metrics(tuple(_declared), metrics)


def check_metrics(guards: Iterable[Guard], metrics: Collection[str]) -> None:
    """Raises ConfigurationError if the metric of a guard is not among those that this process evaluates."""
    if missing := sorted({each.metric for each in guards if each.metric not in metrics}):
        known = ", ".join(map(repr, metrics)) or "nothing (job_queue_url: workers evaluate)"
        raise ConfigurationError(
            f"a guard needs the metric {missing[0]!r}, and this process evaluates {known}: name it in metrics=, "
            "or give an evaluator of this name in evaluators="
        )
