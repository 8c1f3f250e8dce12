"""Builders of alerts: one answer, one without its text, one from a statistic, one from a text of any kind."""

from __future__ import annotations

import dataclasses
import secrets
from typing import Any

from hypothesis import strategies as st

from rag_otel.alert import Alert, AlertExample, AlertSeverity, AlertState
from rag_otel.model import Claim, ClaimVerdict, Quote, SpanRef, Verdict
from tests.support.results import CLAIMS, QUESTION, RESPONSE

LINK = "http://phoenix/redirects/traces/1"
MARKED = "The moon orbits the earth. [[It is made of cheese.]] [[Nobody has seen its far side.]]"
"""`RESPONSE` as text shows it."""


def an_alert(**changes: Any) -> Alert:
    """The usual unfaithful answer: two of three claims are unsupported."""
    fields: dict[str, Any] = {
        "name": "unfaithful_answer",
        "fingerprint": "observatory/faithfulness/answer",
        "metric": "faithfulness",
        "score": 1 / 3,
        "risk": 0.93,
        "label": "unfaithful",
        "question": QUESTION,
        "response": RESPONSE,
        "claims": CLAIMS[1:],
        "target": SpanRef(trace_id=secrets.token_hex(16), span_id=secrets.token_hex(8)),
        "service": "observatory",
        "route": "answer",
        "link": LINK,
        "sampling_reason": "ratio",
        "time_ns": 1_700_000_000_000_000_000,
    }
    return Alert(**fields | changes)


def resolved(alert: Alert) -> Alert:
    """The end of the same problem, ten minutes later."""
    return dataclasses.replace(alert, state=AlertState.RESOLVED, time_ns=alert.time_ns + 600 * 10**9)


def a_hidden_alert(**changes: Any) -> Alert:
    """One answer of which nothing may be told."""
    return an_alert(**{"question": None, "response": None, "claims": ()} | changes)


def a_statistical_alert(**changes: Any) -> Alert:
    """A drop of a series since two hours and a half, with one answer that moved it."""
    example = an_alert()
    fields: dict[str, Any] = {
        "name": "drift_score",
        "fingerprint": "drift/faithfulness/observatory",
        "metric": "faithfulness",
        "severity": AlertSeverity.CRITICAL,
        "headline": "faithfulness of observatory fell from 0.91 to 0.78",
        "service": "observatory",
        "link": "http://phoenix/projects/1",
        "suppressed": 3,
        "details": {"baseline": 0.91, "estimate": 0.78, "moved_most": "model gpt-small", "evidence": float("inf")},
        "since_ns": 1_700_000_000 * 10**9,
        "time_ns": 1_700_009_000 * 10**9,
        "examples": (
            AlertExample(
                question=example.question,
                response=example.response,
                score=0.25,
                risk=0.99,
                claims=example.claims,
                target=example.target,
                link="http://phoenix/redirects/traces/2",
            ),
        ),
    }
    return Alert(**fields | changes)


def a_long_alert(times: int = 400) -> Alert:
    """An answer of many thousand characters with one unsupported claim in its middle, full of signs to escape."""
    filler = "Fish & chips <b>cost</b> more than > 5. " * times
    wrong = "The moon <is> made of cheese & wine."
    response = filler + wrong + " " + filler
    place = Claim(text=wrong, sentence_index=0, start=len(filler), end=len(filler) + len(wrong))
    quote = Quote(chunk_id="<moon&1>", start=0, end=len(filler), text=filler)
    claim = ClaimVerdict(claim=place, verdict=Verdict.NOT_ENOUGH_INFO, quotes=(quote,) * 5)
    return an_alert(question=filler, response=response, claims=(claim,) * 40)


@st.composite
def any_alert(draw: st.DrawFn) -> Alert:
    """Texts of any signs whatever, claims anywhere and beyond."""
    text = st.text(max_size=60).flatmap(lambda part: st.integers(1, 80).map(lambda times: part * times))
    response = draw(text)
    place = st.integers(-20, len(response) + 20)
    claims = draw(st.lists(st.builds(_verdict, text, place, place, text), max_size=12))
    example = AlertExample(question=draw(text), response=response, claims=tuple(claims), link=draw(text))
    return an_alert(
        question=draw(text),
        response=response,
        claims=tuple(claims),
        service=draw(text),
        route=draw(text),
        headline=draw(text),
        link=draw(st.none() | st.just(LINK) | text),
        examples=(example,) * draw(st.integers(0, 5)),
        details=draw(st.dictionaries(st.text(max_size=20), st.floats() | text, max_size=25)),
    )


def _verdict(text: str, start: int, end: int, quote: str) -> ClaimVerdict:
    return ClaimVerdict(
        claim=Claim(text=text, sentence_index=0, start=start, end=end),
        verdict=Verdict.CONTRADICTED,
        quotes=(Quote(chunk_id=quote, start=0, end=len(quote), text=quote),),
        explanation=quote,
    )
