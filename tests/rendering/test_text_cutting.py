"""Texts cut to a length, around what is marked in them."""

from __future__ import annotations

import html
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from rag_otel.model import Claim, ClaimVerdict, Verdict
from rag_otel.rendering.claim_marking import Fragment, claim_marks, join_marked, split_by_marks
from rag_otel.rendering.text_cutting import GAP, clean, cut_around, one_line, shorten
from testkit.size import examples

TEXT = "The moon orbits the earth. It is made of cheese. Nobody has seen its far side."


def a_verdict(start: int, end: int, text: str = "") -> ClaimVerdict:
    """An unsupported claim at this place."""
    return ClaimVerdict(claim=Claim(text=text, sentence_index=0, start=start, end=end), verdict=Verdict.NOT_ENOUGH_INFO)


def marked(text: str, claims: Sequence[ClaimVerdict]) -> tuple[Fragment, ...]:
    """The text in fragments, marked claims joined where they touch."""
    return join_marked(split_by_marks(text, claim_marks(text, claims)))


def shown(fragments: Sequence[Fragment]) -> str:
    """The text with brackets around what is marked."""
    return "".join(f"[{fragment.text}]" if fragment.marked else fragment.text for fragment in fragments)


def room(fragments: Sequence[Fragment]) -> int:
    """The length that the fragments take in HTML."""
    return sum(len(html.escape(fragment.text)) + (2 if fragment.marked else 0) for fragment in fragments)


def test_what_is_marked_stays_when_an_answer_is_cut() -> None:
    """Context goes first, on whole words, with a sign where something is missing."""
    long = "Before. " * 50 + TEXT + " After." * 50
    at = long.index("It is made")
    cut = cut_around(marked(long, [a_verdict(at, at + 21)]), 80, measure=room)
    assert shown(cut) == f"{GAP}The moon orbits the earth. [It is made of cheese.] Nobody has seen its far{GAP}"


def test_marks_far_apart_are_both_shown() -> None:
    """The stretch between them is what gives way."""
    long = f"First wrong. {'Filler words here. ' * 40}Second wrong."
    cut = cut_around(marked(long, [a_verdict(0, 12), a_verdict(len(long) - 13, len(long))]), 60, measure=room)
    assert shown(cut).startswith("[First wrong.]")
    assert shown(cut).endswith("[Second wrong.]")
    assert GAP in shown(cut)


def test_the_first_marks_stay_where_there_is_no_room_for_all() -> None:
    """Ten claims that do not fit: those that do are whole."""
    long = " ".join(f"Claim number {n} is wrong." for n in range(10))
    claims = [a_verdict(at, at + 24) for at in range(0, len(long), 25)]
    assert shown(cut_around(marked(long, claims), 60, measure=room)).startswith("[Claim number 0 is wrong.] [Claim")


@settings(max_examples=examples(100), deadline=None)
@given(
    text=st.text(alphabet=st.sampled_from("ab <&>\"'\n\u0301\u200dé🙂👩"), max_size=300),
    places=st.lists(st.tuples(st.integers(-10, 320), st.integers(-10, 320)), max_size=8),
    limit=st.integers(0, 200),
)
def test_a_cut_keeps_within_its_limit_and_invents_nothing(text: str, places: list[tuple[int, int]], limit: int) -> None:
    """Whatever the answer: joined fragments are the answer, and what is left of it stood there."""
    fragments = marked(text, [a_verdict(*place) for place in places])
    assert "".join(fragment.text for fragment in fragments) == text
    cut = cut_around(fragments, limit, measure=room)
    assert room(cut) <= limit
    for piece in shown(cut).replace("[", GAP).replace("]", GAP).split(GAP):
        assert piece in text


def test_a_text_is_shortened_between_words_and_never_inside_a_sign() -> None:
    """An accent stays on its letter, a family stays together."""
    assert shorten("one two three four", 12) == f"one two{GAP}"
    assert shorten("e\u0301" * 10, 6) == "e\u0301" * 2 + GAP
    family = "👩\u200d👩\u200d👧"
    assert shorten(family * 3, 8) == family + GAP


@settings(max_examples=examples(100), deadline=None)
@given(st.text(max_size=100), st.integers(0, 60))
def test_a_line_is_one_line_within_its_limit(text: str, limit: int) -> None:
    """Of any text whatever, lone surrogates included."""
    line = one_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1
    line.encode("utf-8")


def test_what_receivers_refuse_is_taken_out() -> None:
    """Control characters and direction overrides go, broken text is replaced, line breaks and tabs stay."""
    assert clean("a\x00b\x1b[31m\r\nc\td\u202ee\ud800") == "ab[31m\nc\tde?"
