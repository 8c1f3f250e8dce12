"""A thread that takes up the traces of earlier processes, and hands spans again to exporters that could not send them.

It goes no faster than the exporters take what it gives them: while they fail, it waits.
"""

from __future__ import annotations

import threading
import time
from typing import Final, Protocol

from rag_otel.delivery.retry import Backoff
from rag_otel.durable.progress import Sent
from rag_otel.durable.spool import Spool
from rag_otel.durable.trace_records import KeptTrace
from rag_otel.safety.guard import counters, guarded
from rag_otel.safety.tracing_suppression import suppressed

_PAUSE_S: Final = 0.05
_IDLE_S: Final = 0.5
_AT_ONCE: Final = 64
"""Traces that are handed out between two looks at what became of them."""


class TakesUp(Protocol):
    """Where the traces go; see `rag_otel.processing.keeping`."""

    @property
    def exporters(self) -> tuple[int, ...]:
        """The numbers of its exporters."""
        ...

    @property
    def room(self) -> int:
        """How many spans may be under way again at a time."""
        ...

    def take_up(self, kept: KeptTrace) -> bool:
        """Evaluate and export a trace of an earlier process; False when that is not possible now."""
        ...

    def send_again(self, kept: KeptTrace, sent: set[Sent]) -> None:
        """Hand spans to their exporters again."""
        ...

    def export_now(self) -> None:
        """Wait until the exporters have tried what they were handed."""
        ...


class Recovery:
    """Works for one processor."""

    def __init__(self, spool: Spool, target: TakesUp) -> None:
        self._spool = spool
        self._target = target
        self._backoff = Backoff(base_s=1.0, longest_wait_s=30.0)
        self._stopped = threading.Event()
        self._start_over()

    def _start_over(self) -> None:
        self._thread: threading.Thread | None = None
        self._under_way: list[bytes] = []
        self._taken = 0
        self._failures = 0
        self._not_before = 0.0

    def start(self) -> None:
        """Begin. Safe to call twice."""
        if self._thread is None and not self._stopped.is_set():
            thread = threading.Thread(target=self._run, name="rag-otel-recovery", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the interpreter ends: what is left is for the next process
                return
            self._thread = thread

    def stop(self) -> None:
        """End the thread. Safe to call twice."""
        self._stopped.set()

    def after_fork(self) -> None:
        """The thread is the parent's; the child's is started with its first trace."""
        stopped = self._stopped.is_set()
        self._stopped = threading.Event()
        if stopped:
            self._stopped.set()
        self._start_over()

    def _run(self) -> None:
        with suppressed():
            while not self._stopped.is_set():
                busy = False
                with guarded("recovery"):
                    busy = self._step()
                self._stopped.wait(_PAUSE_S if busy else _IDLE_S)

    def _step(self) -> bool:
        """Hand out what can be handed out; True when something was."""
        again = self._send_again()
        taken_up = self._take_up()
        if again or taken_up:
            self._target.export_now()
        return again or taken_up

    def _send_again(self) -> bool:
        if self._spool.taken != self._taken:
            self._taken, self._failures, self._not_before = self._spool.taken, 0, 0.0
        if time.monotonic() < self._not_before:
            return False
        failed = self._spool.failed(self._target.exporters, _AT_ONCE)
        for kept, sent in failed:
            counters.add("spool.sent_again")
            self._target.send_again(kept, sent)
        if failed:
            self._failures += 1
            self._not_before = time.monotonic() + self._backoff.pause_s(self._failures)
        return bool(failed)

    def _take_up(self) -> bool:
        """Take up traces while the exporters keep up."""
        self._under_way = [key for key in self._under_way if self._spool.on_the_way([key])]
        taken_up = 0
        while (
            taken_up < _AT_ONCE
            and not self._stopped.is_set()
            and self._spool.on_the_way(self._under_way) < self._target.room
            and (kept := self._spool.next_left()) is not None
        ):
            if not self._target.take_up(kept):
                self._spool.put_back(kept.key)
                break
            counters.add("spool.recovered")
            self._under_way.append(kept.key)
            taken_up += 1
        return taken_up > 0
