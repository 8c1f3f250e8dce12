"""The application's replacement of an answer: asked within the guard's deadline, and nothing it raises gets out."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any, Final

from rag_otel.guarding.rules import Guard, GuardVerdict
from rag_otel.safety.guard import counters, logger

_AT_ONCE: Final = 32
"""Plain functions that may run at once: what hangs in them cannot be stopped, only waited for no longer."""
_free = threading.BoundedSemaphore(_AT_ONCE)


class Failed(Exception):  # noqa: N818 - data, never raised
    """What the application's code has raised, or that it took too long."""


class Asked:
    """What takes an answer's place: what the application gives, or `Failed`. A function has `guard.deadline` seconds.

    A plain function runs on a thread of its own, with the caller's context variables: else it could be waited for only
    as long as it likes, and a loop would stand still.
    """

    def __init__(self, guard: Guard, verdict: GuardVerdict) -> None:
        self._replacement = guard.replacement
        self._verdict = verdict
        self._deadline_s = guard.deadline

    def wait(self) -> Any:
        if not callable(self._replacement):
            return self._replacement
        try:
            given = self._begin().result(self._deadline_s)
            if inspect.isawaitable(given):
                if inspect.iscoroutine(given):
                    given.close()
                raise TypeError("an async replacement needs an async function")
            return given
        except FutureTimeoutError:
            return _failed(self._too_late())
        except Exception as error:  # noqa: BLE001 - the application's code may raise anything
            return _failed(error)

    async def wait_async(self) -> Any:
        if not callable(self._replacement):
            return self._replacement
        try:
            asyncio.get_running_loop()
        except RuntimeError:  # another framework's loop
            given = self._replacement(self._verdict) if inspect.iscoroutinefunction(self._replacement) else self.wait()
            return await given if inspect.isawaitable(given) else given
        try:
            async with asyncio.timeout(self._deadline_s):
                if inspect.iscoroutinefunction(self._replacement):
                    return await self._replacement(self._verdict)
                given = await asyncio.wrap_future(self._begin())
                return await given if inspect.isawaitable(given) else given
        except TimeoutError:
            return _failed(self._too_late())
        except (Exception, SystemExit) as error:  # noqa: BLE001
            return _failed(error)

    def _begin(self) -> Future[Any]:
        """Call the function on a thread. Raises RuntimeError where too many hang, or none can be started."""
        if not _free.acquire(blocking=False):
            raise RuntimeError(f"{_AT_ONCE} calls of replacements are still under way")
        done: Future[Any] = Future()
        done.set_running_or_notify_cancel()

        def call() -> None:
            try:
                given = self._replacement(self._verdict)  # type: ignore[operator, misc]
            except BaseException as error:  # noqa: BLE001 - `sys.exit()` in it must not end anything either
                done.set_exception(error if isinstance(error, Exception) else RuntimeError(repr(error)))
            else:
                done.set_result(given)
            finally:
                _free.release()

        context = contextvars.copy_context()
        try:
            threading.Thread(target=context.run, args=(call,), name="rag-otel-replacement", daemon=True).start()
        except RuntimeError:
            _free.release()
            raise
        return done

    def _too_late(self) -> TimeoutError:
        return TimeoutError(f"Guard(replacement=...) took longer than the deadline of {self._deadline_s:g} s")


def _failed(error: BaseException) -> Failed:
    if counters.add("guard.replacement_failed") == 1:
        logger.warning("rag-otel: Guard(replacement=...) failed; the guard's default applies", exc_info=error)
    return Failed(error)
