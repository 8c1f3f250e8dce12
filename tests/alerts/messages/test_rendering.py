"""What people read, before any channel's own format."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from rag_otel.alert import Alert
from rag_otel.alerts.digest import Bundle
from rag_otel.alerts.messages.rendering import HIDDEN, compose_message, plain_text, text_within
from rag_otel.alerts.messages.wording import summary, to_dict
from rag_otel.delivery.http import to_json
from testkit.size import examples
from tests.alerts.alert_builders import (
    LINK,
    MARKED,
    a_hidden_alert,
    a_long_alert,
    a_statistical_alert,
    an_alert,
    any_alert,
    resolved,
)
from tests.support.results import CHUNK, QUESTION, SECRET_TEXTS


def test_an_answer_is_shown_with_everything_that_judges_it() -> None:
    """Question, answer with its marks, claims with verdict and nearest quote, score, risk, where, why picked, link."""
    text = plain_text(compose_message(an_alert()))
    for part in (
        "Unfaithful answer in observatory answer",
        LINK,
        "How bad: faithfulness 0.33, hallucination risk 0.93",
        "Since: 2023-11-14 22:13 UTC",
        "picked by: ratio",
        QUESTION,
        MARKED,
        "1. not supported (probability of support 0.04): It is made of cheese.",
        "2. contradicted (probability of support 0.02): Nobody has seen its far side.",
        f'nearest, in chunk moon-1: "{CHUNK[:25]}"',
        "why: contradicted by the far side's date",
    ):
        assert part in text


def test_a_statistic_tells_since_when_how_much_and_shows_an_answer() -> None:
    """Facts by their names, numbers short; what is no number is unknown."""
    text = plain_text(compose_message(a_statistical_alert()))
    for part in (
        "faithfulness of observatory fell from 0.91 to 0.78",
        "Since: 2023-11-14 22:13 UTC (for 2 h 30 min)",
        "baseline: 0.91",
        "moved most: model gpt-small",
        "Held back: 3 similar",
        MARKED,
    ):
        assert part in text


def test_the_end_of_a_problem_says_so_first() -> None:
    """In the title, which is all that some pagers show."""
    assert compose_message(resolved(an_alert())).title == "Resolved: Unfaithful answer in observatory answer"


def test_what_is_hidden_stays_hidden() -> None:
    """Not a word of the conversation; the message says why there is none."""
    text = plain_text(compose_message(a_hidden_alert()))
    assert HIDDEN in text
    assert "hallucination risk 0.93" in text
    assert not [secret for secret in SECRET_TEXTS if secret in text]


def test_the_end_of_a_problem_hides_nothing_where_it_shows_no_answer() -> None:
    """What is over needs no evidence."""
    assert HIDDEN not in plain_text(compose_message(resolved(a_hidden_alert())))


def test_several_answers_are_told_apart() -> None:
    """Each with its own scores and link; the answer of the alert itself is not shown twice."""
    alert = an_alert(examples=a_statistical_alert().examples)
    text = plain_text(compose_message(alert))
    assert "--- answer 1 of 2" in text
    assert (
        "--- answer 2 of 2\nfaithfulness 0.25, hallucination risk 0.99\nTrace: http://phoenix/redirects/traces/2"
        in text
    )
    same = an_alert(target=alert.target, examples=(type(alert.examples[0])(target=alert.target),))
    assert len(compose_message(same).answers) == 1


def test_a_long_answer_is_cut_around_its_unsupported_claim() -> None:
    """The claim is what the message is for."""
    text = text_within(compose_message(a_long_alert()), 1000)
    assert len(text) <= 1000
    assert "[[The moon <is> made of cheese & wine.]]" in text


@settings(max_examples=examples(40), deadline=None)
@given(any_alert(), st.integers(0, 3000))
def test_any_alert_can_be_told_within_any_limit(alert: Alert, limit: int) -> None:
    """Whatever an answer is made of: no error, no more than there is room for, JSON that can be sent."""
    text = text_within(compose_message(alert), limit)
    assert len(text) <= limit
    text.encode("utf-8")
    assert to_json(to_dict(alert))


def test_a_users_complaint_is_told() -> None:
    """In the head of the message, in its one-line summary, and at the answers of a digest; complaints come first."""
    rated, quiet = an_alert(rating=0.0, risk=0.9, fingerprint="a"), an_alert(risk=0.95, fingerprint="b")
    assert "User feedback: a user complained (rated 0 of 1)" in plain_text(compose_message(rated))
    assert "a user complained (rated 0 of 1)" in summary(rated)
    assert "user feedback" not in plain_text(compose_message(quiet)).lower()
    assert "a user was content" in summary(an_alert(rating=1.0))
    bundle = Bundle()
    for each in (quiet, rated):
        bundle.add(each)
    first, _ = bundle.message(fingerprint="both").examples
    assert first.rating == 0.0
