"""What is known of problems and of what was told, under which names and since when: the record that the inbox keeps."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Container, Mapping
from hashlib import sha256
from typing import Final, NamedTuple

from rag_otel.alert import Alert, AlertAudience, AlertState
from rag_otel.alerts.digest import Bundle
from rag_otel.alerts.messages.wording import headline

_MAX_SERVICES: Final = 64
_SHOWN: Final = 3
_MAX_KEY: Final = 80
_MAX_NAMED: Final = 1024
_OFFSET_S: Final = time.time() - time.monotonic()


class Moment(NamedTuple):
    """A time, by both clocks."""

    at: float
    """Seconds that pass evenly: what is measured in them neither ends nor begins because somebody set the clock."""
    wall: float
    """Seconds since the epoch, by which quiet hours go."""


def steady_time() -> float:
    """Seconds since the epoch by the wall clock of the process's start, plus the seconds that have passed since."""
    return _OFFSET_S + time.monotonic()


def wall_time_of(steady_s: float) -> float:
    """The wall clock's time at a moment of `steady_time`."""
    return steady_s - steady_time() + time.time()


@dataclasses.dataclass(slots=True)
class Problem:
    """One open problem. Times are seconds that pass evenly."""

    alert: Alert
    """The alert that was sent last, or the first one; without its texts."""
    began_at: float
    bad_at: float
    """When the last answer came that was not good."""
    told_at: float | None = None
    """When the cooldown began."""
    suppressed: int = 0
    """Alerts within the cooldown, since the last message."""
    bad: int = 0
    """Bad answers since it began."""
    good: int = 0
    """Good answers since the last one that was not."""

    @property
    def since_ns(self) -> int:
        return self.alert.time_ns or round(self.began_at * 1e9)

    def no_longer_bad(self, now: Moment) -> Alert:
        """Its end, where it is about single answers."""
        alert = self.alert
        minutes = round((now.at - self.bad_at) / 60)
        since = f"no bad answer for {minutes} min ({self.good} good)"
        return dataclasses.replace(
            alert,
            state=AlertState.RESOLVED,
            headline=f"{alert.metric} in {alert.service or '-'} {alert.route or '-'}: {since}",
            suppressed=self.suppressed,
            count=1,
            details={"bad_answers": float(self.bad), "good_answers_since": float(self.good)},
            time_ns=round(now.at * 1e9),
        )

    def ended_by(self, alert: Alert) -> Alert:
        """Its end, as a monitor tells it: name, metric, place and severity are those of what was told."""
        told = self.alert
        return dataclasses.replace(
            alert,
            name=told.name,
            metric=told.metric,
            service=told.service,
            route=told.route,
            severity=told.severity,
            headline=told.headline or alert.headline,
            details={**({"now": alert.headline} if told.headline and alert.headline else {}), **alert.details},
            suppressed=alert.suppressed + self.suppressed,
            since_ns=alert.since_ns or told.since_ns,
        )

    def reminder(self, now: Moment) -> Alert:
        """Its alert again, with an id of its own."""
        return dataclasses.replace(
            self.alert,
            headline=f"Still open: {headline(self.alert)}",
            target=None,
            suppressed=self.suppressed,
            since_ns=self.alert.since_ns or self.since_ns,
            time_ns=round(now.at * 1e9),
        )


@dataclasses.dataclass(slots=True)
class Incident:
    """What was told under one fingerprint, until all its problems are over."""

    audience: AlertAudience
    open: set[str] = dataclasses.field(default_factory=set)
    """Fingerprints of its problems that are open."""
    digest: Alert | None = None
    """The last message that told several of them, without its texts."""

    def end(self, name: str, last: Alert) -> Alert:
        """Its end, with the end of its last problem: a digest ends as the digest that was told. `name`: its
        fingerprint."""
        if self.digest is None:
            return dataclasses.replace(last, fingerprint=name, audience=self.audience)
        return dataclasses.replace(
            self.digest,
            state=AlertState.RESOLVED,
            headline=f"{self.digest.headline}: all over",
            suppressed=last.suppressed,
            time_ns=last.time_ns,
        )


@dataclasses.dataclass(slots=True)
class ProblemsState:
    """Everything that is kept across restarts."""

    open: dict[str, Problem] = dataclasses.field(default_factory=dict)
    """By fingerprint; the one without a bad answer for the longest time first."""
    waiting: dict[str, Bundle] = dataclasses.field(default_factory=dict)
    """Group -> the digest that is being collected; `HELD` -> what waits for the end of quiet hours, or for the cap;
    `ANSWERS_TO_REVIEW` -> the answers of the day."""
    reviewed_at: float | None = None
    """When the last review was sent; the next one follows a day later."""
    ends: list[Alert] = dataclasses.field(default_factory=list)
    """Resolve messages that wait likewise."""
    incidents: dict[str, Incident] = dataclasses.field(default_factory=dict)
    """By the fingerprint of their messages, the first one first."""


class ServiceNames:
    """Names problems after the services whose answers they are about. Not thread-safe.

    A monitor of all traffic knows no service. Without one in its name, two applications that report to one pager would
    share an incident, and the first to recover would resolve it for both.
    """

    def __init__(self, named: Mapping[str, str] | None = None) -> None:
        """`named`: fingerprint of a monitor -> the fingerprint under which its problem was told."""
        self.named: dict[str, str] = dict(named or {})
        self._services: set[str] = set()

    def saw(self, service: str | None) -> None:
        """A result of this service came in."""
        if service and len(self._services) < _MAX_SERVICES:
            self._services.add(service)

    def of(self, alert: Alert, open_problems: Container[str]) -> Alert:
        """The alert with its service, and with that in its fingerprint. An open problem keeps the name it has."""
        if alert.fingerprint in open_problems:
            return self._placed(alert)
        known = self.named.get(alert.fingerprint)
        if known is None or known not in open_problems:
            known = self._full(alert)
            self._remember(alert.fingerprint, known, open_problems)
        return dataclasses.replace(self._placed(alert), fingerprint=known)

    def _placed(self, alert: Alert) -> Alert:
        return alert if alert.service or not self._services else dataclasses.replace(alert, service=self._shown())

    def _full(self, alert: Alert) -> str:
        key = alert.service or "+".join(sorted(self._services))
        if len(key) > _MAX_KEY:
            key = sha256(key.encode("utf-8", "replace")).hexdigest()[:16]
        if not key or alert.fingerprint.startswith(f"{key}/"):
            return alert.fingerprint
        return f"{key}/{alert.fingerprint}"

    def _shown(self) -> str:
        named = sorted(self._services)
        more = f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
        return ", ".join(named[:_SHOWN]) + more

    def _remember(self, own: str, full: str, open_problems: Container[str]) -> None:
        if len(self.named) >= _MAX_NAMED:
            self.named = {name: told for name, told in self.named.items() if told in open_problems}
        self.named[own] = full
