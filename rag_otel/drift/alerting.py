"""Drift as a message to a human: what fell, how far, since when, where, who has moved, and answers to look at."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from rag_otel.alert import Alert, AlertAudience, AlertExample, AlertSeverity, AlertState
from rag_otel.drift.anchors import AnchorReading, Shift
from rag_otel.drift.change import Movement
from rag_otel.drift.event import DriftEvent
from rag_otel.drift.judge_watch import AnchorVerdict, Cause
from rag_otel.drift.observation import ALL, RISK, SCORE, UNJUDGED, falls, shown, signal_of
from rag_otel.drift.sentence import counts, sentence

NAMES: Final = {SCORE: "drift_score", RISK: "drift_risk", UNJUDGED: "drift_unjudged"}
JUDGE_MOVED: Final = "judge_moved"
_WORDS: Final = {SCORE: "score", RISK: "risk", UNJUDGED: "unjudged share"}
_NS: Final = 1_000_000_000
_GRAVE: Final = 0.1
"""A drop of the mean that is worth waking somebody for."""


def drift_alert(
    event: DriftEvent,
    verdict: AnchorVerdict,
    examples: Sequence[AlertExample] = (),
    *,
    told: tuple[str, str] | None = None,
    follow_up_s: float | None = None,
) -> Alert:
    """The alert of an event; `told` is the (series, slice) that its problem was told with, where it is not its own.
    `follow_up_s`: when the anchors have told who has moved, seconds since the epoch, after the alarm itself."""
    series, slice_name = told or (event.series, event.slice)
    grave = signal_of(event.series) != UNJUDGED and event.drop >= _GRAVE and verdict.cause is not Cause.JUDGE
    parts = dict(part.split("=", 1) for part in (slice_name,) if part != ALL)
    return Alert(
        name=NAMES.get(signal_of(series), "drift"),
        fingerprint=f"drift/{series}/{slice_name}",
        metric=series,
        state=AlertState.RESOLVED if event.resolved else AlertState.FIRING,
        severity=AlertSeverity.CRITICAL if grave else AlertSeverity.WARNING,
        headline=_headline(event, verdict, asked=follow_up_s is not None),
        follow_up=follow_up_s is not None,
        # Who it was that moved is worth a message; that nobody knows is for the records.
        audience=AlertAudience.RECORDS
        if follow_up_s is not None and verdict.cause is Cause.UNKNOWN
        else AlertAudience.EVERYONE,
        service=parts.get("service"),
        route=parts.get("route"),
        link=next((example.link for example in examples if example.link), None),
        examples=() if event.resolved else tuple(examples),
        details=_details(event, verdict),
        since_ns=0 if event.resolved else round(event.since_s * _NS),  # what ends began when the alarm says
        time_ns=round((event.time_s if follow_up_s is None else follow_up_s) * _NS),
    )


def judge_alert(metric: str, signal: str, moved: Shift, before: AnchorReading, now: AnchorReading) -> Alert:
    """The judge reads the anchors differently than when the baselines were learned; resolved when it no longer does."""
    firing = moved.moved
    series = f"{metric}.{signal}"
    change = shown_shift(series, moved.mean)
    low, high = sorted((shown_shift(series, moved.interval[0]), shown_shift(series, moved.interval[1])))
    what = f"{metric} {_WORDS[signal]} of {moved.count} anchors"
    return Alert(
        name=JUDGE_MOVED,
        fingerprint=f"{JUDGE_MOVED}/{series}",
        metric=series,
        state=AlertState.FIRING if firing else AlertState.RESOLVED,
        headline=f"The judge has moved: {what} by {change:+.3f} ({low:+.3f} to {high:+.3f})"
        if firing
        else f"The judge reads as before: {what} within {low:+.3f} to {high:+.3f}",
        details={
            "change": change,
            "interval": f"{low:+.3f} to {high:+.3f}",
            "anchors": float(moved.count),
            "judge_before": before.identity,
            "judge_now": now.identity,
            **({} if before.agreement is None else {"agreement_with_people_before": before.agreement}),
            **({} if now.agreement is None else {"agreement_with_people_now": now.agreement}),
        },
        since_ns=round(now.time_s * _NS),
        time_ns=round(now.time_s * _NS),
    )


def shown_shift(series: str, goodness: float) -> float:
    """A difference of goodness as people know it."""
    return goodness if falls(series) else -goodness


def moment(seconds: float) -> str:
    """A time as people read it, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def describe(movement: Movement, series: str) -> str:
    """`model=b: 0.90 -> 0.71, 52% of traffic, 94% of the change`."""
    means = ["new" if each is None else f"{shown(series, each):.3f}" for each in (movement.before, movement.since)]
    if movement.since is None:
        means[1] = "gone"
    share = f"{movement.share_since:.0%} of traffic"
    # Above 1 where other slices moved the other way.
    part = "all" if movement.explained >= 0.995 else f"{movement.explained:.0%}"
    return f"{movement.slice}: {means[0]} -> {means[1]}, {share}, {part} of the change"


_CAUSES: Final = {
    Cause.APP: "the app moved, not the judge",
    Cause.JUDGE: "the judge moved, not the app",
    Cause.BOTH: "both the app and the judge moved",
}


def _headline(event: DriftEvent, verdict: AnchorVerdict, *, asked: bool) -> str:
    cause = _CAUSES.get(verdict.cause, "") if asked else ""
    return f"{sentence(event)}: {cause}" if cause else sentence(event)


def _interval(event: DriftEvent) -> str:
    low, high = sorted(shown(event.series, each) for each in event.interval or (0.0, 1.0))
    return f"{low:.3f} to {high:.3f}"


def _details(event: DriftEvent, verdict: AnchorVerdict) -> dict[str, str | float]:
    details: dict[str, str | float] = {
        "series": event.series,
        "slice": event.slice,
        "baseline": shown(event.series, event.baseline),
        "alarm_beyond": shown(event.series, event.floor),
        "since": moment(event.since_s),
        "since_interval": f"{moment(event.earliest_s)} to {moment(event.latest_s)}",
        "evaluations_since": float(event.count),
        "evidence": round(event.evidence, 3),
        "moved": str(verdict.cause),
    }
    details["evaluations_worth"] = round(event.worth, 1)
    if event.learned.count:
        details["learned_from"] = (
            f"{event.learned.count} evaluations, {moment(event.learned.from_s)} to {moment(event.learned.until_s)}"
        )
    if event.learned.change_s is not None:
        details["change_while_learning"] = (
            f"what normal was learned from fell itself at {moment(event.learned.change_s)}"
        )
    if event.learned.unknown:
        details["not_learned"] = "; ".join(event.learned.unknown)
    if how_many := counts(event):
        details["bad_answers"] = how_many
    if event.before is not None:
        details["before"] = shown(event.series, event.before)
    if event.estimate is not None:
        details["estimate"] = shown(event.series, event.estimate)
        details["interval"] = _interval(event)
    for rank, movement in enumerate(event.movements, start=1):
        details[f"most_moved_{rank}"] = describe(movement, event.series)
    if verdict.shift is not None:
        low, high = sorted(shown_shift(event.series, each) for each in verdict.shift.interval)
        mean = shown_shift(event.series, verdict.shift.mean)
        if verdict.explained is not None:
            low_share, high_share = verdict.explained
            details["judge_explains"] = f"{low_share:.0%} to {high_share:.0%} of the drop"
        details["judge_on_anchors"] = f"{mean:+.3f} ({low:+.3f} to {high:+.3f}, {verdict.shift.count} anchors)"
    return details
