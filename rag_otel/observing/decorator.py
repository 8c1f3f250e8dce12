"""`@observe`: one span for a call that answers a question, and what evaluation needs of it.

@observe
def answer(question: str) -> dict: ...                  # {"answer": ..., "documents": [...]}

@observe(question="request.query", chunks="result.hits[*].passage", response="result.text")
async def endpoint(request): ...
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from itertools import islice
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, overload

from opentelemetry.context import attach, detach

from rag_otel.errors import ConfigurationError
from rag_otel.observing.allowance import MAX_WIDTH
from rag_otel.observing.call import begin
from rag_otel.observing.plan import Plan, make_plan
from rag_otel.observing.selectors import Selector
from rag_otel.observing.streams import ITSELF, async_generator_function, generator_function, run_in_place, with_stream
from rag_otel.observing.tracing import Call
from rag_otel.safety import privacy
from rag_otel.safety.guard import report_internal_error

if TYPE_CHECKING:
    from rag_otel.guarding.rules import Guard

F = TypeVar("F", bound=Callable[..., Any])
_STREAM_ATTRIBUTES: Final = ("response_gen", "body_iterator", "_iterator", "response")
"""Where results keep their stream: LlamaIndex; Starlette; Django and the OpenAI and Anthropic clients; Flask."""
_GENERATORS: Final = (GeneratorType, AsyncGeneratorType)


@overload
def observe(function: F, /) -> F: ...


@overload
def observe(
    *,
    question: Selector | None = None,
    chunks: Selector | None = None,
    response: Selector | None = None,
    name: str | None = None,
    session_id: Selector | None = None,
    user_id: Selector | None = None,
    tags: Selector | Mapping[str, Selector] | None = None,
    reference: Selector | None = None,
    history: Selector | None = None,
    capture_content: bool = True,
    guard: Guard | None = None,
) -> Callable[[F], F]: ...


def observe(
    function: F | None = None,
    /,
    *,
    question: Selector | None = None,
    chunks: Selector | None = None,
    response: Selector | None = None,
    name: str | None = None,
    session_id: Selector | None = None,
    user_id: Selector | None = None,
    tags: Selector | Mapping[str, Selector] | None = None,
    reference: Selector | None = None,
    history: Selector | None = None,
    capture_content: bool = True,
    guard: Guard | None = None,
) -> F | Callable[[F], F]:
    """Trace a function that answers a question, and have its answers evaluated.

    Works on functions, methods, class and static methods, coroutines, generators and async generators, and on
    functions whose result streams. The function behaves as before: same signature, same result, same exceptions.

    What is not given is found by itself (`rag_otel.observing.shapes`): the question in the parameter called
    `question`, `query` or the like, else in the first text argument; the response and the chunks in the result;
    chunks also from `record_chunks()`, or from nested retriever spans.

    question, chunks, response, reference, session_id, user_id: selectors (`rag_otel.observing.selectors`).
    history: a selector for the earlier messages that the model is given: what the user said in them counts as context.
    tags: a selector that gives a mapping, or a mapping of tag to selector.
    name: of the span, the function's by default.
    capture_content: False keeps all text of this call out of the span and of what evaluation writes back; it is
    evaluated all the same.
    guard: judge each answer before the caller gets it (`rag_otel.Guard`).

    Raises SelectorError, while decorating, when a selector cannot match; it says which names exist.
    """

    def decorate(target: F) -> F:
        if isinstance(target, (classmethod, staticmethod)):
            inner: Any = target.__func__
            return type(target)(decorate(inner))
        if not callable(target) or isinstance(target, type):
            raise ConfigurationError(f"@observe goes on a function or a method, not on {target!r}")
        plan = make_plan(
            target,
            name=name,
            question=question,
            chunks=chunks,
            response=response,
            labels={
                "reference": reference,
                "session_id": session_id,
                "user_id": user_id,
                "tags": tags,
                "history": history,
            },
            capture_content=capture_content,
        )
        privacy.refresh()
        made = _wrapper(target, _begin(target, plan, guard))
        return functools.update_wrapper(made, target)  # type: ignore[return-value]

    return decorate if function is None else decorate(function)


Begin: TypeAlias = Callable[[tuple[Any, ...], Mapping[str, Any]], Call | None]
"""(args, kwargs) -> the call; None where there is nothing to do."""


def _begin(function: Callable[..., Any], plan: Plan, guard: Guard | None) -> Begin:
    if guard is None:
        return functools.partial(begin, plan)
    from rag_otel.guarding.entry import begin_behind  # imports the pipeline: only where a guard is wanted

    return begin_behind(guard, function, plan)


def _wrapper(function: Callable[..., Any], begin_call: Begin) -> Callable[..., Any]:
    """The wrapper of the same kind: frameworks ask whether a function is a coroutine or a generator function."""

    def start(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Call | None, Any]:
        body = function(*args, **kwargs)  # runs nothing yet, but refuses wrong arguments
        return begin_call(args, kwargs), body

    if inspect.isasyncgenfunction(function):
        return async_generator_function(start)
    if inspect.isgeneratorfunction(function):
        return generator_function(start)
    make = _async_wrapper if inspect.iscoroutinefunction(function) else _sync_wrapper
    return make(function, begin_call)


def _sync_wrapper(function: Callable[..., Any], begin_call: Begin) -> Callable[..., Any]:
    def observed(*args: Any, **kwargs: Any) -> Any:
        call = begin_call(args, kwargs)
        if call is None:
            return function(*args, **kwargs)
        token = attach(call.context)
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            call.fail(error)
            raise
        finally:
            detach(token)
        return _awaited(call, result) if type(result) is CoroutineType else _hand_out(call, result)

    return observed


def _async_wrapper(function: Callable[..., Any], begin_call: Begin) -> Callable[..., Any]:
    async def observed(*args: Any, **kwargs: Any) -> Any:
        call = begin_call(args, kwargs)
        if call is None:
            return await function(*args, **kwargs)
        return await _awaited(call, function(*args, **kwargs))

    return observed


async def _awaited(call: Call, coroutine: CoroutineType[Any, Any, Any]) -> Any:
    """Await it inside the call's context."""
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
    return await _hand_out_async(call, result)


def _hand_out(call: Call, result: Any) -> Any:
    """What the caller of a function that does not await gets. A stream in the result is replaced by one that is watched
    and ends the call; without a stream the call is complete."""
    if not call.recording:
        return result
    if (streaming := _streaming(call, result)) is not None:
        return streaming[0]
    if call.gate is not None:
        return run_in_place(call.gate.leave(result, blocking=True))
    call.returned(result)
    call.complete()
    return result


async def _hand_out_async(call: Call, result: Any) -> Any:
    """`_hand_out` for a function that awaits."""
    if call.gate is None:
        return _hand_out(call, result)
    streaming = _streaming(call, result)
    return await call.gate.leave(result, blocking=False) if streaming is None else streaming[0]


def _streaming(call: Call, result: Any) -> tuple[Any] | None:
    """(the result with its stream watched,); None where there is no stream in it."""
    if type(result) is str:
        return None
    gate = call.gate
    try:
        place = _stream_place(result)
        if place is None:
            return None
        if place is not ITSELF:
            call.returned(result)
        handed = with_stream(result, place, call)
    except Exception as problem:
        if not report_internal_error("observe.stream", problem):
            raise
        return None if gate is None else (gate.without_stream(result, writable=True),)
    if handed is not None:
        return (handed,)
    if gate is not None:
        return (gate.without_stream(result, writable=False),)
    call.abandon()
    return (result,)


def _stream_place(result: Any) -> Any:
    """Where the stream stands in a result: an index, a key, an attribute's name, or `ITSELF`; None where there is
    none."""
    if isinstance(result, _GENERATORS):
        return ITSELF
    if type(result) is tuple:
        return next((at for at, item in islice(enumerate(result), MAX_WIDTH) if isinstance(item, _GENERATORS)), None)
    if type(result) is dict:
        for key, item in islice(result.items(), MAX_WIDTH):
            if isinstance(item, _GENERATORS):
                return key
        return None
    fields = getattr(result, "__dict__", None) or {}
    return next((name for name in _STREAM_ATTRIBUTES if _is_stream(fields.get(name))), None)


def _is_stream(value: object) -> bool:
    return isinstance(value, (Iterator, AsyncIterator)) or hasattr(value, "__aiter__")
