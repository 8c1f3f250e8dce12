"""The inbox of all alerts: one message per problem, not one per answer.

    rules (per answer) -+-> sure enough to page -> problems: pages   -+
                        +-> else -> problems: records, review of the day +-> channels
    monitors ---------------> problems: pages  ----------------------+

`Problems` and `Review` decide; the inbox gives them the time, keeps one record of all in the state folder, and hands
messages to the channels' queues. It starts no thread: its owner calls `tick` at the time that `due` returns.
"""

from __future__ import annotations

import dataclasses
import functools
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

from rag_otel.alert import Alert, AlertAudience, AlertSeverity, AlertState
from rag_otel.alerts.digest import badness
from rag_otel.alerts.messages.examples import Examples
from rag_otel.alerts.messages.links import AlertLinks
from rag_otel.alerts.messages.message import alert_id
from rag_otel.alerts.naming import ServiceNames
from rag_otel.alerts.precision import PrecisionTable
from rag_otel.alerts.problems import Limits, Moment, Problems, ProblemsState
from rag_otel.alerts.review import Review, ReviewState
from rag_otel.alerts.rules import DEFAULT_RULES, AlertRule, AlertRules, parse_rule
from rag_otel.alerts.schedule import QuietHours
from rag_otel.durable.state_folder import StateFolder, StateRecord
from rag_otel.model import EvaluatedTrace
from rag_otel.protocols import AlertChannel
from rag_otel.safety.guard import counters, guarded
from rag_otel.sharing.group import Observed
from rag_otel.sharing.positions import Positions

VERSION: Final = 3
FILE: Final = "alerts.json"
_SAVE_EVERY_S: Final = 1.0
_SAVE_POSITIONS_S: Final = 10.0
_MAX_RAISED: Final = 256


@dataclasses.dataclass(slots=True)
class InboxState:
    """Everything that is kept across restarts."""

    pages: ProblemsState = dataclasses.field(default_factory=ProblemsState)
    records: ProblemsState = dataclasses.field(default_factory=ProblemsState)
    review: ReviewState = dataclasses.field(default_factory=ReviewState)
    outbox: list[Alert] = dataclasses.field(default_factory=list)
    """Alerts that were to be sent, and may not have reached the channels' queues."""
    saved_at: float = 0.0
    """By the steady clock, seconds; 0: not known."""
    read: dict[str, int] = dataclasses.field(default_factory=dict)
    """How far each process's log was read; empty where no processes share the folder."""
    raised: list[str] = dataclasses.field(default_factory=list)
    """Ids of the monitors' latest alerts: one that is raised again after a crash is the same."""
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
        rules: Sequence[AlertRule] | None = None,
        limits: Limits | None = None,
        precision: PrecisionTable | None = None,
        worst_per_day: int | None = None,
        examples: Examples | None = None,
        links: AlertLinks | None = None,
        state: StateFolder | None = None,
        clock: Callable[[], float] = time.time,
        steady: Callable[[], float] | None = None,
    ) -> None:
        """`precision` decides which alerts on one answer page (None: all); with `worst_per_day` so many answers a day
        are told in one message instead. `state` keeps waiting alerts and open problems across restarts. `clock` gives
        seconds since the epoch, for quiet hours; `steady` seconds that pass evenly, for all else (None: `clock`)."""
        self.channels: Sequence[AlertChannel] = tuple(channels)
        limits = limits or Limits()
        used = [parse_rule(text) for text in DEFAULT_RULES] if rules is None else rules
        self._rules = AlertRules(used, examples or Examples())
        self._precision = precision
        self._links = links or AlertLinks()
        self._wall, self._steady = clock, steady or clock
        self._send: Callable[[Alert], None] = _nobody
        self._changed: Callable[[], None] = lambda: None
        self._hold: Callable[[], AbstractContextManager[object]] = nullcontext
        self._lock = threading.RLock()
        self._saved = None if state is None else StateRecord(state, FILE, VERSION)
        kept = self._load()
        self.pages = Problems(limits, kept.pages)
        self.records = Problems(dataclasses.replace(limits, remind_s=0.0, quiet=QuietHours()), kept.records)
        """Alerts on answers that are not sure enough to page: they go to the log, and into the review of the day."""
        self.review = Review(first_s=limits.digest_s, worst_per_day=worst_per_day, state=kept.review)
        if kept.saved_at:
            for problems in (self.pages, self.records):
                problems.resume(self._steady() - kept.saved_at)
        self._outbox: list[Alert] = []
        self._left = kept.outbox
        """What the last process may not have handed to the channels."""
        self._names = ServiceNames(kept.names)
        self._raised = kept.raised
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
                if judgement.alert is not None:
                    out += self._bad_answer(judgement.alert, judgement.judge, now)
                else:
                    for problems in (self.pages, self.records):
                        problems.note(judgement.fingerprint, judgement.finding, now)
            self._rank(result, now)
            self._keep(out)
        self._send_all(out)
        if self.review.ranks_all or any(judgement.alert is not None for judgement in judgements):
            self._changed()  # a good answer does not change `due`

    def _bad_answer(self, alert: Alert, judge: str | None, now: Moment) -> list[Alert]:
        """One answer on its way: to everybody, or to the records and the review of the day."""
        self._save_within(_SAVE_EVERY_S, now)
        if self._precision is not None:
            alert = self._precision.weighed(alert, judge)
        if self.review.ranks_all and alert.severity is not AlertSeverity.CRITICAL:
            alert = dataclasses.replace(alert, audience=AlertAudience.RECORDS)
        if alert.audience is AlertAudience.EVERYONE:
            return self.pages.bad(alert, now)
        if not self.review.ranks_all:
            self.review.add(alert, now.at)
        return self.records.bad(alert, now)

    def _rank(self, result: EvaluatedTrace, now: Moment) -> None:
        """Count a judged answer; where the worst of all are told, see whether it is one of them."""
        judged = [each for each in result.evaluations if each.score is not None or each.risk is not None]
        if not judged:
            return
        self.review.judged(now.at)
        if self.review.ranks_all:
            worst = max((self._rules.alert(result, evaluation) for evaluation in judged), key=badness)
            if self._precision is not None:
                worst = self._precision.weighed(worst, judged[0].judge)
            if self.review.wants(worst):
                self.review.add(worst, now.at)
                self._save_within(_SAVE_EVERY_S, now)

    def raise_alert(self, alert: Alert) -> None:
        """Handle a monitor's alert, firing or resolved, like all others."""
        with guarded("alerts.raise"):
            with self._lock:
                now = self._now()
                if self._was_raised(alert):
                    return
                alert = self._names.of(alert, self.pages.state.open)
                if alert.follow_up:
                    out = self.pages.follow_up(alert, now)
                elif alert.state is AlertState.RESOLVED:
                    out = self.pages.end(alert, now)
                else:
                    out = self.pages.bad(alert, now)
                self._keep(out, surely=True)  # the monitor will not raise it again
            self._send_all(out)
            self._changed()

    def _was_raised(self, alert: Alert) -> bool:
        """A monitor that was killed before it could save raises its alert again: it has the same id."""
        if self._saved is None or not alert.time_ns:
            return False
        identity = alert_id(alert)
        if identity in self._raised:
            return True
        self._raised = [*self._raised, identity][-_MAX_RAISED:]
        return False

    # --- as time passes ---------------------------------------------------------------------------------------------

    def tick(self, *, close_windows: bool = False) -> None:
        """Send what is due: digests, resolve messages, alerts that quiet hours held back."""
        with self._lock:
            now = self._now()
            out, self._left = self._left, []
            out += self._reviewed(self.review.tick(now.at, now.wall, close_windows=close_windows), now)
            for problems in (self.pages, self.records):
                out += problems.tick(now, close_windows=close_windows)
            self._keep(out, surely=self._save_at is not None and (self._save_at <= now.at or close_windows))
        self._send_all(out)

    def due(self) -> float | None:
        """Seconds since the epoch at which `tick` must be called next; None: no alert waits."""
        with self._lock:
            now = self._now()
            times = (self.pages.due(now), self.records.due(now), self.review.due(), self._save_at)
            due = min((at for at in (*times, now.at if self._left else None) if at is not None), default=None)
        return None if due is None else due + now.wall - now.at

    def told(self) -> set[str]:
        """Fingerprints of the messages that were sent about problems that are still open."""
        with self._lock:
            return self.pages.told

    def close(self) -> None:
        """Send waiting digests. Alerts held for quiet hours are saved; without a state folder they are sent now."""
        self.tick(close_windows=True)
        with self._lock:
            if self._saved is not None:
                self._save()
                return
            now = self._now()
            out = self._reviewed(self.review.take(now.at, now.wall), now)
            out += self.pages.close(now) + self.records.close(now)
        self._send_all(out)

    def after_fork(self) -> None:
        """The parent sends what it holds; the child starts empty, with a new lock."""
        self._lock = threading.RLock()
        for part in (self.pages, self.records, self.review):
            part.forget()
        self._outbox, self._left = [], []
        self._save_at = None

    def _reviewed(self, message: Alert | None, now: Moment) -> list[Alert]:
        """The message of the day on its way through quiet hours and the cap."""
        return [] if message is None else self.pages.tell(message, now)

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
            pages=self.pages.state,
            records=self.records.state,
            review=self.review.state,
            outbox=[*self._left, *self._outbox],
            saved_at=self._steady(),
            read=self.read.to_state(),
            raised=self._raised,
            names=self._names.named,
        )


@functools.cache
def _adapter() -> Any:
    from pydantic import TypeAdapter  # slow to import, and only needed with a state folder

    return TypeAdapter(InboxState)
