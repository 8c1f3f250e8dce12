"""The application's replacement of an answer: asked within the guard's deadline, and nothing it raises gets out."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
from collections.abc import Callable
from typing import Any, Final

from rag_otel.evaluation.daemon_executor import DaemonExecutor
from rag_otel.guarding.check import result_within, runs_in_asyncio
from rag_otel.guarding.rules import Guard, GuardVerdict
from rag_otel.safety.guard import counters, logger

_AT_ONCE: Final = 32
"""Plain functions that may run at once: what hangs in them cannot be stopped, only waited for no longer."""
_threads: Final = DaemonExecutor(_AT_ONCE)


class Failed(Exception):  # noqa: N818 - data, never raised
    """What the application's code has raised, or that it took too long."""


async def replacement_of(guard: Guard, verdict: GuardVerdict, *, blocking: bool) -> Any:
    """What takes an answer's place: what the application gives, or `Failed`. A function has `guard.deadline` seconds.

    A plain function runs on a thread, with the caller's context variables: else it could be waited for only as long as
    it likes, and a loop would stand still. `blocking`: the caller's thread waits for it.
    """
    asked = guard.replacement
    if not callable(asked):
        return asked
    try:
        return await _given(asked, verdict, guard.deadline, blocking)
    except TimeoutError:
        return _failed(TimeoutError(f"Guard(replacement=...) took longer than the deadline of {guard.deadline:g} s"))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the application's code may raise anything
        return _failed(error)


async def _given(asked: Callable[[GuardVerdict], Any], verdict: GuardVerdict, deadline_s: float, blocking: bool) -> Any:
    if inspect.iscoroutinefunction(asked):
        given: Any = asked(verdict)
    else:
        running = _threads.submit(contextvars.copy_context().run, asked, verdict)
        given = await result_within(running, deadline_s, blocking=blocking)
    if not inspect.isawaitable(given):
        return given
    if blocking:
        if inspect.iscoroutine(given):
            given.close()
        raise TypeError("an async replacement needs an async function")
    async with asyncio.timeout(deadline_s) if runs_in_asyncio() else contextlib.nullcontext():
        return await given


def _failed(error: BaseException) -> Failed:
    if counters.add("guard.replacement_failed") == 1:
        logger.warning("rag-otel: Guard(replacement=...) failed; the guard's default applies", exc_info=error)
    return Failed(error)
