"""`@observe(guard=...)`: the wrappers of guarded functions, of the same kinds as those of `rag_otel.observing`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import CoroutineType
from typing import Any

from opentelemetry.context import attach, detach

from rag_otel.guarding.acting import GuardedCall, Steps, run, run_async
from rag_otel.guarding.declared import check_metrics, declare
from rag_otel.guarding.rules import Finding, Guard, Guarded, GuardVerdict, Outcome
from rag_otel.guarding.streams import guarded_async_generator, guarded_generator, in_place
from rag_otel.observing.call import Observation, Plan, begin_guarded
from rag_otel.runtime import active_runtime, explicit_runtime
from rag_otel.safety.guard import report_internal_error


def guarded_wrapper(function: Callable[..., Any], plan: Plan, guard: Guard) -> Callable[..., Any]:
    """The wrapper of a function. Raises ConfigurationError where the function cannot use the guard."""
    asynchronous = inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
    guard.usable_by(plan.name, is_async=asynchronous)
    if (known := explicit_runtime()) is not None:
        check_metrics([guard], [each.name for each in known.pipeline.evaluators])
    declare(guard)

    def start(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[GuardedCall, Observation, Any]:
        body = function(*args, **kwargs)
        call = begin_guarded(plan, args, kwargs)
        return guarded_call(guard, call, plan.name), call, body

    if inspect.isasyncgenfunction(function):
        return guarded_async_generator(start)
    if inspect.isgeneratorfunction(function):
        return guarded_generator(start)
    return _async_wrapper(function, plan, guard) if asynchronous else _sync_wrapper(function, plan, guard)


def guarded_call(guard: Guard, call: Observation, name: str) -> GuardedCall:
    """The guard of one call. Where evaluation is switched off it lets everything pass; where evaluation cannot be set
    up there is no verdict, and its default applies."""
    try:
        runtime = active_runtime()
    except Exception as problem:
        if not report_internal_error("guard.runtime", problem):
            raise
        return GuardedCall(guard, None, call, name, off=False)
    return GuardedCall(guard, runtime, call, name, off=runtime is None)


def _sync_wrapper(function: Callable[..., Any], plan: Plan, guard: Guard) -> Callable[..., Any]:
    def observed(*args: Any, **kwargs: Any) -> Any:
        call = begin_guarded(plan, args, kwargs)
        token = attach(call.context)
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            call.fail(error)
            raise
        finally:
            detach(token)
        if type(result) is CoroutineType:
            return _awaited(call, result, plan, guard)
        guarding = guarded_call(guard, call, plan.name)
        streaming, handed = in_place(guarding, call, result)
        if streaming:
            return handed
        try:
            return _done(call, guarding, run(_guard_result(guarding, call, result)))
        except BaseException as error:  # noqa: BLE001 - what is not ours is raised again
            return _left_after(error, call, guarding, result)

    return observed


def _async_wrapper(function: Callable[..., Any], plan: Plan, guard: Guard) -> Callable[..., Any]:
    async def observed(*args: Any, **kwargs: Any) -> Any:
        call = begin_guarded(plan, args, kwargs)
        return await _awaited(call, function(*args, **kwargs), plan, guard)

    return observed


async def _awaited(call: Observation, coroutine: CoroutineType[Any, Any, Any], plan: Plan, guard: Guard) -> Any:
    token = attach(call.context)
    try:
        result = await coroutine
    except GeneratorExit:
        # Destroyed while it waited, in a context that is not its own: there is nothing to detach from.
        call.abandon()
        raise
    except BaseException as error:
        detach(token)
        call.fail(error)
        raise
    detach(token)
    guarding = guarded_call(guard, call, plan.name)
    streaming, handed = in_place(guarding, call, result)
    if streaming:
        return handed
    try:
        return _done(call, guarding, await run_async(_guard_result(guarding, call, result)))
    except BaseException as error:  # noqa: BLE001 - what is not ours is raised again
        return _left_after(error, call, guarding, result)


def _guard_result(guarding: GuardedCall, call: Observation, result: Any) -> Steps[Guarded]:
    """What leaves in place of a function's result."""
    call.returned(result)
    snapshot = call.so_far(None, None)
    if guarding.off or not snapshot.response:
        return _passing(result, "disabled" if guarding.off else "no_response")
    verdict = yield from guarding.check(snapshot)
    text = yield from guarding.answer(snapshot.response, verdict)
    guarded = guarding.in_result(result, text)
    left = text.response if guarded.outcome is not Outcome.PASSED and isinstance(text.response, str) else None
    guarding.record(guarded, left=left)
    return guarded


def _passing(result: Any, reason: str) -> Guarded:
    verdict = GuardVerdict(finding=Finding.NOT_JUDGED, reason=reason)
    return Guarded(response=result, outcome=Outcome.PASSED, verdict=verdict)


def _done(call: Observation, guarding: GuardedCall, guarded: Guarded) -> Any:
    if call.guard is None and not guarding.off:
        guarding.record(guarded, left=None)
    call.complete()
    return guarded.response


def _left_after(error: BaseException, call: Observation, guarding: GuardedCall, result: Any) -> Any:
    """After an error of ours the default applies. The caller's own cancellation goes on."""
    if not isinstance(error, Exception):
        call.abandon()
        raise error
    call.complete()
    if not report_internal_error("guard.call", error):
        raise error
    verdict = GuardVerdict(
        finding=Finding.NOT_JUDGED, response=call.so_far(None, None).response, reason="internal_error"
    )
    return guarding.in_result(result, guarding.by_default(verdict.response, verdict)).response
