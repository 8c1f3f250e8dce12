"""Whether a claim and its evidence say the same of a word of the table of meanings, or the opposite.

"It got dearer" against "the price fell", "does not open" against "closed": a word, its likes and its opposites are one
axis, and a "not" in the clause turns it round. The word of the evidence that counts stands in the clause that holds
most of what the claim and the question speak of.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import islice, pairwise
from typing import Final

from rag_otel_evaluators.judges.embedded.close_reading import Reading
from rag_otel_evaluators.judges.embedded.concepts import CONCEPTS, opposites_of
from rag_otel_evaluators.judges.embedded.denial import denied_clauses
from rag_otel_evaluators.text.word_memo import WordMemo

_OPPOSITES: Final = WordMemo(opposites_of)
_MOST_WORDS: Final = 6
"""Words of a claim that are looked for."""
_MOST_THERE: Final = 8
"""Words with an opposite of one sentence that they are compared with."""
_MOST_ANCHORS: Final = 24
_MOST_PLACES: Final = 4
_RANK: Final = 0.5
"""Words of a clause that one place further down in the order of nearness outweighs."""


def meaning_turned(claim: Reading, evidence: Sequence[Reading], anchors: Sequence[str]) -> float:
    """1 where the words of the claim that have an opposite meet it in the evidence, -1 where they meet their likes.

    0 where no word of the evidence bears on them, or as many say the one as the other.
    """
    mine = list(islice(_with_opposites(claim), _MOST_WORDS))
    if not mine:
        return 0.0
    theirs = [
        (reading, denied_clauses(reading), list(islice(_with_opposites(reading), _MOST_THERE))) for reading in evidence
    ]
    denied = denied_clauses(claim)
    said = [_said(claim, at, term, theirs, anchors, denies=claim.clauses[at] in denied) for at, term in mine]
    return max(0.0, -sum(said)) / max(1, len(anchors))


def _said(
    claim: Reading,
    at: int,
    term: str,
    theirs: Sequence[tuple[Reading, set[int], list[tuple[int, str]]]],
    anchors: Sequence[str],
    *,
    denies: bool,
) -> float:
    """How many of the words stand beside the nearest word of the axis; below 0 where it says the opposite."""
    meant, opposed = CONCEPTS[term], _OPPOSITES[term]
    clause = claim.clauses[at]
    own = [
        word
        for word, places in claim.places.items()
        if any(claim.clauses[there] == clause for there in places[:_MOST_PLACES])
    ]
    anchors = [*own, *anchors][:_MOST_ANCHORS]  # what stands in the clause of the word counts twice
    best, value = 0.0, 0.0
    for rank, (reading, denied, words) in enumerate(theirs):
        for there, other in words:
            meanings = CONCEPTS[other]
            same, turned = other == term or not meant.isdisjoint(meanings), not opposed.isdisjoint(meanings)
            if same == turned:
                continue
            beside = _beside(reading, there, [word for word in anchors if word not in (term, other)])
            if beside - _RANK * rank > best:
                best = beside - _RANK * rank
                agrees = denies == (reading.clauses[there] in denied)
                value = beside if same == agrees else -beside if turned else 0.0  # a "not" alone: see `denial`
    return value


def _beside(reading: Reading, at: int, anchors: Collection[str]) -> float:
    """How many of the words stand in the clause of a place, and half of those elsewhere in the sentence."""
    clause, places = reading.clauses[at], reading.places
    held = [places[word][:_MOST_PLACES] for word in anchors if word in places]
    return sum(1.0 if any(reading.clauses[there] == clause for there in each) else 0.5 for each in held)


def _with_opposites(reading: Reading) -> Sequence[tuple[int, str]]:
    """(place, term) of the words that have an opposite; found once for a sentence."""
    if reading.with_opposites is None:
        reading.with_opposites = _find_with_opposites(reading)
    return reading.with_opposites


def _find_with_opposites(reading: Reading) -> list[tuple[int, str]]:
    found = [(places[0], term) for term, places in reading.places.items() if _OPPOSITES[term]]
    if reading.is_ascii:
        return found
    for at, (one, other) in enumerate(pairwise(reading.written)):
        if "\u3400" <= one[0] <= "\u9fff" and opposites_of(one + other):
            found.append((at, one + other))
    return found
