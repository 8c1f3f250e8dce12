"""Sends results to every writer, each through a queue of its own, in the background, and hands them to what watches."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

from rag_otel.alert import Alert
from rag_otel.delivery.export_queue import DEFAULT_POLICY, ExportPolicy, ExportQueue
from rag_otel.durable.state_folder import StateFolder
from rag_otel.model import ClaimVerdict, EvaluatedTrace
from rag_otel.protocols import RaisesAlerts, Writer
from rag_otel.safety.guard import guarded
from rag_otel.safety.privacy import hidden_now
from rag_otel.safety.scheduler import Ticking, scheduler

if TYPE_CHECKING:  # only imported where a state folder is set
    from rag_otel.delivery.undelivered import Undelivered
    from rag_otel.durable.dead_letters import DeadLetters

_OF_THIS_PROCESS: Final = frozenset({"origin"})
"""Fields of a result that are not kept for the next process, where they would have no meaning."""
OVERHEAD_BYTES: Final = 1024
"""Of an item besides its texts: objects, ids, numbers."""


class Watcher(Protocol):
    """Watches results and tells people of problems: in this process (`rag_otel.alerts.telling`), or together with other
    processes (`rag_otel.sharing.group`)."""

    def start(self) -> None:
        """Notice from now on that nothing comes. Cheap when it does."""
        ...

    def submit(self, result: EvaluatedTrace) -> None: ...

    def raise_alert(self, alert: Alert) -> None: ...

    def flush(self, timeout_s: float) -> bool:
        """Tell what is known; False when something is left. With 0 it is begun, and not waited for."""
        ...

    def shutdown(self, timeout_s: float) -> None: ...

    def after_fork(self) -> None: ...


class Dispatcher:
    """Delivers every finished result.

    Every writer and channel has its own bounded queue, which the process's scheduler sends from the first item on. One
    that is down or slow blocks neither the caller nor another.
    """

    def __init__(
        self,
        writers: Sequence[Writer] = (),
        watcher: Watcher | None = None,
        *,
        policy: ExportPolicy | None = None,
        state: StateFolder | None = None,
        keep_results: bool = False,
        dead: DeadLetters | None = None,
    ) -> None:
        """`policy` bounds each queue; without one a writer's own `export_policy` does, or the default.

        With `keep_results` the results of writers that ask for it (`keeps_results = True`) survive the process in
        `state`, which is closed at the end. What such a writer cannot write at all goes to `dead`. A writer that is
        `Ticking` is ticked, one that `RaisesAlerts` is connected to the `watcher`. Two writers of one name share their
        counters, not their queues.
        """
        self._watcher = watcher
        self._state = state
        self._queues = [
            ExportQueue(
                writer.name,
                writer.write,
                size_of=result_bytes,
                policy=policy or _own_policy(writer),
                log=_log(state, writer.name) if keep_results and _keeps(writer) else None,
                bury=partial(_bury, dead, writer.name) if dead is not None and _keeps(writer) else None,
            )
            for writer in writers
        ]
        self._ticking: list[Ticking] = [writer for writer in writers if isinstance(writer, Ticking)]
        self._started = self._closed = False
        for writer in writers:
            if watcher is not None and isinstance(writer, RaisesAlerts):
                writer.raise_alerts_with(watcher.raise_alert)
        for queue in self._queues:
            queue.resume()

    def start(self) -> bool:
        """Start the timer with which monitors detect missing results. Idempotent. True: it runs, and need not be
        started again in this process."""
        if not (self._started or self._closed):
            self._started = True
            if self._ticking:
                scheduler.add(*self._ticking)
        if self._watcher is not None:
            self._watcher.start()
        return True

    def submit(self, result: EvaluatedTrace, on_written: Callable[[], None] | None = None) -> None:
        """Queue a result for every destination. Returns at once, never raises; what a full queue refuses is counted.

        `on_written` is called when every writer has written it, or cannot write it at all. It is not called where a
        queue refuses it, gives it up in an outage, or is closed before.
        """
        with guarded("delivery.submit"):
            finished = None if on_written is None else _Countdown(len(self._queues), on_written)
            size = result_bytes(result)
            for queue in self._queues:
                queue.put(result, finished, size=size)
            if self._watcher is not None:
                self._watcher.submit(result)
            self.start()

    def flush(self, timeout_s: float) -> bool:
        """Deliver now what was submitted so far, for `timeout_s` in all; False when something is left.

        Writers go before channels, because monitors among them may raise alerts. Returns early where every destination
        that has something left is known to be down.
        """
        deadline = time.monotonic() + timeout_s
        if self._watcher is not None:
            self._watcher.flush(0.0)  # writers that are waited for hold up no alert
        for queue in self._queues:
            queue.send_now()
        written = wait_empty(self._queues, deadline)
        for part in self._ticking:
            with guarded("delivery.tick"):
                part.tick()
        told = self._watcher is None or self._watcher.flush(max(0.0, deadline - time.monotonic()))
        return written and told

    def shutdown(self, timeout_s: float) -> None:
        """Deliver what can be delivered in `timeout_s`, then stop. Safe to call twice."""
        self._closed = True
        scheduler.remove(*self._ticking)
        deadline = time.monotonic() + timeout_s
        self.flush(timeout_s)
        for part in self._ticking:
            with guarded("delivery.close"):
                part.close()
        for queue in self._queues:
            queue.close()
        if self._watcher is not None:  # last: monitors may have raised alerts until now
            with guarded("delivery.close_watcher"):
                self._watcher.shutdown(max(0.0, deadline - time.monotonic()))
        if self._state is not None:
            self._state.close()

    def after_fork(self) -> None:
        """Start empty in a forked child: the parent delivers its own."""
        if self._state is not None:
            self._state.after_fork()
        if self._watcher is not None:
            self._watcher.after_fork()
        self._started = False
        for queue in self._queues:
            queue.after_fork()
        for part in self._ticking:
            part.after_fork()


class _Countdown:
    """Calls a function when it was called itself so many times; at once for none."""

    def __init__(self, count: int, then: Callable[[], None]) -> None:
        self._left = count
        self._then = then
        self._lock = threading.Lock()
        if not count:
            then()

    def __call__(self) -> None:
        with self._lock:
            self._left -= 1
            last = self._left == 0
        if last:
            self._then()


def wait_empty(queues: Sequence[ExportQueue[EvaluatedTrace]] | Sequence[ExportQueue[Alert]], deadline: float) -> bool:
    """True once nothing is left in any of them; `deadline` by `time.monotonic`."""
    waited = [queue.wait_empty(max(0.0, deadline - time.monotonic())) for queue in queues]
    return all(waited)


def result_bytes(result: EvaluatedTrace) -> int:
    """About how much memory a result keeps alive, taking a character for a byte."""
    return (
        OVERHEAD_BYTES
        + result.trace.characters
        + sum(claims_bytes(evaluation.claims) for evaluation in result.evaluations)
    )


def claims_bytes(claims: Sequence[ClaimVerdict]) -> int:
    """The same for claims with their quotes."""
    return sum(len(c.claim.text) + sum(len(quote.text) for quote in c.quotes) + OVERHEAD_BYTES for c in claims)


def _log(state: StateFolder | None, name: str) -> Undelivered[EvaluatedTrace] | None:
    if state is None:
        return None
    from rag_otel.delivery.undelivered import Undelivered

    return Undelivered(state, name, EvaluatedTrace, without=_OF_THIS_PROCESS)


def _bury(dead: DeadLetters, writer: str, batch: Sequence[EvaluatedTrace], reason: str) -> None:
    """Keep results as dead letters, but none whose content must not be written anywhere."""
    for result in batch:
        if result.trace.capture_content and not hidden_now().anything:
            dead.add_result(result, writer=writer, reason=reason)


def _keeps(writer: Writer) -> bool:
    return bool(getattr(writer, "keeps_results", False))


def _own_policy(writer: Writer) -> ExportPolicy:
    policy: ExportPolicy = getattr(writer, "export_policy", DEFAULT_POLICY)
    return policy
