"""Members of a list: "yoga, boxing and pilates" where the evidence lists yoga, boxing and swimming, and pilates apart.

Each member of the claim's list is looked for in the one part of a sentence that holds most of them: a part ends at a
semicolon or a line break.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final

from rag_otel_evaluators.judges.embedded.close_reading import Reading
from rag_otel_evaluators.judges.embedded.nearness import parts_of
from rag_otel_evaluators.text.languages import words

_MOST_WORDS: Final = 4
"""Words of weight of one member; more are a clause of their own."""
_MOST_CHARACTERS: Final = 7
"""The same in Chinese, where each character is a word."""
_MOST_MEMBERS: Final = 8
_JOINING: Final = words("and y e und et sowie plus") | frozenset("和与及跟")
"""Before the last member."""
_HELD: Final = 0.5
"""Share of a member's words that must stand there."""
_HELD_OF_CHARACTERS: Final = 0.7


def members_missing(claim: Reading, evidence: Sequence[Reading]) -> float:
    """Share of the members of the claim's list that are not in the list of the evidence, 0..1.

    0 where the claim lists nothing, or the evidence holds none of it: that other differences tell.
    """
    members = _members(claim)
    if len(members) < 2:
        return 0.0
    best = 0
    for reading in evidence:
        for part in _parts(reading):
            best = max(best, sum(_holds(part, member) for member in members))
    return 1.0 - best / len(members) if best else 0.0


def _members(claim: Reading) -> list[list[str]]:
    if not _JOINING.intersection(word.lower() for word in claim.written):
        return []
    by_clause: dict[int, list[str]] = {}
    for term, places in claim.places.items():
        by_clause.setdefault(claim.clauses[places[0]], []).append(term)
    members = [terms for _, terms in sorted(by_clause.items())][:_MOST_MEMBERS]
    return [] if any(len(terms) > _longest(terms) for terms in members) else members


def _longest(terms: Sequence[str]) -> int:
    return _MOST_CHARACTERS if _is_chinese(terms) else _MOST_WORDS


def _is_chinese(terms: Sequence[str]) -> bool:
    return "\u3400" <= terms[0][0] <= "\u9fff"


def _parts(reading: Reading) -> Iterator[set[str]]:
    """The words of weight of each part of a sentence; a row of a table is one part."""
    if reading.is_row:
        yield set(reading.places)
        return
    for _, part in groupby(zip(parts_of(reading), reading.words, strict=True), key=itemgetter(0)):
        yield {term for _, term in part if term in reading.places}


def _holds(part: set[str], member: Sequence[str]) -> bool:
    least = _HELD_OF_CHARACTERS if _is_chinese(member) else _HELD
    return sum(term in part for term in member) >= least * len(member)
