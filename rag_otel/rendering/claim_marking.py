"""Marks claims in the response and their quotes in the chunks.

`claim_marks` and `quote_marks` find the positions, `split_by_marks` splits the text at them, and `mark_up` renders the
text for a page or a message. Used by alert messages and by the report of `rag-otel evaluate`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import Claim, ClaimVerdict, Verdict

_WORST_FIRST: Final = (Verdict.CONTRADICTED, Verdict.NOT_ENOUGH_INFO, Verdict.UNJUDGED, Verdict.SUPPORTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A part of a text, `text[start:end]`, that belongs to a claim."""

    start: int
    end: int
    number: int
    """Number of the claim, 1-based."""
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """A part of a text that is covered by the same marks throughout."""

    text: str
    verdict: Verdict | None = None
    """The worst verdict of the claims marked here. None for unmarked text."""
    numbers: tuple[int, ...] = ()
    """Numbers of the claims whose marks begin here, in ascending order."""

    @property
    def marked(self) -> bool:
        return self.verdict is not None


def claim_marks(text: str, claims: Sequence[ClaimVerdict]) -> list[Mark]:
    """Returns the position of each claim in `text`.

    Offsets are clipped to the text. If a claim's offsets are empty, its text is searched for; if it is not found, the
    claim gets no mark.
    """
    places = ((number, verdict, _place(text, verdict.claim)) for number, verdict in enumerate(claims, 1))
    return [
        Mark(start=start, end=end, number=number, verdict=verdict.verdict)
        for number, verdict, (start, end) in places
        if start < end
    ]


def quote_marks(chunk_id: str, text: str, claims: Sequence[ClaimVerdict]) -> list[Mark]:
    """Returns the positions of the claims' quotes in a chunk's `text`. A quote gets no mark if the text at its offsets
    differs."""
    return [
        Mark(start=quote.start, end=quote.end, number=number, verdict=verdict.verdict)
        for number, verdict in enumerate(claims, 1)
        for quote in verdict.quotes
        if quote.chunk_id == chunk_id and quote.start < quote.end and text[quote.start : quote.end] == quote.text
    ]


def split_by_marks(text: str, marks: Iterable[Mark]) -> tuple[Fragment, ...]:
    """Splits the text where a mark begins or ends. The fragments joined are the text. Marks may overlap."""
    marks = list(marks)
    borders = sorted({0, len(text), *(mark.start for mark in marks), *(mark.end for mark in marks)})
    fragments = (_fragment(text[start:end], start, end, marks) for start, end in itertools.pairwise(borders))
    return tuple(fragment for fragment in fragments if fragment.text)


def join_marked(fragments: Iterable[Fragment]) -> tuple[Fragment, ...]:
    """Joins adjacent marked fragments into one, with the worst verdict and all numbers."""
    joined: list[Fragment] = []
    for marked, group in itertools.groupby(fragments, key=lambda fragment: fragment.marked):
        neighbours = list(group)
        joined += [_join(neighbours)] if marked else neighbours
    return tuple(joined)


def mark_up(
    fragments: Iterable[Fragment], *, opening: Callable[[Fragment], str], closing: str, escape: Callable[[str], str]
) -> str:
    """Returns the text with `opening` and `closing` around each marked fragment. `escape` is applied to the text."""
    return "".join(
        f"{opening(fragment)}{escape(fragment.text)}{closing}" if fragment.marked else escape(fragment.text)
        for fragment in fragments
    )


def _place(text: str, claim: Claim) -> tuple[int, int]:
    start, end = max(0, claim.start), min(len(text), claim.end)
    if start >= end and claim.text:
        start = text.find(claim.text)
        end = start + len(claim.text) if start >= 0 else start
    return start, end


def _join(neighbours: Sequence[Fragment]) -> Fragment:
    return Fragment(
        text="".join(fragment.text for fragment in neighbours),
        verdict=_worst(fragment.verdict for fragment in neighbours if fragment.verdict is not None),
        numbers=tuple(sorted({number for fragment in neighbours for number in fragment.numbers})),
    )


def _fragment(text: str, start: int, end: int, marks: Sequence[Mark]) -> Fragment:
    covering = [mark for mark in marks if mark.start <= start and end <= mark.end]
    if not covering:
        return Fragment(text=text)
    numbers = sorted({mark.number for mark in covering if mark.start == start})
    return Fragment(text=text, verdict=_worst(mark.verdict for mark in covering), numbers=tuple(numbers))


def _worst(verdicts: Iterable[Verdict]) -> Verdict:
    return min(verdicts, key=_WORST_FIRST.index)
