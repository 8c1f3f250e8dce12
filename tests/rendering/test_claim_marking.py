"""Claims and quotes marked in a text: nothing of the text is lost, nothing of it is markup."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_otel.model import Claim, ClaimVerdict, Quote, Verdict
from rag_otel.rendering.claim_marking import Mark, claim_marks, join_marked, mark_up, quote_marks, split_by_marks
from rag_otel_evaluators.offline.report.worst_rows import marked_html
from tests.support.results import CHUNK, CLAIMS, RESPONSE, a_claim


def shown_text(html: str) -> str:
    """What a reader sees of it, the numbers aside."""
    return unescape(re.sub(r"<sup>[\d,]*</sup>|</?mark[^<>]*>", "", html))


def a_verdict(start: int, end: int, text: str = "") -> ClaimVerdict:
    """An unsupported claim at this place."""
    return ClaimVerdict(claim=Claim(text=text, sentence_index=0, start=start, end=end), verdict=Verdict.NOT_ENOUGH_INFO)


def bracketed(text: str, claims: Sequence[ClaimVerdict]) -> str:
    """The text with brackets around its marked claims, those that touch joined."""
    fragments = join_marked(split_by_marks(text, claim_marks(text, claims)))
    return mark_up(fragments, opening=lambda _: "[", closing="]", escape=str)


def test_claims_are_marked_by_verdict() -> None:
    """Each claim in its place, with its number and its verdict's colour."""
    html = marked_html(RESPONSE, claim_marks(RESPONSE, CLAIMS))
    assert html == (
        '<sup>1</sup><mark class="supported">The moon orbits the earth.</mark> '
        '<sup>2</sup><mark class="not_enough_info">It is made of cheese.</mark> '
        '<sup>3</sup><mark class="contradicted">Nobody has seen its far side.</mark>'
    )


def test_quotes_are_marked_in_their_chunk_alone() -> None:
    """A quote of another chunk, and one that is no verbatim slice, is not shown."""
    wrong = a_claim(0, 26, Verdict.SUPPORTED, quotes=(Quote(chunk_id="moon-1", start=4, end=8, text="sun?"),))
    assert quote_marks("moon-2", CHUNK, CLAIMS) == []
    marks = quote_marks("moon-1", CHUNK, [*CLAIMS, wrong])
    assert [(mark.number, CHUNK[mark.start : mark.end]) for mark in marks] == [(1, CHUNK[:25]), (3, CHUNK[:25])]
    assert marked_html(CHUNK, marks).startswith(f'<sup>1,3</sup><mark class="contradicted">{CHUNK[:25]}</mark>')


def test_unsupported_claims_are_marked_where_they_stand() -> None:
    """By their offsets; the rest is left as it is."""
    text = bracketed(RESPONSE, [a_verdict(49, 78), a_verdict(27, 48)])
    assert text == "The moon orbits the earth. [It is made of cheese.] [Nobody has seen its far side.]"


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ([(4, 15), (9, 25)], "The [moon orbits the earth]."),
        ([(4, 8), (8, 15)], "The [moon orbits] the earth."),
        ([(0, 26), (4, 8)], "[The moon orbits the earth.]"),
        ([(-5, 3)], "[The] moon orbits the earth."),
        ([(20, 9999)], "The moon orbits the [earth.]"),
        ([(9000, 9999), (8, 4), (5, 5)], "The moon orbits the earth."),
    ],
)
def test_odd_offsets_do_no_harm(claims: list[tuple[int, int]], expected: str) -> None:
    """Overlaps are merged, what lies outside is clipped, what is empty is left out."""
    assert bracketed(RESPONSE[:26], [a_verdict(*each) for each in claims]) == expected


def test_a_claim_without_a_place_is_found_by_its_words() -> None:
    """Judges that quote without offsets are marked too; words that are not there mark nothing."""
    claims = [a_verdict(0, 0, "made of cheese"), a_verdict(0, 0, "made of marzipan")]
    assert bracketed(RESPONSE, claims) == RESPONSE.replace("made of cheese", "[made of cheese]")


def test_joined_marks_keep_the_gravest_verdict_and_all_numbers() -> None:
    """Two claims that overlap become one fragment."""
    marks = [
        Mark(start=0, end=4, number=1, verdict=Verdict.SUPPORTED),
        Mark(start=2, end=6, number=2, verdict=Verdict.CONTRADICTED),
    ]
    first, rest = join_marked(split_by_marks("abcdefgh", marks))
    assert (first.text, first.verdict, first.numbers) == ("abcdef", Verdict.CONTRADICTED, (1, 2))
    assert (rest.text, rest.marked) == ("gh", False)


@settings(deadline=None)
@given(st.data())
def test_whatever_is_marked_the_text_stays(data: st.DataObject) -> None:
    """Overlapping, nested or equal marks: the reader sees the text as it was, and the markup is balanced."""
    text = data.draw(st.text(alphabet="ab<>&\"' \n", min_size=1, max_size=30))
    spans = st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))
    marks = [
        Mark(start=min(span), end=max(span), number=number, verdict=data.draw(st.sampled_from(Verdict)))
        for number, span in enumerate(data.draw(st.lists(spans, max_size=6)), 1)
    ]
    html = marked_html(text, marks)
    assert shown_text(html) == text
    assert html.count("<mark") == html.count("</mark>")
    assert not re.search(r"<(?!sup>|/sup>|mark class=\"[a-z_]+\">|/mark>)", html)
