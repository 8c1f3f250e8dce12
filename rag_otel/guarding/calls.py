"""`@observe(guard=...)`: what begins a guarded call, and guards whose metric is not evaluated, which is told early."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final

from rag_otel.errors import ConfigurationError
from rag_otel.guarding.acting import GuardedCall
from rag_otel.guarding.rules import Guard
from rag_otel.observing.call import Observation, begin_guarded
from rag_otel.observing.plan import Plan
from rag_otel.setup.runtime import explicit_runtime

_declared: Final[weakref.WeakSet[Guard]] = weakref.WeakSet()
"""The guards of decorated functions, for as long as one uses them."""


def begin_behind(
    guard: Guard, function: Callable[..., Any], plan: Plan
) -> Callable[[tuple[Any, ...], Mapping[str, Any]], Observation]:
    """What begins each call of a function: its gate is the guard. Raises ConfigurationError where the function cannot
    use the guard."""
    asynchronous = inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
    guard.usable_by(plan.name, is_async=asynchronous)
    if (known := explicit_runtime()) is not None:
        _check([guard], [each.name for each in known.pipeline.evaluators])
    _declared.add(guard)

    def begin(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Observation:
        call = begin_guarded(plan, args, kwargs)
        call.gate = GuardedCall(guard, call, plan.name)
        return call

    return begin


def check_declared(metrics: Collection[str]) -> None:
    """Raises ConfigurationError if the metric of a guard in use is not among those that this process evaluates."""
    _check(tuple(_declared), metrics)


def _check(guards: Iterable[Guard], metrics: Collection[str]) -> None:
    if missing := sorted({each.metric for each in guards if each.metric not in metrics}):
        known = ", ".join(map(repr, metrics)) or "nothing (job_queue_url: workers evaluate)"
        raise ConfigurationError(
            f"a guard needs the metric {missing[0]!r}, and this process evaluates {known}: name it in metrics=, "
            "or give an evaluator of this name in evaluators="
        )
