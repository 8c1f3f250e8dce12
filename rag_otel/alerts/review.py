"""Answers worth a look: suspected, but not surely enough to disturb anybody. One message a day shows the worst."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from typing import Final

from rag_otel.alert import Alert, AlertAudience
from rag_otel.alerts.digest import as_example, badness, common

ANSWERS_TO_REVIEW: Final = "answers_to_review"
DAY_S: Final = 86_400.0
SHOWN: Final = 5
_MAX_SERVICES: Final = 20


@dataclasses.dataclass(slots=True)
class ReviewState:
    """What waits for the next message; kept across restarts where there is a state folder."""

    since: float | None = None
    """When the first answer of this message came, seconds."""
    told_at: float | None = None
    """When the last message was sent."""
    worst: list[Alert] = dataclasses.field(default_factory=list)
    count: int = 0
    """Answers worth a look."""
    seen: int = 0
    """Answers that were judged."""
    services: list[str] = dataclasses.field(default_factory=list)


class Review:
    """Collects answers for the message of the day. The first one of a quiet day is told soon; then a day passes.

    With `worst_per_day` the message holds so many answers, the worst of all that were judged, whether or not a rule
    matched, at the end of the day. Not thread-safe. Times are seconds that pass evenly.
    """

    def __init__(
        self,
        *,
        first_s: float,
        every_s: float = DAY_S,
        worst_per_day: int | None = None,
        state: ReviewState | None = None,
    ) -> None:
        """`first_s`: how long after the first answer the message of a new day is sent."""
        self._first_s = first_s
        self._every_s = every_s
        self._worst_per_day = worst_per_day
        self.state = state or ReviewState()

    @property
    def ranks_all(self) -> bool:
        """True: every judged answer is a candidate."""
        return self._worst_per_day is not None

    def judged(self, now: float) -> None:
        """An answer was judged."""
        self.state.seen += 1
        if self.ranks_all and self.state.since is None:
            self.state.since = now

    def wants(self, alert: Alert) -> bool:
        """True where it would be among those that are shown."""
        return len(self.state.worst) < self._shown or badness(alert) > badness(self.state.worst[-1])

    def add(self, alert: Alert, now: float) -> None:
        """An answer worth a look."""
        state = self.state
        state.since = now if state.since is None else state.since
        state.count += 1
        state.worst = sorted([*state.worst, alert], key=badness, reverse=True)[: self._shown]
        if alert.service and alert.service not in state.services and len(state.services) < _MAX_SERVICES:
            state.services.append(alert.service)

    def due(self) -> float | None:
        """When the message is to be sent; None: there is nothing to tell."""
        state = self.state
        if state.since is None:
            return None
        if self.ranks_all:
            return state.since + self._every_s
        told_at = None if state.told_at is None or state.told_at > state.since else state.told_at
        return max(state.since + self._first_s, -1.0 if told_at is None else told_at + self._every_s)

    def tick(self, now: float, wall_s: float, *, close_windows: bool = False) -> Alert | None:
        """The message, where it is due; with `close_windows` also one that only waits for more of its first answers."""
        due = self.due()
        early = close_windows and due is not None and not self.ranks_all and due <= now + self._first_s
        return self.take(now, wall_s) if due is not None and (due <= now or early) else None

    def take(self, now: float, wall_s: float) -> Alert | None:
        """The message now; None where there is nothing to tell."""
        state = self.state
        self.state = ReviewState(told_at=now if state.worst else state.told_at)
        if not state.worst:
            return None
        first = state.worst[0]
        day = datetime.fromtimestamp(wall_s, UTC).strftime("%Y-%m-%d")
        return Alert(
            name=ANSWERS_TO_REVIEW,
            fingerprint=f"{'+'.join(sorted(state.services)) or '-'}/{ANSWERS_TO_REVIEW}/{day}",
            metric=common(alert.metric for alert in state.worst) or "",
            audience=AlertAudience.NO_PAGER if self.ranks_all else AlertAudience.READERS,
            headline=self._headline(state),
            score=first.score,
            risk=first.risk,
            service=", ".join(sorted(state.services)) or None,
            route=common(alert.route for alert in state.worst),
            link=first.link,
            trust=first.trust,
            count=state.count,
            examples=tuple(map(as_example, state.worst)),
            details={"judged": float(state.seen)},
            since_ns=min((alert.time_ns for alert in state.worst if alert.time_ns), default=0),
            time_ns=round(wall_s * 1e9),
        )

    def forget(self) -> None:
        """Start empty in a forked child."""
        self.state = ReviewState()

    @property
    def _shown(self) -> int:
        return SHOWN if self._worst_per_day is None else self._worst_per_day

    def _headline(self, state: ReviewState) -> str:
        shown = len(state.worst)
        if self.ranks_all:
            return f"The {shown} worst of {state.seen:,} answers today"
        if state.count == 1:
            return "1 answer worth a look today"
        which = f"the {shown} worst" if state.count > shown else "all of them below"
        return f"{state.count:,} answers worth a look today, {which}"
