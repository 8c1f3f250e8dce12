"""What is a rating, and what it means for a trace."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from rag_otel.model import RagTrace, SamplingReason, SpanRef
from rag_otel.ratings.rating import IDENTIFIER, LONGEST_COMMENT, RecentRatings, rating
from rag_otel.ratings.words import rating_of
from rag_otel.safety.privacy import GENAI_CAPTURE_ENV
from rag_otel.sharing.records import RecordFormat, SharedRecord
from rag_otel.writers.ratings import identifier, masked_comment, masked_label
from tests.support.results import a_result, an_evaluation

TRACE = "0af7651916cd43dd8448eb211c80319c"


@pytest.mark.parametrize(
    ("said", "value"),
    [(0, 0.0), (True, 1.0), (0.25, 0.25), ("thumbs-down", 0.0), ("👍", 1.0), ("Correct", 1.0), ("0.7", 0.7)],
)
def test_scores_and_words_are_ratings(said: Any, value: float) -> None:
    """Numbers as they are, common words as 0 or 1."""
    assert rating_of(said) == value


@pytest.mark.parametrize("said", [None, "", "perhaps", float("nan"), "inf"])
def test_what_says_neither_good_nor_bad(said: Any) -> None:
    """It is no rating."""
    assert rating_of(said) is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "give a score, a label or a comment"),
        ({"score": 5}, "score must be within 0..1, not 5"),
        ({"score": 10**400}, "score must be within 0..1"),
        ({"score": float("nan")}, "score must be within 0..1"),
        ({"score": 0, "name": "note"}, "name must have 1 to 100 characters"),
        ({"score": 0, "trace_id": "12"}, "trace_id must be 32 hex digits"),
        ({"score": 0, "trace_id": "0" * 32}, "trace_id must be 32 hex digits"),
        ({"score": 0, "span_id": "no"}, "span_id must be 16 hex digits"),
    ],
)
def test_wrong_ratings_say_what_is_wrong(given: dict[str, Any], said: str) -> None:
    """The message names the argument and what is allowed."""
    with pytest.raises(ValueError, match=said):
        rating(**{"trace_id": TRACE, **given})


def test_ids_as_programs_have_them() -> None:
    """Integers as OpenTelemetry has them, and text in any case."""
    by_number = rating(int(TRACE, 16), score=False, span_id=255)
    assert (by_number.trace_id, by_number.span_id, by_number.value) == (TRACE, "00000000000000ff", 0.0)
    assert rating(TRACE.upper(), label="down").trace_id == TRACE
    assert len(rating(TRACE, comment="x" * 10_000).comment or "") == LONGEST_COMMENT


def test_a_comment_leaves_without_personal_data() -> None:
    """What is known by its form becomes a placeholder; with content capture off there is no comment."""
    given = rating(TRACE, comment="Wrong! Write to ann@example.org or +49 30 1234567, key sk-abcdefghijklmnop.")
    masked = masked_comment(given, capture_content=True)
    assert masked == "Wrong! Write to <EMAIL_1> or <PHONE_1>, key <SECRET_1>."
    assert masked_comment(given, capture_content=False) is None


@pytest.mark.parametrize("switch", [None, "OPENINFERENCE_HIDE_OUTPUTS", GENAI_CAPTURE_ENV])
def test_a_label_leaves_as_a_comment_does(monkeypatch: pytest.MonkeyPatch, switch: str | None) -> None:
    """Masked; where content is hidden, by the setting or by the environment, only a common word remains."""
    said, word = rating(TRACE, label="ask ann@example.org", comment="No."), rating(TRACE, label="thumbs_down")
    assert masked_label(said, capture_content=True) == "ask <EMAIL_1>"
    if switch is not None:
        monkeypatch.setenv(switch, "no_content" if switch.startswith("OTEL") else "true")
    hidden = [each(said, capture_content=switch is not None) for each in (masked_label, masked_comment)]
    assert hidden == [None, None]
    assert masked_label(word, capture_content=False) == "thumbs_down"


def test_a_user_has_another_pseudonym_in_each_trace() -> None:
    """The same one for the same trace and key; nothing of it can be checked without the key."""
    ann, bob = (rating(TRACE, score=1, user_id=each) for each in ("ann@example.org", "bob"))
    elsewhere = rating("f" * 32, score=1, user_id="ann@example.org")
    named = {identifier(each, key=key) for each in (ann, bob, elsewhere) for key in (None, "secret", "other")}
    assert len(named) == 9
    assert identifier(ann, key="secret") in named
    assert all(each.startswith(f"{IDENTIFIER}:") and "ann" not in each for each in named)
    assert identifier(rating(TRACE, score=1), key="secret") == IDENTIFIER
    assert "ann" not in repr(ann)


def test_the_last_word_counts_and_the_oldest_is_forgotten() -> None:
    """A span's rating is that of no other span of the trace."""
    ratings = RecentRatings(max_items=2)
    target = SpanRef(trace_id=TRACE, span_id="00000000000000ff")
    trace = RagTrace(target=target)
    assert ratings.rated(trace) is trace
    ratings.add(rating(TRACE, score=1))
    ratings.add(rating(TRACE, score=0))
    assert ratings.rated(trace).rating == 0.0
    ratings.add(rating(TRACE, score=1, span_id=7))
    assert ratings.rated(trace).rating == 0.0
    ratings.add(rating(TRACE, score=0.5, span_id=255))
    assert ratings.rated(trace).rating == 0.5
    for other in (1, 2):
        ratings.add(rating(other, score=0))
    assert ratings.rated(trace).rating is None


def test_of_two_answers_in_a_trace_each_has_its_own_rating() -> None:
    """A thumbs-up for the second does not take back the complaint about the first."""
    ratings = RecentRatings()
    ratings.add(rating(TRACE, score=0, span_id="a" * 16))
    ratings.add(rating(TRACE, score=1, span_id="b" * 16))
    targets = [SpanRef(trace_id=TRACE, span_id=each * 16) for each in "abc"]
    assert [ratings.rated(RagTrace(target=target)).rating for target in targets] == [0.0, 1.0, None]


def test_processes_that_watch_as_one_know_the_rating() -> None:
    """What a process tells the one that watches holds the rating, and whether the answer is part of the sample."""
    format_ = RecordFormat(lambda result: True)
    rated = a_result(an_evaluation(), rating=0.0)
    rated = dataclasses.replace(rated, decision=dataclasses.replace(rated.decision, reason=SamplingReason.RATED))
    read = format_.decode(format_.encode(SharedRecord(at=1.0, result=rated))).result
    assert read is not None
    assert (read.trace.rating, read.decision.in_sample) == (0.0, False)


def test_text_that_no_server_takes_is_cleaned() -> None:
    """Half of a surrogate pair and control characters would be refused with the whole batch."""
    given = rating(TRACE, comment="no\x00\ud800 \N{THUMBS DOWN SIGN}", label="bad\x07")
    assert (given.label, given.comment) == ("bad", "no? \N{THUMBS DOWN SIGN}")
