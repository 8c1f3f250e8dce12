"""The path of every alert: one message per problem, not one per answer.

    rules (per answer) -+
                        +-> incidents (cooldown, hysteresis, resolve) -> throttle (digest, quiet hours, cap) -> channels
    monitors -----------+

The router starts no thread: its owner calls `tick` at the time that `due` returns.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial

from rag_otel.alert import Alert, AlertAudience, AlertSeverity, AlertState
from rag_otel.alerts.course import Course
from rag_otel.alerts.digest import badness
from rag_otel.alerts.messages.examples import Examples
from rag_otel.alerts.messages.links import AlertLinks
from rag_otel.alerts.messages.message import alert_id
from rag_otel.alerts.naming import ServiceNames
from rag_otel.alerts.review import Review
from rag_otel.alerts.router_state import RouterState, RouterStateFile
from rag_otel.alerts.rules import DEFAULT_RULES, AlertRule, AlertRules, parse_rule
from rag_otel.alerts.schedule import QuietHours
from rag_otel.alerts.triage import Triage
from rag_otel.model import EvaluatedTrace
from rag_otel.protocols import AlertChannel
from rag_otel.safety.guard import counters, guarded
from rag_otel.sharing.group import Observed
from rag_otel.sharing.positions import Positions

_SAVE_EVERY_S = 1.0
_SAVE_POSITIONS_S = 10.0
_MAX_RAISED = 256


def _nobody(alert: Alert) -> None:
    """Discards alerts before the router is connected."""


class AlertRouter:
    """Decides which alerts are sent, and when.

    Alerts of one fingerprint (service, metric, route) are at least `cooldown_s` apart; a problem without a bad answer
    for `resolve_after_s` is over, and a resolve message is sent. Alerts of one kind within `digest_s` become one
    message; at most `per_minute` are sent in any minute; in quiet hours only critical ones. Held alerts are sent
    later, in one message.
    """

    def __init__(
        self,
        channels: Sequence[AlertChannel] = (),
        *,
        rules: Sequence[AlertRule] | None = None,
        examples: Examples | None = None,
        cooldown_s: float = 300.0,
        resolve_after_s: float = 900.0,
        digest_s: float = 0.0,
        per_minute: int = 10,
        remind_s: float = 0.0,
        quiet: QuietHours | None = None,
        links: AlertLinks | None = None,
        triage: Triage | None = None,
        worst_per_day: int | None = None,
        state_file: RouterStateFile | None = None,
        clock: Callable[[], float] = time.time,
        steady: Callable[[], float] | None = None,
    ) -> None:
        """`remind_s`: what is still open is told again after so long; 0: never. `triage` decides which alerts on one
        answer page (None: all); with `worst_per_day` so many answers a day are told in one message instead.
        `state_file` keeps waiting alerts and open problems across restarts. `clock` gives seconds since the epoch, for
        quiet hours; `steady` seconds that pass evenly, for all else (None: `clock`)."""
        self.channels: Sequence[AlertChannel] = tuple(channels)
        if rules is None:
            rules = [parse_rule(text) for text in DEFAULT_RULES]
        self._rules = AlertRules(rules, examples or Examples())
        self._links = links or AlertLinks()
        self._state_file = state_file
        self._wall = clock
        self._clock = steady or clock
        self._send: Callable[[Alert], None] = _nobody
        self._changed: Callable[[], None] = lambda: None
        self._hold: Callable[[], AbstractContextManager[object]] = nullcontext
        state = (state_file.load() if state_file else None) or RouterState()
        self._lock = threading.RLock()
        course = partial(
            Course, cooldown_s=cooldown_s, resolve_after_s=resolve_after_s, digest_s=digest_s, per_minute=per_minute
        )
        self._triage = triage
        self.pages = course(
            remind_s=remind_s, quiet=quiet, found=state.incidents, state=state.throttle, ahead=self._ahead
        )
        self.records = course(found=state.record_incidents, state=state.record_throttle)
        """Alerts on answers that are not sure enough to page: they go to the log, and into the review of the day."""
        self.review = Review(first_s=digest_s, worst_per_day=worst_per_day, state=state.review)
        if state.saved_at:
            for each in (self.pages, self.records):
                each.incidents.resume(self._clock() - state.saved_at)
        self._outbox: list[Alert] = []
        self._left: list[Alert] = state.outbox
        """What the last process may not have handed to the channels."""
        self._names = ServiceNames(state.names)
        self.read = Positions()
        """Of the logs of processes that share a state folder."""
        if state_file is not None:
            self.read.restore(state.read)
        self._raised = deque(state.raised, maxlen=_MAX_RAISED)
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
            now = self._clock()
            if upto:
                self.read.advance(upto)
                self._touch(now, _SAVE_POSITIONS_S)
            self._names.saw(result.trace.service)
            for judgement in judgements:
                if judgement.alert is None:
                    for course in (self.pages, self.records):
                        course.incidents.note(judgement.fingerprint, judgement.finding, now)
                else:
                    out += self._judged_bad(judgement.alert, judgement.judge, now)
            self._rank(result, now)
            self._keep(out)
        self._send_all(out)
        if any(judgement.alert is not None for judgement in judgements) or self.review.ranks_all:
            self._changed()  # a good answer does not change `due`

    def _judged_bad(self, alert: Alert, judge: str | None, now: float) -> list[Alert]:
        """One answer on its way: to everybody, or to the records and the review of the day."""
        self._touch(now)
        if self._triage is not None:
            alert = self._triage.of(alert, judge)
        if self.review.ranks_all and alert.severity is not AlertSeverity.CRITICAL:
            alert = dataclasses.replace(alert, audience=AlertAudience.RECORDS)
        if alert.audience is AlertAudience.EVERYONE:
            return self.pages.fire(alert, now)
        if not self.review.ranks_all:
            self.review.add(alert, now)
        return self.records.fire(alert, now)

    def _rank(self, result: EvaluatedTrace, now: float) -> None:
        """Count a judged answer; where the worst of all are told, see whether it is one of them."""
        judged = [each for each in result.evaluations if each.score is not None or each.risk is not None]
        if not judged:
            return
        self.review.judged(now)
        if self.review.ranks_all:
            worst = max((self._rules.alert(result, evaluation) for evaluation in judged), key=badness)
            if self._triage is not None:
                worst = self._triage.of(worst, judged[0].judge)
            if self.review.wants(worst):
                self.review.add(worst, now)
                self._touch(now)

    def raise_alert(self, alert: Alert) -> None:
        """Handle a monitor's alert, firing or resolved, like all others. Thread-safe."""
        with guarded("alerts.raise"):
            with self._lock:
                now = self._clock()
                if self._was_raised(alert):
                    return
                alert = self._names.of(alert, self.pages.incidents.open)
                if alert.follow_up:
                    out = self.pages.follow_up(alert, now)
                else:
                    out = (self.pages.end if alert.state is AlertState.RESOLVED else self.pages.fire)(alert, now)
                self._keep(out, surely=True)  # the monitor will not raise it again
            self._send_all(out)
            self._changed()

    def _was_raised(self, alert: Alert) -> bool:
        """A monitor that was killed before it could save raises its alert again: it has the same id."""
        if self._state_file is None or not alert.time_ns:
            return False
        identity = alert_id(alert)
        if identity in self._raised:
            return True
        self._raised.append(identity)
        return False

    def tick(self, *, close_windows: bool = False) -> None:
        """Send what is due: digests, resolve messages, alerts that quiet hours held back."""
        with self._lock:
            now = self._clock()
            out, self._left = self._left, []
            out += self._review(self.review.tick(now, self._wall, close_windows=close_windows), now)
            for course in (self.pages, self.records):
                out += course.tick(now, close_windows=close_windows)
            self._keep(out, surely=self._save_at is not None and (self._save_at <= now or close_windows))
        self._send_all(out)

    def due(self) -> float | None:
        """Seconds since the epoch at which `tick` must be called next; None: no alert waits."""
        with self._lock:
            now = self._clock()
            parts = (self.pages.due(now), self.records.due(now), self.review.due())
            times = (*parts, self._save_at, now if self._left else None)
            due = min((at for at in times if at is not None), default=None)
        return None if due is None else due + self._ahead()

    def told(self) -> set[str]:
        """Fingerprints of the messages that were sent about problems that are still open."""
        with self._lock:
            return self.pages.throttle.told

    def close(self) -> None:
        """Send waiting digests. Alerts held for quiet hours are saved; without a state folder they are sent now."""
        self.tick(close_windows=True)
        with self._lock:
            if self._state_file is not None:
                self._save()
                return
            now = self._clock()
            out = self._review(self.review.take(now, self._wall()), now)
            out += self.pages.throttle.close(now) + self.records.throttle.close(now)
        self._send_all(out)

    def after_fork(self) -> None:
        """The parent sends what it holds; the child starts empty, with a new lock."""
        self._lock = threading.RLock()
        for part in (self.pages, self.records, self.review):
            part.forget()
        self._outbox, self._left = [], []
        self._save_at = None

    def _ahead(self) -> float:
        """Seconds by which the wall clock is ahead of the steady one."""
        return self._wall() - self._clock()

    def _keep(self, out: Sequence[Alert], *, surely: bool = False) -> None:
        """Save before anything is sent: a process that is killed in between leaves it to the next one."""
        if self._state_file is not None and (out or surely):
            self._outbox += out
            self._save()

    def _review(self, message: Alert | None, now: float) -> list[Alert]:
        """The message of the day on its way through quiet hours and the cap."""
        return [] if message is None else self.pages.throttle.pass_on(message, now)

    def _touch(self, now: float, within_s: float = _SAVE_EVERY_S) -> None:
        if self._state_file is not None and (self._save_at is None or self._save_at > now + within_s):
            self._save_at = now + within_s

    def _save(self) -> None:
        self._save_at = None
        if self._state_file is not None:
            state = self._state()
            if self._state_file.save(state):
                self.read.was_saved(state.read)

    def _state(self) -> RouterState:
        return RouterState(
            incidents=self.pages.incidents.open,
            throttle=self.pages.throttle.state,
            record_incidents=self.records.incidents.open,
            record_throttle=self.records.throttle.state,
            review=self.review.state,
            outbox=[*self._left, *self._outbox],
            saved_at=self._clock(),
            names=self._names.named,
            read=self.read.to_state(),
            raised=list(self._raised),
        )

    def _send_all(self, alerts: Sequence[Alert]) -> None:
        """Call without the lock: a channel's queue may call back into the router."""
        if not alerts:
            return
        # The channels' queues have them on disk before they leave the outbox, and send them after that: a kill at any
        # moment leaves an alert in one of the two, or in both under one id.
        with self._hold():
            for alert in alerts:
                counters.add(f"alerts.{'resolved' if alert.state is AlertState.RESOLVED else 'sent'}.{alert.name}")
                self._send(self._links.on(alert))
            if self._state_file is not None:
                with self._lock:
                    self._outbox = [each for each in self._outbox if not any(each is alert for alert in alerts)]
                    self._save()
