"""Claims and quotes marked in a text: nothing of the text is lost, nothing of it is markup."""

from __future__ import annotations

import re
from html import unescape

from hypothesis import given, settings
from hypothesis import strategies as st

from rag_otel.model import Quote, Verdict
from rag_otel_evaluators.offline.report.highlight import Mark, claim_marks, highlighted, quote_marks
from tests.support.results import CHUNK, CLAIMS, RESPONSE, a_claim


def shown_text(html: str) -> str:
    """What a reader sees of it, the numbers aside."""
    return unescape(re.sub(r"<sup>[\d,]*</sup>|</?mark[^<>]*>", "", html))


def test_claims_are_marked_by_verdict() -> None:
    """Each claim in its place, with its number and its verdict's colour."""
    html = highlighted(RESPONSE, claim_marks(RESPONSE, CLAIMS))
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
    assert highlighted(CHUNK, marks).startswith(f'<sup>1,3</sup><mark class="contradicted">{CHUNK[:25]}</mark>')


def test_claims_beyond_the_text_are_not_marked() -> None:
    """A claim of another text does no harm."""
    assert claim_marks("short", CLAIMS) == []


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
    html = highlighted(text, marks)
    assert shown_text(html) == text
    assert html.count("<mark") == html.count("</mark>")
    assert not re.search(r"<(?!sup>|/sup>|mark class=\"[a-z_]+\">|/mark>)", html)
