"""An alert in words: on one line and as facts; and as the JSON object that webhooks carry and log records attach."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final, TypeAlias

from rag_otel.alert import Alert, AlertExample, AlertState
from rag_otel.alerts.messages.next_steps import next_step
from rag_otel.model import ClaimVerdict
from rag_otel.ratings.words import COMPLAINT_BELOW
from rag_otel.rendering.text_cutting import one_line

Facts: TypeAlias = tuple[tuple[str, str], ...]
"""(name, value) pairs."""
VERSION: Final = 2
"""Of the object's shape; fields may be added, none is renamed or removed within a version."""
_SIGNALS: Final = frozenset({"score", "risk", "unscored"})
_LINE: Final = 600
"""Characters of the summary line, without its link."""
_IN_HEAD: Final = frozenset({"before", "estimate", "interval", "since", "since_interval", "slice", "bad_answers"})
"""Details that the head already says."""
_FOR_PROGRAMS: Final = frozenset({"alarm_beyond", "evidence", "evaluations_worth", "series"})
"""Details that say nothing to somebody who has not read how drift is detected."""


def summary(alert: Alert) -> str:
    """One line: what happened where, risk and score, the first unsupported claim, the link."""
    parts = [title(alert)]
    if alert.count > 1:
        parts.append(f"{alert.count} answers")
    if alert.risk is not None:
        parts.append(f"hallucination risk {alert.risk:.2f}")
    if alert.score is not None:
        parts.append(f"{metric_of(alert.metric)} {alert.score:.2f}")
    if said := user_feedback(alert.rating):
        parts.append(said)
    if alert.claims:
        more = f" (and {len(alert.claims) - 1} more)" if len(alert.claims) > 1 else ""
        parts.append(f"unsupported: {one_line(alert.claims[0].claim.text)}{more}")
    if alert.suppressed:
        parts.append(f"{alert.suppressed} similar held back")
    return one_line("; ".join(parts), _LINE) + (f" - {alert.link}" if alert.link else "")


def title(alert: Alert) -> str:
    """The headline; it says so where the problem is over."""
    return f"Resolved: {headline(alert)}" if alert.state is AlertState.RESOLVED else headline(alert)


def headline(alert: Alert) -> str:
    """What happened and where, on one line: the alert's own headline, else one made of its name."""
    where = " ".join(part for part in (alert.service, alert.route) if part) or "unknown service"
    if not (given := one_line(alert.headline, 300)):
        return one_line(f"{alert.name.replace('_', ' ').capitalize()} in {where}")
    named = not alert.service or alert.service in given
    return given if named else one_line(f"{alert.service}: {given}", 340)


def user_feedback(rating: float | None) -> str:
    """What a user said of an answer, in words; empty where nobody has rated it."""
    if rating is None:
        return ""
    return f"a user {'complained' if rating < COMPLAINT_BELOW else 'was content'} (rated {rating:.2g} of 1)"


def metric_of(series: str) -> str:
    """The metric of a series: `faithfulness` of `faithfulness.risk`."""
    metric, _, signal = series.rpartition(".")
    return one_line(metric if metric and signal in _SIGNALS else series)


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


def alert_id(alert: Alert) -> str:
    """Identifies this alert: the same at every retry, so that a receiver can drop duplicates."""
    if alert.target is not None and alert.state is AlertState.FIRING:
        about = f"{alert.target.trace_id}-{alert.target.span_id}"
    else:  # several messages may be sent about one problem, digests and reminders: each has its own id
        about = f"{sha256(alert.fingerprint.encode()).hexdigest()[:16]}-{alert.since_ns}-{alert.time_ns}"
    ending = "-resolved" if alert.state is AlertState.RESOLVED else ""
    return f"{alert.name}-{alert.metric}-{about}{ending}"


def to_dict(alert: Alert) -> dict[str, Any]:
    """The whole alert in JSON's types. Hidden content is null and an empty list, unknown numbers are null."""
    return {
        "version": VERSION,
        "id": alert_id(alert),
        "text": summary(alert),
        "name": alert.name,
        "fingerprint": alert.fingerprint,
        **_answer(alert),
        "label": alert.label,
        "service": alert.service,
        "route": alert.route,
        "chart": alert.chart,
        "runbook": alert.runbook,
        "next_step": next_step(alert),
        "trust": alert.trust,
        "audience": str(alert.audience),
        "suppressed": alert.suppressed,
        "time_unix_ns": alert.time_ns,
        "state": str(alert.state),
        "severity": str(alert.severity),
        "follow_up": alert.follow_up,
        "headline": alert.headline,
        "count": alert.count,
        "examples": [_answer(example) for example in alert.examples],
        "details": {name: _finite(value) for name, value in alert.details.items()},
        "since_unix_ns": alert.since_ns or alert.time_ns,
    }


def _answer(shown: Alert | AlertExample) -> dict[str, Any]:
    return {
        "question": shown.question,
        "response": shown.response,
        "metric": shown.metric,
        "score": shown.score,
        "risk": shown.risk,
        "unsupported_claims": [_claim(claim) for claim in shown.claims],
        "trace_id": shown.target and shown.target.trace_id,
        "span_id": shown.target and shown.target.span_id,
        "link": shown.link,
        "sampling_reason": str(shown.sampling_reason),
        "rating": shown.rating,
    }


def _claim(claim: ClaimVerdict) -> dict[str, Any]:
    return {
        "text": claim.claim.text,
        "verdict": str(claim.verdict),
        "support_probability": claim.support_probability,
        "chunk_ids": list(claim.chunk_ids),
        "nearest_quotes": [{"chunk_id": quote.chunk_id, "text": quote.text} for quote in claim.quotes],
        "explanation": claim.explanation,
    }


def _finite(value: str | float) -> str | float | None:
    """JSON has no NaN and no infinity: one such number must not lose the alert."""
    return value if isinstance(value, str) or math.isfinite(value) else None
