"""How a claim is put together and how it answers its question: numbers that say little alone and more beside others.

Three new words side by side are likelier made up than three apart. A name from the clause that is asked about is
likelier right than one from another chunk. A tree can combine such numbers with the differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rag_otel_evaluators.judges.embedded.close_reading import Reading
from rag_otel_evaluators.judges.embedded.nearness import count_held

WORDED: Final = (
    "unread_run",
    "one_clause",
    "asked_clause",
    "elsewhere",
    "adds_name",
)
"""The names of these numbers."""


def worded(
    claim: Reading, evidence: Sequence[Reading], question: Reading, order: Sequence[tuple[int, int]]
) -> dict[str, float]:
    """The numbers of `WORDED`. `order`: (chunk, sentence) of each of the evidence."""
    content = list(claim.places)
    focus = [term for term in claim.places if term not in question.places]
    asked = list(question.places)
    return {
        "unread_run": _unread_run(claim, evidence),
        "one_clause": max([_share_of_one_clause(content, reading) for reading in evidence]),
        "asked_clause": _asked_clause(focus, asked, evidence),
        "elsewhere": _elsewhere(focus, asked, evidence, order),
        "adds_name": float(any(term in claim.names for term in focus)),
    }


def _unread_run(claim: Reading, evidence: Sequence[Reading]) -> float:
    """The longest run of the claim's words of weight that no sentence has, as a share of them, 0..1."""
    known = set().union(*[reading.places for reading in evidence])
    words = [word in known for word in claim.words if word in claim.places]
    if all(words):
        return 0.0
    longest = run = 0
    for is_known in words:
        run = 0 if is_known else run + 1
        longest = max(longest, run)
    return longest / len(words)


def _share_of_one_clause(terms: Sequence[str], reading: Reading) -> float:
    """The largest share of the terms that one clause holds, 0..1."""
    return max(_by_clause(terms, reading).values(), default=0.0)


def _by_clause(terms: Sequence[str], reading: Reading) -> dict[int, float]:
    held: dict[int, float] = {}
    clauses, places_of = reading.clauses, reading.places
    for term in terms:
        if term in places_of:
            places = places_of[term]
            for clause in (clauses[places[0]],) if len(places) == 1 else {clauses[place] for place in places}:
                held[clause] = held.get(clause, 0.0) + 1.0 / len(terms)
    return held


def _asked_clause(focus: Sequence[str], asked: Sequence[str], evidence: Sequence[Reading]) -> float:
    """Share of what the claim adds to the question in the clause that holds most of the question, 0..1."""
    best, found = 0.0, 0.0
    for reading in evidence:
        added = _by_clause(focus, reading)
        for clause, share in _by_clause(asked, reading).items():
            if (share, added.get(clause, 0.0)) > (best, found):
                best, found = share, added.get(clause, 0.0)
    return found


def _elsewhere(
    focus: Sequence[str], asked: Sequence[str], evidence: Sequence[Reading], order: Sequence[tuple[int, int]]
) -> float:
    """1 where what the claim adds stands in another chunk than what is asked, 0.5 in another sentence of it."""
    if not focus or not asked:
        return 0.0
    held = [(count_held(focus, reading), count_held(asked, reading), -at) for at, reading in enumerate(evidence)]
    most = max(held)
    at_focus, at_asked = -most[2], -max([(other, mine, at) for mine, other, at in held])[2]
    if at_focus == at_asked or not most[0]:
        return 0.0
    return 1.0 if order[at_focus][0] != order[at_asked][0] else 0.5
