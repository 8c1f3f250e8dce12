"""When an alert is sent: at once, in a digest with similar alerts, after quiet hours, or when the cap allows it.

    alert -> digest window of its group -> quiet hours -> cap per minute -> sent

No alert is dropped: those that have to wait are sent later, in one message. The only exception is a problem that is
resolved before it was sent: it is counted (`alerts.untold`) and not sent.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from rag_otel.alert import Alert, AlertSeverity, AlertState
from rag_otel.alerts.digest import Bundle, without_texts
from rag_otel.alerts.schedule import QuietHours
from rag_otel.safety.guard import counters

MINUTE_S: Final = 60.0
HELD: Final = "held"
"""Fingerprint of the digest of alerts that quiet hours or the cap held back."""
REMINDER: Final = "still-open"
"""Fingerprint of a reminder of several problems that were not told together."""
_MAX_TOLD: Final = 4096
_MAX_DIGESTS: Final = 512


@dataclasses.dataclass(slots=True)
class ThrottleState:
    """What waits and what was told; kept across restarts where there is a state folder."""

    windows: dict[str, Bundle] = dataclasses.field(default_factory=dict)
    """Group -> the digest that is being collected."""
    held: Bundle = dataclasses.field(default_factory=Bundle)
    """Alerts that wait for the end of quiet hours, or for the cap."""
    held_resolved: list[Alert] = dataclasses.field(default_factory=list)
    told_as: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    """Fingerprint of a problem -> fingerprints of the messages sent about it; until it is resolved."""
    digests: dict[str, Alert] = dataclasses.field(default_factory=dict)
    """Fingerprint of a message about several problems -> that message without its texts; until it is resolved."""


class Throttle:
    """Decides when an alert is sent. Not thread-safe: the router holds a lock. Times are seconds since the epoch."""

    def __init__(
        self,
        *,
        digest_s: float = 0.0,
        per_minute: int = 10,
        quiet: QuietHours | None = None,
        state: ThrottleState | None = None,
        told: Callable[[str, float], None] = lambda problem, now: None,
        ahead: Callable[[], float] = lambda: 0.0,
    ) -> None:
        """`told` is called with a problem's fingerprint and the time when a message about it is sent; `ahead` is how
        far the wall clock, by which quiet hours go, is ahead of the times that are given here."""
        self._digest_s = digest_s
        self._per_minute = max(per_minute, 0)
        self._quiet = quiet or QuietHours()
        self.state = state or ThrottleState()
        self._tell = told
        self._ahead = ahead
        self._sent: deque[float] = deque(maxlen=self._per_minute)
        """When the last `per_minute` messages went out."""

    def emptied(self) -> Throttle:
        """One with the same limits and an empty state."""
        return Throttle(
            digest_s=self._digest_s,
            per_minute=self._per_minute,
            quiet=self._quiet,
            told=self._tell,
            ahead=self._ahead,
        )

    def join(self, alert: Alert) -> bool:
        """Add an alert to a waiting message about the same problem; True where there is one.

        Critical alerts are never added: they may be sent at once.
        """
        if alert.severity is not AlertSeverity.CRITICAL:
            for bundle in (*self.state.windows.values(), self.state.held):
                if bundle.contains(alert.fingerprint):
                    bundle.add(alert)
                    return True
        return False

    def amend(self, alert: Alert) -> bool:
        """Put a follow-up in the place of its alarm in a message that waits; True where there is one."""
        waiting = [each for each in (*self.state.windows.values(), self.state.held) if each.contains(alert.fingerprint)]
        for bundle in waiting:
            bundle.amend(alert)
        return bool(waiting)

    def offer(self, alert: Alert, now: float) -> list[Alert]:
        """Accept an alert; returns the alerts to send now."""
        if self._per_minute == 0:
            return []
        if alert.state is AlertState.RESOLVED:
            return self._resolve(alert, now)
        if self._digest_s <= 0:
            return self._pass(alert, now)
        group = _group(alert)
        self.state.windows.setdefault(group, Bundle(due=now + self._digest_s)).add(alert)
        return []

    def pass_on(self, alert: Alert, now: float) -> list[Alert]:
        """A message that opens no problem (a digest of the day, a follow-up): past the windows, not past quiet hours
        and cap."""
        if self._per_minute == 0:
            return []
        held = self._pass(alert, now)
        if not alert.follow_up:
            self.state.told_as.pop(alert.fingerprint, None)
        return held

    def remind(self, alerts: Sequence[Alert], now: float) -> list[Alert]:
        """Problems that are still open, told again in one message: past the windows, not past quiet hours and cap."""
        if not alerts or self._per_minute == 0:
            return []
        bundle = Bundle()
        for alert in alerts:
            bundle.add(alert)
        return self._pass(bundle.message(fingerprint=REMINDER, why="still open"), now, bundle)

    def tick(self, now: float, *, close_windows: bool = False) -> list[Alert]:
        """The alerts to send by now; with `close_windows` also digests whose window is still open."""
        out: list[Alert] = []
        for group in list(self.state.windows):
            bundle = self.state.windows[group]
            # A clock that was set back must not keep a window open for longer than `digest_s`.
            if close_windows or not now < (bundle.due or 0.0) <= now + self._digest_s:
                del self.state.windows[group]
                out += self._pass(bundle.message(fingerprint=group), now, bundle)
        return out + self._release_held(now)

    def due(self, now: float) -> float | None:
        """When `tick` must be called next; None: no alert waits."""
        times = [bundle.due for bundle in self.state.windows.values() if bundle.due is not None]
        if self.state.held or self.state.held_resolved:
            room_at = now if self._has_room(now) else self._sent[0] + MINUTE_S
            urgent = _any_critical([*self.state.held.worst, *self.state.held_resolved])
            times.append(room_at if urgent else max(room_at, self._quiet_end(now)))
        return min(times, default=None)

    def close(self, now: float) -> list[Alert]:
        """All waiting alerts, even in quiet hours: for a shutdown without a state folder."""
        bundle, self.state.held = self.state.held, Bundle()
        out = [self._told(bundle.message(fingerprint=HELD, why="held back"), bundle, now)] if bundle else []
        out += self.state.held_resolved
        self.state.held_resolved = []
        return out

    # --- sending ----------------------------------------------------------------------------------------------------

    def _pass(self, alert: Alert, now: float, bundle: Bundle | None = None) -> list[Alert]:
        """Send, or hold until quiet hours end or the cap allows it. `bundle`: the alerts that `alert` summarizes."""
        quiet = alert.severity is not AlertSeverity.CRITICAL and self._quiet_end(now) > now
        if quiet or not self._has_room(now):
            counters.add("alerts.held")
            if bundle is None:
                self.state.held.add(alert)
            else:
                self.state.held.absorb(bundle)
            return []
        self._sent.append(now)
        return [self._told(alert, bundle, now)]

    def _told(self, alert: Alert, bundle: Bundle | None, now: float) -> Alert:
        """Record which message was sent about which problem. Later messages keep the fingerprint of the first."""
        problems = bundle.fingerprints if bundle else [alert.fingerprint]
        known = [self.state.told_as.pop(problem, []) for problem in problems]
        common = [name for name in known[0] if all(name in names for names in known)]
        name = common[0] if common else alert.fingerprint
        for problem, names in zip(problems, known, strict=True):
            self.state.told_as[problem] = names if name in names else [*names, name]
            self._tell(problem, now)
        while len(self.state.told_as) > _MAX_TOLD:
            del self.state.told_as[next(iter(self.state.told_as))]
        told = dataclasses.replace(alert, fingerprint=name)
        if len(problems) > 1:
            self.state.digests[name] = without_texts(told)
            while len(self.state.digests) > _MAX_DIGESTS:
                del self.state.digests[next(iter(self.state.digests))]
        return told

    def _release_held(self, now: float) -> list[Alert]:
        out: list[Alert] = []
        held = self.state.held
        quiet = self._quiet_end(now) > now
        if held and (_any_critical(held.worst) or not quiet) and self._has_room(now):
            self.state.held = Bundle()
            self._sent.append(now)
            out.append(self._told(held.message(fingerprint=HELD, why="held back"), held, now))
        return out + self._release_resolved(now)

    def _release_resolved(self, now: float) -> list[Alert]:
        quiet = self._quiet_end(now) > now
        out: list[Alert] = []
        for alert in list(self.state.held_resolved):
            if self._has_room(now) and (not quiet or alert.severity is AlertSeverity.CRITICAL):
                self.state.held_resolved.remove(alert)
                self._sent.append(now)
                out.append(alert)
        return out

    def _has_room(self, now: float) -> bool:
        # After a clock was set back, times lie in the future: they must not block alerts for longer than a minute.
        return len(self._sent) < self._per_minute or not 0 <= now - self._sent[0] < MINUTE_S

    def _quiet_end(self, now: float) -> float:
        ahead = self._ahead()
        end = self._quiet.end_at(now + ahead)
        return 0.0 if end is None else end - ahead

    @property
    def told(self) -> set[str]:
        """Fingerprints of the messages that were sent about open problems."""
        return {name for names in self.state.told_as.values() for name in names}

    # --- resolving --------------------------------------------------------------------------------------------------

    def _resolve(self, alert: Alert, now: float) -> list[Alert]:
        """Resolve every message about the problem, once all problems of that message are over."""
        pending = self.state.held.drop(alert.fingerprint)
        for bundle in self.state.windows.values():
            pending = bundle.drop(alert.fingerprint) or pending
        self.state.windows = {group: bundle for group, bundle in self.state.windows.items() if bundle}
        names = self.state.told_as.pop(alert.fingerprint, None)
        if names is None and pending:
            counters.add("alerts.untold")
            return []
        still_open = {name for others in self.state.told_as.values() for name in others}
        closing = [] if names is None else [name for name in names if name not in still_open]
        resolved = [self._end_of(name, alert) for name in closing] if names else [alert]
        self.state.held_resolved += resolved
        return self._release_resolved(now)

    def _end_of(self, name: str, last: Alert) -> Alert:
        """The end of the message of this fingerprint: a digest ends as the digest that was told."""
        digest = self.state.digests.pop(name, None)
        if digest is None:
            return dataclasses.replace(last, fingerprint=name)
        return dataclasses.replace(
            digest,
            state=AlertState.RESOLVED,
            headline=f"{digest.headline}: all over",
            suppressed=last.suppressed,
            time_ns=last.time_ns,
        )


def _any_critical(alerts: Sequence[Alert]) -> bool:
    return any(alert.severity is AlertSeverity.CRITICAL for alert in alerts)


def _group(alert: Alert) -> str:
    """Alerts of one name and one service share a digest. Also the fingerprint of that digest."""
    return f"{alert.service or '-'}/{alert.name}/*"
