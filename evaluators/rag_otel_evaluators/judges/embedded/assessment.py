"""One claim before anything learned is applied: aligned, measured, compared. Judging and training both start here."""

from __future__ import annotations

import heapq
from collections.abc import Generator, Sequence
from typing import Final

from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import Claim
from rag_otel_evaluators.cooperative import finish
from rag_otel_evaluators.judges.embedded.alignment import Alignment, align, facts_of
from rag_otel_evaluators.judges.embedded.close_reading import NOTHING_READ, Reading, read_closely
from rag_otel_evaluators.judges.embedded.conflicts import Conflict, find_conflict
from rag_otel_evaluators.judges.embedded.differences import Differences, compare
from rag_otel_evaluators.judges.embedded.evidence import EvidenceIndex
from rag_otel_evaluators.judges.embedded.extremes import compares
from rag_otel_evaluators.judges.embedded.features import features_of
from rag_otel_evaluators.judges.embedded.numbers import agrees, numbers_agree
from rag_otel_evaluators.text.languages.numerals import CJK_NUMERALS
from rag_otel_evaluators.text.languages.replies import reply_of

_READ_CLOSELY: Final = 3
"""How many of the nearest sentences are compared with a claim."""
_READ_FOR_LONG: Final = 2
"""The same for a claim of many words, of which each sentence takes longer."""
_SHORT: Final = 10
"""A claim of fewer words of weight and numbers is compared together with the question."""
_OF_ONE_NUMBER: Final = 2
"""Sentences that hold one number of the claim."""
_NUMBERED: Final = 4
"""How many other sentences with numbers a claim is compared with whose numbers are not in its nearest sentences."""

_MOST_COMPARISONS: Final = 7_500
"""Pairs of numbers of a claim and its sentences, each as many as the claim has words and ten more: some 5 ms. Of 8,530
claims of the development data the largest needs 7,344."""
_MOST_ROWS: Final = 12
"""Rows of a table that are compared."""
_OF_A_PAIR: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessedClaim:
    """What the evidence index has to say of one claim."""

    claim: Claim
    alignment: Alignment
    differences: Differences
    words: int
    """Words of weight and numbers."""
    features: list[float]
    conflict: Conflict | None
    read: list[int]
    """The sentences that it was compared with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadClaim:
    """A claim that was aligned and read, but not yet compared."""

    claim: Claim
    verbatim: str
    """As the response writes it."""
    is_list_item: bool
    alignment: Alignment
    reading: Reading
    words: int
    """Words of weight and numbers."""


def assess(index: EvidenceIndex, claim: Claim, response: str) -> AssessedClaim:
    """Lay one claim of the response against the index, as if it were a short answer: some 0.2 ms."""
    return finish(compare_steps(index, finish(read_steps(index, claim, response)), is_short_answer=True))


def read_steps(index: EvidenceIndex, claim: Claim, response: str) -> Generator[None, None, ReadClaim]:
    """Align and read a claim; yields at cooperative points."""
    verbatim = response[claim.start : claim.end]
    stem = claim.text.removesuffix(verbatim).rstrip()
    alignment = align(index, verbatim, stem)
    yield
    reading = _in_forms_of_evidence(read_closely(facts_of(verbatim)), alignment)
    return ReadClaim(
        claim=claim,
        verbatim=verbatim,
        is_list_item=bool(stem),
        alignment=alignment,
        reading=reading,
        words=len(reading.places) + len(reading.quantities),
    )


def compare_steps(
    index: EvidenceIndex, read: ReadClaim, *, is_short_answer: bool
) -> Generator[None, None, AssessedClaim]:
    """Compare a claim with its evidence; yields at cooperative points: one made to be slow takes some 10 ms in all.

    In a long answer what is read for short ones alone is left out.
    """
    alignment, reading = read.alignment, read.reading
    is_short = read.words < _SHORT
    if is_short:
        nearest = index.with_question(alignment.by_sentence, _READ_CLOSELY)
    else:
        nearest = [sentence for sentence, _ in alignment.nearest[:_READ_FOR_LONG]]
    evidence = [index.read_closely(sentence) for sentence in nearest]
    numbered = [] if numbers_agree(reading, evidence) else _numbered(index, reading, nearest)
    others = [index.read_closely(sentence) for sentence in numbered]
    if reading.quantities and alignment.unseen:
        _see_other_forms(reading, alignment, [*evidence, *others])
    yield
    _bound_comparisons(reading, evidence, others)
    differences = compare(
        reading,
        evidence,
        others,
        question=index.question if is_short else NOTHING_READ,
        order=[(index.chunk_of[sentence], sentence) for sentence in nearest],
        reply=reply_of(read.verbatim) if is_short else 0,
        refuted=[index.is_refuted(sentence) for sentence in nearest] if is_short else (),
        table=_table(index, alignment, nearest)
        if is_short and index.has_tables and compares(reading, index.question)
        else (),
        is_short=is_short_answer,
    )
    yield
    if is_short and differences.values["calculated"] < 0.0:
        alignment.see_numbers()
    compared = [*nearest, *numbered]
    conflict = find_conflict(index, alignment, differences, compared)
    features = features_of(
        index, alignment, differences, words=read.words, list_item=read.is_list_item, in_conflict=conflict is not None
    )
    return AssessedClaim(
        claim=read.claim,
        alignment=alignment,
        differences=differences,
        words=read.words,
        features=features,
        conflict=conflict,
        read=compared,
    )


def _numbered(index: EvidenceIndex, claim: Reading, nearest: list[int]) -> list[int]:
    """Other sentences with numbers: those with the claim's own first, then those of the nearest sentences' chunks."""
    own = [
        sentence
        for quantity in claim.quantities
        if claim.words[quantity.at] in index.vocabulary
        for sentence in index.sentences_with(claim.words[quantity.at])[:_OF_ONE_NUMBER]
    ]
    chunks = {index.chunk_of[sentence] for sentence in nearest[:1]}
    others = sorted(index.with_numbers, key=lambda sentence: index.chunk_of[sentence] not in chunks)
    return [sentence for sentence in dict.fromkeys([*own, *others]) if sentence not in nearest][:_NUMBERED]


def _table(index: EvidenceIndex, alignment: Alignment, nearest: Sequence[int]) -> list[str]:
    """The lines of the table that the claim speaks of, its head first."""
    others = heapq.nlargest(
        _MOST_ROWS, alignment.by_sentence, key=lambda number: (alignment.by_sentence[number], -number)
    )
    for number in (*nearest, *others):
        if "|" in index.text_of(number):
            first = last = number
            while number - first < _MOST_ROWS and first and _continues(index, first - 1, number):
                first -= 1
            while last - first < _MOST_ROWS and last + 1 < len(index.sentences) and _continues(index, last + 1, number):
                last += 1
            return [index.text_of(row) for row in range(first, last + 1)]
    return []


def _continues(index: EvidenceIndex, number: int, row: int) -> bool:
    return index.chunk_of[number] == index.chunk_of[row] and "|" in index.text_of(number)


def _bound_comparisons(claim: Reading, evidence: Sequence[Reading], others: list[Reading]) -> None:
    """Leave out the other sentences, then the last numbers of the claim, where comparing all of them takes too long."""
    pairs = _MOST_COMPARISONS // (_OF_A_PAIR + len(claim.places))
    numbers = sum(len(reading.quantities) for reading in (*evidence, *others))
    while others and len(claim.quantities) * numbers > pairs:
        numbers -= len(others.pop().quantities)
    del claim.quantities[max(1, pairs // max(1, numbers)) :]


def _see_other_forms(claim: Reading, alignment: Alignment, evidence: Sequence[Reading]) -> None:
    """Count the words of a quantity as seen that the evidence writes in another way: "a million", "1,000,000"."""
    for quantity in claim.quantities:
        end = quantity.at + len(quantity.text.split(" "))
        words = [word for word in claim.words[quantity.at : end + quantity.known_unit] if word in alignment.unseen]
        if quantity.text[0] in CJK_NUMERALS:  # there terms are pairs of characters: "八本" beside "8册"
            words += [term for term in alignment.unseen if term[0] in quantity.text and len(term) > 1]
        if words and any(agrees(quantity, other) for reading in evidence for other in reading.quantities):
            alignment.see(words)
            for word in words:
                claim.places.pop(word, None)


def _in_forms_of_evidence(reading: Reading, alignment: Alignment) -> Reading:
    """The claim's words in the form that the chunks have them: "German" where they say "Germany"."""
    for term, form in alignment.forms.items():
        if form != term:
            for places in (reading.places, reading.names):
                if term in places and form not in places:
                    places[form] = places.pop(term)
    return reading
