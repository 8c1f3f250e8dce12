"""Sends alerts to every channel, each through a queue of its own, in the background.

results -> inbox -> a queue for each channel -> channels
           monitors, as time passes
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from rag_otel.alert import Alert, AlertAudience, AlertExample
from rag_otel.alerts.inbox import Inbox
from rag_otel.delivery.dispatcher import OVERHEAD_BYTES, claims_bytes, wait_empty
from rag_otel.delivery.export_queue import ExportPolicy, ExportQueue
from rag_otel.durable.state_folder import StateFolder
from rag_otel.model import EvaluatedTrace
from rag_otel.protocols import AlertChannel, Renews
from rag_otel.safety.guard import guarded
from rag_otel.safety.scheduler import Ticking, scheduler

if TYPE_CHECKING:  # only imported where a state folder is set
    from rag_otel.delivery.undelivered import Undelivered

ALERT_POLICY: Final = ExportPolicy(max_items=1024, give_up_after_s=7 * 86_400.0)
"""Alerts wait for a channel that is down for days."""
_PEOPLE: Final = frozenset({AlertAudience.EVERYONE, AlertAudience.READERS})


@runtime_checkable
class GoesOn(Protocol):
    """An alert channel that stores its open alerts, so that it can continue after a restart."""

    def go_on(self, folder: StateFolder, open_alerts: Collection[str]) -> None:
        """Stores alerts in `folder`, and reads the stored alerts whose fingerprints are in `open_alerts`."""
        ...


class AlertDelivery:
    """Tells of problems: what the inbox decides goes to the channels. A `Watcher`. One channel that is down or slow
    blocks neither the caller nor another."""

    def __init__(
        self,
        inbox: Inbox,
        *,
        policy: ExportPolicy | None = None,
        state: StateFolder | None = None,
        monitors: Sequence[Ticking] = (),
    ) -> None:
        """`policy` bounds each queue. With `state`, which is closed at the end, alerts that a channel has not taken yet
        survive the process. `monitors` are ticked, and get the results from somebody else."""
        self._inbox = inbox
        self._state = state
        self._monitors = list(monitors)
        self._queues = [
            ExportQueue(
                f"alert_{channel.name}",
                _one_by_one(channel),
                size_of=alert_bytes,
                policy=dataclasses.replace(policy or ALERT_POLICY, batch_items=1, linger_s=0.0),
                log=_log(state, place),
            )
            for place, channel in _places(inbox.channels)
        ]
        self._resumed: list[set[tuple[object, ...]]] = [set() for _ in self._queues]
        self._started = self._closed = False
        inbox.connect(self._tell, self._wake, self._hold)
        if state is not None:
            self._go_on(state)
        # What each channel's queue has from the last process: the inbox may hand over the same again.
        self._resumed = [{_identity(alert) for alert in queue.resume()} for queue in self._queues]

    def _go_on(self, state: StateFolder) -> None:
        for channel in self._inbox.channels:
            if isinstance(channel, GoesOn):
                with guarded("delivery.go_on"):
                    channel.go_on(state, self._inbox.told())

    def start(self) -> None:
        """Give the inbox and the monitors their time from now on. Idempotent."""
        if not (self._started or self._closed):
            self._started = True
            self._wake()

    def _wake(self) -> None:
        """Something may be due sooner than it was."""
        if not self._closed:
            scheduler.add(*self._monitors, self._inbox)

    def submit(self, result: EvaluatedTrace) -> None:
        """Consider a result."""
        self._inbox.consider(result)

    def raise_alert(self, alert: Alert) -> None:
        """An alert of a writer or a monitor, firing or resolved."""
        self._inbox.raise_alert(alert)

    @contextlib.contextmanager
    def _hold(self) -> Iterator[None]:
        """The channels take alerts, and send none until the block ends."""
        with contextlib.ExitStack() as held:
            for queue in self._queues:
                held.enter_context(queue.hold())
            yield

    def _tell(self, alert: Alert) -> None:
        identity = _identity(alert)
        for channel, queue, resumed in zip(self._inbox.channels, self._queues, self._resumed, strict=True):
            if identity in resumed:
                resumed.discard(identity)
            elif alert.audience in hears(channel):
                queue.put(alert)

    def flush(self, timeout_s: float) -> bool:
        """Tell now what is known, for `timeout_s` in all; False when something is left. Returns early where every
        channel that has something left is known to be down."""
        deadline = time.monotonic() + timeout_s
        self._close_windows()
        for queue in self._queues:
            queue.send_now()
        for monitor in self._monitors:
            with guarded("delivery.tick"):
                monitor.tick()
        self._close_windows()  # alerts that the monitors have raised meanwhile
        return wait_empty(self._queues, deadline)

    def _close_windows(self) -> None:
        with guarded("delivery.close_windows"):
            self._inbox.tick(close_windows=True)

    def shutdown(self, timeout_s: float) -> None:
        """Tell what can be told in `timeout_s`, save, then stop. Safe to call twice."""
        self._closed = True
        scheduler.remove(*self._monitors, self._inbox)
        deadline = time.monotonic() + timeout_s
        self.flush(timeout_s)
        for monitor in self._monitors:
            with guarded("delivery.close"):
                monitor.close()
        with guarded("delivery.close_alerts"):  # last: monitors may have raised alerts until now
            self._inbox.close()
        wait_empty(self._queues, deadline)
        for queue in self._queues:
            queue.close()
        for channel in self._inbox.channels:
            if isinstance(channel, Renews):
                with guarded("delivery.stop_renewing"):
                    channel.stop_renewing()
        if self._state is not None:
            self._state.close()

    def after_fork(self) -> None:
        """Start empty in a forked child: the parent tells its own."""
        if self._state is not None:
            self._state.after_fork()
        self._started = False
        for queue in self._queues:
            queue.after_fork()
        for part in (*self._monitors, self._inbox):
            part.after_fork()


def hears(channel: AlertChannel) -> frozenset[AlertAudience]:
    """Whose alerts a channel gets: its attribute `hears`, else what is for people."""
    given: frozenset[AlertAudience] = getattr(channel, "hears", _PEOPLE)
    return given


def alert_bytes(alert: Alert) -> int:
    """About how much memory an alert keeps alive, taking a character for a byte."""
    shown: Sequence[Alert | AlertExample] = (alert, *alert.examples)
    texts = sum(len(each.question or "") + len(each.response or "") + claims_bytes(each.claims) for each in shown)
    return OVERHEAD_BYTES * (1 + len(alert.examples)) + texts


def _identity(alert: Alert) -> tuple[object, ...]:
    """The same for an alert and for what a state folder has kept of it."""
    return alert.name, alert.fingerprint, alert.state, alert.target, alert.since_ns, alert.time_ns


def _places(channels: Sequence[AlertChannel]) -> Iterator[tuple[str, AlertChannel]]:
    """The folder of each channel's alerts: by its name, so that adding or removing a channel moves no other's."""
    seen: Counter[str] = Counter()
    for channel in channels:
        seen[channel.name] += 1
        again = "" if seen[channel.name] == 1 else f"-{seen[channel.name]}"
        yield f"alert_{channel.name}{again}", channel


def _log(state: StateFolder | None, name: str) -> Undelivered[Alert] | None:
    if state is None:
        return None
    from rag_otel.delivery.undelivered import Undelivered

    return Undelivered(state, name, Alert)


def _one_by_one(channel: AlertChannel) -> Callable[[Sequence[Alert]], None]:
    def send(batch: Sequence[Alert]) -> None:
        for alert in batch:
            channel.send(alert)

    return send
