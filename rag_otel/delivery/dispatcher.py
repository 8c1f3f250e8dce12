"""Sends results to every writer and every alert channel, each through a queue of its own, in the background."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol, TypeVar, runtime_checkable

from rag_otel.alert import Alert, AlertAudience, AlertExample
from rag_otel.delivery.export_queue import DEFAULT_POLICY, ExportPolicy, ExportQueue
from rag_otel.durable.state_folder import StateFolder
from rag_otel.model import ClaimVerdict, EvaluatedTrace
from rag_otel.protocols import AlertChannel, RaisesAlerts, Renews, Writer
from rag_otel.safety.guard import guarded
from rag_otel.safety.privacy import hidden_now
from rag_otel.safety.scheduler import Scheduled, Ticking, scheduler

if TYPE_CHECKING:  # only imported where a state folder is set
    from rag_otel.delivery.undelivered import Undelivered
    from rag_otel.durable.dead_letters import DeadLetters

_T = TypeVar("_T")
_OF_THIS_PROCESS: Final[dict[type[object], frozenset[str]]] = {EvaluatedTrace: frozenset({"origin"})}
"""Fields that are not kept for the next process, where they would have no meaning."""
ALERT_POLICY: Final = ExportPolicy(max_items=1024, give_up_after_s=7 * 86_400.0)
"""Of a channel: alerts wait for a channel that is down for days."""
_PEOPLE: Final = frozenset({AlertAudience.EVERYONE, AlertAudience.READERS})
_OVERHEAD_BYTES = 1024
"""Of an item besides its texts: objects, ids, numbers."""


@runtime_checkable
class GoesOn(Protocol):
    """An alert channel that stores its open alerts, so that it can continue after a restart."""

    def go_on(self, folder: StateFolder, open_alerts: Collection[str]) -> None:
        """Stores alerts in `folder`, and reads the stored alerts whose fingerprints are in `open_alerts`."""
        ...


class AlertSource(Protocol):
    """Decides which results raise alerts; see `rag_otel.alerts.inbox`."""

    @property
    def channels(self) -> Sequence[AlertChannel]: ...

    def connect(
        self,
        send: Callable[[Alert], None],
        changed: Callable[[], None],
        hold: Callable[[], AbstractContextManager[object]],
    ) -> None: ...

    def consider(self, result: EvaluatedTrace) -> None: ...

    def raise_alert(self, alert: Alert) -> None: ...

    def due(self) -> float | None: ...

    def tick(self, *, close_windows: bool = False) -> None: ...

    def told(self) -> set[str]: ...

    def close(self) -> None: ...

    def after_fork(self) -> None: ...


class Sharing(Protocol):
    """Watches results together with other processes; see `rag_otel.sharing.group`."""

    def start(self) -> None: ...

    def submit(self, result: EvaluatedTrace) -> None: ...

    def raise_alert(self, alert: Alert) -> None: ...

    def flush(self, timeout_s: float) -> bool: ...

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
        alerts: AlertSource | None = None,
        *,
        policy: ExportPolicy | None = None,
        state: StateFolder | None = None,
        keep_results: bool = False,
        watching: Sequence[Ticking] = (),
        shared: Sharing | None = None,
        dead: DeadLetters | None = None,
    ) -> None:
        """`policy` bounds each queue; without one a writer's own `export_policy` does, or the default.

        With `state` alerts that a channel has not taken yet survive the process; with `keep_results` so do the results
        of writers that ask for it (`keeps_results = True`). What such a writer cannot write at all goes to `dead`. A
        writer that is `Ticking` is ticked, one that
        `RaisesAlerts` is connected.
        Two writers of one name share their counters, not their queues. `watching` is ticked, and fed by somebody else;
        `shared` gets every result in place of `alerts`.
        """
        self._shared = shared
        self._alerts = alerts
        self._state = state
        self._result_queues = [
            ExportQueue(
                writer.name,
                writer.write,
                size_of=result_bytes,
                policy=policy or _own_policy(writer),
                log=_log(state, writer.name, EvaluatedTrace) if keep_results and _keeps(writer) else None,
                bury=partial(_bury, dead, writer.name) if dead is not None and _keeps(writer) else None,
            )
            for writer in writers
        ]
        self._alert_queues = [
            ExportQueue(
                f"alert_{channel.name}",
                _one_by_one(channel),
                size_of=alert_bytes,
                policy=dataclasses.replace(policy or ALERT_POLICY, batch_items=1, linger_s=0.0),
                log=_log(state, place, Alert),
            )
            for place, channel in _places(alerts.channels if alerts else ())
        ]
        channels = alerts.channels if alerts is not None else ()
        self._told = list(zip(channels, self._alert_queues, strict=True))
        self._resumed: list[set[tuple[object, ...]]] = [set() for _ in self._alert_queues]
        self._watching: list[Ticking] = [*(writer for writer in writers if isinstance(writer, Ticking)), *watching]
        self._scheduled: list[Scheduled] = [*self._watching, *([alerts] if alerts else ())]
        self._started = self._closed = False
        raise_alert = shared.raise_alert if shared is not None else alerts.raise_alert if alerts is not None else None
        for writer in writers:
            if raise_alert is not None and isinstance(writer, RaisesAlerts):
                writer.raise_alerts_with(raise_alert)
        if alerts is not None:
            alerts.connect(self._tell, self._wake, self._hold)
            self._go_on(alerts)
        for result_queue in self._result_queues:
            result_queue.resume()
        # What each channel's queue has from the last process: the inbox may hand over the same again.
        self._resumed = [{_identity(alert) for alert in queue.resume()} for queue in self._alert_queues]

    def _go_on(self, alerts: AlertSource) -> None:
        if self._state is not None:
            for channel in alerts.channels:
                if isinstance(channel, GoesOn):
                    with guarded("delivery.go_on"):
                        channel.go_on(self._state, alerts.told())

    @property
    def _queues(self) -> list[ExportQueue[EvaluatedTrace] | ExportQueue[Alert]]:
        return [*self._result_queues, *self._alert_queues]

    def start(self) -> bool:
        """Start the timer with which monitors detect missing results. Idempotent. True: it runs, and need not be
        started again in this process."""
        if not (self._started or self._closed):
            self._started = True
            self._wake()
        if self._shared is not None:
            self._shared.start()
        return True

    def _wake(self) -> None:
        """Something may be due sooner than it was."""
        if self._scheduled and not self._closed:
            scheduler.add(*self._scheduled)

    def submit(self, result: EvaluatedTrace, on_written: Callable[[], None] | None = None) -> None:
        """Queue a result for every destination. Returns at once, never raises; what a full queue refuses is counted.

        `on_written` is called when every writer has written it, or cannot write it at all. It is not called where a
        queue refuses it, gives it up in an outage, or is closed before.
        """
        with guarded("delivery.submit"):
            finished = None if on_written is None else _Countdown(len(self._result_queues), on_written)
            size = result_bytes(result)
            for queue in self._result_queues:
                queue.put(result, finished, size=size)
            if self._alerts is not None:
                self._alerts.consider(result)
            if self._shared is not None:
                self._shared.submit(result)
            self.start()

    @contextlib.contextmanager
    def _hold(self) -> Iterator[None]:
        """The channels take alerts, and send none until the block ends."""
        with contextlib.ExitStack() as held:
            for queue in self._alert_queues:
                held.enter_context(queue.hold())
            yield

    def _tell(self, alert: Alert) -> None:
        identity = _identity(alert)
        for (channel, queue), resumed in zip(self._told, self._resumed, strict=True):
            if identity in resumed:
                resumed.discard(identity)
            elif alert.audience in hears(channel):
                queue.put(alert)

    def flush(self, timeout_s: float) -> bool:
        """Deliver now what was submitted so far, for `timeout_s` in all; False when something is left.

        Digests are closed first. Writers go before channels, because monitors among them may raise alerts. Returns
        early where every destination that has something left is known to be down.
        """
        deadline = time.monotonic() + timeout_s
        self._close_windows()
        for queue in self._queues:
            queue.send_now()
        written = _wait_empty(self._result_queues, deadline)
        for watching in self._watching:
            with guarded("delivery.tick"):
                watching.tick()
        self._close_windows()  # alerts that the monitors have raised meanwhile
        told = self._shared is None or self._shared.flush(max(0.0, deadline - time.monotonic()))
        return _wait_empty(self._alert_queues, deadline) and written and told

    def _close_windows(self) -> None:
        if self._alerts is not None:
            with guarded("delivery.close_windows"):
                self._alerts.tick(close_windows=True)

    def shutdown(self, timeout_s: float) -> None:
        """Deliver what can be delivered in `timeout_s`, then stop. Safe to call twice."""
        self._closed = True
        scheduler.remove(*self._scheduled)
        deadline = time.monotonic() + timeout_s
        self.flush(timeout_s)
        for watching in self._watching:
            with guarded("delivery.close"):
                watching.close()
        if self._shared is not None:
            with guarded("delivery.close_shared"):
                self._shared.shutdown(max(0.0, deadline - time.monotonic()))
        if self._alerts is not None:  # last: monitors may have raised alerts until now
            with guarded("delivery.close_alerts"):
                self._alerts.close()
        _wait_empty(self._alert_queues, deadline)
        for queue in self._queues:
            queue.close()
        for channel in self._alerts.channels if self._alerts is not None else ():
            if isinstance(channel, Renews):
                with guarded("delivery.stop_renewing"):
                    channel.stop_renewing()
        if self._state is not None:
            self._state.close()

    def after_fork(self) -> None:
        """Start empty in a forked child: the parent delivers its own."""
        if self._state is not None:
            self._state.after_fork()
        if self._shared is not None:
            self._shared.after_fork()
        self._started = False
        for queue in self._queues:
            queue.after_fork()
        for watching in (*self._watching, *([self._alerts] if self._alerts else ())):
            watching.after_fork()


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


def _identity(alert: Alert) -> tuple[object, ...]:
    """The same for an alert and for what a state folder has kept of it."""
    return alert.name, alert.fingerprint, alert.state, alert.target, alert.since_ns, alert.time_ns


def hears(channel: AlertChannel) -> frozenset[AlertAudience]:
    """Whose alerts a channel gets: its attribute `hears`, else what is for people."""
    given: frozenset[AlertAudience] = getattr(channel, "hears", _PEOPLE)
    return given


def _wait_empty(queues: Sequence[ExportQueue[EvaluatedTrace]] | Sequence[ExportQueue[Alert]], deadline: float) -> bool:
    waited = [queue.wait_empty(max(0.0, deadline - time.monotonic())) for queue in queues]
    return all(waited)


def result_bytes(result: EvaluatedTrace) -> int:
    """About how much memory a result keeps alive, taking a character for a byte."""
    return (
        _OVERHEAD_BYTES
        + result.trace.characters
        + sum(claims_bytes(evaluation.claims) for evaluation in result.evaluations)
    )


def alert_bytes(alert: Alert) -> int:
    """The same for an alert."""
    shown: Sequence[Alert | AlertExample] = (alert, *alert.examples)
    texts = sum(len(each.question or "") + len(each.response or "") + claims_bytes(each.claims) for each in shown)
    return _OVERHEAD_BYTES * (1 + len(alert.examples)) + texts


def claims_bytes(claims: Sequence[ClaimVerdict]) -> int:
    """The same for claims with their quotes."""
    return sum(len(c.claim.text) + sum(len(quote.text) for quote in c.quotes) + _OVERHEAD_BYTES for c in claims)


def _log(state: StateFolder | None, name: str, kind: type[_T]) -> Undelivered[_T] | None:
    if state is None:
        return None
    from rag_otel.delivery.undelivered import Undelivered

    return Undelivered(state, name, kind, without=_OF_THIS_PROCESS.get(kind, frozenset()))


def _bury(dead: DeadLetters, writer: str, batch: Sequence[EvaluatedTrace], reason: str) -> None:
    """Keep results as dead letters, but none whose content must not be written anywhere."""
    for result in batch:
        if result.trace.capture_content and not hidden_now().anything:
            dead.add_result(result, writer=writer, reason=reason)


def _places(channels: Sequence[AlertChannel]) -> Iterator[tuple[str, AlertChannel]]:
    """The folder of each channel's alerts: by its name, so that adding or removing a channel moves no other's."""
    seen: Counter[str] = Counter()
    for channel in channels:
        seen[channel.name] += 1
        again = "" if seen[channel.name] == 1 else f"-{seen[channel.name]}"
        yield f"alert_{channel.name}{again}", channel


def _keeps(writer: Writer) -> bool:
    return bool(getattr(writer, "keeps_results", False))


def _own_policy(writer: Writer) -> ExportPolicy:
    policy: ExportPolicy = getattr(writer, "export_policy", DEFAULT_POLICY)
    return policy


def _one_by_one(channel: AlertChannel) -> Callable[[Sequence[Alert]], None]:
    def send(batch: Sequence[Alert]) -> None:
        for alert in batch:
            channel.send(alert)

    return send
