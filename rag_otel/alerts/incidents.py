"""The state of each problem: when it began, when an alert was last sent, how many alerts were suppressed since.

A problem has a fingerprint. It begins with the first bad answer (or the first alert of a monitor) and is over when no
bad answer came for a while (or when the monitor says so). While it lasts, at most one alert is sent per cooldown.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Final

from rag_otel.alert import Alert, AlertSeverity, AlertState
from rag_otel.alerts.digest import without_texts
from rag_otel.alerts.messages.message import headline
from rag_otel.alerts.rules import Finding

MAX_INCIDENTS: Final = 1024
_LATE_S: Final = 300.0
"""Nobody asked for so long after a problem may have ended that the time in between was not watched."""


@dataclasses.dataclass(slots=True)
class Incident:
    """One problem. Times are seconds since the epoch."""

    alert: Alert
    """The alert that was sent last, or the first one; without its texts."""
    began_at: float
    bad_at: float
    """When the last answer came that was not good."""
    told_at: float | None = None
    suppressed: int = 0
    bad: int = 0
    """Bad answers since it began."""
    good: int = 0
    """Good answers since the last one that was not."""


class Incidents:
    """The open problems. Bounded: the one without a bad answer for the longest time is dropped first."""

    def __init__(
        self,
        *,
        cooldown_s: float,
        resolve_after_s: float,
        remind_s: float = 0.0,
        found: dict[str, Incident] | None = None,
    ) -> None:
        """`resolve_after_s` of 0: per-trace problems never end; `remind_s` of 0: no reminders; `found` are the problems
        that a state folder kept."""
        self._cooldown_s = cooldown_s
        self._remind_s = remind_s
        self._resolve_after_s = resolve_after_s
        self.open: dict[str, Incident] = found or {}

    def emptied(self) -> Incidents:
        """The same limits without any problem."""
        return Incidents(cooldown_s=self._cooldown_s, resolve_after_s=self._resolve_after_s, remind_s=self._remind_s)

    def bad(self, alert: Alert, now: float, *, joined: bool = False) -> Alert | None:
        """Record a bad answer, or a monitor's alert. Returns the alert to send; None during the cooldown.

        `joined`: the alert was added to a waiting message.
        """
        incident = self.open.pop(alert.fingerprint, None) or Incident(
            alert=without_texts(alert), began_at=now, bad_at=now
        )
        self.open[alert.fingerprint] = incident
        if len(self.open) > MAX_INCIDENTS:
            del self.open[next(iter(self.open))]
        incident.bad_at, incident.bad, incident.good = now, incident.bad + 1, 0
        if joined:
            return None
        if self._cooling(incident, alert, now):
            incident.suppressed += 1
            return None
        alert = dataclasses.replace(
            alert, suppressed=alert.suppressed + incident.suppressed, since_ns=alert.since_ns or _since(incident)
        )
        incident.alert, incident.told_at, incident.suppressed = without_texts(alert), now, 0
        return alert

    def resume(self, downtime_s: float) -> None:
        """Time in which no process watched does not count, neither for the end of a problem nor for a cooldown."""
        for incident in self.open.values():
            incident.bad_at += downtime_s
            incident.told_at = None if incident.told_at is None else incident.told_at + downtime_s

    def told(self, fingerprint: str, now: float) -> None:
        """A message about the problem is sent now: the cooldown begins."""
        if (incident := self.open.get(fingerprint)) is not None:
            incident.told_at = now

    def note(self, fingerprint: str, finding: Finding, now: float) -> None:
        """An answer that raises nothing: a good one is counted, one in between keeps the problem alive."""
        incident = self.open.get(fingerprint)
        if incident is None:
            return
        if finding is Finding.GOOD:
            incident.good += 1
        else:
            incident.bad_at, incident.good = now, 0

    def resolve(self, alert: Alert) -> Alert | None:
        """Close a problem that a monitor reports as over; None when it was not open.

        What ends is what was told: its name, metric, place and severity are those of the alarm.
        """
        incident = self.open.pop(alert.fingerprint, None)
        if incident is None:
            return None
        told = incident.alert
        return dataclasses.replace(
            alert,
            name=told.name,
            metric=told.metric,
            service=told.service,
            route=told.route,
            severity=told.severity,
            headline=told.headline or alert.headline,
            details={**({"now": alert.headline} if told.headline and alert.headline else {}), **alert.details},
            suppressed=alert.suppressed + incident.suppressed,
            since_ns=alert.since_ns or told.since_ns,
        )

    def over(self, now: float) -> Iterator[Alert]:
        """The resolve messages of per-trace problems without a bad answer for `resolve_after_s`."""
        for fingerprint, incident in list(self.open.items()):
            expires_at = self._expires_at(incident)
            if expires_at is None or incident.bad_at <= now < expires_at:
                continue
            if not 0 <= now - expires_at < _LATE_S:  # the clock was set, or the machine slept: nobody has watched
                incident.bad_at = now
            else:
                del self.open[fingerprint]
                if incident.told_at is not None:
                    yield self._resolved(incident, now)

    def reminders(self, now: float) -> Iterator[Alert]:
        """What is still open, and was not told for `remind_s`: told again, with an id of its own."""
        for incident in self.open.values():
            due_at = self._remind_at(incident)
            if due_at is None or (incident.told_at or 0.0) <= now < due_at:
                continue
            incident.told_at = now
            alert, suppressed, incident.suppressed = incident.alert, incident.suppressed, 0
            yield dataclasses.replace(
                alert,
                headline=f"Still open: {headline(alert)}",
                target=None,
                suppressed=suppressed,
                since_ns=alert.since_ns or _since(incident),
                time_ns=round(now * 1e9),
            )

    def due(self) -> float | None:
        """When the next per-trace problem may be over, or the next reminder is to be sent."""
        found = (
            at for incident in self.open.values() for at in (self._expires_at(incident), self._remind_at(incident))
        )
        return min((at for at in found if at is not None), default=None)

    def _remind_at(self, incident: Incident) -> float | None:
        if self._remind_s <= 0 or incident.told_at is None:
            return None
        return incident.told_at + self._remind_s

    def _expires_at(self, incident: Incident) -> float | None:
        if self._resolve_after_s <= 0 or incident.alert.target is None:
            return None  # monitors resolve their own
        return incident.bad_at + self._resolve_after_s

    def _cooling(self, incident: Incident, alert: Alert, now: float) -> bool:
        if incident.told_at is None:
            return False
        worse = alert.severity is AlertSeverity.CRITICAL and incident.alert.severity is not AlertSeverity.CRITICAL
        # The age is negative after a clock was set back.
        return not worse and 0 <= now - incident.told_at < self._cooldown_s

    def _resolved(self, incident: Incident, now: float) -> Alert:
        alert = incident.alert
        minutes = round((now - incident.bad_at) / 60)
        since = f"no bad answer for {minutes} min ({incident.good} good)"
        return dataclasses.replace(
            alert,
            state=AlertState.RESOLVED,
            headline=f"{alert.metric} in {alert.service or '-'} {alert.route or '-'}: {since}",
            suppressed=incident.suppressed,
            count=1,
            details={"bad_answers": float(incident.bad), "good_answers_since": float(incident.good)},
            time_ns=round(now * 1e9),
        )


def _since(incident: Incident) -> int:
    return incident.alert.time_ns or round(incident.began_at * 1e9)
