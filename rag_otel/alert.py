"""An alert: what fired, how severe it is, and example answers.

There are two kinds. Both go through one inbox to the same channels. A per-trace alert is about one answer (`target`
and its texts are set). A digest is about several answers of one time window (`count`, `examples`). A statistical alert
is about a series (drift, burn rate, missing results): it has no target, its figures are in `details`, and `examples`
holds answers that contributed to the change.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import field

from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import ClaimVerdict, SpanRef


class AlertState(enum.StrEnum):
    """Whether a problem is active or over."""

    FIRING = "firing"
    RESOLVED = "resolved"


class AlertSeverity(enum.StrEnum):
    """How urgent an alert is."""

    WARNING = "warning"
    """Needs attention in working hours. During quiet hours it is held until they end."""
    CRITICAL = "critical"
    """Needs attention now. It is sent during quiet hours too."""


class AlertAudience(enum.StrEnum):
    """Who is told."""

    EVERYONE = "everyone"
    """Every channel: something is wrong."""
    READERS = "readers"
    """Channels that people read some time: neither pagers nor what has recorded each answer already."""
    RECORDS = "records"
    """The log and the application's own callback: one answer that is not sure enough to disturb anybody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertExample:
    """One answer shown in an alert. If content is hidden, the texts are None and `claims` is empty."""

    question: str | None = None
    response: str | None = None
    score: float | None = None
    risk: float | None = None
    claims: tuple[ClaimVerdict, ...] = ()
    """The unsupported claims with their closest quotes."""
    target: SpanRef | None = None
    link: str | None = None
    """Link to the trace in Phoenix."""
    sampling_reason: str = ""
    rating: float | None = None
    """A user's rating of the answer, 0..1; a complaint is below 0.5. None: nobody has rated it."""
    metric: str = ""
    """The metric of `score` and `risk`. Empty: the alert's metric."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One alert with its evidence."""

    name: str
    """The alert's name, e.g. `unfaithful_answer`."""
    fingerprint: str
    """Identifies the problem. The cooldown counts per fingerprint, and a resolved message closes the firing one."""
    metric: str
    """The metric or the series of the alert."""
    state: AlertState = AlertState.FIRING
    severity: AlertSeverity = AlertSeverity.WARNING
    audience: AlertAudience = AlertAudience.EVERYONE
    headline: str = ""
    """One sentence that says what happened. Set by statistical alerts."""
    score: float | None = None
    risk: float | None = None
    label: str | None = None
    question: str | None = None
    """None if content is hidden."""
    response: str | None = None
    claims: tuple[ClaimVerdict, ...] = ()
    """The unsupported claims with their closest quotes. Empty if content is hidden."""
    target: SpanRef | None = None
    """The span of the answer; None for a statistical alert."""
    service: str | None = None
    route: str | None = None
    link: str | None = None
    """Link to the trace in Phoenix, or to the project's traces."""
    chart: str | None = None
    """Link to the dashboard at the time of the problem."""
    runbook: str | None = None
    """Link to the section of the runbook about alerts of this name."""
    follow_up: bool = False
    """Adds to an alarm what was found out since: told whatever the cooldown says, and not at all where the problem is
    over. In a message that still waits, it takes the alarm's place."""
    trust: str = ""
    """How often alerts like this one were right, in one sentence. Empty if unknown."""
    sampling_reason: str = ""
    rating: float | None = None
    """A user's rating of the answer, 0..1; a complaint is below 0.5. None: nobody has rated it."""
    suppressed: int = 0
    """How many alerts of this fingerprint the cooldown and the rate limit suppressed since the last one was sent."""
    count: int = 1
    """How many alerts this message represents. More than one in a digest."""
    examples: tuple[AlertExample, ...] = ()
    """Further answers: those of a digest, or those that contributed to a change of a statistic."""
    details: Mapping[str, str | float] = field(default_factory=dict)
    """Named figures: baseline, estimate, interval, slices, window, budget..."""
    since_ns: int = 0
    """When the problem began, nanoseconds since the epoch. 0: unknown, or the same as `time_ns`."""
    time_ns: int = 0
    """Start of the target span, or the time of the statistic, nanoseconds since the epoch."""

    @property
    def critical(self) -> bool:
        return self.severity is AlertSeverity.CRITICAL
