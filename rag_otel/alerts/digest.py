"""Several alerts in one message: how many, of which kinds, and the worst of them as examples."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable
from typing import Final

from rag_otel.alert import Alert, AlertAudience, AlertExample, AlertSeverity
from rag_otel.evaluation.directions import goodness
from rag_otel.ratings.words import COMPLAINT_BELOW

ALERTS_DIGEST: Final = "alerts_digest"
"""Name of a message that summarizes alerts of several names."""
MAX_EXAMPLES: Final = 10
_MAX_FINGERPRINTS: Final = 1024
_ROUTES_NAMED: Final = 5
_AUDIENCES: Final = tuple(AlertAudience)
"""The widest first."""


@dataclasses.dataclass(slots=True)
class Bundle:
    """Alerts that wait to be sent together. Bounded: the worst are kept whole, the others are counted."""

    due: float | None = None
    """Seconds since the epoch at which it is to be sent."""
    worst: list[Alert] = dataclasses.field(default_factory=list)
    """At most `MAX_EXAMPLES`, worst first."""
    counts: dict[str, dict[str, int]] = dataclasses.field(default_factory=dict)
    """Name -> fingerprint -> how many answers."""
    suppressed: int = 0

    def __bool__(self) -> bool:
        return bool(self.counts)

    @property
    def fingerprints(self) -> list[str]:
        return [fingerprint for counted in self.counts.values() for fingerprint in counted]

    @property
    def critical(self) -> bool:
        return any(alert.severity is AlertSeverity.CRITICAL for alert in self.worst)

    def contains(self, fingerprint: str) -> bool:
        return any(fingerprint in counted for counted in self.counts.values())

    def add(self, alert: Alert) -> None:
        """Add an alert, with its counts of answers and of suppressed alerts."""
        counts = {alert.name: {alert.fingerprint: alert.count}}
        self.absorb(Bundle(worst=[alert], counts=counts, suppressed=alert.suppressed))

    def absorb(self, other: Bundle) -> None:
        """Add all alerts of another bundle."""
        for name, counted in other.counts.items():
            mine = self.counts.setdefault(name, {})
            for fingerprint, count in counted.items():
                if fingerprint in mine or len(self.fingerprints) < _MAX_FINGERPRINTS:
                    mine[fingerprint] = mine.get(fingerprint, 0) + count
        self.suppressed += other.suppressed
        self.worst = sorted([*self.worst, *other.worst], key=badness, reverse=True)[:MAX_EXAMPLES]

    def amend(self, alert: Alert) -> None:
        """Put what is known now in the place of an alert of the same problem, under the id of that one."""
        self.worst = [
            dataclasses.replace(
                alert,
                follow_up=False,
                audience=each.audience,
                suppressed=each.suppressed,
                count=each.count,
                since_ns=each.since_ns,
                time_ns=each.time_ns,
            )
            if each.fingerprint == alert.fingerprint
            else each
            for each in self.worst
        ]

    def drop(self, fingerprint: str) -> bool:
        """Remove a resolved problem; True when it was in this bundle."""
        found = False
        for counted in self.counts.values():
            found = counted.pop(fingerprint, None) is not None or found
        self.counts = {name: counted for name, counted in self.counts.items() if counted}
        self.worst = [alert for alert in self.worst if alert.fingerprint != fingerprint]
        return found

    def message(self, *, fingerprint: str, why: str = "") -> Alert:
        """One alert that summarizes all: the alert itself where there is only one, else a digest.

        `fingerprint` is that of the digest, where the alerts have several; `why` says why they are sent together.
        """
        first = self.worst[0] if self.worst else self._nameless()
        count = sum(sum(counted.values()) for counted in self.counts.values())
        if len(self.fingerprints) == 1 and len(self.worst) == 1 and count == first.count:
            return first
        if len(self.fingerprints) == 1:
            return dataclasses.replace(
                first,
                count=count,
                suppressed=self.suppressed,
                examples=_capped([*first.examples, *_examples(self.worst[1:])]),
            )
        return Alert(
            name=common(self.counts) or ALERTS_DIGEST,
            fingerprint=fingerprint,
            metric=common(alert.metric for alert in self.worst) or "",
            severity=max((alert.severity for alert in self.worst), key=_urgency, default=AlertSeverity.WARNING),
            headline=self._headline(count, why),
            score=first.score,
            risk=first.risk,
            service=common(alert.service for alert in self.worst),
            route=common(alert.route for alert in self.worst),
            link=first.link,
            trust=first.trust,
            audience=min((alert.audience for alert in self.worst or [first]), key=_AUDIENCES.index),
            suppressed=self.suppressed,
            count=count,
            examples=_capped(_examples(self.worst)),
            details={name: float(sum(counted.values())) for name, counted in self.counts.items()},
            since_ns=min((alert.since_ns or alert.time_ns for alert in self.worst), default=0),
            time_ns=max((alert.time_ns for alert in self.worst), default=0),
        )

    def _nameless(self) -> Alert:
        """A stand-in for when all alerts that were kept whole are resolved and only counts remain."""
        name, counted = next(iter(self.counts.items()))
        return Alert(name=name, fingerprint=next(iter(counted)), metric="")

    def _headline(self, count: int, why: str) -> str:
        named = sorted(self.counts.items(), key=lambda item: -sum(item[1].values()))
        what = ", ".join(f"{sum(counted.values())} {name.replace('_', ' ')}" for name, counted in named)
        routes = [route for route, _ in Counter(alert.route or "-" for alert in self.worst).most_common()]
        more = f" and {len(routes) - _ROUTES_NAMED} more" if len(routes) > _ROUTES_NAMED else ""
        where = f" in {', '.join(routes[:_ROUTES_NAMED])}{more}" if routes else ""
        return f"{count} alerts{f' {why}' if why else ''}: {what}{where}"


def as_example(alert: Alert) -> AlertExample:
    """The answer of a per-trace alert."""
    return AlertExample(
        question=alert.question,
        response=alert.response,
        score=alert.score,
        risk=alert.risk,
        claims=alert.claims,
        target=alert.target,
        link=alert.link,
        sampling_reason=alert.sampling_reason,
        rating=alert.rating,
        metric=alert.metric,
    )


def without_texts(alert: Alert) -> Alert:
    """What the resolve message needs: a thousand open problems must take little memory and disk."""
    return dataclasses.replace(alert, question=None, response=None, claims=(), examples=())


def _examples(alerts: Iterable[Alert]) -> list[AlertExample]:
    """The answers of these alerts: first the own answer of each, then the examples that they carry."""
    alerts = list(alerts)
    own = [as_example(alert) for alert in alerts if alert.target is not None]
    return [*own, *(example for alert in alerts for example in alert.examples)]


def _capped(examples: list[AlertExample]) -> tuple[AlertExample, ...]:
    return tuple(examples[:MAX_EXAMPLES])


def badness(alert: Alert) -> tuple[int, bool, float]:
    """By what the worst of several alerts is found: severity, then a user's complaint, then risk, else a bad score."""
    complaint = alert.rating is not None and alert.rating < COMPLAINT_BELOW
    if alert.risk is not None:
        return _urgency(alert.severity), complaint, alert.risk
    good = None if alert.score is None else goodness(alert.metric, alert.score)
    return _urgency(alert.severity), complaint, 0.5 if good is None else 1.0 - good


def _urgency(severity: AlertSeverity) -> int:
    return int(severity is AlertSeverity.CRITICAL)


def common(values: Iterable[str | None]) -> str | None:
    """The value that all share; None where they differ."""
    found = set(values)
    return found.pop() if len(found) == 1 else None
