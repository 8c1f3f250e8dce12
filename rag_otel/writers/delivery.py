"""Hands results to every writer and every alert channel, each in a lane of its own, off the application's path."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Protocol, TypeVar

from rag_otel.alert import Alert, AlertExample
from rag_otel.guard import guarded
from rag_otel.model import ClaimVerdict, EvaluatedTrace
from rag_otel.protocols import AlertChannel, RaisesAlerts, Renews, Writer
from rag_otel.state_folder import StateFolder
from rag_otel.writers.lane import DEFAULT_POLICY, Lane, LanePolicy
from rag_otel.writers.ledger import Ledger
from rag_otel.writers.ticker import Ticker, Ticking

_T = TypeVar("_T")
_OF_THIS_PROCESS: Final[dict[type[object], frozenset[str]]] = {EvaluatedTrace: frozenset({"origin"})}
"""Fields that mean nothing to the next process."""
ALERT_POLICY: Final = LanePolicy(max_items=1024, give_up_after_s=7 * 86_400.0)
"""Of a channel: one that is down for days loses nothing that fits."""
_OVERHEAD_BYTES = 1024
"""Of an item besides its texts: objects, ids, numbers."""


class AlertSource(Protocol):
    """Decides which results somebody should hear of; see `rag_otel.alerts.router`."""

    @property
    def channels(self) -> Sequence[AlertChannel]: ...

    def connect(self, send: Callable[[Alert], None], changed: Callable[[], None]) -> None: ...

    def consider(self, result: EvaluatedTrace) -> None: ...

    def raise_alert(self, alert: Alert) -> None: ...

    def due(self) -> float | None: ...

    def tick(self, *, close_windows: bool = False) -> None: ...

    def close(self) -> None: ...

    def after_fork(self) -> None: ...


class Delivery:
    """What the worker calls with every finished result.

    Every writer and channel has its own bounded queue and daemon thread, started by the first item: one that is
    down or slow neither blocks the caller nor holds up another.
    """

    def __init__(
        self,
        writers: Sequence[Writer] = (),
        alerts: AlertSource | None = None,
        *,
        policy: LanePolicy | None = None,
        state: StateFolder | None = None,
        keep_results: bool = False,
    ) -> None:
        """`policy` bounds each lane; without one a writer's own `lane_policy` does, or the default.

        With `state` alerts that a channel has not taken yet survive the process; with `keep_results` so do the results
        of writers that ask for it (`keeps_results = True`). A writer that is `Ticking` is ticked, one that
        `RaisesAlerts` is connected.
        Two writers of one name share their counters, not their lanes.
        """
        self._alerts = alerts
        self._state = state
        self._result_lanes = [
            Lane(
                writer.name,
                writer.write,
                size_of=result_bytes,
                policy=policy or _own_policy(writer),
                ledger=_ledger(state, writer.name, EvaluatedTrace) if keep_results and _keeps(writer) else None,
            )
            for writer in writers
        ]
        self._alert_lanes = [
            Lane(
                f"alert_{channel.name}",
                _one_by_one(channel),
                size_of=alert_bytes,
                policy=dataclasses.replace(policy or ALERT_POLICY, batch_items=1, linger_s=0.0),
                ledger=_ledger(state, place, Alert),
            )
            for place, channel in _places(alerts.channels if alerts else ())
        ]
        self._watching: list[Ticking] = [writer for writer in writers if isinstance(writer, Ticking)]
        self._ticker = Ticker([*self._watching, *([alerts] if alerts else ())])
        if alerts is not None:
            alerts.connect(self._tell, self._ticker.wake)
            for writer in writers:
                if isinstance(writer, RaisesAlerts):
                    writer.raise_alerts_with(alerts.raise_alert)
        for lane in self._lanes:
            lane.resume()

    @property
    def _lanes(self) -> list[Lane[EvaluatedTrace] | Lane[Alert]]:
        return [*self._result_lanes, *self._alert_lanes]

    def start(self) -> None:
        """Start the thread that monitors need to notice what does not come. Cheap when it runs; idempotent."""
        self._ticker.start()

    def submit(self, result: EvaluatedTrace) -> None:
        """Queue a result everywhere. Returns at once, never raises; what a full queue refuses is counted."""
        with guarded("delivery.submit"):
            for lane in self._result_lanes:
                lane.put(result)
            if self._alerts is not None:
                self._alerts.consider(result)
            self._ticker.start()

    def _tell(self, alert: Alert) -> None:
        for lane in self._alert_lanes:
            lane.put(alert)

    def flush(self, timeout_s: float) -> bool:
        """Deliver now what was submitted so far, for `timeout_s` in all; False when something is left.

        Digests are closed first. Writers go before channels, because monitors among them may raise alerts. Where
        every destination that has something left is known to be down, the rest of the time is not waited for.
        """
        deadline = time.monotonic() + timeout_s
        self._close_windows()
        for lane in self._lanes:
            lane.hurry()
        written = _wait_empty(self._result_lanes, deadline)
        for watching in self._watching:
            with guarded("delivery.tick"):
                watching.tick()
        self._close_windows()  # of what monitors have raised meanwhile
        return _wait_empty(self._alert_lanes, deadline) and written

    def _close_windows(self) -> None:
        if self._alerts is not None:
            with guarded("delivery.close_windows"):
                self._alerts.tick(close_windows=True)

    def shutdown(self, timeout_s: float) -> None:
        """Deliver what can be delivered in `timeout_s`, then stop for good. Safe to call twice."""
        self._ticker.close()
        if self._alerts is not None:
            with guarded("delivery.close_alerts"):
                self._alerts.close()
        self.flush(timeout_s)
        for watching in self._watching:
            with guarded("delivery.close"):
                watching.close()
        for lane in self._lanes:
            lane.close()
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
        self._ticker.after_fork()
        for lane in self._lanes:
            lane.after_fork()
        for watching in (*self._watching, *([self._alerts] if self._alerts else ())):
            watching.after_fork()


def _wait_empty(lanes: Sequence[Lane[EvaluatedTrace]] | Sequence[Lane[Alert]], deadline: float) -> bool:
    waited = [lane.wait_empty(max(0.0, deadline - time.monotonic())) for lane in lanes]
    return all(waited)


def result_bytes(result: EvaluatedTrace) -> int:
    """About how much memory a result keeps alive, taking a character for a byte."""
    trace = result.trace
    texts = len(trace.question or "") + len(trace.response or "") + sum(len(chunk.text) for chunk in trace.chunks)
    return _OVERHEAD_BYTES + texts + sum(claims_bytes(evaluation.claims) for evaluation in result.evaluations)


def alert_bytes(alert: Alert) -> int:
    """The same for an alert."""
    shown: Sequence[Alert | AlertExample] = (alert, *alert.examples)
    texts = sum(len(each.question or "") + len(each.response or "") + claims_bytes(each.claims) for each in shown)
    return _OVERHEAD_BYTES * (1 + len(alert.examples)) + texts


def claims_bytes(claims: Sequence[ClaimVerdict]) -> int:
    """The same for claims with their quotes."""
    return sum(len(c.claim.text) + sum(len(quote.text) for quote in c.quotes) + _OVERHEAD_BYTES for c in claims)


def _ledger(state: StateFolder | None, name: str, kind: type[_T]) -> Ledger[_T] | None:
    if state is None:
        return None
    return Ledger(state, name, kind, without=_OF_THIS_PROCESS.get(kind, frozenset()))


def _places(channels: Sequence[AlertChannel]) -> Iterator[tuple[str, AlertChannel]]:
    """Where each channel's alerts are kept: by its name, so that a channel that comes or goes moves no other's."""
    seen: Counter[str] = Counter()
    for channel in channels:
        seen[channel.name] += 1
        again = "" if seen[channel.name] == 1 else f"-{seen[channel.name]}"
        yield f"alert_{channel.name}{again}", channel


def _keeps(writer: Writer) -> bool:
    return bool(getattr(writer, "keeps_results", False))


def _own_policy(writer: Writer) -> LanePolicy:
    policy: LanePolicy = getattr(writer, "lane_policy", DEFAULT_POLICY)
    return policy


def _one_by_one(channel: AlertChannel) -> Callable[[Sequence[Alert]], None]:
    def send(batch: Sequence[Alert]) -> None:
        for alert in batch:
            channel.send(alert)

    return send
