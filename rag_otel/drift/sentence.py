"""A drift event as one plain sentence: the same in the terminal, in alerts and on the drift page.

Faithfulness fell from .94 to .84 on 20 November, when model=llama-2 came in; about 1 in 4 answers is now
unfaithful, before 1 in 16.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from rag_otel.drift.event import DriftEvent
from rag_otel.drift.observation import ALL, RISK, UNJUDGED, falls, shown, signal_of
from rag_otel.evaluation.support import FAITHFULNESS

_RECENT_S: Final = 2 * 86_400.0
"""Of what began so lately the hour matters too."""
_MOSTLY: Final = 0.3
"""A slice that accounts for less of a change is not named."""
_NEARLY: Final = 0.995


def sentence(event: DriftEvent) -> str:
    """What happened, since when, with what, and how many answers are bad now. Without a full stop."""
    what = subject(event.series) + ("" if event.slice == ALL else f" of {event.slice}")
    if event.resolved:
        now = "" if event.estimate is None else f" at {short(event.series, event.estimate)}"
        return f"{what} is back{now}"
    verb = "fell" if falls(event.series) else "rose"
    if event.deeper:
        verb += " further"
    said = f"{what} {verb}"
    if event.before is not None and event.estimate is not None:
        digits = 2 if abs(event.before - event.estimate) >= 0.015 else 3
        first, last = (_number(shown(event.series, each), digits) for each in (event.before, event.estimate))
        said += f" from {first} to {last}"
    said += f" {_on(event.since_s, event.time_s)}{_with(event)}"
    share = how_many(event)
    return f"{said}; {share}" if share else said


def subject(series: str) -> str:
    """`Faithfulness`, `The hallucination risk`, `The share of answers without a faithfulness score`."""
    metric, signal = series.rpartition(".")[0], signal_of(series)
    words = metric.replace("_", " ")
    if signal == RISK:
        return "The hallucination risk" if metric == FAITHFULNESS else f"The risk of {words}"
    if signal == UNJUDGED:
        return f"The share of answers without a {words} verdict"
    return words[:1].upper() + words[1:]


def short(series: str, goodness: float) -> str:
    """A mean as people know it, in two digits: `.94`."""
    return _number(shown(series, goodness), 2)


def how_many(event: DriftEvent) -> str:
    """`about 1 in 4 answers is now unfaithful, before 1 in 16`; empty where nothing is known, or hardly one is bad."""
    now, before = event.bad, event.bad_before
    if now is None or before is None or now <= before or now * max(event.count, 1) < 1.0:
        return ""
    rate = _rate(now)
    verb = "is" if rate.startswith("1 in") else "are"
    about = rate if rate == "all" else f"about {rate}"
    return f"{about} answers {verb} now {_badness(event.series)}, before {_rate(before)}"


def counts(event: DriftEvent) -> str:
    """`9 of the last 31 answers unfaithful, before 2 of 100`; empty where nothing is known, or none is bad."""
    if event.bad is None or event.bad_before is None:
        return ""
    now, before = (round(share * n) for share, n in ((event.bad, event.count), (event.bad_before, event.count_before)))
    if not now:
        return ""
    return f"{now} of the last {event.count} answers {_badness(event.series)}, before {before} of {event.count_before}"


def _badness(series: str) -> str:
    metric, signal = series.rpartition(".")[0], signal_of(series)
    if signal == UNJUDGED:
        return "without a verdict"
    if metric == FAITHFULNESS:
        return "unfaithful"
    return f"{'below' if falls(series) else 'above'} .5"


def _with(event: DriftEvent) -> str:
    """The slice that accounts for most of it."""
    if event.slice != ALL or not event.movements:
        return ""
    most = event.movements[0]
    if most.explained < _MOSTLY:
        return ""
    if most.before is None:
        return f", when {most.slice} came in"
    return f", when {most.slice} went away" if most.since is None else f", mostly in {most.slice}"


def _on(since_s: float, now_s: float) -> str:
    at = datetime.fromtimestamp(since_s, UTC)
    day = f"on {at.day} {at:%B}"
    return f"{day} at {at:%H:%M} UTC" if now_s - since_s < _RECENT_S else day


def _number(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text[1:] if text.startswith("0.") else text


def _rate(share: float) -> str:
    """`1 in 16`, `7 in 10`, `none`, `all`."""
    if share <= 0.0:
        return "none"
    if share >= _NEARLY:
        return "all"
    return f"1 in {round(1 / share)}" if share < 0.55 else f"{round(10 * share)} in 10"
