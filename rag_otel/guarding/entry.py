"""Where a guard is entered: `@observe(guard=...)`, `guard()` and `guard_sync()`.

Inside an observed call the evaluation of `guard()` is that of the call, and what it did is on the call's span; the last
guard of a call counts. Outside of one it makes a span of its own, named `guard`.
"""

from __future__ import annotations

import dataclasses
import inspect
import weakref
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final

from opentelemetry.context import get_value

from rag_otel.errors import ConfigurationError
from rag_otel.guarding.guarded_call import GuardedCall
from rag_otel.guarding.rules import INTERNAL_ERROR, Guard, Guarded, not_judged
from rag_otel.observing.allowance import Allowance, TooLargeError
from rag_otel.observing.call import ObservedCall, begin_guarded
from rag_otel.observing.call_snapshot import OBSERVATION_KEY, Snapshot
from rag_otel.observing.documents import to_chunks
from rag_otel.observing.plan import Plan
from rag_otel.observing.streams import run_in_place
from rag_otel.safety.guard import counters, logger, report_internal_error
from rag_otel.setup.runtime import explicit_runtime

_PLAN: Final = Plan(
    name="guard", question=None, chunks=None, chunks_argument=None, response=None, labels={}, capture_content=True
)


_declared: Final[weakref.WeakSet[Guard]] = weakref.WeakSet()
"""The guards of decorated functions, for as long as one uses them: whether their metric is evaluated is told early."""


def begin_behind(
    guard: Guard, function: Callable[..., Any], plan: Plan
) -> Callable[[tuple[Any, ...], Mapping[str, Any]], ObservedCall]:
    """What begins each call of a function: its gate is the guard. Raises ConfigurationError where the function cannot
    use the guard."""
    asynchronous = inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
    guard.usable_by(plan.name, is_async=asynchronous)
    if (known := explicit_runtime()) is not None:
        _check([guard], [each.name for each in known.pipeline.evaluators])
    _declared.add(guard)

    def begin(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> ObservedCall:
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


async def guard(
    question: str | None, chunks: object, response: str, rule: Guard | None = None, /, **options: Any
) -> Guarded:
    """Judge an answer before it leaves, with the evaluators and the limits of `instrument()`.

    `chunks`: strings, dicts or documents of a library, as for `record_chunks`. `rule` or `options` (the fields of
    `Guard`: `action="remove", deadline=1.5`) say what is wanted. Returns what may leave.

    Raises ConfigurationError for options that do not fit together, and nothing else.
    """
    return await _guard(_rule(rule, options), question, chunks, response, blocking=False)


def guard_sync(
    question: str | None, chunks: object, response: str, rule: Guard | None = None, /, **options: Any
) -> Guarded:
    """`guard` for code that does not await. It holds up its thread until the verdict, or until the deadline."""
    wanted = _rule(rule, options)
    wanted.usable_by("guard_sync()", is_async=False)
    return run_in_place(_guard(wanted, question, chunks, response, blocking=True))


async def _guard(wanted: Guard, question: str | None, chunks: object, response: str, *, blocking: bool) -> Guarded:
    call, own = _call()
    guarding = GuardedCall(wanted, call, _PLAN.name, blocking=blocking)
    answer = response if isinstance(response, str) else None
    try:
        snapshot = dataclasses.replace(call.so_far(None, answer), question=question, response=answer)
        guarded = await guarding.judged(snapshot if guarding.off else _with_documents(snapshot, chunks))
        return guarded if answer else dataclasses.replace(guarded, response=response)
    except Exception as error:
        if not report_internal_error("guard.call", error):
            raise
        return guarding.by_default(response, not_judged(INTERNAL_ERROR, Snapshot(response=response)))
    finally:
        if own:
            call.complete()


def _rule(rule: Guard | None, options: dict[str, Any]) -> Guard:
    if rule is not None and options:
        raise ConfigurationError(f"guard(): give a Guard or its fields ({', '.join(sorted(options))}), not both")
    try:
        return rule or Guard(**options)
    except TypeError:
        known = ", ".join(each.name for each in dataclasses.fields(Guard))
        raise ConfigurationError(f"guard(): unknown option in {', '.join(sorted(options))}; known: {known}") from None


def _call() -> tuple[ObservedCall, bool]:
    """(the observed call that this is a part of, or one of its own; True for one of its own)."""
    around = get_value(OBSERVATION_KEY)
    if isinstance(around, ObservedCall) and not around.ended:
        return around, False
    return begin_guarded(_PLAN, (), {}), True


def _with_documents(snapshot: Snapshot, documents: object) -> Snapshot:
    allowance = Allowance()
    try:
        chunks = to_chunks(documents, allowance=allowance)
    except TooLargeError:
        chunks = None
    if chunks is None and documents is not None and counters.add("guard.chunks_unreadable") == 1:
        logger.warning("rag-otel: guard() cannot read %s as documents", type(documents).__name__)
    return dataclasses.replace(
        snapshot,
        chunks=chunks,
        omitted_chunks=allowance.omitted_chunks,
        omitted_characters=snapshot.omitted_characters + allowance.omitted_characters,
    )
