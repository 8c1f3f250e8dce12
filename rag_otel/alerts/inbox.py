"""The inbox of all alerts: one message per problem, not one per answer.

    rules (per answer) -+-> problems -> channels
    monitors -----------+

`Problems` decides; the inbox gives it the time, keeps one record of all in the state folder, and hands messages to the
channels' queues. It starts no thread: its owner calls `tick` at the time that `due` returns.
"""

from __future__ import annotations

import dataclasses
import functools
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

from rag_otel.alert import Alert, AlertState
from rag_otel.alerts.messages.next_steps import AlertLinks
from rag_otel.alerts.problems import Problems
from rag_otel.alerts.rules import AlertRules
from rag_otel.alerts.schedule import Limits
from rag_otel.alerts.states import Moment, ProblemsState, ServiceNames
from rag_otel.durable.named_states import NamedState
from rag_otel.durable.state_folder import StateFolder
from rag_otel.model import EvaluatedTrace
from rag_otel.protocols import AlertChannel
from rag_otel.safety.guard import counters, guarded
from rag_otel.sharing.consumers import Observed, Positions

VERSION: Final = 4
NAME: Final = "alerts"
"""Of the state."""
_SAVE_EVERY_S: Final = 1.0
_SAVE_POSITIONS_S: Final = 10.0
LOOK_AGAIN_S: Final = 0.1


@dataclasses.dataclass(slots=True)
class InboxState:
    """Everything that is kept across restarts."""

    problems: ProblemsState = dataclasses.field(default_factory=ProblemsState)
    outbox: list[Alert] = dataclasses.field(default_factory=list)
    """Alerts that were to be sent, and may not have reached the channels' queues."""
    saved_at: float = 0.0
    """By the steady clock, seconds; 0: not known."""
    read: dict[str, int] = dataclasses.field(default_factory=dict)
    """How far each process's log was read; empty where no processes share the folder."""
    names: dict[str, str] = dataclasses.field(default_factory=dict)
    """Fingerprint of a monitor -> the fingerprint, with the service, under which its problem was told."""


def _nobody(alert: Alert) -> None:
    """Discards alerts before the inbox is connected."""


class Inbox:
    """Decides which alerts are sent, and when. Thread-safe."""

    def __init__(
        self,
        channels: Sequence[AlertChannel] = (),
        *,
        rules: AlertRules | None = None,
        limits: Limits | None = None,
        links: AlertLinks | None = None,
        state: StateFolder | None = None,
        clock: Callable[[], float] = time.time,
        steady: Callable[[], float] | None = None,
    ) -> None:
        """`state` keeps waiting alerts and open problems across restarts. `clock` gives seconds since the epoch, for
        quiet hours; `steady` seconds that pass evenly, for all else (None: `clock`)."""
        self.channels: Sequence[AlertChannel] = tuple(channels)
        self._rules = rules or AlertRules()
        self._links = links or AlertLinks()
        self._wall, self._steady = clock, steady or clock
        self._send: Callable[[Alert], None] = _nobody
        self._changed: Callable[[], None] = lambda: None
        self._hold: Callable[[], AbstractContextManager[object]] = nullcontext
        self._lock = threading.RLock()
        self._saved = None if state is None else NamedState(state, NAME, VERSION)
        kept = self._load()
        self.problems = Problems(limits or Limits(), kept.problems)
        if kept.saved_at:
            self.problems.resume(self._steady() - kept.saved_at)
        self._outbox: list[Alert] = []
        self._left = kept.outbox
        """What the last process may not have handed to the channels."""
        self._names = ServiceNames(kept.names)
        self.read = Positions()
        """Of the logs of processes that share a state folder."""
        if state is not None:
            self.read.restore(kept.read)
        self._save_at: float | None = None

    def connect(
        self,
        send: Callable[[Alert], None],
        changed: Callable[[], None] = lambda: None,
        hold: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        """`send` takes each alert to send; `changed` is called when `due` has changed. Neither may block. What `send`
        has taken leaves the process only when the block of `hold` has ended."""
        self._send, self._changed, self._hold = send, changed, hold

    # --- what comes in ----------------------------------------------------------------------------------------------

    def take(self, batch: Sequence[Observed]) -> None:
        """Consider results of several processes."""
        for each in batch:
            with guarded("alerts.consider"):
                self.consider(each.result, upto=each.upto)

    def consider(self, result: EvaluatedTrace, *, upto: Mapping[str, int] | None = None) -> None:
        """Apply the rules to a result and send the alerts that are due now. `upto` is where it stood in the logs."""
        judgements = self._rules.judge(result)
        out: list[Alert] = []
        with self._lock:
            now = self._now()
            if upto:
                self.read.advance(upto)
                self._save_within(_SAVE_POSITIONS_S, now)
            self._names.saw(result.trace.service)
            for judgement in judgements:
                if judgement.alert is None:
                    self.problems.note(judgement.fingerprint, judgement.finding, now)
                    continue
                out += self.problems.bad(judgement.alert, now)
                self._save_within(_SAVE_EVERY_S, now)
            self._keep(out)
        self._send_all(out)
        if any(judgement.alert is not None for judgement in judgements):
            self._changed()  # a good answer does not change `due`

    def raise_alert(self, alert: Alert) -> None:
        """Handle a monitor's alert, firing or resolved, like all others."""
        with guarded("alerts.raise"):
            with self._lock:
                now = self._now()
                alert = self._names.of(alert, self.problems.state.open)
                if alert.follow_up:
                    out = self.problems.follow_up(alert, now)
                elif alert.state is AlertState.RESOLVED:
                    out = self.problems.end(alert, now)
                else:
                    out = self.problems.bad(alert, now)
                self._keep(out, surely=True)  # the monitor will not raise it again
            self._send_all(out)
            self._changed()

    # --- as time passes ---------------------------------------------------------------------------------------------

    def tick(self, *, close_windows: bool = False) -> None:
        """Send what is due: digests, resolve messages, alerts that quiet hours held back."""
        with self._lock:
            now = self._now()
            out, self._left = self._left, []
            out += self.problems.tick(now, close_windows=close_windows)
            self._keep(out, surely=self._save_at is not None and (self._save_at <= now.at or close_windows))
        self._send_all(out)

    def due(self) -> float | None:
        """Seconds since the epoch at which `tick` must be called next; None: no alert waits. Waits for nobody: whoever
        has the lock may wait for the disk."""
        if not self._lock.acquire(blocking=False):
            return self._wall() + LOOK_AGAIN_S
        try:
            now = self._now()
            times = (self.problems.due(now), self._save_at)
            due = min((at for at in (*times, now.at if self._left else None) if at is not None), default=None)
        finally:
            self._lock.release()
        return None if due is None else due + now.wall - now.at

    def told(self) -> set[str]:
        """Fingerprints of the messages that were sent about problems that are still open."""
        with self._lock:
            return self.problems.told

    def close(self) -> None:
        """Send waiting digests. Alerts held for quiet hours are saved; without a state folder they are sent now."""
        self.tick(close_windows=True)
        with self._lock:
            if self._saved is not None:
                self._save()
                return
            out = self.problems.close(self._now())
        self._send_all(out)

    def after_fork(self) -> None:
        """The parent sends what it holds; the child starts empty, with a new lock."""
        self._lock = threading.RLock()
        self.problems.forget()
        self._outbox, self._left = [], []
        self._save_at = None

    def _now(self) -> Moment:
        return Moment(self._steady(), self._wall())

    # --- sending and saving -----------------------------------------------------------------------------------------

    def _keep(self, out: Sequence[Alert], *, surely: bool = False) -> None:
        """Save before anything is sent: a process that is killed in between leaves it to the next one."""
        if self._saved is not None and (out or surely):
            self._outbox += out
            self._save()

    def _send_all(self, alerts: Sequence[Alert]) -> None:
        """Call without the lock: a channel's queue may call back into the inbox."""
        if not alerts:
            return
        # The channels' queues have them on disk before they leave the outbox, and send them after that: a kill at any
        # moment leaves an alert in one of the two, or in both under one id.
        with self._hold():
            for alert in alerts:
                counters.add(f"alerts.{'resolved' if alert.state is AlertState.RESOLVED else 'sent'}.{alert.name}")
                self._send(self._links.on(alert))
            if self._saved is not None:
                with self._lock:
                    self._outbox = [each for each in self._outbox if not any(each is alert for alert in alerts)]
                    self._save()

    def _save_within(self, seconds: float, now: Moment) -> None:
        if self._saved is not None and (self._save_at is None or self._save_at > now.at + seconds):
            self._save_at = now.at + seconds

    def _save(self) -> None:
        self._save_at = None
        if self._saved is not None:
            state = self._state()
            with guarded("alerts.save"):
                if self._saved.save(_adapter().dump_python(state, mode="json")):
                    self.read.was_saved(state.read)

    def _load(self) -> InboxState:
        kept: InboxState | None = None
        if self._saved is not None:
            with guarded("alerts.load"):
                kept = self._saved.load(_adapter().validate_python)
        return kept or InboxState()

    def _state(self) -> InboxState:
        return InboxState(
            problems=self.problems.state,
            outbox=[*self._left, *self._outbox],
            saved_at=self._steady(),
            read=self.read.to_state(),
            names=self._names.named,
        )


@functools.cache
def _adapter() -> Any:
    from pydantic import TypeAdapter  # slow to import, and only needed with a state folder

    return TypeAdapter(InboxState)
