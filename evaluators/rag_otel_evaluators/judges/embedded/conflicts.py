"""Where aligned evidence says otherwise: another date, another number, or the opposite.

A model of word overlap cannot see that "20 March" against "14 March" is worse than a word more or less. These rules
can, and only they make a verdict `contradicted`. They ask that the evidence speaks of the same thing (most of the
claim's other words stand in that sentence) and that no other evidence bears the claim out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rag_otel_evaluators.judges.embedded.alignment import KIN_LIKENESS, Alignment
from rag_otel_evaluators.judges.embedded.dates import Date, dates_in, is_year
from rag_otel_evaluators.judges.embedded.evidence import EvidenceIndex
from rag_otel_evaluators.judges.embedded.terms import MONTH_TERMS, NEGATION_TERMS, WEIGHTS, stem
from rag_otel_evaluators.languages import NEGATING_WORDS

DATE_ALIGNMENT: Final = 0.5
"""Share of the claim's other words that a sentence must hold before its date can contradict the claim's."""
NUMBER_ALIGNMENT: Final = 0.7
NEGATION_ALIGNMENT: Final = 0.8
_NEGATION_SCOPE: Final = 3
"""How far after a negation the word that it negates may stand."""
_MIN_LENGTH_RATIO: Final = 0.6
"""Statements of more unequal length say too much besides to be each other's opposite."""
_OPPOSING_TERMS: Final = NEGATION_TERMS | {stem(word) for word in NEGATING_WORDS}
_LOOKED_AT: Final = 3
"""How many of the nearest sentences are compared."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """The claim says one thing, a sentence of the evidence another."""

    sentence: int
    """Index of the sentence that contradicts."""
    claimed: str
    """What the claim says, for people."""
    found: str
    """What the evidence says instead."""


def find_conflict(index: EvidenceIndex, claim: Alignment) -> Conflict | None:
    """The first conflict between a claim and its nearest sentences; None where they get along."""
    numeric = any(term[0].isdigit() for term in claim.weights)
    if numeric:
        return _date_conflict(index, claim) or _number_conflict(index, claim)
    return _negation_conflict(index, claim)


def _date_conflict(index: EvidenceIndex, claim: Alignment) -> Conflict | None:
    claimed = dates_in(claim.terms)
    if not claimed:
        return None
    dated = _dated_sentences(index)
    for date in claimed:
        if any(date.agrees(other) for dates in dated.values() for other in dates):
            continue
        for sentence, _ in claim.nearest[:_LOOKED_AT]:
            if _alignment(index, claim, sentence, without=date.terms) < DATE_ALIGNMENT:
                continue
            for other in dated.get(sentence, ()):
                if date.comparable(other):
                    return Conflict(sentence, str(date), str(other))
    return None


def _dated_sentences(index: EvidenceIndex) -> dict[int, list[Date]]:
    candidates = {sentence for month in MONTH_TERMS for sentence in index.postings.get(month, ())}
    candidates.update(sentence for term, found in index.postings.items() if term.count("-") == 2 for sentence in found)
    return {sentence: dates_in(index.sentences[sentence].terms) for sentence in candidates}


def _number_conflict(index: EvidenceIndex, claim: Alignment) -> Conflict | None:
    """A number with a unit that no evidence has, beside a sentence with another number of that unit."""
    for at, number in enumerate(claim.terms):
        if not number[0].isdigit() or number in index.postings or number in index.question_terms:
            continue
        if (unit := _unit(claim.terms, at)) is None:
            continue
        for sentence, _ in claim.nearest[:_LOOKED_AT]:
            if _alignment(index, claim, sentence, without=frozenset({number})) < NUMBER_ALIGNMENT:
                continue
            terms = index.sentences[sentence].terms
            others = [other for there, other in enumerate(terms) if other[0].isdigit() and _unit(terms, there) == unit]
            if len(others) == 1:  # with several, nobody can say which one the claim got wrong
                return Conflict(sentence, number, others[0])
    return None


def _unit(terms: list[str] | tuple[str, ...], at: int) -> str | None:
    """What a number counts: the currency before it or the word after it; `year` for a bare year; else None."""
    if at > 0 and terms[at - 1] in "$€£¥":
        return terms[at - 1]
    after = terms[at + 1] if at + 1 < len(terms) else ""
    if after and not after[0].isdigit() and WEIGHTS.get(after, 1.0) > 0.0 and after not in MONTH_TERMS:
        return after
    return "year" if is_year(terms[at]) else None


def _negation_conflict(index: EvidenceIndex, claim: Alignment) -> Conflict | None:
    """The same statement with and without "not". Careful: paraphrases negate in many ways ("avoid", "unable")."""
    for sentence, share in claim.nearest[:_LOOKED_AT]:
        evidence = index.sentences[sentence].terms
        similar_length = _MIN_LENGTH_RATIO <= len(claim.terms) / len(evidence) <= 1 / _MIN_LENGTH_RATIO
        if share < NEGATION_ALIGNMENT or not similar_length:
            continue
        word = negated_differently(claim.terms, evidence)
        sides = [terms for terms in (claim.terms, evidence) if not _OPPOSING_TERMS.isdisjoint(terms)]
        if word is not None and len(sides) == 1:
            says = (f"not {word}", word)
            return Conflict(sentence, *(says if sides[0] is claim.terms else reversed(says)))
    return None


def negated(terms: Sequence[str]) -> set[str]:
    """The words that a negation stands before: the next word of weight, within a few."""
    found = set()
    for at, term in enumerate(terms):
        if term in NEGATION_TERMS:
            scope = terms[at + 1 : at + 1 + _NEGATION_SCOPE]
            found.update([word for word in scope if WEIGHTS.get(word, 1.0) > 0.0][:1])
    return found


def negated_differently(claim: Sequence[str], evidence: Sequence[str]) -> str | None:
    """A word that both hold and only one of them negates; None where there is none."""
    in_claim, in_evidence = negated(claim), negated(evidence)
    differing = [word for word in in_claim if word in evidence and word not in in_evidence]
    differing += [word for word in in_evidence if word in claim and word not in in_claim]
    return min(differing, default=None)


def _alignment(index: EvidenceIndex, claim: Alignment, sentence: int, *, without: frozenset[str]) -> float:
    """Share of the claim's weight, leaving out some terms, that one sentence holds in any form."""
    held = set(index.sentences[sentence].terms)
    total = shared = 0.0
    for term, weight in claim.weights.items():
        if term in without or term[0].isdigit() or term in MONTH_TERMS:
            continue
        total += weight
        kin, likeness = ("", 0.0) if term in index.postings else index.closest_kin(term)
        if term in held or (likeness >= KIN_LIKENESS and kin in held):
            shared += weight
    return shared / total if total else 1.0
