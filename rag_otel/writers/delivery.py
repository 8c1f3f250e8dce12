"""Hands results to every writer and every alert channel, each in a lane of its own, off the application's path."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from rag_otel.alert import Alert
from rag_otel.guard import guarded
from rag_otel.model import ClaimVerdict, EvaluatedTrace
from rag_otel.protocols import AlertChannel, Writer
from rag_otel.writers.lane import DEFAULT_POLICY, Lane, LanePolicy

_OVERHEAD_BYTES = 1024
"""Of an item besides its texts: objects, ids, numbers."""


class AlertSource(Protocol):
    """Decides which results somebody should hear of; see `rag_otel.alerts.router`."""

    @property
    def channels(self) -> Sequence[AlertChannel]: ...

    def consider(self, result: EvaluatedTrace) -> Sequence[Alert]: ...

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
    ) -> None:
        """`policy` bounds each lane; without one a writer's own `lane_policy` does, or the default.

        Two writers of one name share their counters, not their lanes.
        """
        self._alerts = alerts
        self._result_lanes = [
            Lane(
                writer.name,
                writer.write,
                size_of=result_bytes,
                policy=policy or _own_policy(writer),
            )
            for writer in writers
        ]
        self._alert_lanes = [
            Lane(
                f"alert_{channel.name}",
                _one_by_one(channel),
                size_of=alert_bytes,
                policy=dataclasses.replace(policy or DEFAULT_POLICY, batch_items=1, linger_s=0.0),
            )
            for channel in (alerts.channels if alerts else ())
        ]

    @property
    def _lanes(self) -> list[Lane[EvaluatedTrace] | Lane[Alert]]:
        return [*self._result_lanes, *self._alert_lanes]

    def submit(self, result: EvaluatedTrace) -> None:
        """Queue a result everywhere. Returns at once, never raises; what a full queue refuses is counted."""
        with guarded("delivery.submit"):
            for lane in self._result_lanes:
                lane.put(result)
            if self._alerts is None:
                return
            for alert in self._alerts.consider(result):
                for alert_lane in self._alert_lanes:
                    alert_lane.put(alert)

    def flush(self, timeout_s: float) -> bool:
        """Deliver now what was submitted so far, for `timeout_s` in all; False when something is left."""
        deadline = time.monotonic() + timeout_s
        for lane in self._lanes:
            lane.hurry()
        return all(lane.wait_empty(max(0.0, deadline - time.monotonic())) for lane in self._lanes)

    def shutdown(self, timeout_s: float) -> None:
        """Deliver what can be delivered in `timeout_s`, then stop for good. Safe to call twice."""
        self.flush(timeout_s)
        for lane in self._lanes:
            lane.close()

    def after_fork(self) -> None:
        """Start empty in a forked child: the parent delivers its own."""
        for lane in self._lanes:
            lane.after_fork()
        if self._alerts is not None:
            self._alerts.after_fork()


def result_bytes(result: EvaluatedTrace) -> int:
    """About how much memory a result keeps alive, taking a character for a byte."""
    trace = result.trace
    texts = len(trace.question or "") + len(trace.response or "") + sum(len(chunk.text) for chunk in trace.chunks)
    return _OVERHEAD_BYTES + texts + sum(claims_bytes(evaluation.claims) for evaluation in result.evaluations)


def alert_bytes(alert: Alert) -> int:
    """The same for an alert."""
    return _OVERHEAD_BYTES + len(alert.question or "") + len(alert.response or "") + claims_bytes(alert.claims)


def claims_bytes(claims: Sequence[ClaimVerdict]) -> int:
    """The same for claims with their quotes."""
    return sum(len(c.claim.text) + sum(len(quote.text) for quote in c.quotes) + _OVERHEAD_BYTES for c in claims)


def _own_policy(writer: Writer) -> LanePolicy:
    policy: LanePolicy = getattr(writer, "lane_policy", DEFAULT_POLICY)
    return policy


def _one_by_one(channel: AlertChannel) -> Callable[[Sequence[Alert]], None]:
    def send(batch: Sequence[Alert]) -> None:
        for alert in batch:
            channel.send(alert)

    return send
