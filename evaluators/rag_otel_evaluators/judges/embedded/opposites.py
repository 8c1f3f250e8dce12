"""Whether a claim and its nearest sentences say opposite things: one denies, or has the opposite word."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from rag_otel_evaluators.judges.embedded.alignment import Alignment
from rag_otel_evaluators.judges.embedded.evidence import EvidenceIndex
from rag_otel_evaluators.judges.embedded.terms import NEGATION_TERMS, WEIGHTS, term_of
from rag_otel_evaluators.text.languages.negations import ANTONYMS, LIMITING_WORDS, NEGATING_WORDS

LOOKED_AT: Final = 3
"""How many of the nearest sentences are compared."""
_NEGATION_SCOPE: Final = 3
"""How far after a negation the word that it negates may stand."""
_OPPOSING_TERMS: Final = NEGATION_TERMS | {term_of(word) for word in NEGATING_WORDS}
_LIMITING_TERMS: Final = frozenset(term_of(word) for word in LIMITING_WORDS)
_CONDITION_REACH: Final = 4
"""How far before a negation the "if" may stand that makes it a condition."""
_CONDITION_TERMS: Final = frozenset({"if", "unless", "whether", "wenn", "falls"})


def _antonym_terms() -> dict[str, frozenset[str]]:
    """Term of a word -> terms of its opposites. Words that share their opposites share the terms of these too."""
    terms_of = {others: frozenset(map(term_of, others)) for others in set(ANTONYMS.values())}
    found: dict[str, frozenset[str]] = {}
    for word, others in ANTONYMS.items():
        term, terms = term_of(word), terms_of[others]
        found[term] = terms - {term} if term in terms else terms
    return found


_ANTONYM_TERMS: Final = _antonym_terms()
_ANTONYM_WORDS: Final = frozenset(_ANTONYM_TERMS)


def opposes(terms: Collection[str]) -> bool:
    """True where a word denies, or does so without a negation ("avoid", "unable")."""
    return not _OPPOSING_TERMS.isdisjoint(terms)


def denies(terms: Sequence[str]) -> bool:
    """True where a negation denies something: "not open", but not "no more than 20" nor "if you do not"."""
    if NEGATION_TERMS.isdisjoint(terms):
        return False
    return any(term in NEGATION_TERMS and _denies_at(terms, at) for at, term in enumerate(terms))


def _denies_at(terms: Sequence[str], at: int) -> bool:
    limits = at + 1 < len(terms) and terms[at + 1] in _LIMITING_TERMS
    return not limits and _CONDITION_TERMS.isdisjoint(terms[max(0, at - _CONDITION_REACH) : at])


def denies_alone(index: EvidenceIndex, claim: Alignment, least_share: float) -> bool:
    """True where the claim denies and none of the nearest sentences does that hold such a share of it."""
    if not denies(claim.terms):
        return False
    compared = [index.sentences[s].distinct for s, share in claim.nearest[:LOOKED_AT] if share >= least_share]
    return bool(compared) and all(NEGATION_TERMS.isdisjoint(distinct) for distinct in compared)


def negated(terms: Sequence[str]) -> set[str]:
    """The words that a negation stands before: the next word of weight, within a few."""
    found: set[str] = set()
    if NEGATION_TERMS.isdisjoint(terms):
        return found
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


def antonym_in(index: EvidenceIndex, claim: Alignment, least_share: float) -> tuple[int, str, str] | None:
    """(sentence, the claim's word, its opposite there) for a word that none of the nearest sentences holds."""
    if _ANTONYM_WORDS.isdisjoint(claim.weights):
        return None
    for word in claim.weights:
        if (opposites := _ANTONYM_TERMS.get(word)) is None or not opposites.isdisjoint(claim.weights):
            continue
        nearest = [(s, index.sentences[s].distinct) for s, share in claim.nearest[:LOOKED_AT] if share >= least_share]
        if any(word in distinct for _, distinct in nearest):
            continue
        for sentence, distinct in nearest:
            if found := opposites & distinct:
                return sentence, word, min(found)
    return None
