"""One claim laid against the evidence: which of its words the chunks hold, where, and which they do not."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from rag_otel_evaluators.judges.embedded.evidence import EvidenceIndex
from rag_otel_evaluators.judges.embedded.terms import WEIGHTS, term_of, terms_of, tokenize
from rag_otel_evaluators.sentences import CITATIONS

ASKED_CREDIT: Final = 0.8
"""A word that only the question holds counts as this much seen: repeating the question claims little."""
STEM_CREDIT: Final = 0.5
"""The same for a word of the stem that introduces a list item."""
KIN_LIKENESS: Final = 0.6
"""From this likeness on another form of a word counts as seen, as much as the likeness says."""
_NEAREST: Final = 6
"""How many of the nearest sentences are looked at closely."""
LEAST_GAIN: Final = 0.15
"""Share of the claim that a sentence must add to count as evidence."""
_MOST_SENTENCES: Final = 3
"""Evidence for one claim is sought in at most this many sentences together."""

_SOURCE_MENTIONS: Final = re.compile(
    r"[(\[]?\b(?:(?:as )?(?:mentioned|stated|described) in |according to |from |see )?"
    r"(?:passage|source|document|context)s?\s*#?\d+(?:\s*(?:,|and|&)\s*\d+)*\b[)\]]?|" + CITATIONS,
    re.IGNORECASE,
)
"""Where the answer points at its sources: no fact of the claim."""
_MARK: Final = re.compile(r"[\d【]")
"""What every such place holds: a cheap look before a dear one."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """A claim's words against the index. Shares are of the claim's total weight, in 0..1."""

    tokens: list[str]
    """The claim's tokens as written."""
    terms: list[str]
    """One term per token."""
    weights: dict[str, float]
    """Weight of each distinct term that counts."""
    seen: dict[str, float]
    """How far the context (or the question) holds each of them, 0..1."""
    chunk_coverage: float
    """Share that the best single chunk holds (what only the question holds counts for every chunk)."""
    nearest: list[tuple[int, float]]
    """(sentence, share that it holds), best first."""
    evidence: list[tuple[int, float]]
    """(sentence, share that it adds), greedily chosen, at most three; the nearest one wherever there is one."""

    @property
    def coverage(self) -> float:
        """Share that the whole context (or the question) holds."""
        held = sum(weight * self.seen[term] for term, weight in self.weights.items())
        return held / (sum(self.weights.values()) or 1.0)

    @property
    def unseen(self) -> dict[str, float]:
        """Term -> weight that no evidence accounts for, for the terms that are not seen."""
        return {
            term: weight * (1.0 - self.seen[term])
            for term, weight in self.weights.items()
            if self.seen[term] < KIN_LIKENESS
        }

    @property
    def has_unseen_digits(self) -> bool:
        """True where a number in figures is not seen; "two prizes" may be counted, not read."""
        unseen = self.unseen
        return any(token[0].isdigit() and term in unseen for token, term in zip(self.tokens, self.terms, strict=True))

    @property
    def unseen_words(self) -> list[str]:
        """What is not seen, as the claim writes it, in order, each once; words of little weight left out."""
        unseen = {term for term in self.unseen if self.weights[term] >= 1.0}
        pairs = zip(self.tokens, self.terms, strict=True)
        return list(dict.fromkeys(token for token, term in pairs if term in unseen))


def align(index: EvidenceIndex, claim: str, stem: str = "") -> Alignment:
    """Lay a claim (its verbatim text, and the stem that introduces it) against the index."""
    tokens = tokenize(_SOURCE_MENTIONS.sub(" ", claim) if _MARK.search(claim) else claim)
    terms = [term_of(token) for token in tokens]
    weights = {term: weight for term in terms if (weight := WEIGHTS.get(term, 1.0)) > 0.0}
    if not weights:  # "It is." Nothing but function words: they are all there is to go by.
        weights = dict.fromkeys(terms, 1.0)
    total = sum(weights.values()) or 1.0
    found = _look_up(index, weights, terms, frozenset(terms_of(stem)))
    nearest = sorted(found.by_sentence.items(), key=lambda item: (-item[1], item[0]))[:_NEAREST]
    return Alignment(
        tokens=tokens,
        terms=terms,
        weights=weights,
        seen=found.seen,
        chunk_coverage=min(1.0, (found.anywhere + max(found.by_chunk.values(), default=0.0)) / total),
        nearest=[(sentence, share / total) for sentence, share in nearest],
        evidence=_choose_evidence(index, weights, nearest, total),
    )


@dataclass(slots=True)
class _Found:
    """Where the weight of a claim is to be found."""

    seen: dict[str, float] = field(default_factory=dict)
    by_sentence: dict[int, float] = field(default_factory=dict)
    by_chunk: dict[int, float] = field(default_factory=dict)
    anywhere: float = 0.0
    """Weight that does not hang on any chunk: the question's words."""


def _look_up(index: EvidenceIndex, weights: dict[str, float], terms: list[str], stem_terms: frozenset[str]) -> _Found:
    found = _Found()
    for term, weight in weights.items():
        known, likeness = index.postings.get(term), 1.0
        if known is None:
            kin, likeness = index.closest_kin(term)
            if likeness >= KIN_LIKENESS:
                known = index.postings[kin]
        if known is None:
            found.seen[term] = _credit(index, term, terms, stem_terms)
            found.anywhere += weight * found.seen[term]
        else:
            found.seen[term] = likeness
            _add_weight(index, found, known, weight * likeness)
    return found


def _add_weight(index: EvidenceIndex, found: _Found, sentences: list[int], weight: float) -> None:
    """Credit the sentences, and each of their chunks once, with a term's weight."""
    by_sentence, by_chunk, chunk_of, last = found.by_sentence, found.by_chunk, index.chunk_of, -1
    for number in sentences:
        by_sentence[number] = by_sentence.get(number, 0.0) + weight
        chunk = chunk_of[number]
        if chunk != last:
            by_chunk[chunk] = by_chunk.get(chunk, 0.0) + weight
            last = chunk


def _credit(index: EvidenceIndex, term: str, terms: list[str], stem_terms: frozenset[str]) -> float:
    """How far a term counts as seen that no chunk holds."""
    if term in index.question_terms or _is_compound(index, term, terms):
        return ASKED_CREDIT
    return STEM_CREDIT if term in stem_terms else 0.0


def _is_compound(index: EvidenceIndex, term: str, terms: list[str]) -> bool:
    """ "superbowl" where the context or the question says "super bowl", or the other way round."""
    if term[0].isdigit():
        return False
    if any(index.holds_pair(term[:cut], term[cut:]) for cut in range(3, len(term) - 2)):
        return True
    at = terms.index(term)
    before, after = terms[max(0, at - 1) : at], terms[at + 1 : at + 2]
    joined = [word + term for word in before] + [term + word for word in after]
    return any(word in index.postings or word in index.question_terms for word in joined)


def _choose_evidence(
    index: EvidenceIndex, weights: dict[str, float], nearest: list[tuple[int, float]], total: float
) -> list[tuple[int, float]]:
    """The few sentences that together hold most of the claim: each adds what those before it lack."""
    missing = {term: weight for term, weight in weights.items() if term in index.postings}
    candidates = [sentence for sentence, _ in nearest]
    chosen: list[tuple[int, float]] = []
    while candidates and len(chosen) < _MOST_SENTENCES and sum(missing.values()) >= LEAST_GAIN * total:
        held = [missing.keys() & index.sentences[sentence].distinct for sentence in candidates]
        gains = [sum(missing[term] for term in terms) for terms in held]
        best = gains.index(max(gains))
        if gains[best] < LEAST_GAIN * total:
            break
        chosen.append((candidates[best], gains[best] / total))
        for term in held[best]:
            del missing[term]
        del candidates[best]
    # Nothing adds enough where the claim's words are scattered, or only there in other forms: the nearest, then.
    return chosen or nearest[:1]
