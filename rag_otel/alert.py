"""The message to a human: what fired, how bad it is, and the answers that show it.

Two kinds go through one router into the same channels. A per-trace alert tells of one answer (`target` and its texts
are set) or, as a digest, of several of one window (`count`, `examples`). A statistical alert tells of a series (drift,
burn rate, silence): it has no target, its facts stand in `details`, and `examples` shows answers that moved it.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from rag_otel.model import ClaimVerdict, SpanRef


class AlertState(enum.StrEnum):
    """Whether a problem is there or is over."""

    FIRING = "firing"
    RESOLVED = "resolved"


class AlertSeverity(enum.StrEnum):
    """How soon somebody should look."""

    WARNING = "warning"
    """In working hours; waits for the end of quiet hours."""
    CRITICAL = "critical"
    """Now: passes quiet hours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertExample:
    """One answer that an alert shows; texts are None, and claims empty, where content is hidden."""

    question: str | None = None
    response: str | None = None
    score: float | None = None
    risk: float | None = None
    claims: tuple[ClaimVerdict, ...] = ()
    """The unsupported claims with their nearest quotes."""
    target: SpanRef | None = None
    link: str | None = None
    """The trace in Phoenix."""
    sampling_reason: str = ""
    metric: str = ""
    """The metric of `score` and `risk`; empty: the alert's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """A message to a human, with its evidence."""

    name: str
    """What fired, e.g. `unfaithful_answer`."""
    fingerprint: str
    """Same fingerprint, same problem: what the cooldown goes by, and what a resolve message closes."""
    metric: str
    """The metric, or the series, that it is about."""
    state: AlertState = AlertState.FIRING
    severity: AlertSeverity = AlertSeverity.WARNING
    headline: str = ""
    """One sentence that says what happened, where the fields alone do not: the statistical alerts write it."""
    score: float | None = None
    risk: float | None = None
    label: str | None = None
    question: str | None = None
    """None where content is hidden."""
    response: str | None = None
    claims: tuple[ClaimVerdict, ...] = ()
    """The unsupported claims with their nearest quotes; empty where content is hidden."""
    target: SpanRef | None = None
    """The span of the answer; None for a statistical alert."""
    service: str | None = None
    route: str | None = None
    link: str | None = None
    """Where to look: the trace in Phoenix, or the project's traces."""
    chart: str | None = None
    """The dashboard at the time of the problem."""
    runbook: str | None = None
    """The section of the runbook about alerts of this name."""
    trust: str = ""
    """How often alerts like this one were right, in one sentence; empty where nothing is known."""
    sampling_reason: str = ""
    suppressed: int = 0
    """How many alerts of this fingerprint the cooldown and the cap have held back since the last one sent."""
    count: int = 1
    """How many alerts this message stands for: more than one in a digest."""
    examples: tuple[AlertExample, ...] = ()
    """Further answers: of a digest, or those that moved a statistic."""
    details: Mapping[str, str | float] = field(default_factory=dict)
    """Facts with a name: baseline, estimate, interval, slices, window, budget..."""
    since_ns: int = 0
    """When the problem began, nanoseconds since the epoch; 0: not known, or the same as `time_ns`."""
    time_ns: int = 0
    """Start of the target span, or when a statistic was taken, nanoseconds since the epoch."""
