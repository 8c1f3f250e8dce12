"""Where aligned evidence says otherwise: another date, number, unit or name, the opposite word, or the opposite.

A model of word overlap cannot see that "20 March" against "14 March" is worse than a word more or less. These rules
can, and only they make a verdict `contradicted`. They ask that the evidence speaks of the same thing (most of the
claim's other words stand in that sentence) and that no other evidence bears the claim out.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Final

from rag_otel_evaluators.judges.embedded.alignment import Alignment
from rag_otel_evaluators.judges.embedded.dates import Date, dates_in, is_year
from rag_otel_evaluators.judges.embedded.evidence import EvidenceIndex
from rag_otel_evaluators.judges.embedded.opposites import antonym_in, denies_alone, negated_differently, opposes
from rag_otel_evaluators.judges.embedded.terms import MONTH_TERMS, NEGATION_TERMS, UNIT_TERMS, WEIGHTS, tokenize

DATE_ALIGNMENT: Final = 0.5
"""Share of the claim's other words that a sentence must hold before its date can contradict the claim's."""
NUMBER_ALIGNMENT: Final = 0.7
DENIAL_ALIGNMENT: Final = 0.7
"""The same for a claim with a "not" that no such sentence has. On the development data it calls 2 of 1,675 claims
contradicted that people did not mark."""
NEGATION_ALIGNMENT: Final = 0.8
"""The same for a sentence with a "not" that the claim lacks: paraphrases drop one more often than they add one."""
ANTONYM_ALIGNMENT: Final = 0.8
NAME_ALIGNMENT: Final = 0.7
_MIN_LENGTH_RATIO: Final = 0.6
"""Statements of more unequal length say too much besides to be each other's opposite."""
_MOST_NUMBERS: Final = 12
"""Numbers of one claim that are compared: a longer row of them is no sentence."""
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
    if claim.numbers:
        numeric = _date_conflict(index, claim) or _number_conflict(index, claim) or _unit_conflict(index, claim)
        if numeric is not None:
            return numeric
    return _negation_conflict(index, claim) or _antonym_conflict(index, claim) or _name_conflict(index, claim)


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
    candidates = {sentence for month in MONTH_TERMS for sentence in index.sentences_with(month)}
    for term in index.vocabulary:
        if term.count("-") == 2:
            candidates.update(index.sentences_with(term))
    return {sentence: index.sentences[sentence].dates for sentence in candidates}


def _number_conflict(index: EvidenceIndex, claim: Alignment) -> Conflict | None:
    """A number that no evidence has, where a sentence has another one of the same unit or after the same word."""
    for at in _numbers(claim):
        number = claim.terms[at]
        if number in index.vocabulary or number in index.question_terms:
            continue
        unit, before = _unit(claim.terms, at), _neighbour(claim.terms, at, -1)
        for sentence, _ in claim.nearest[:_LOOKED_AT]:
            if _alignment(index, claim, sentence) < NUMBER_ALIGNMENT:
                continue
            terms = index.sentences[sentence].terms
            numbers = [there for there, other in enumerate(terms) if other[0].isdigit()]
            of_unit = {terms[there] for there in numbers if unit and _unit(terms, there) == unit}
            after_word = {terms[there] for there in numbers if before and _neighbour(terms, there, -1) == before}
            for others in (of_unit, after_word):
                if len(others) == 1:  # with several, nobody can say which one the claim got wrong
                    return Conflict(sentence, number, *others)
    return None


def _numbers(claim: Alignment) -> list[int]:
    """Where the claim's numbers stand; of many the first ones."""
    return list(islice((at for at, term in enumerate(claim.terms) if term[0].isdigit()), _MOST_NUMBERS))


def _unit(terms: list[str], at: int) -> str | None:
    """What a number counts: the currency before it or the word after it; `year` for a bare year; else None."""
    if at > 0 and terms[at - 1] in "$€£¥":
        return terms[at - 1]
    after = terms[at + 1] if at + 1 < len(terms) else ""
    if after in UNIT_TERMS or (after and not after[0].isdigit() and _counts(after) and after not in MONTH_TERMS):
        return after
    return "year" if is_year(terms[at]) else None


def _unit_conflict(index: EvidenceIndex, claim: Alignment) -> Conflict | None:
    """The number of a sentence, of another unit: "330 feet" for "330 metres"."""
    for at in _numbers(claim):
        number = claim.terms[at]
        units = _units_of(claim.terms, number)
        if len(units) != 1 or number not in index.vocabulary:
            continue
        found = {
            sentence: _units_of(index.sentences[sentence].terms, number) for sentence in index.sentences_with(number)
        }
        if any(not there or there & units for there in found.values()):
            continue
        its_terms = frozenset(term for term in claim.terms[at - 1 : at + 2] if term in UNIT_TERMS)
        for sentence, _ in claim.nearest[:_LOOKED_AT]:
            if sentence in found and _alignment(index, claim, sentence, without=its_terms) >= NUMBER_ALIGNMENT:
                return Conflict(sentence, f"{number} {min(units)}", f"{number} {min(found[sentence])}")
    return None


def _units_of(terms: list[str], number: str) -> frozenset[str]:
    """The units that stand beside a number: those after it, or else the currency before it."""
    places = [at for at, term in enumerate(terms) if term == number]
    after = frozenset(
        UNIT_TERMS[terms[at + 1]] for at in places if terms[at + 1 : at + 2] and terms[at + 1] in UNIT_TERMS
    )
    return after or frozenset(UNIT_TERMS[terms[at - 1]] for at in places if at and terms[at - 1] in UNIT_TERMS)


def _negation_conflict(index: EvidenceIndex, claim: Alignment) -> Conflict | None:
    """The same statement with and without "not". Careful: paraphrases negate in many ways ("avoid", "unable")."""
    if denies_alone(index, claim, DENIAL_ALIGNMENT):
        denied = _denied_word(claim)
        return Conflict(claim.nearest[0][0], f"not {denied}", denied)
    for sentence, share in claim.nearest[:_LOOKED_AT]:
        if share < NEGATION_ALIGNMENT or not _similar_length(index, claim, sentence):
            continue
        evidence = index.sentences[sentence].terms
        word = negated_differently(claim.terms, evidence)
        if word is not None and not opposes(claim.terms) and opposes(evidence):
            return Conflict(sentence, word, f"not {word}")
    return None


def _similar_length(index: EvidenceIndex, claim: Alignment, sentence: int) -> bool:
    ratio = len(claim.terms) / len(index.sentences[sentence].terms)
    return _MIN_LENGTH_RATIO <= ratio <= 1 / _MIN_LENGTH_RATIO


def _denied_word(claim: Alignment) -> str:
    """The word after the first negation, as the claim writes it; the negation itself where it is the last word."""
    at = next(at for at, term in enumerate(claim.terms) if term in NEGATION_TERMS)
    return next((claim.tokens[there] for there in range(at + 1, len(claim.terms)) if _counts(claim.terms[there])), "so")


def _counts(term: str) -> bool:
    return WEIGHTS.get(term, 1.0) > 0.0


def _antonym_conflict(index: EvidenceIndex, claim: Alignment) -> Conflict | None:
    found = antonym_in(index, claim, 0.0)
    if found is None:
        return None
    sentence, word, opposite = found
    if not _similar_length(index, claim, sentence):
        return None
    if _alignment(index, claim, sentence, without=frozenset({word})) < ANTONYM_ALIGNMENT:
        return None
    return Conflict(sentence, word, opposite)


def _name_conflict(index: EvidenceIndex, claim: Alignment) -> Conflict | None:
    """A name that is nowhere, where the sentence has another one after (or before) the same word."""
    strange = claim.unseen.keys() - index.question_terms
    if not strange:
        return None
    names = [
        at
        for at, term in enumerate(claim.terms)
        if term in strange and at > 0 and _is_name(claim.tokens[at], term)  # the first is capitalised in any case
    ]
    without = frozenset(claim.terms[at] for at in names)
    for at in names:
        before, after = _neighbour(claim.terms, at, -1), _neighbour(claim.terms, at, +1)
        for sentence, _ in claim.nearest[:_LOOKED_AT]:
            if _alignment(index, claim, sentence, without=without) < NAME_ALIGNMENT:
                continue
            found = index.sentences[sentence]
            words = tokenize(index.chunks[index.chunk_of[sentence]].text[found.start : found.end])
            for there, (other, term) in enumerate(zip(words, found.terms, strict=False)):
                if there == 0 or not _is_name(other, term) or term in claim.weights:
                    continue
                if (before and before == _neighbour(found.terms, there, -1)) or (
                    after and after == _neighbour(found.terms, there, +1)
                ):
                    return Conflict(sentence, claim.tokens[at], other)
    return None


def _is_name(token: str, term: str) -> bool:
    return token[0].isupper() and len(token) > 1 and WEIGHTS.get(term, 1.0) >= 1.0 and term not in MONTH_TERMS


def _neighbour(terms: list[str], at: int, step: int) -> str | None:
    """The next term of weight on one side, within three; None where there is none."""
    for there in range(at + step, at + 4 * step, step):
        if not 0 <= there < len(terms):
            return None
        if _counts(terms[there]):
            return terms[there]
    return None


def _alignment(
    index: EvidenceIndex, claim: Alignment, sentence: int, *, without: frozenset[str] = frozenset()
) -> float:
    """Share of the claim's weight, leaving out some terms, that one sentence holds in any form."""
    held, forms = index.sentences[sentence].distinct, claim.forms
    total = shared = 0.0
    for term, weight in claim.weights.items():
        if term in without or term[0].isdigit() or term in MONTH_TERMS:
            continue
        total += weight
        if term in forms and forms[term] in held:
            shared += weight
    return shared / total if total else 1.0
