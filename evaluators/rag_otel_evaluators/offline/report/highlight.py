"""Claims marked in an answer, quotes marked in the chunks: text in, HTML out, everything else escaped."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from rag_otel.model import ClaimVerdict, Verdict

_GRAVEST_FIRST: Final = (Verdict.CONTRADICTED, Verdict.NOT_ENOUGH_INFO, Verdict.UNJUDGED, Verdict.SUPPORTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A stretch of a text, `text[start:end]`, that belongs to a claim."""

    start: int
    end: int
    number: int
    """Of the claim, 1-based."""
    verdict: Verdict


def claim_marks(text: str, claims: Sequence[ClaimVerdict]) -> list[Mark]:
    """Where each claim stands in the text that it was cut from."""
    spans = ((verdict.claim.start, verdict.claim.end, number, verdict) for number, verdict in enumerate(claims, 1))
    return [
        Mark(start=start, end=end, number=number, verdict=verdict.verdict)
        for start, end, number, verdict in spans
        if 0 <= start < end <= len(text)
    ]


def quote_marks(chunk_id: str, text: str, claims: Sequence[ClaimVerdict]) -> list[Mark]:
    """Where each claim's quotes stand in a chunk; one that is no verbatim slice of it is not shown."""
    return [
        Mark(start=quote.start, end=quote.end, number=number, verdict=verdict.verdict)
        for number, verdict in enumerate(claims, 1)
        for quote in verdict.quotes
        if quote.chunk_id == chunk_id and quote.start < quote.end and text[quote.start : quote.end] == quote.text
    ]


def highlighted(text: str, marks: Iterable[Mark]) -> str:
    """`text` as HTML. Where marks overlap the gravest verdict shows; each mark's number stands where it begins."""
    marks = list(marks)
    borders = sorted({0, len(text), *(mark.start for mark in marks), *(mark.end for mark in marks)})
    parts = []
    for start, end in itertools.pairwise(borders):
        covering = [mark for mark in marks if mark.start <= start and end <= mark.end]
        numbers = sorted({mark.number for mark in covering if mark.start == start})
        parts.append(_part(escape(text[start:end]), covering, numbers))
    return "".join(parts)


def _part(content: str, covering: Sequence[Mark], numbers: Sequence[int]) -> str:
    if not covering:
        return content
    gravest = min((mark.verdict for mark in covering), key=_GRAVEST_FIRST.index)
    label = f"<sup>{','.join(map(str, numbers))}</sup>" if numbers else ""
    return f'{label}<mark class="{gravest}">{content}</mark>'
