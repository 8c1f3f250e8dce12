"""Calls that go on after they return: generators, async generators, and results that stream.

The span stays open until the stream ends and is current inside each step only, never across a `yield`: a context that
leaks into the consumer would adopt its spans, and one that is attached in one task cannot be detached in another. What
the body attaches inside a step is kept for its next step, so that its own spans nest as written.

A stream that is closed early, or forgotten, ends the call as incomplete, which is no error.
"""

from __future__ import annotations

import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator, Mapping
from itertools import islice
from types import AsyncGeneratorType, GeneratorType
from typing import Any, Final, TypeAlias, TypeVar

from opentelemetry.context import Context, attach, detach, get_current

from rag_otel.observing.call import Call
from rag_otel.observing.limits import MAX_WIDTH
from rag_otel.observing.transcript import Transcript
from rag_otel.safety.guard import report_internal_error

T = TypeVar("T")
Start: TypeAlias = Callable[[tuple[Any, ...], Mapping[str, Any]], tuple[Call | None, Any]]
"""(args, kwargs) -> the call, None where it is not recorded, and the iterator that does the work."""

STREAM_ATTRIBUTES: Final = ("response_gen", "body_iterator", "_iterator", "response")
"""Where results keep their stream: LlamaIndex; Starlette; Django and the OpenAI and Anthropic clients; Flask."""
_GENERATORS: Final = (GeneratorType, AsyncGeneratorType)


class BodySteps:
    """Runs the steps of a body, each in the body's own context."""

    __slots__ = ("_context",)

    def __init__(self, call: Call | None) -> None:
        self._context: Context | None = None if call is None else call.context

    def run(self, step: Callable[..., T], *arguments: Any) -> T:
        if self._context is None:
            return step(*arguments)
        token = attach(self._context)
        try:
            return step(*arguments)
        finally:
            self._context = get_current()
            detach(token)

    async def run_async(self, step: Callable[..., Awaitable[T]], *arguments: Any) -> T:
        if self._context is None:
            return await step(*arguments)
        token = attach(self._context)
        try:
            return await step(*arguments)
        finally:
            self._context = get_current()
            detach(token)


def generator_function(start: Start) -> Callable[..., Generator[Any, Any, Any]]:
    """A real generator function that begins with `start` and passes everything through to the body: `send`, `throw`,
    `close` and the returned value."""

    def driven(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        call, body = start(args, kwargs)
        steps, transcript = BodySteps(call), Transcript()
        try:
            item = steps.run(next, body)
            while True:
                transcript.add(item)
                try:
                    sent = yield item
                except GeneratorExit:
                    if hasattr(body, "close"):
                        steps.run(body.close)
                    raise
                except BaseException as error:
                    if not hasattr(body, "throw"):
                        raise
                    item = steps.run(body.throw, error)
                else:
                    item = steps.run(next, body) if sent is None else steps.run(body.send, sent)
        except StopIteration as stop:
            finish_stream(call, transcript, stop.value)
            return stop.value
        except BaseException as error:
            _break_off(call, transcript, error)
            raise

    return driven


def async_generator_function(start: Start) -> Callable[..., AsyncGenerator[Any, Any]]:
    """The same for async generators: `asend`, `athrow` and `aclose`."""

    async def driven(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        call, body = start(args, kwargs)
        steps, transcript = BodySteps(call), Transcript()
        try:
            item = await steps.run_async(body.__anext__)
            while True:
                transcript.add(item)
                try:
                    sent = yield item
                except GeneratorExit:
                    if hasattr(body, "aclose"):
                        await steps.run_async(body.aclose)
                    raise
                except BaseException as error:
                    if not hasattr(body, "athrow"):
                        raise
                    item = await steps.run_async(body.athrow, error)
                else:
                    item = await (
                        steps.run_async(body.__anext__) if sent is None else steps.run_async(body.asend, sent)
                    )
        except StopAsyncIteration:
            finish_stream(call, transcript, None)
        except BaseException as error:
            _break_off(call, transcript, error)
            raise

    return driven


def finish_stream(call: Call | None, transcript: Transcript, returned: object, *, said: str | None = None) -> None:
    """End a call whose stream has ended. `said`: what counts as said, where that is not all."""
    if call is None:
        return
    call.returned(transcript.result if returned is None else returned)
    if transcript.cut:
        call.abandon(transcript.text)
    else:
        call.complete(transcript.text if said is None else said)


def _break_off(call: Call | None, transcript: Transcript, error: BaseException) -> None:
    if call is not None:
        call.fail(error, transcript.text)


def hand_out(call: Call, result: Any) -> Any:
    """What the caller gets. A stream in the result is replaced by one that is watched and ends the call; without a
    stream the call is complete."""
    if not call.recording:
        return result
    if type(result) is not str:
        try:
            found, place = stream_in(result)
            if found:
                if place is not None:
                    call.returned(result)
                return with_stream(result, place, lambda body: _watched(call, body), call.abandon)
        except Exception as problem:
            if not report_internal_error("observe.stream", problem):
                raise
    call.returned(result)
    call.complete()
    return result


def stream_in(result: Any) -> tuple[bool, Any]:
    """(whether a result is or holds a stream, where the stream stands in it; None: the result is the stream)."""
    if isinstance(result, _GENERATORS):
        return True, None
    place = _stream_place(result)
    return place is not None, place


def _stream_place(result: Any) -> Any:
    """Where the stream stands in a result: an index, a key or an attribute's name; None where there is none."""
    if type(result) is tuple:
        return next((at for at, item in islice(enumerate(result), MAX_WIDTH) if isinstance(item, _GENERATORS)), None)
    if type(result) is dict:
        for key, item in islice(result.items(), MAX_WIDTH):
            if isinstance(item, _GENERATORS):
                return key
        return None
    fields = getattr(result, "__dict__", None) or {}
    return next((name for name in STREAM_ATTRIBUTES if _is_stream(fields.get(name))), None)


def _is_stream(value: object) -> bool:
    return isinstance(value, (Iterator, AsyncIterator)) or hasattr(value, "__aiter__")


def with_stream(result: Any, place: Any, watched: Callable[[Any], Any], give_up: Callable[[], object]) -> Any:
    """The result with its stream `watched`: mappings and objects are changed in place, a tuple is made anew. `give_up`
    is called where the result cannot be changed."""
    if place is None:
        return watched(result)
    if type(result) is tuple:
        return (*result[:place], watched(result[place]), *result[place + 1 :])
    if type(result) is dict:
        result[place] = watched(result[place])
        return result
    stream = getattr(result, place)
    try:
        setattr(result, place, stream)  # before anything is made: a frozen result stays as it is
    except Exception:  # noqa: BLE001 - whatever the class says
        give_up()
    else:
        setattr(result, place, watched(stream))
    return result


def _watched(call: Call, body: Any) -> Any:
    """`body` as a generator that ends the call."""
    if isinstance(body, Iterator):
        watched: Any = generator_function(lambda args, kwargs: (call, body))()
    else:
        watched = async_generator_function(lambda args, kwargs: (call, aiter(body)))()
    # A generator that is never started runs no code when it dies.
    weakref.finalize(watched, call.abandon)
    return watched
