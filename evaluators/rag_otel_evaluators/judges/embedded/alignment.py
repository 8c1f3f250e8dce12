"""One claim laid against the evidence: which of its words the chunks hold, where, and which they do not."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable
from dataclasses import field
from itertools import repeat
from typing import Final

from rag_otel.lazy_dataclass import dataclass
from rag_otel_evaluators.judges.embedded.close_reading import join_thousands
from rag_otel_evaluators.judges.embedded.evidence import EvidenceIndex
from rag_otel_evaluators.judges.embedded.terms import WEIGHTS, terms_of, terms_of_tokens, tokenize
from rag_otel_evaluators.text.languages.replies import plain_reply_end
from rag_otel_evaluators.text.sentences import CITATIONS

ASKED_CREDIT: Final = 0.8
"""A word that only the question holds counts as this much seen: repeating the question claims little."""
STEM_CREDIT: Final = 0.5
"""The same for a word of the stem that introduces a list item."""
KIN_LIKENESS: Final = 0.6
"""From this likeness on another form of a word counts as seen, as much as the likeness says."""
SYNONYM_LIKENESS: Final = 0.75
"""Another word of the same meaning counts as so much seen."""
FEW_WORDS: Final = 9
"""Words of weight up to which a claim is read with the help of synonyms: in long claims they make chance matches."""
_MANY_SENTENCES: Final = 500
"""From so many sentences on sorting them all takes longer than looking for the best few."""
_NEAREST: Final = 6
"""How many of the nearest sentences are looked at closely."""
LEAST_GAIN: Final = 0.15
"""Share of the claim that a sentence must add to count as evidence."""
_LONGEST_COMPOUND: Final = 40
"""Letters; a longer term is not taken apart."""
_MOST_SENTENCES: Final = 3
"""Evidence for one claim is sought in at most this many sentences together."""

_SOURCE_MENTIONS: Final = re.compile(
    r"[(\[]?\b(?:(?:as )?(?:mentioned|stated|described) in |according to |from |see )?"
    r"(?:passage|source|document|context)s?\s{0,2}#?\d{1,4}(?:\s{0,2}(?:,|and|&)\s{0,2}\d{1,4}){0,20}\b[)\]]?|"
    + CITATIONS,
    re.IGNORECASE,
)
"""Where the answer points at its sources: no fact of the claim."""
_MARK: Final = re.compile(r"[\d【]")
_SOURCE_WORDS: Final = ("[", "【", "passage", "source", "document", "context")
"""What every such place holds, a mark and one of these: two cheap looks before a dear one."""


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
    unseen: dict[str, float]
    """Term -> weight that no evidence accounts for, for the terms that are not seen."""
    numbers: frozenset[str]
    """The terms that count and are numbers."""
    forms: dict[str, str]
    """Term -> the form of it that the chunks hold, for the terms that they hold in any form."""
    chunk_coverage: float
    """Share that the best single chunk holds (what only the question holds counts for every chunk)."""
    nearest: list[tuple[int, float]]
    """(sentence, share that it holds), best first."""
    by_sentence: dict[int, float]
    """Sentence -> weight of the claim that it holds."""
    evidence: list[tuple[int, float]]
    """(sentence, share that it adds), greedily chosen, at most three; the nearest one wherever there is one."""

    def see_numbers(self) -> None:
        """Count the claim's numbers as seen: they follow from others."""
        self.see(self.numbers)

    def see(self, terms: Iterable[str]) -> None:
        """Count these terms as seen: the chunks say the same in another form."""
        for term in terms:
            if self.unseen.pop(term, None) is not None:
                self.seen[term] = 1.0
                self.forms[term] = term

    @property
    def coverage(self) -> float:
        """Share that the whole context (or the question) holds."""
        seen = self.seen
        held = sum([weight * seen[term] for term, weight in self.weights.items()])
        return held / (sum(self.weights.values()) or 1.0)

    @property
    def has_unseen_digits(self) -> bool:
        """True where a number in figures is not seen; "two prizes" may be counted, not read."""
        unseen = self.unseen
        if not unseen:
            return False
        return any(term in unseen and token[0].isdigit() for token, term in zip(self.tokens, self.terms, strict=True))

    @property
    def unseen_words(self) -> list[str]:
        """What is not seen, as the claim writes it, in order, each once; words of little weight left out."""
        unseen = {term for term in self.unseen if self.weights[term] >= 1.0}
        if not unseen:
            return []
        pairs = zip(self.tokens, self.terms, strict=True)
        return list(dict.fromkeys([token for token, term in pairs if term in unseen]))


def align(index: EvidenceIndex, claim: str, stem: str = "") -> Alignment:
    """Lay a claim (its verbatim text, and the stem that introduces it) against the index."""
    tokens = tokenize(facts_of(claim))
    terms = terms_of_tokens(tokens)
    weight_of = WEIGHTS.get
    weights = {term: weight for term in terms if (weight := weight_of(term, 1.0)) > 0.0}
    if not weights:  # "It is." Nothing but function words: they are all there is to go by.
        weights = dict.fromkeys(terms, 1.0)
    total = sum(weights.values()) or 1.0
    found = _look_up(index, weights, terms, stem)
    by_sentence, seen = found.by_sentence, found.seen
    nearest = _nearest(by_sentence)
    shares = [(sentence, by_sentence[sentence] / total) for sentence in nearest]
    return Alignment(
        tokens=tokens,
        terms=terms,
        weights=weights,
        seen=seen,
        unseen={term: weight * (1.0 - seen[term]) for term, weight in weights.items() if seen[term] < KIN_LIKENESS},
        numbers=frozenset([term for term in weights if term[0].isdigit()]),
        forms=found.forms,
        chunk_coverage=min(1.0, (found.anywhere + max(found.by_chunk.values(), default=0.0)) / total),
        nearest=shares,
        by_sentence=by_sentence,
        evidence=_choose_evidence(index, weights, nearest, total) or shares[:1],
    )


def _nearest(by_sentence: dict[int, float]) -> list[int]:
    """The sentences that hold most, best first; of two that hold the same the earlier one first."""
    if len(by_sentence) > _MANY_SENTENCES:
        return heapq.nsmallest(_NEAREST, by_sentence, key=lambda sentence: (-by_sentence[sentence], sentence))
    # Two sorts that compare no tuples: the second keeps the order of the first where shares are equal.
    return sorted(sorted(by_sentence), key=by_sentence.__getitem__, reverse=True)[:_NEAREST]


def facts_of(claim: str) -> str:
    """The claim without "(passage 3)" and "[7]", and without the "Yes," before it: they are no facts."""
    claim = join_thousands(claim)
    return _without_source_mentions(claim[plain_reply_end(claim) :])


def _without_source_mentions(claim: str) -> str:
    if _MARK.search(claim) is None:
        return claim
    lower = claim.lower()
    return _SOURCE_MENTIONS.sub(" ", claim) if any(word in lower for word in _SOURCE_WORDS) else claim


@dataclass(slots=True)
class _Found:
    """Where the weight of a claim is to be found."""

    seen: dict[str, float] = field(default_factory=dict)
    forms: dict[str, str] = field(default_factory=dict)
    by_sentence: dict[int, float] = field(default_factory=dict)
    by_chunk: dict[int, float] = field(default_factory=dict)
    anywhere: float = 0.0
    """Weight that does not hang on any chunk: the question's words."""


def _look_up(index: EvidenceIndex, weights: dict[str, float], terms: list[str], stem: str) -> _Found:
    found = _Found()
    vocabulary, by_sentence = index.vocabulary, found.by_sentence
    stem_terms: list[str] | None = None
    others: list[tuple[str, float]] = []
    for term, weight in weights.items():
        form, likeness = (term, 1.0) if term in vocabulary else index.closest_kin(term)
        if likeness < KIN_LIKENESS:
            others.append((term, weight))
            continue
        _hold(index, found, term, form, likeness, weight)
    for term, weight in others:
        synonyms = index.synonyms(term) if len(weights) <= FEW_WORDS else []
        if synonyms:
            form = max(synonyms, key=lambda other: max(map(by_sentence.get, index.places_of(other)[0], repeat(0.0))))
            _hold(index, found, term, form, SYNONYM_LIKENESS, weight)
        else:
            if stem_terms is None:
                stem_terms = terms_of(stem)
            found.seen[term] = credit = _credit(index, term, terms, stem_terms)
            found.anywhere += weight * credit
    return found


def _hold(index: EvidenceIndex, found: _Found, term: str, form: str, likeness: float, weight: float) -> None:
    """The chunks hold a term in this form."""
    by_sentence, by_chunk = found.by_sentence, found.by_chunk
    found.seen[term] = likeness
    found.forms[term] = form
    held = weight * likeness
    sentences, chunks = index.places_of(form)
    for number in sentences:
        by_sentence[number] = by_sentence.get(number, 0.0) + held
    for chunk in chunks:
        by_chunk[chunk] = by_chunk.get(chunk, 0.0) + held


def _credit(index: EvidenceIndex, term: str, terms: list[str], stem_terms: list[str]) -> float:
    """How far a term counts as seen that no chunk holds."""
    if term in index.question_terms or _is_compound(index, term, terms):
        return ASKED_CREDIT
    return STEM_CREDIT if term in stem_terms else 0.0


def _is_compound(index: EvidenceIndex, term: str, terms: list[str]) -> bool:
    """ "superbowl" where the context or the question says "super bowl", or the other way round."""
    if term[0].isdigit() or len(term) > _LONGEST_COMPOUND:
        return False
    vocabulary, asked = index.vocabulary, index.question_terms
    for cut in range(3, len(term) - 2):
        first = term[:cut]
        if (first in vocabulary or first in asked) and index.holds_pair(first, term[cut:]):
            return True
    at = terms.index(term)
    joined = [terms[at - 1] + term] if at else []
    joined += [term + word for word in terms[at + 1 : at + 2]]
    return not (vocabulary.isdisjoint(joined) and asked.isdisjoint(joined))


def _choose_evidence(
    index: EvidenceIndex, weights: dict[str, float], nearest: list[int], total: float
) -> list[tuple[int, float]]:
    """The few sentences that together hold most of the claim: each adds what those before it lack.

    None where no sentence adds enough, as where the claim's words are scattered, or only there in other forms.
    """
    missing = index.vocabulary.intersection(weights)
    missing_weight = _sum_of(weights, missing)
    least = LEAST_GAIN * total
    candidates = [(sentence, missing & index.sentences[sentence].distinct) for sentence in nearest]
    chosen: list[tuple[int, float]] = []
    while candidates and len(chosen) < _MOST_SENTENCES and missing_weight >= least:
        gains = [_sum_of(weights, held) for _, held in candidates]
        gain = max(gains)
        if gain < least:
            break
        sentence, added = candidates.pop(gains.index(gain))
        chosen.append((sentence, gain / total))
        missing_weight -= gain
        for _, held in candidates:
            held -= added
    return chosen


def _sum_of(weights: dict[str, float], terms: Iterable[str]) -> float:
    """Exact in any order: weights are whole quarters."""
    return sum([weights[term] for term in terms])
