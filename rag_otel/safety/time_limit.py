"""Limits on what is waited for: on calls into code that heeds no deadline, and on everything while the process ends.

An exporter that hangs must keep neither a flush from returning in time nor the process from exiting. What it is doing
is left behind on a daemon thread. All waits of ours at exit share one budget: they come on top of what the SDK's own
shutdown takes.
"""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from rag_otel.safety.guard import guarded

EXIT_S: Final = 8.0
"""What the exit of the process may take longer because of us, in seconds."""


def process_is_ending() -> bool:
    """True once the main thread is through: what runs then runs at exit."""
    return not threading.main_thread().is_alive()


class LimitedCall:
    """A call that may be waited for no longer than one likes. Only one is under way at a time."""

    def __init__(self, place: str, *, here_at_exit: bool) -> None:
        """`place` is named in the log. Where no thread can be started (Python 3.12 starts none at exit) the work is
        done on the caller's, without a limit; but while the process ends only with `here_at_exit`."""
        self._place = place
        self._here_at_exit = here_at_exit
        self._thread: threading.Thread | None = None

    def within(self, timeout_s: float, work: Callable[[], object]) -> bool:
        """Whether `work` was done in time and did not say False; what it raises is logged, counted, and False.

        A call that was left behind is waited for first, and while it lasts no other one is begun.
        """
        deadline = time.monotonic() + timeout_s
        said: list[object] = []

        def do() -> None:
            with guarded(self._place):
                said.append(work())

        if (before := self._thread) is not None:
            before.join(max(0.0, deadline - time.monotonic()))
            if before.is_alive():
                return False
        # With the caller's context: what is suppressed there is suppressed here.
        run = contextvars.copy_context().run
        thread = threading.Thread(target=run, args=(do,), name="rag-otel-flush", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the system has none left, or the interpreter is ending
            if process_is_ending() and not self._here_at_exit:
                return False
            do()
        else:
            self._thread = thread
            thread.join(max(0.0, deadline - time.monotonic()))
        return bool(said) and said[0] is not False


class _ExitBudget:
    """What is left of `EXIT_S`."""

    def __init__(self) -> None:
        self.left_s = EXIT_S

    @contextmanager
    def limited(self, wanted_s: float) -> Iterator[float]:
        """How many seconds may be spent inside the block: what is wanted while the process lives; at exit what is
        left, less what the blocks before have taken. Not for nesting."""
        if not process_is_ending():
            yield wanted_s
            return
        began = time.monotonic()
        try:
            yield max(0.0, min(wanted_s, self.left_s))
        finally:
            self.left_s -= time.monotonic() - began


exit_budget: Final = _ExitBudget()
