"""One course of alerts: the state of each problem, then the throttle. One for what pages, one for what is recorded."""

from __future__ import annotations

from collections.abc import Callable

from rag_otel.alert import Alert
from rag_otel.alerts.incidents import Incident, Incidents
from rag_otel.alerts.schedule import QuietHours
from rag_otel.alerts.throttle import Throttle, ThrottleState
from rag_otel.safety.guard import counters


class Course:
    """Takes alerts and ends of problems; says which messages are to be sent now. Not thread-safe."""

    def __init__(
        self,
        *,
        cooldown_s: float,
        resolve_after_s: float,
        digest_s: float,
        per_minute: int,
        remind_s: float = 0.0,
        quiet: QuietHours | None = None,
        found: dict[str, Incident] | None = None,
        state: ThrottleState | None = None,
        ahead: Callable[[], float] = lambda: 0.0,
    ) -> None:
        """As for `Incidents` and `Throttle`; `found` and `state` are what a state folder kept."""
        self.incidents = Incidents(
            cooldown_s=cooldown_s, resolve_after_s=resolve_after_s, remind_s=remind_s, found=found
        )
        self.throttle = Throttle(
            digest_s=digest_s, per_minute=per_minute, quiet=quiet, state=state, told=self._told, ahead=ahead
        )

    def fire(self, alert: Alert, now: float) -> list[Alert]:
        """A bad answer, or a monitor's alert."""
        joined = self.throttle.join(alert)
        admitted = self.incidents.bad(alert, now, joined=joined)
        if admitted is None and not joined:
            counters.add(f"alerts.suppressed.{alert.name}")
            return []
        counters.add(f"alerts.raised.{alert.name}")
        return [] if admitted is None else self.throttle.offer(admitted, now)

    def follow_up(self, alert: Alert, now: float) -> list[Alert]:
        """What was found out of a problem that is open."""
        if alert.fingerprint not in self.incidents.open or self.throttle.amend(alert):
            return []
        return self.throttle.pass_on(alert, now)

    def end(self, alert: Alert, now: float) -> list[Alert]:
        """A monitor says that a problem is over; nothing for one that is not open."""
        resolved = self.incidents.resolve(alert)
        return [] if resolved is None else self.throttle.offer(resolved, now)

    def tick(self, now: float, *, close_windows: bool = False) -> list[Alert]:
        """What has become due: ends of problems, digests, alerts that were held back."""
        out = [message for over in list(self.incidents.over(now)) for message in self.throttle.offer(over, now)]
        out += self.throttle.remind(list(self.incidents.reminders(now)), now)
        return out + self.throttle.tick(now, close_windows=close_windows)

    def due(self, now: float) -> float | None:
        """When `tick` must be called next."""
        return min((at for at in (self.incidents.due(), self.throttle.due(now)) if at is not None), default=None)

    def forget(self) -> None:
        """Start empty in a forked child."""
        self.incidents, self.throttle = self.incidents.emptied(), self.throttle.emptied()

    def _told(self, problem: str, now: float) -> None:
        self.incidents.told(problem, now)
