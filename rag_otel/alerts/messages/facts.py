"""The facts of an alert as (name, value) pairs: those that are needed first, and the details."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Final, TypeAlias

from rag_otel.alert import Alert
from rag_otel.alerts.messages.message import metric_of, user_feedback
from rag_otel.rendering.text_cutting import one_line

Facts: TypeAlias = tuple[tuple[str, str], ...]
_IN_HEAD: Final = frozenset({"before", "estimate", "interval", "since", "since_interval", "slice", "bad_answers"})
"""Details that the head already says."""
_FOR_PROGRAMS: Final = frozenset({"alarm_beyond", "evidence", "evaluations_worth", "series"})
"""Details that say nothing to somebody who has not read how drift is detected."""


def first_facts(alert: Alert) -> Facts:
    """Where, since when, how bad, how often such alerts were right."""
    facts = [
        ("where", ", ".join(one_line(part) for part in (alert.service, alert.route) if part)),
        ("since", _since(alert)),
        ("how bad", how_bad(alert)),
        ("user feedback", user_feedback(alert.rating)),
        ("how often right", one_line(alert.trust, 300)),
        ("held back", f"{alert.suppressed} similar" if alert.suppressed else ""),
    ]
    return tuple((name, value) for name, value in facts if value)


def detail_facts(alert: Alert) -> Facts:
    """Everything else that is known."""
    hidden = _FOR_PROGRAMS | (_IN_HEAD if how_bad(alert) else frozenset())
    own = {name: value for name, value in alert.details.items() if name not in hidden and value != "unknown"}
    facts = [
        *_named(own),
        ("alert", one_line(alert.name)),
        ("metric", one_line(alert.metric)),
        ("severity", str(alert.severity)),
        ("picked by", one_line(str(alert.sampling_reason))),
        ("fingerprint", one_line(alert.fingerprint, 200)),
    ]
    return tuple((name, value) for name, value in facts if value)


def how_bad(alert: Alert) -> str:
    """The alert's own numbers on one line: a score under the metric's name, a mean before and after, a rate."""
    details = alert.details
    if "before" in details and "estimate" in details:
        interval = f" ({number(details['interval'])})" if "interval" in details else ""
        series = f"{one_line(alert.metric.replace('.', ' '))} " if alert.metric else ""
        bad = f"; {number(details['bad_answers'])}" if "bad_answers" in details else ""
        return f"{series}{_short(details['before'])} -> {_short(details['estimate'])}{interval}{bad}"
    if "burn_rate" in details:
        share = details.get("bad_share")
        bad = f", {share:.0%} of answers bad" if isinstance(share, float) and math.isfinite(share) else ""
        return f"burns {number(details['burn_rate'])} times what is allowed{bad}"
    scores = ", ".join(f"{name} {value}" for name, value in score_facts(alert.score, alert.risk, alert.metric))
    return f"{alert.count} answers, the worst: {scores}" if alert.count > 1 and scores else scores


def score_facts(score: float | None, risk: float | None, metric: str) -> Iterator[tuple[str, str]]:
    """The score under the name of its metric, the risk under its own name."""
    if score is not None:
        yield metric_of(metric) or "score", f"{score:.2f}"
    if risk is not None:
        yield "hallucination risk", f"{risk:.2f}"


def number(value: str | float) -> str:
    """A fact's value as short text; `unknown` for NaN and infinity."""
    if isinstance(value, str):
        return one_line(value)
    return f"{value:.4g}" if math.isfinite(value) else "unknown"


def _short(value: str | float) -> str:
    return f"{value:.3g}" if isinstance(value, float) and math.isfinite(value) else number(value)


def _named(facts: Mapping[str, str | float]) -> Iterator[tuple[str, str]]:
    for name, value in facts.items():
        if value != "":
            yield one_line(name.replace("_", " "), 60), number(value)


def _since(alert: Alert) -> str:
    began = alert.since_ns or alert.time_ns
    return f"{_minute(began)}{_lasting(alert.time_ns - began)}" if began else ""


def _minute(time_ns: int) -> str:
    return datetime.fromtimestamp(time_ns / 1e9, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _lasting(duration_ns: int) -> str:
    seconds = duration_ns // 10**9
    if seconds < 60:
        return ""
    days, hours, minutes = seconds // 86400, seconds // 3600 % 24, seconds // 60 % 60
    parts = [f"{count} {unit}" for count, unit in ((days, "d"), (hours, "h"), (minutes, "min")) if count]
    return f" (for {' '.join(parts)})"
