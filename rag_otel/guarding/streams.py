"""Guarded generators, async generators, and results that stream: who drives a `StreamGuard`.

As `rag_otel.observing.streams`, but one item that goes in may leave as none or as several, so what a consumer sends
into a guarded generator does not reach the body.
"""

from __future__ import annotations

import weakref
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping
from typing import Any, TypeAlias

from rag_otel.guarding.acting import INTERNAL_ERROR, NOT_WRITABLE, GuardedCall
from rag_otel.guarding.rules import Finding, Guard, GuardVerdict
from rag_otel.guarding.streaming import Emit, HeldStream, Pieces, ReleasedStream, StreamGuard
from rag_otel.observing.call import Observation
from rag_otel.observing.streams import BodySteps, finish_stream, stream_in, with_stream
from rag_otel.observing.transcript import Transcript
from rag_otel.safety.guard import report_internal_error

Start: TypeAlias = Callable[[tuple[Any, ...], Mapping[str, Any]], tuple[GuardedCall, Observation, Any]]


def guarded_generator(start: Start) -> Callable[..., Generator[Any, Any, Any]]:
    """A generator function whose items pass through a guard."""

    def driven(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        guarding, call, body = start(args, kwargs)
        steps, transcript = BodySteps(call), Transcript()
        guard, returned = _stream_guard(guarding, call, transcript), None
        try:
            try:
                while not guard.stopped:
                    try:
                        item = steps.run(next, body)
                    except StopIteration as stop:
                        returned = stop.value
                        leaving = _Running(guard, guard.finish())
                        while (piece := leaving.next()) is not None:
                            yield piece.item
                        break
                    transcript.add(item)
                    leaving = _Running(guard, guard.take(item))
                    while (piece := leaving.next()) is not None:
                        yield piece.item
                if guard.stopped and hasattr(body, "close"):
                    steps.run(body.close)
            except GeneratorExit:
                if hasattr(body, "close"):
                    steps.run(body.close)
                raise
        except BaseException as error:
            _broken_off(call, guard, error)
            raise
        _ended(call, guard, transcript, returned)
        return returned

    return driven


def guarded_async_generator(start: Start) -> Callable[..., AsyncGenerator[Any, Any]]:
    """The same for async generators."""

    async def driven(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        guarding, call, body = start(args, kwargs)
        steps, transcript = BodySteps(call), Transcript()
        guard = _stream_guard(guarding, call, transcript)
        try:
            try:
                while not guard.stopped:
                    try:
                        item = await steps.run_async(body.__anext__)
                    except StopAsyncIteration:
                        leaving = _Running(guard, guard.finish())
                        while (piece := await leaving.next_async()) is not None:
                            yield piece.item
                        break
                    transcript.add(item)
                    leaving = _Running(guard, guard.take(item))
                    while (piece := await leaving.next_async()) is not None:
                        yield piece.item
                if guard.stopped and hasattr(body, "aclose"):
                    await steps.run_async(body.aclose)
            except GeneratorExit:
                if hasattr(body, "aclose"):
                    await steps.run_async(body.aclose)
                raise
        except BaseException as error:
            _broken_off(call, guard, error)
            raise
        _ended(call, guard, transcript, None)

    return driven


def in_place(guarding: GuardedCall, call: Observation, result: Any) -> tuple[bool, Any]:
    """(whether a function's result is or holds a stream, the result with the stream guarded)."""
    if type(result) is str:
        return False, result
    fixed = False

    def give_up() -> None:
        nonlocal fixed
        fixed = True

    try:
        found, place = stream_in(result)
        if not found:
            return False, result
        if place is not None:
            call.returned(result)
        handed = with_stream(result, place, lambda body: _watched(guarding, call, body), give_up)
    except Exception as problem:
        if not report_internal_error("guard.stream", problem):
            raise
        return True, _without_stream(guarding, call, result, INTERNAL_ERROR)
    return True, _without_stream(guarding, call, result, NOT_WRITABLE) if fixed else handed


def _without_stream(guarding: GuardedCall, call: Observation, result: Any, reason: str) -> Any:
    """What leaves where the stream in a result cannot be replaced: the default applies."""
    guarded = guarding.by_default(result, GuardVerdict(finding=Finding.NOT_JUDGED), reason)
    guarding.record(guarded, left=None)
    call.abandon()
    return guarded.response


def _watched(guarding: GuardedCall, call: Observation, body: Any) -> Any:
    if isinstance(body, Iterator):
        watched: Any = guarded_generator(lambda args, kwargs: (guarding, call, body))()
    else:
        watched = guarded_async_generator(lambda args, kwargs: (guarding, call, aiter(body)))()
    weakref.finalize(watched, call.abandon)  # a generator that is never started runs no code when it dies
    return watched


def _stream_guard(guarding: GuardedCall, call: Observation, transcript: Transcript) -> StreamGuard:
    guard: Guard = guarding.guard
    kind = HeldStream if guard.stream == "hold" else ReleasedStream
    return kind(guarding, call, transcript)


class _Running:
    """Takes the steps of a stream's guard, up to what leaves. After an error of ours the guard's default applies."""

    def __init__(self, guard: StreamGuard, pieces: Pieces) -> None:
        self._guard = guard
        self._pieces = pieces
        self._answer: Any = None

    def next(self) -> Emit | None:
        """What leaves next; None: nothing more for now."""
        while True:
            try:
                step = self._pieces.send(self._answer)
                self._answer = None if isinstance(step, Emit) else step.wait()
            except StopIteration:
                return None
            except Exception as problem:  # noqa: BLE001 - reported there, or raised again
                self._give_up(problem)
                continue
            if isinstance(step, Emit):
                return step

    async def next_async(self) -> Emit | None:
        """The same on a loop."""
        while True:
            try:
                step = self._pieces.send(self._answer)
                self._answer = None if isinstance(step, Emit) else await step.wait_async()
            except StopIteration:
                return None
            except Exception as problem:  # noqa: BLE001 - reported there, or raised again
                self._give_up(problem)
                continue
            if isinstance(step, Emit):
                return step

    def _give_up(self, problem: Exception) -> None:
        if not report_internal_error("guard.stream", problem):
            raise problem
        self._pieces, self._answer = (Emit(item) for item in self._guard.give_up()), None


def _ended(call: Observation, guard: StreamGuard, transcript: Transcript, returned: object) -> None:
    try:
        guard.record()
    except Exception as problem:
        if not report_internal_error("guard.record", problem):
            raise
    finish_stream(call, transcript, returned, said=guard.judged_text if guard.stopped else None)


def _broken_off(call: Observation, guard: StreamGuard, error: BaseException) -> None:
    try:
        guard.record()
    except Exception as problem:
        if not report_internal_error("guard.record", problem):
            raise
    call.fail(error, guard.judged_text)
