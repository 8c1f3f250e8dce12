"""Imports that begin at start-up on a thread of their own: the application starts at once, and no fork hits them.

    background_import("litellm")            # in instrument(): returns at once
    await until_imported()                  # before the first evaluation

A module that one thread is importing while another one forks stays locked in the child for ever. So what evaluation
needs is imported here and nowhere else, one import after the other, and a fork waits until all of it is done.
"""

from __future__ import annotations

import asyncio
import atexit
import functools
import importlib
import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Final

from rag_otel.safety.guard import counters, logger

FORK_WAITS_S: Final = 60.0
"""How long a fork waits at most. Longer than any import takes; a program that forks inside an import that ours waits
for must not hang for ever."""
_LOOK_S: Final = 0.02


class _Imports:
    """The imports of this process. Thread-safe; none is done twice at once."""

    def __init__(self) -> None:
        self.start_over()

    def start_over(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[tuple[str, Callable[[], object]]] = deque()
        self._thread: threading.Thread | None = None

    def begin(self, name: str, load: Callable[[], object]) -> None:
        """Queue one; done here and now where no thread can be started."""
        with self._changed:
            self._waiting.append((name, load))
            if self._thread is not None:
                return
            thread = threading.Thread(target=self._run, name="rag-otel-imports", daemon=True)
            self._thread = thread
            try:
                thread.start()
            except RuntimeError:  # the system has no thread left, or the interpreter is ending
                self._thread = None
        if self._thread is None:
            self._run()

    @property
    def done(self) -> bool:
        return self._thread is None and not self._waiting

    def wait(self, timeout_s: float) -> bool:
        """Wait until everything queued is imported; False when time ran out, or from inside one of the imports."""
        if self._thread is threading.current_thread():
            return False
        with self._changed:
            return self._changed.wait_for(lambda: self.done, timeout_s)

    def after_fork(self) -> None:
        """The child has no such thread, unless the fork came from it. What a fork could not wait for is given up."""
        if self._thread is threading.current_thread():
            self._changed = threading.Condition()
        else:
            self.start_over()

    def finish(self) -> None:
        """At the interpreter's end: nothing new is begun, and what is under way is waited for. A thread that stopped
        inside an import would keep the import lock, and the end would wait for it for ever."""
        with self._changed:
            while len(self._waiting) > 1:
                self._waiting.pop()
        self.wait(FORK_WAITS_S)

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._waiting:
                    self._thread = None
                    self._changed.notify_all()
                    return
                name, load = self._waiting[0]
            _load(name, load)
            with self._changed:
                self._waiting.popleft()


def _load(name: str, load: Callable[[], object]) -> None:
    try:
        load()
    except BaseException as error:  # noqa: BLE001 - a library may call sys.exit() while it is imported
        if counters.add(f"import_failed.{name}") == 1:
            logger.warning("rag-otel: %s cannot be loaded: %s: %s", name, type(error).__name__, error)


_imports: Final = _Imports()
atexit.register(_imports.finish)


def background_import(*wanted: str | Callable[[], object]) -> None:
    """Begin to import, in this order, and return at once: modules by name, or functions that import.

    A failure is counted and logged; who needs the module meets it again when importing it. Cheap for a module that is
    there already.
    """
    for each in wanted:
        if isinstance(each, str):
            _imports.begin(each, functools.partial(importlib.import_module, each))
        else:
            _imports.begin(getattr(each, "__qualname__", repr(each)), each)


def wait_until_imported(timeout_s: float) -> bool:
    """Block until nothing is being imported here; False when `timeout_s` was not enough."""
    return _imports.wait(timeout_s)


async def until_imported() -> None:
    """The same for a coroutine, without a limit: a cancelled task waits no longer. Free when nothing is under way."""
    while not _imports.done:
        await asyncio.sleep(_LOOK_S)


def _before_fork() -> None:
    if not _imports.done and not _imports.wait(FORK_WAITS_S):
        counters.add("fork.import_under_way")


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(before=_before_fork, after_in_child=_imports.after_fork)
