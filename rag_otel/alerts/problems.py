"""What becomes of each problem: one table of states, without a clock, a thread or a file.

    problem is  a bad answer, a monitor's alert          it is over                  as time passes
    ----------  ---------------------------------------  --------------------------  ---------------------------------
    not open    is open and waits
    waiting     joins the message that waits             forgotten (`alerts.untold`) the window closes: told, or held
    held        joins the message that is held           forgotten (`alerts.untold`) quiet hours end, the cap has room:
                                                                                     told
    told        within the cooldown: counted (carried    its end is told, when the   told again after `remind_s`;
                by the next message); else: waits again  cap and quiet hours let it  over after `resolve_after_s`
                                                                                     without a bad answer (per answer)

Critical alerts join no message that waits, and pass quiet hours. An answer that is not sure enough to page goes to the
log and to callbacks (`AlertAudience.RECORDS`), where neither quiet hours nor the cap hold it back; it also waits for
the review, one message a day. A problem has a fingerprint; the message that told it has one too, which differs where a
digest told several. Later messages about a problem keep the name of the first.
"""

from __future__ import annotations

import dataclasses
from typing import Final

from rag_otel.alert import Alert, AlertAudience
from rag_otel.alerts.digest import ANSWERS_TO_REVIEW, Bundle, review, without_texts
from rag_otel.alerts.rules import AnswerQuality
from rag_otel.alerts.schedule import Limits, Schedule
from rag_otel.alerts.states import Incident, Moment, Problem, ProblemsState
from rag_otel.safety.guard import counters

MAX_PROBLEMS: Final = 1024
DAY_S: Final = 86_400.0
HELD: Final = "held"
"""Fingerprint of the digest of alerts that quiet hours or the cap held back."""
REMINDER: Final = "still-open"
"""Fingerprint of a reminder of several problems that were not told together."""
_LATE_S: Final = 300.0
"""Nobody asked for so long after a problem may have ended that the time in between was not watched."""


class Problems:
    """Decides; every method returns the messages to send now. Not thread-safe."""

    def __init__(self, limits: Limits, state: ProblemsState | None = None) -> None:
        self._limits = limits
        self._schedule = Schedule(limits)
        self.state = state or ProblemsState()

    # --- what happens -----------------------------------------------------------------------------------------------

    def bad(self, alert: Alert, now: Moment) -> list[Alert]:
        """A bad answer, or a monitor's alert."""
        if _is_record(alert):
            self._review_later(alert, now)
        problem = self._noted(alert, now)
        if self._join(alert):
            counters.add(f"alerts.raised.{alert.name}")
            return []
        if self._cools_down(problem, alert, now):
            problem.suppressed += 1
            counters.add(f"alerts.suppressed.{alert.name}")
            return []
        counters.add(f"alerts.raised.{alert.name}")
        alert = dataclasses.replace(
            alert, suppressed=alert.suppressed + problem.suppressed, since_ns=alert.since_ns or problem.since_ns
        )
        problem.alert, problem.told_at, problem.suppressed = without_texts(alert), now.at, 0
        if self._limits.digest_s <= 0:
            return self.tell(alert, now)
        window = Bundle(due=now.at + self._limits.digest_s)
        self.state.waiting.setdefault(_group(alert), window).add(alert)
        return []

    def note(self, fingerprint: str, finding: AnswerQuality, now: Moment) -> None:
        """An answer that raises nothing: a good one is counted, one in between keeps the problem open."""
        problem = self.state.open.get(fingerprint)
        if problem is None:
            return
        if finding is AnswerQuality.GOOD:
            problem.good += 1
        else:
            problem.bad_at, problem.good = now.at, 0

    def follow_up(self, alert: Alert, now: Moment) -> list[Alert]:
        """What was found out about a problem that is open: in the place of its alarm where that still waits."""
        if alert.fingerprint not in self.state.open:
            return []
        waiting = [bundle for bundle in self.state.waiting.values() if alert.fingerprint in bundle.counts]
        for bundle in waiting:
            bundle.amend(alert)
        return [] if waiting else self.tell(alert, now)

    def end(self, alert: Alert, now: Moment) -> list[Alert]:
        """A monitor says that a problem is over; nothing for one that is not open."""
        problem = self.state.open.pop(alert.fingerprint, None)
        if problem is None:
            return []
        return self._end(problem.ended_by(alert), now)

    def tell(self, alert: Alert, now: Moment) -> list[Alert]:
        """One message, past the windows, not past quiet hours and the cap. It need not be about an open problem."""
        bundle = Bundle()
        bundle.add(alert)
        return self._send_or_hold(bundle, alert.fingerprint, "", now)

    def tick(self, now: Moment, *, close_windows: bool = False) -> list[Alert]:
        """What has become due: ends of problems, reminders, digests, what was held back. With `close_windows` also
        digests whose window is still open."""
        out = [*self._over(now), *self._reminders(now)]
        for group, bundle in list(self.state.waiting.items()):
            if group == HELD or not self._closes(group, bundle, now, close_windows=close_windows):
                continue
            del self.state.waiting[group]
            if group == ANSWERS_TO_REVIEW:
                self.state.reviewed_at = now.at
                out += self.tell(review(bundle, now.wall), now)
            else:
                out += self._send_or_hold(bundle, group, "", now)
        held = self.state.waiting.get(HELD)
        if held is not None and self._schedule.may_send(held, now):
            del self.state.waiting[HELD]
            out.append(self._sends(held, HELD, "held back", now))
        return out + self._due_ends(now)

    def due(self, now: Moment) -> float | None:
        """When `tick` must be called next, by the steady clock; None: nothing waits."""
        times = [bundle.due for bundle in self.state.waiting.values()]
        times += [self._expires_at(problem) for problem in self.state.open.values()]
        times += [self._remind_at(problem) for problem in self._to_remind_of()]
        held = self.state.waiting.get(HELD)
        if held is not None or self.state.ends:
            critical = (held is not None and held.critical) or any(end.critical for end in self.state.ends)
            times.append(self._schedule.next_at(now, critical=critical))
        return min((at for at in times if at is not None), default=None)

    def close(self, now: Moment) -> list[Alert]:
        """All that is held back, even in quiet hours: for a shutdown without a state folder."""
        out, self.state.ends = self.state.ends, []
        if (held := self.state.waiting.pop(HELD, None)) is not None:
            out.append(self._sends(held, HELD, "held back", now))
        if (day := self.state.waiting.pop(ANSWERS_TO_REVIEW, None)) is not None:
            out.append(review(day, now.wall))
        return out

    def resume(self, downtime_s: float) -> None:
        """Time in which no process watched does not count, neither for the end of a problem nor for a cooldown."""
        for problem in self.state.open.values():
            problem.bad_at += downtime_s
            problem.told_at = None if problem.told_at is None else problem.told_at + downtime_s

    def forget(self) -> None:
        """Start empty in a forked child."""
        self.state = ProblemsState()
        self._schedule.forget()

    @property
    def told(self) -> set[str]:
        """Fingerprints of the messages that were sent about open problems."""
        return set(self.state.incidents)

    # --- open problems ----------------------------------------------------------------------------------------------

    def _noted(self, alert: Alert, now: Moment) -> Problem:
        """The problem of an alert, open from now on."""
        problem = self.state.open.pop(alert.fingerprint, None) or Problem(without_texts(alert), now.at, now.at)
        self.state.open[alert.fingerprint] = problem
        if len(self.state.open) > MAX_PROBLEMS:  # the end of a monitor's problem must not be lost to answers
            answers = (name for name, each in self.state.open.items() if each.alert.target is not None)
            forgotten = next(answers, next(iter(self.state.open)))
            del self.state.open[forgotten]
            self._leave_incidents(forgotten)
        problem.bad_at, problem.bad, problem.good = now.at, problem.bad + 1, 0
        return problem

    def _review_later(self, alert: Alert, now: Moment) -> None:
        """Count an answer for the message of the day. The first one of a quiet day is told soon; then a day passes."""
        told_at = self.state.reviewed_at
        due = now.at + self._limits.digest_s
        if told_at is not None and told_at <= now.at:
            due = max(due, told_at + DAY_S)
        day = self.state.waiting.setdefault(ANSWERS_TO_REVIEW, Bundle(due=due))
        day.add(dataclasses.replace(alert, name=ANSWERS_TO_REVIEW, fingerprint=ANSWERS_TO_REVIEW))

    def _closes(self, group: str, bundle: Bundle, now: Moment, *, close_windows: bool) -> bool:
        """Whether the time of a digest has come; `close_windows`: or nearly. A clock that was set back must not keep a
        window open for longer than it may be."""
        due = bundle.due or 0.0
        longest = DAY_S if group == ANSWERS_TO_REVIEW else self._limits.digest_s
        return not now.at + (self._limits.digest_s if close_windows else 0.0) < due <= now.at + longest

    def _join(self, alert: Alert) -> bool:
        """Add an alert to a waiting message about the same problem; True where there is one."""
        if not alert.critical:
            for group in sorted(self.state.waiting, key=lambda each: each == HELD):  # first what is told soonest
                if alert.fingerprint in self.state.waiting[group].counts:
                    self.state.waiting[group].add(alert)
                    return True
        return False

    def _cools_down(self, problem: Problem, alert: Alert, now: Moment) -> bool:
        if problem.told_at is None:
            return False
        worse = alert.critical and not problem.alert.critical
        # The age is negative after a clock was set back.
        return not worse and 0 <= now.at - problem.told_at < self._limits.cooldown_s

    def _over(self, now: Moment) -> list[Alert]:
        """The ends of problems of single answers without a bad one for `resolve_after_s`."""
        out: list[Alert] = []
        for fingerprint, problem in list(self.state.open.items()):
            expires_at = self._expires_at(problem)
            if expires_at is None or problem.bad_at <= now.at < expires_at:
                continue
            if not 0 <= now.at - expires_at < _LATE_S:  # the clock was set, or the machine slept: nobody has watched
                problem.bad_at = now.at
            else:
                del self.state.open[fingerprint]
                out += self._end(problem.no_longer_bad(now), now)
        return out

    def _reminders(self, now: Moment) -> list[Alert]:
        """What is still open and was not told for `remind_s`, in one message."""
        bundle = Bundle()
        for problem in self._to_remind_of():
            if not (problem.told_at or 0.0) <= now.at < self._remind_at(problem):
                problem.told_at = now.at
                bundle.add(problem.reminder(now))
                problem.suppressed = 0
        return self._send_or_hold(bundle, REMINDER, "still open", now) if bundle else []

    def _to_remind_of(self) -> list[Problem]:
        """The open problems of which people were told."""
        if self._limits.remind_s <= 0:
            return []
        incidents = [each for each in self.state.incidents.values() if each.audience is not AlertAudience.RECORDS]
        told = set().union(*(each.open for each in incidents))
        return [problem for fingerprint, problem in self.state.open.items() if fingerprint in told]

    def _remind_at(self, problem: Problem) -> float:
        return (problem.told_at or 0.0) + self._limits.remind_s

    def _expires_at(self, problem: Problem) -> float | None:
        if self._limits.resolve_after_s <= 0 or problem.alert.target is None:
            return None  # monitors end their own
        return problem.bad_at + self._limits.resolve_after_s

    # --- sending ----------------------------------------------------------------------------------------------------

    def _send_or_hold(self, bundle: Bundle, name: str, why: str, now: Moment) -> list[Alert]:
        """Send one message, or hold it until quiet hours end and the cap has room. `name` is its fingerprint, where its
        alerts have several."""
        if not self._schedule.may_send(bundle, now):
            counters.add("alerts.held")
            self.state.waiting.setdefault(HELD, Bundle()).absorb(bundle)
            return []
        return [self._sends(bundle, name, why, now)]

    def _sends(self, bundle: Bundle, name: str, why: str, now: Moment) -> Alert:
        """The message, sent now: of problems that are told already, under the fingerprint by which they all are."""
        message = bundle.message(fingerprint=name, why=why)
        self._schedule.sent(message, now)
        told = {each for each in bundle.counts if each in self.state.open}  # not the message of a day
        if not told:
            return message
        known = (
            name
            for name, each in self.state.incidents.items()
            if told <= each.open and (each.audience is AlertAudience.RECORDS) is _is_record(message)
        )
        message = dataclasses.replace(message, fingerprint=next(known, message.fingerprint))
        incident = self.state.incidents.setdefault(message.fingerprint, Incident(audience=message.audience))
        incident.open |= told
        if len(bundle.counts) > 1:
            incident.digest = without_texts(message)
        for each in told:
            self.state.open[each].told_at = now.at
        return message

    # --- ends -------------------------------------------------------------------------------------------------------

    def _end(self, end: Alert, now: Moment) -> list[Alert]:
        """End every message that told of this problem, once all problems of that message are over."""
        for bundle in self.state.waiting.values():
            bundle.drop(end.fingerprint)
        self.state.waiting = {group: bundle for group, bundle in self.state.waiting.items() if bundle}
        told = any(end.fingerprint in incident.open for incident in self.state.incidents.values())
        if not told:
            counters.add("alerts.untold")
        self.state.ends += [incident.end(name, end) for name, incident in self._leave_incidents(end.fingerprint)]
        return self._due_ends(now)

    def _leave_incidents(self, fingerprint: str) -> list[tuple[str, Incident]]:
        """Take a problem out of the incidents; those that had no other one are over, and returned."""
        for incident in self.state.incidents.values():
            incident.open.discard(fingerprint)
        over = [(name, incident) for name, incident in self.state.incidents.items() if not incident.open]
        for name, _ in over:
            del self.state.incidents[name]
        return over

    def _due_ends(self, now: Moment) -> list[Alert]:
        out: list[Alert] = []
        for end in self.state.ends:
            if self._schedule.may_send(end, now):
                self._schedule.sent(end, now)
                out.append(end)
        self.state.ends = [end for end in self.state.ends if not any(end is sent for sent in out)]
        return out


def _is_record(alert: Alert) -> bool:
    return alert.audience is AlertAudience.RECORDS


def _group(alert: Alert) -> str:
    """Alerts of one name, one service and one audience share a digest. Also the fingerprint of that digest."""
    return f"{alert.service or '-'}/{alert.name}/{'records' if _is_record(alert) else '*'}"
