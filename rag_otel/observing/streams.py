"""Calls that go on after they return: generators, async generators, and results that stream.

The span stays open until the stream ends and is current inside each step only, never across a `yield`: a context that
leaks into the consumer would adopt its spans, and one that is attached in one task cannot be detached in another. What
the body attaches inside a step is kept for its next step, so that its own spans nest as written.

A stream that is closed early, or forgotten, ends the call as incomplete, which is no error.
"""

from __future__ import annotations

import weakref
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Iterator, Mapping
from typing import Any, Final, TypeAlias, TypeVar

from opentelemetry.context import Context, attach, detach, get_current

from rag_otel.observing.tracing import Call
from rag_otel.observing.transcript import Transcript

T = TypeVar("T")
ITSELF: Final = object()
"""In place of where the stream stands in a result: the result is the stream."""
Start: TypeAlias = Callable[[tuple[Any, ...], Mapping[str, Any]], tuple[Call | None, Any]]
"""(args, kwargs) -> the call, None where it is not recorded, and the iterator that does the work."""


class Watched:
    """One stream while it runs: the steps of its body, each in the body's own context, what it has said, and the gate
    that its items pass, if any."""

    def __init__(self, call: Call | None, *, blocking: bool) -> None:
        self.transcript = Transcript()
        gate = None if call is None else call.gate
        self.gate = None if gate is None else gate.stream(self.transcript, blocking=blocking)
        self._call = call
        self._context: Context | None = None if call is None else call.context

    def run(self, step: Callable[..., T], *arguments: Any) -> T:
        """One step of the body."""
        if self._context is None:
            return step(*arguments)
        token = attach(self._context)
        try:
            return step(*arguments)
        finally:
            self._context = get_current()
            detach(token)

    async def run_async(self, step: Callable[..., Awaitable[T]], *arguments: Any) -> T:
        """The same of one that awaits."""
        if self._context is None:
            return await step(*arguments)
        token = attach(self._context)
        try:
            return await step(*arguments)
        finally:
            self._context = get_current()
            detach(token)

    def end(self, returned: object) -> None:
        """The body has ended, or the gate has ended it."""
        call, transcript, gate = self._call, self.transcript, self.gate
        if call is None:
            return
        said = None if gate is None else gate.record()
        call.returned(transcript.result if returned is None else returned)
        if transcript.cut:
            call.abandon(transcript.text)
        else:
            call.complete(transcript.text if said is None else said)

    def break_off(self, error: BaseException) -> None:
        """The body has failed, or was closed early."""
        if self._call is not None:
            said = None if self.gate is None else self.gate.record()
            self._call.fail(error, self.transcript.text if said is None else said)


def generator_function(start: Start) -> Callable[..., Generator[Any, Any, Any]]:
    """A real generator function that begins with `start` and passes everything through to the body: `send`, `throw`,
    `close` and the returned value. Behind a gate one item may leave as none or as several, so what is sent or thrown
    into it does not reach the body."""

    def driven(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        call, body = start(args, kwargs)
        watched = Watched(call, blocking=True)
        transcript, gate = watched.transcript, watched.gate
        returned = None
        try:
            try:
                item = watched.run(next, body)
                while True:
                    transcript.add(item)
                    sent = None
                    try:
                        if gate is None:
                            sent = yield item
                        else:
                            for leaving in run_in_place(gate.take(item)):
                                yield leaving
                    except GeneratorExit:
                        if hasattr(body, "close"):
                            watched.run(body.close)
                        raise
                    except BaseException as error:
                        if gate is not None or not hasattr(body, "throw"):
                            raise
                        item = watched.run(body.throw, error)
                        continue
                    if gate is not None and gate.stopped:
                        if hasattr(body, "close"):
                            watched.run(body.close)
                        break
                    item = watched.run(next, body) if sent is None else watched.run(body.send, sent)
            except StopIteration as stop:
                returned = stop.value
            if gate is not None:
                for leaving in run_in_place(gate.finish()):
                    yield leaving
        except BaseException as error:
            watched.break_off(error)
            raise
        watched.end(returned)
        return returned

    return driven


def async_generator_function(start: Start) -> Callable[..., AsyncGenerator[Any, Any]]:
    """The same for async generators: `asend`, `athrow` and `aclose`."""

    async def driven(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        call, body = start(args, kwargs)
        watched = Watched(call, blocking=False)
        transcript, gate = watched.transcript, watched.gate
        try:
            try:
                item = await watched.run_async(body.__anext__)
                while True:
                    transcript.add(item)
                    sent = None
                    try:
                        if gate is None:
                            sent = yield item
                        else:
                            for leaving in await gate.take(item):
                                yield leaving
                    except GeneratorExit:
                        if hasattr(body, "aclose"):
                            await watched.run_async(body.aclose)
                        raise
                    except BaseException as error:
                        if gate is not None or not hasattr(body, "athrow"):
                            raise
                        item = await watched.run_async(body.athrow, error)
                        continue
                    if gate is not None and gate.stopped:
                        if hasattr(body, "aclose"):
                            await watched.run_async(body.aclose)
                        break
                    item = await (
                        watched.run_async(body.__anext__) if sent is None else watched.run_async(body.asend, sent)
                    )
            except StopAsyncIteration:
                pass
            if gate is not None:
                for leaving in await gate.finish():
                    yield leaving
        except BaseException as error:
            watched.break_off(error)
            raise
        watched.end(None)

    return driven


def run_in_place(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a guard's coroutine that waits by blocking its thread, and never gives up control."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    coroutine.close()
    raise RuntimeError("the coroutine awaits something that needs an event loop")


def with_stream(result: Any, place: Any, call: Call) -> Any:
    """The result with its stream, which stands at `place`, watched: mappings and objects are changed in place, a tuple
    is made anew. None where the result cannot be changed."""
    if place is ITSELF:
        return _watched(call, result)
    if type(result) is tuple:
        return (*result[:place], _watched(call, result[place]), *result[place + 1 :])
    if type(result) is dict:
        result[place] = _watched(call, result[place])
        return result
    stream = getattr(result, place)
    try:
        setattr(result, place, stream)  # before anything is made: a frozen result stays as it is
    except Exception:  # noqa: BLE001 - whatever the class says
        return None
    setattr(result, place, _watched(call, stream))
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
