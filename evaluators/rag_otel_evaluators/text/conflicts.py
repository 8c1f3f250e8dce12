"""Where evidence says plainly otherwise: another number, date, unit or name, an opposite, a "not" more or less.

    "It has 5 million inhabitants.", beside "It has 2.1 million inhabitants."
    -> Conflict(kind="number", claimed="5 million inhabitants", found="2.1 million inhabitants", sentence=1)

Plain rules with high precision and low recall: a sentence must hold most of the claim's other words before it can
contradict it, and no other evidence may bear the claim out. They see no meaning: what is said in other words, in
another order or about somebody else they let pass.

Effect, measured on pairs of evidence and claim that taught nothing (SummEdits, WiCE, FEVER, HaluEval): 92% of the
claims with a number, date or unit in conflict are unsupported, 83% of those with a name, 74% of those with a "not".
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from rag_otel.lazy_dataclass import dataclass
from rag_otel_evaluators.text.languages import words
from rag_otel_evaluators.text.languages.opposites import LIMITING_WORDS, NEGATING_WORDS, OPPOSITES
from rag_otel_evaluators.text.quantity import Quantity
from rag_otel_evaluators.text.statement import AnalysedStatement
from rag_otel_evaluators.text.terms import NEGATION_TERMS, SPACELESS, WEIGHTS, term_of, terms_of

FEW_WORDS: Final = 5
SHARE_OF_FEW: Final = 0.5
"""The same for a claim of at most so many words."""
SHARE_OF_PAIRS: Final = 0.3
"""The same in scripts without spaces, whose pairs of characters paraphrases share less often."""
NUMBER_SHARE: Final = 0.6
"""Share of the claim's other words that a sentence must hold before its number, date or unit contradicts it."""
LEAD: Final = 0.25
"""How much more of the claim it must hold than a sentence that bears the number out."""
OPPOSITE_SHARE: Final = 0.7
ADDED_NOT_SHARE: Final = 0.7
LOST_NOT_SHARE: Final = 0.75
"""More for a "not" that the claim lacks: paraphrases drop one more often than they add one."""
NAME_SHARE: Final = 0.7
_LENGTH_RATIO: Final = 0.6
"""Statements of more unequal length say too much besides to be each other's opposite."""
_NEAREST: Final = 3
_REACH: Final = 3
"""How far from a word its neighbours are looked for."""
_CONDITION_REACH: Final = 4
_CONDITIONS: Final = frozenset(map(term_of, words("if unless whether wenn falls si sauf 如果 除非")))
_LIMITING: Final = frozenset(map(term_of, LIMITING_WORDS))
_OPPOSING: Final = NEGATION_TERMS | frozenset(map(term_of, NEGATING_WORDS))
_CJK_NEGATIONS: Final = "不没沒未无無"
_CJK_HARMLESS: Final = words(
    "不过 不仅 不但 不同 不少 不断 不论 不管 无论 未来 不久 无线 不超 不多 不低 不高 不满 不足 不到 不限"
)
_CAPITALISING: Final = words("der die das den dem und ist ein eine nicht für mit von")
"""Words of German, which writes every noun with a capital: names cannot be told there."""


class ConflictKind(enum.StrEnum):
    """What differs."""

    NUMBER = "number"
    DATE = "date"
    UNIT = "unit"
    OPPOSITE = "opposite"
    NOT_ADDED = "not_added"
    NOT_LOST = "not_lost"
    NAME = "name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """The claim says one thing, a sentence of the evidence another."""

    kind: ConflictKind
    claimed: str
    """What the claim says, as it writes it. For a "not" the word that is denied."""
    found: str
    """What the evidence says instead, as it writes it."""
    sentence: int
    """Index of the sentence that contradicts."""

    def __str__(self) -> str:
        """One sentence for people."""
        match self.kind:
            case ConflictKind.NOT_ADDED:
                return f'The claim denies "{self.claimed}", the context does not.'
            case ConflictKind.NOT_LOST:
                return f'The context denies "{self.found}", the claim does not.'
            case ConflictKind.NUMBER | ConflictKind.DATE | ConflictKind.UNIT:
                return f"The context says {self.found}, not {self.claimed}."
            case _:
                return f'The context says "{self.found}", not "{self.claimed}".'


def conflicts_among(claim: str, sentences: Sequence[AnalysedStatement]) -> list[Conflict]:
    """The conflicts of a claim with those of the sentences that hold most of it, at most one of each kind."""
    stated = AnalysedStatement(claim)
    order = sorted(range(len(sentences)), key=lambda at: -stated.share_in(sentences[at]))
    return list(find_conflicts(stated, [(at, sentences[at]) for at in order[:_NEAREST]], sentences))


def find_conflicts(
    claim: AnalysedStatement,
    nearest: Sequence[tuple[int, AnalysedStatement]],
    others: Sequence[AnalysedStatement] = (),
    asked: Collection[str] = (),
) -> Iterator[Conflict]:
    """The conflicts of a claim with its nearest sentences (index, sentence), at most one of each kind, numbers first.

    `others`: sentences that may bear a number out as well. `asked`: the terms of the question, which are no news.
    """
    if claim.quantities:
        yield from _of_quantities(claim, nearest, others)
    for rule in (_added_not, _lost_not, _opposite):
        if (conflict := rule(claim, nearest)) is not None:
            yield conflict
    if (conflict := _name(claim, nearest, others, asked)) is not None:
        yield conflict


def _of_quantities(
    claim: AnalysedStatement, nearest: Sequence[tuple[int, AnalysedStatement]], others: Sequence[AnalysedStatement]
) -> Iterator[Conflict]:
    kinds = set()
    least = NUMBER_SHARE if len(claim.weights) > FEW_WORDS else SHARE_OF_FEW
    if SPACELESS.search(claim.text) is not None:
        least = SHARE_OF_PAIRS
    for quantity in claim.quantities:
        if nearest and any(quantity.agrees(other) for other in nearest[0][1].quantities):
            continue  # nothing is nearer than the sentence that bears it out
        own = frozenset(terms_of(quantity.text))
        borne_out = max(
            (
                claim.share_in(sentence, own)
                for sentence in (*(sentence for _, sentence in nearest), *others)
                if any(quantity.agrees(other) for other in sentence.quantities)
            ),
            default=0.0,
        )
        conflict = _rival(claim, quantity, own, nearest, max(least, borne_out + LEAD))
        if conflict is not None and conflict.kind not in kinds:
            kinds.add(conflict.kind)
            yield conflict


def _rival(
    claim: AnalysedStatement,
    quantity: Quantity,
    own: frozenset[str],
    nearest: Sequence[tuple[int, AnalysedStatement]],
    least: float,
) -> Conflict | None:
    for at, sentence in nearest:
        if claim.share_in(sentence, own) < least or any(quantity.agrees(other) for other in sentence.quantities):
            continue
        rivals = [
            other
            for other in sentence.quantities
            if quantity.rivals(other) and not any(mine.agrees(other) for mine in claim.quantities)
        ]
        if not rivals or any(not rivals[0].agrees(other) for other in rivals):
            continue  # with several, nobody can say which one the claim got wrong
        same_number = quantity.value == rivals[0].value and quantity.dimension != "date"
        kind = (
            ConflictKind.DATE
            if quantity.dimension == "date"
            else ConflictKind.UNIT
            if same_number
            else ConflictKind.NUMBER
        )
        return Conflict(kind=kind, claimed=quantity.said, found=rivals[0].said, sentence=at)
    return None


def _added_not(claim: AnalysedStatement, nearest: Sequence[tuple[int, AnalysedStatement]]) -> Conflict | None:
    """The claim denies, and no near sentence does that holds as much of it."""
    denied = _denied(claim)
    if denied is None:
        return None
    close = [(at, sentence) for at, sentence in nearest if claim.share_in(sentence) >= ADDED_NOT_SHARE]
    if not close or any(_opposes(sentence, beside=claim) for _, sentence in close):
        return None
    return Conflict(kind=ConflictKind.NOT_ADDED, claimed=denied, found=denied, sentence=close[0][0])


def _lost_not(claim: AnalysedStatement, nearest: Sequence[tuple[int, AnalysedStatement]]) -> Conflict | None:
    """A sentence of about the claim's length denies a word that the claim affirms."""
    if _opposes(claim):
        return None
    for at, sentence in nearest:
        if claim.share_in(sentence) < LOST_NOT_SHARE or not _similar_length(claim, sentence):
            continue
        denied = _denied(sentence)
        if denied is not None and term_of(denied) in claim.distinct:
            return Conflict(kind=ConflictKind.NOT_LOST, claimed=denied, found=denied, sentence=at)
    return None


def _denied(statement: AnalysedStatement) -> str | None:
    """The word that the first negation denies; None without one, or where it only limits ("not only", "if not")."""
    if NEGATION_TERMS.isdisjoint(statement.distinct) and not _denies_by_character(statement.distinct, statement.text):
        return None
    terms = statement.terms
    for at, term in enumerate(terms):
        if not _denies(term):
            continue
        if terms[at + 1 : at + 2] and terms[at + 1] in _LIMITING:
            continue
        if _CONDITIONS.isdisjoint(terms[max(0, at - _CONDITION_REACH) : at]):
            ahead = [there for there in range(at + 1, min(at + 1 + _REACH, len(terms))) if _counts(terms[there])]
            return statement.tokens[ahead[0]] if ahead else statement.tokens[at]
    return None


def _denies(term: str) -> bool:
    return term in NEGATION_TERMS or (term[0] in _CJK_NEGATIONS and term not in _CJK_HARMLESS)


def _denies_by_character(terms: Collection[str], text: str) -> bool:
    return not text.isascii() and any(term[0] in _CJK_NEGATIONS for term in terms)


def _opposes(statement: AnalysedStatement, *, beside: AnalysedStatement | None = None) -> bool:
    """True where it denies in some way, with a word that the other one lacks."""
    said = statement.distinct if beside is None else statement.distinct - (beside.distinct - NEGATION_TERMS)
    return not _OPPOSING.isdisjoint(said) or _denies_by_character(said, statement.text)


def _opposite(claim: AnalysedStatement, nearest: Sequence[tuple[int, AnalysedStatement]]) -> Conflict | None:
    """A word of the claim against its opposite, in a sentence of about the same length that says the rest as well."""
    for word in claim.words:
        if (opposites := OPPOSITES.get(word)) is None:
            continue
        if not opposites.isdisjoint(claim.words) or any(word in sentence.words for _, sentence in nearest):
            continue
        for at, sentence in nearest:
            found = opposites & sentence.words
            if (
                found
                and _similar_length(claim, sentence)
                and claim.share_in(sentence, {term_of(word)}) >= OPPOSITE_SHARE
                and (_denied(claim) is None) == (_denied(sentence) is None)
            ):
                return Conflict(kind=ConflictKind.OPPOSITE, claimed=word, found=min(found), sentence=at)
    return None


def _similar_length(claim: AnalysedStatement, sentence: AnalysedStatement) -> bool:
    shorter, longer = sorted((len(claim.terms), len(sentence.terms)))
    return shorter >= _LENGTH_RATIO * longer


def _name(
    claim: AnalysedStatement,
    nearest: Sequence[tuple[int, AnalysedStatement]],
    others: Sequence[AnalysedStatement],
    asked: Collection[str],
) -> Conflict | None:
    """A name that is nowhere, where a sentence has another one after (or before) the same word."""
    if not claim.names or not _CAPITALISING.isdisjoint(claim.words):
        return None
    known = [sentence.distinct for _, sentence in nearest] + [sentence.distinct for sentence in others]
    strange = [
        at
        for at, (token, term) in enumerate(zip(claim.tokens, claim.terms, strict=True))
        if _is_name(claim, token, term) and term not in asked and not any(term in terms for terms in known)
    ]
    without = frozenset(claim.terms[at] for at in strange)
    for at in strange:
        before, after = _neighbour(claim.terms, at, -1), _neighbour(claim.terms, at, +1)
        for number, sentence in nearest:
            if claim.share_in(sentence, without) < NAME_SHARE:
                continue
            for there, (token, term) in enumerate(zip(sentence.tokens, sentence.terms, strict=True)):
                if not _is_name(sentence, token, term) or term in claim.distinct:
                    continue
                if (before and before == _neighbour(sentence.terms, there, -1)) or (
                    after and after == _neighbour(sentence.terms, there, +1)
                ):
                    return Conflict(kind=ConflictKind.NAME, claimed=claim.tokens[at], found=token, sentence=number)
    return None


def _is_name(statement: AnalysedStatement, token: str, term: str) -> bool:
    return token in statement.names and WEIGHTS.get(term, 1.0) >= 1.0 and not term.startswith("month")


def _neighbour(terms: Sequence[str], at: int, step: int) -> str | None:
    """The next term of weight on one side, within a few; None where there is none."""
    for there in range(at + step, at + (_REACH + 1) * step, step):
        if not 0 <= there < len(terms):
            return None
        if _counts(terms[there]):
            return terms[there]
    return None


def _counts(term: str) -> bool:
    return WEIGHTS.get(term, 1.0) > 0.0
