"""Where aligned evidence says otherwise: another date, number, unit or name, the opposite word, or the opposite.

A model of word overlap cannot see that "20 March" against "14 March" is worse than a word more or less. These rules
can, and only they make a verdict `contradicted`. They ask that the evidence speaks of the same thing (most of the
claim's other words stand in that sentence) and that no other evidence bears the claim out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Final

from rag_otel.lazy_dataclass import dataclass
from rag_otel_evaluators.judges.answer_language import language_of
from rag_otel_evaluators.judges.embedded.alignment import FEW_WORDS, Alignment
from rag_otel_evaluators.judges.embedded.dates import Date, dates_in
from rag_otel_evaluators.judges.embedded.differences import Differences
from rag_otel_evaluators.judges.embedded.evidence import EvidenceIndex
from rag_otel_evaluators.judges.embedded.numbers import said
from rag_otel_evaluators.judges.embedded.opposites import (
    antonym_in,
    denies_alone,
    negated,
    negated_differently,
    opposes,
)
from rag_otel_evaluators.judges.embedded.terms import (
    MONTH_TERMS,
    NEGATION_TERMS,
    UNIT_TERMS,
    WEIGHTS,
    term_of,
    tokenize,
)
from rag_otel_evaluators.text.languages.negations import NEVER
from rag_otel_evaluators.text.languages.polarity import UNLIMITED

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
RIVAL_MARGIN: Final = 0.45
"""How much better another number must fit in the claim's place to contradict it, where the claim's is there too ..."""
MISSING_MARGIN: Final = 0.3
"""... and where it is nowhere."""
NAME_MARGIN: Final = 0.4
"""How much better another name must fit that a sentence says the same of."""
UNLIMITED_UNREAD: Final = 0.5
"""Share of a claim that something lasts for ever that the sentences may lack that were read."""
PERIODS: Final = ("hour", "day", "week", "month", "year")
_LIMITS: Final = frozenset({"only", "except"})
"""Classes of words with which a sentence may deny: "only outside rush hour"."""
_FOR_LIFE: Final = frozenset({("for", "life"), ("a", "life"), ("de", "vida"), ("à", "vie"), ("a", "lifetime")})
OPPOSITE_SHARE: Final = 0.5
"""Share of the claim that a sentence with an opposite word must hold."""
_MIN_LENGTH_RATIO: Final = 0.6
"""Statements of more unequal length say too much besides to be each other's opposite."""
_MOST_NUMBERS: Final = 12
"""Numbers of one claim that are compared: a longer row of them is no sentence."""
_MOST_DATED: Final = 50
"""Sentences that are looked through for a date, or for a word that is denied."""
_MOST_HOLDING: Final = 10
"""Sentences with a number whose units are compared."""
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


def find_conflict(
    index: EvidenceIndex, claim: Alignment, differences: Differences, read: Sequence[int]
) -> Conflict | None:
    """The first conflict between a claim and its nearest sentences; None where they get along.

    `read`: the sentences that `differences` counts.
    """
    conflict = (
        _by_rules(index, claim, differences)
        or _by_comparison(index, differences, read)
        or _said_of_another(index, claim, differences, read)
        or _for_ever(index, claim, differences, read)
    )
    if conflict is None or conflict.claimed.lower() == conflict.found.lower():
        return None  # what is written alike is no difference that anybody could see
    return conflict


def _by_comparison(index: EvidenceIndex, differences: Differences, read: Sequence[int]) -> Conflict | None:
    """Another number of the unit, or an opposite word, that stands plainly where the claim has its own."""
    rival, opposite, values = differences.number_rival, differences.opposite, differences.values
    least = MISSING_MARGIN if values["number_missing"] else RIVAL_MARGIN
    if rival is not None and rival.is_plain and rival.margin >= least:
        return Conflict(read[rival.sentence], rival.claimed, rival.found)
    if opposite is not None and values["opposite"] >= OPPOSITE_SHARE and term_of(opposite[1]) not in index.vocabulary:
        sentence, word, other = opposite
        return Conflict(read[sentence], word, other)
    return None


def _said_of_another(
    index: EvidenceIndex, claim: Alignment, differences: Differences, read: Sequence[int]
) -> Conflict | None:
    """A sentence says all that the claim says, of another name: "Bob leads Paris" for "Bob leads Berlin"."""
    rival = differences.name_rival
    if rival is None or rival.margin < NAME_MARGIN or differences.values["spread"] <= 0.0:
        return None
    held, own = index.sentences[read[rival.sentence]].distinct, term_of(rival.claimed)
    if own in held or any(claim.forms.get(term) not in held for term in claim.weights if term != own):
        return None
    return Conflict(read[rival.sentence], rival.claimed, rival.found)


def _for_ever(index: EvidenceIndex, claim: Alignment, differences: Differences, read: Sequence[int]) -> Conflict | None:
    """ "For life" where the nearest sentence gives a length of time."""
    if claim.numbers or not read or differences.values["unread"] > UNLIMITED_UNREAD:
        return None
    words = [token.lower() for token in claim.tokens]
    at = next((at for at, word in enumerate(words) if _is_unlimited(words, at)), None)
    if at is None:
        return None
    sentence = read[differences.nearest]
    near = index.read_closely(sentence)
    if any(_is_unlimited([word.lower() for word in near.written], there) for there in range(len(near.written))):
        return None
    for quantity in near.quantities:
        if quantity.unit in PERIODS:
            return Conflict(sentence, claim.tokens[at], said(near, quantity))
    return None


def _is_unlimited(words: Sequence[str], at: int) -> bool:
    return words[at] in UNLIMITED or (at > 0 and (words[at - 1], words[at]) in _FOR_LIFE)


def _by_rules(index: EvidenceIndex, claim: Alignment, differences: Differences) -> Conflict | None:
    if claim.numbers:
        numeric = _date_conflict(index, claim) or _unit_conflict(index, claim)
        if numeric is not None:
            return numeric
    is_told = len(claim.weights) <= FEW_WORDS and differences.values["denial_turned"] <= 0.0
    denial = None if is_told else _negation_conflict(index, claim)
    return denial or _antonym_conflict(index, claim) or _name_conflict(index, claim)


def _date_conflict(index: EvidenceIndex, claim: Alignment) -> Conflict | None:
    claimed = dates_in(claim.terms)
    if not claimed:
        return None
    for date in claimed:
        if any(date.agrees(other) for other in _dates_near(index, date)):
            continue
        for sentence, _ in claim.nearest[:_LOOKED_AT]:
            if _alignment(index, claim, sentence, without=date.terms) < DATE_ALIGNMENT:
                continue
            for other in index.sentences[sentence].dates:
                if date.comparable(other):
                    return Conflict(sentence, _in_claim(claim, date.terms), _in_sentence(index, sentence, other.terms))
    return None


def _dates_near(index: EvidenceIndex, date: Date) -> Iterator[Date]:
    """The dates of the sentences that could hold this one: those with its month, or an ISO date."""
    months = [term for term, month in MONTH_TERMS.items() if month == date.month]
    places = (place for term in (*months, *index.iso_dates) for place in index.sentences_with(term)[:_MOST_DATED])
    return (other for place in islice(places, _MOST_DATED) for other in index.sentences[place].dates)


def _numbers(claim: Alignment) -> list[int]:
    """Where the claim's numbers first stand; of many the first ones."""
    first = {term: at for at, term in reversed(list(enumerate(claim.terms))) if term[0].isdigit()}
    return sorted(first.values())[:_MOST_NUMBERS]


def _unit_conflict(index: EvidenceIndex, claim: Alignment) -> Conflict | None:
    """The number of a sentence, of another unit: "330 feet" for "330 metres"."""
    for at in _numbers(claim):
        number = claim.terms[at]
        units = _units_of(claim.terms, number)
        if len(units) != 1 or number not in index.vocabulary:
            continue
        found = {
            sentence: _units_of(index.sentences[sentence].terms, number)
            for sentence in index.sentences_with(number)[:_MOST_HOLDING]
        }
        if any(not there or there & units for there in found.values()):
            continue
        its_terms = frozenset(term for term in claim.terms[at - 1 : at + 2] if term in UNIT_TERMS)
        for sentence, _ in claim.nearest[:_LOOKED_AT]:
            if sentence in found and _alignment(index, claim, sentence, without=its_terms) >= NUMBER_ALIGNMENT:
                mine, theirs = _unit_words(claim.terms, number), _unit_words(index.sentences[sentence].terms, number)
                return Conflict(sentence, _in_claim(claim, mine), _in_sentence(index, sentence, theirs))
    return None


def _unit_words(terms: list[str], number: str) -> frozenset[str]:
    """The number and the words of units beside it."""
    beside = [t for at, term in enumerate(terms) if term == number for t in terms[max(0, at - 1) : at + 2]]
    return frozenset([number, *(term for term in beside if term in UNIT_TERMS)])


def _in_claim(claim: Alignment, terms: Collection[str]) -> str:
    """These terms as the claim writes them."""
    return _written(claim.tokens, claim.terms, terms)


def _in_sentence(index: EvidenceIndex, sentence: int, terms: Collection[str]) -> str:
    """These terms as the sentence writes them."""
    found = index.sentences[sentence]
    text = index.chunks[index.chunk_of[sentence]].text[found.start : found.end]
    return _written(tokenize(text), found.terms, terms)


def _written(tokens: Sequence[str], terms: Sequence[str], wanted: Collection[str]) -> str:
    first = {term: token for token, term in reversed(list(zip(tokens, terms, strict=False))) if term in wanted}
    return " ".join(first[term] for term in dict.fromkeys(terms) if term in first)


def _units_of(terms: list[str], number: str) -> frozenset[str]:
    """The units that stand beside a number: those after it, or else the currency before it."""
    places = [at for at, term in enumerate(terms) if term == number]
    after = frozenset(
        UNIT_TERMS[terms[at + 1]] for at in places if terms[at + 1 : at + 2] and terms[at + 1] in UNIT_TERMS
    )
    return after or frozenset(UNIT_TERMS[terms[at - 1]] for at in places if at and terms[at - 1] in UNIT_TERMS)


def _negation_conflict(index: EvidenceIndex, claim: Alignment) -> Conflict | None:
    """The same statement with and without "not". Careful: paraphrases negate in many ways ("avoid", "unable")."""
    if denies_alone(index, claim, DENIAL_ALIGNMENT) and not (_denied_elsewhere(index, claim) or _limited(index, claim)):
        denied = _denied_word(claim)
        return Conflict(claim.nearest[0][0], f"not {denied}", denied)
    for sentence, share in claim.nearest[:_LOOKED_AT]:
        if share < NEGATION_ALIGNMENT or not _similar_length(index, claim, sentence):
            continue
        evidence = index.sentences[sentence].terms
        word = negated_differently(claim.terms, evidence)
        if word is not None and not opposes(claim.terms) and opposes(evidence):
            return Conflict(sentence, _in_claim(claim, {word}), f"not {_in_sentence(index, sentence, {word})}")
    return None


def _similar_length(index: EvidenceIndex, claim: Alignment, sentence: int) -> bool:
    ratio = len(claim.terms) / len(index.sentences[sentence].terms)
    return _MIN_LENGTH_RATIO <= ratio <= 1 / _MIN_LENGTH_RATIO


def _denied_elsewhere(index: EvidenceIndex, claim: Alignment) -> bool:
    """True where another sentence denies the same word."""
    return any(
        not NEGATION_TERMS.isdisjoint(index.sentences[place].distinct)
        for word in negated(claim.terms)
        for place in index.sentences_with(claim.forms.get(word, word))[:_MOST_DATED]
    )


def _limited(index: EvidenceIndex, claim: Alignment) -> bool:
    """True for "not in rush hour" where the nearest sentence says "only outside rush hour"; but not for a "never"."""
    near, said = index.read_closely(claim.nearest[0][0]), {token.lower() for token in claim.tokens}
    limits = {near.written[at].lower() for mark in _LIMITS & near.marks.keys() for at in near.marks[mark]}
    return bool(limits) and said.isdisjoint(limits | NEVER)


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
    return Conflict(sentence, _in_claim(claim, {word}), _in_sentence(index, sentence, {opposite}))


def _name_conflict(index: EvidenceIndex, claim: Alignment) -> Conflict | None:
    """A name that is nowhere, where the sentence has another one after (or before) the same word."""
    strange = claim.unseen.keys() - index.question_terms
    if not strange or not claim.nearest or _capitals_tell_nothing(index, claim.nearest[0][0]):
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
                    if other.lower() in claim.tokens[at].lower() or claim.tokens[at].lower() in other.lower():
                        return None  # "Harbour Bridge" and "the Bridge" may be one
                    return Conflict(sentence, claim.tokens[at], other)
    return None


def _capitals_tell_nothing(index: EvidenceIndex, sentence: int) -> bool:
    """True in German, which writes every noun with one."""
    return language_of(index.chunks[index.chunk_of[sentence]].text) == "de"


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
