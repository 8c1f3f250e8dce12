"""Several alerts in one message: how many, of which kinds, and the worst of them as examples."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from rag_otel.alert import Alert, AlertAudience, AlertExample, AlertSeverity
from rag_otel.evaluation.directions import goodness
from rag_otel.ratings.words import COMPLAINT_BELOW

ALERTS_DIGEST: Final = "alerts_digest"
"""Name of a message that summarizes alerts of several names."""
ANSWERS_TO_REVIEW: Final = "answers_to_review"
"""Name of the message that shows the worst answers of a day."""
MAX_EXAMPLES: Final = 10
_REVIEWED: Final = 5
"""Answers that this message shows."""
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
    counts: dict[str, tuple[str, int]] = dataclasses.field(default_factory=dict)
    """Fingerprint -> name of its last alert, how many answers."""
    suppressed: int = 0

    def __bool__(self) -> bool:
        return bool(self.counts)

    @property
    def critical(self) -> bool:
        return any(alert.critical for alert in self.worst)

    @property
    def audience(self) -> AlertAudience:
        """The widest one of its alerts."""
        return min((alert.audience for alert in self.worst), key=_AUDIENCES.index, default=AlertAudience.EVERYONE)

    @property
    def count(self) -> int:
        """How many answers."""
        return sum(count for _, count in self.counts.values())

    @property
    def by_name(self) -> Counter[str]:
        """Name -> how many answers."""
        found: Counter[str] = Counter()
        for name, count in self.counts.values():
            found[name] += count
        return found

    def add(self, alert: Alert) -> None:
        """Add an alert, with its counts of answers and of suppressed alerts."""
        counts = {alert.fingerprint: (alert.name, alert.count)}
        self.absorb(Bundle(worst=[alert], counts=counts, suppressed=alert.suppressed))

    def absorb(self, other: Bundle) -> None:
        """Add all alerts of another bundle."""
        for fingerprint, (name, count) in other.counts.items():
            if fingerprint in self.counts or len(self.counts) < _MAX_FINGERPRINTS:
                _, known = self.counts.get(fingerprint, (name, 0))
                self.counts[fingerprint] = (name, known + count)
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

    def drop(self, fingerprint: str) -> None:
        """Remove a resolved problem."""
        self.counts.pop(fingerprint, None)
        self.worst = [alert for alert in self.worst if alert.fingerprint != fingerprint]

    def message(self, *, fingerprint: str, why: str = "") -> Alert:
        """One alert that summarizes all: the alert itself where there is only one, else a digest.

        `fingerprint` is that of the digest, where the alerts have several; `why` says why they are sent together.
        """
        count, names = self.count, self.by_name
        # Of a problem that was not among the worst nothing is left but its count.
        first = self.worst[0] if self.worst else Alert(name=next(iter(names)), fingerprint=fingerprint, metric="")
        if len(self.counts) == 1 and len(self.worst) == 1 and count == first.count:
            return first
        if len(self.counts) == 1:
            return dataclasses.replace(
                first,
                count=count,
                suppressed=self.suppressed,
                examples=_capped([*first.examples, *_examples(self.worst[1:])]),
            )
        return Alert(
            name=common(names) or ALERTS_DIGEST,
            fingerprint=fingerprint,
            metric=common(alert.metric for alert in self.worst) or "",
            severity=AlertSeverity.CRITICAL if self.critical else AlertSeverity.WARNING,
            headline=self._headline(names, why),
            score=first.score,
            risk=first.risk,
            service=common(alert.service for alert in self.worst),
            route=common(alert.route for alert in self.worst),
            link=first.link,
            trust=first.trust,
            audience=self.audience,
            suppressed=self.suppressed,
            count=count,
            examples=_capped(_examples(self.worst)),
            details={name: float(count) for name, count in names.items()},
            since_ns=min((alert.since_ns or alert.time_ns for alert in self.worst), default=0),
            time_ns=max((alert.time_ns for alert in self.worst), default=0),
        )

    def _headline(self, names: Counter[str], why: str) -> str:
        what = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in names.most_common())
        routes = [route for route, _ in Counter(alert.route or "-" for alert in self.worst).most_common()]
        more = f" and {len(routes) - _ROUTES_NAMED} more" if len(routes) > _ROUTES_NAMED else ""
        where = f" in {', '.join(routes[:_ROUTES_NAMED])}{more}" if routes else ""
        return f"{names.total()} alerts{f' {why}' if why else ''}: {what}{where}"


def review(day: Bundle, wall_s: float) -> Alert:
    """The message of a day: answers that are suspected, but not surely enough to disturb anybody. `wall_s`: seconds
    since the epoch."""
    worst = day.worst[:_REVIEWED]
    services = sorted({alert.service for alert in worst if alert.service})
    which = "all of them below" if day.count == len(worst) else f"the {len(worst)} worst"
    said = "1 answer worth a look today" if day.count == 1 else f"{day.count:,} answers worth a look today, {which}"
    return Alert(
        name=ANSWERS_TO_REVIEW,
        fingerprint=f"{'+'.join(services) or '-'}/{ANSWERS_TO_REVIEW}/{datetime.fromtimestamp(wall_s, UTC):%Y-%m-%d}",
        metric=common(alert.metric for alert in worst) or "",
        audience=AlertAudience.READERS,
        headline=said,
        score=worst[0].score,
        risk=worst[0].risk,
        service=", ".join(services) or None,
        route=common(alert.route for alert in worst),
        link=worst[0].link,
        trust=worst[0].trust,
        count=day.count,
        examples=tuple(map(as_example, worst)),
        since_ns=min((alert.time_ns for alert in worst if alert.time_ns), default=0),
        time_ns=round(wall_s * 1e9),
    )


def as_example(alert: Alert) -> AlertExample:
    """The answer of a per-trace alert."""
    return AlertExample(**{each.name: getattr(alert, each.name) for each in dataclasses.fields(AlertExample)})


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


def badness(alert: Alert) -> tuple[bool, bool, float]:
    """By what the worst of several alerts is found: severity, then a user's complaint, then risk, else a bad score."""
    complaint = alert.rating is not None and alert.rating < COMPLAINT_BELOW
    if alert.risk is not None:
        return alert.critical, complaint, alert.risk
    good = None if alert.score is None else goodness(alert.metric, alert.score)
    return alert.critical, complaint, 0.5 if good is None else 1.0 - good


def common(values: Iterable[str | None]) -> str | None:
    """The value that all share; None where they differ."""
    found = set(values)
    return found.pop() if len(found) == 1 else None
