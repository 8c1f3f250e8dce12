"""What the embedded judge looks at in a claim: numbers with a plain meaning each (`coefficients.FEATURES`).

The first ones are of overlap, the others differences that overlap does not see. Coverage is by chunk, because over a
whole large context everything is covered.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Final

from rag_otel_evaluators.judges.embedded.alignment import Alignment
from rag_otel_evaluators.judges.embedded.differences import DIFFERENCES, Differences
from rag_otel_evaluators.judges.embedded.evidence import EvidenceIndex
from rag_otel_evaluators.judges.embedded.passages import EvidenceSentence, of_weight, triples_of
from rag_otel_evaluators.judges.embedded.terms import WEIGHTS

_MOST: Final = 2
"""What is counted is counted up to this."""
_COMPARED: Final = 3
"""How many of the nearest sentences are compared word for word."""
_BESIDE_HERE: Final = 2
_BESIDE_THERE: Final = 4
"""Words of weight between two that stand beside each other, in the claim and in a sentence that may say more."""
_LONG: Final = 10
"""Words of weight from which a claim is not short."""


def features_of(
    index: EvidenceIndex, claim: Alignment, differences: Differences, *, words: int, list_item: bool
) -> list[float]:
    """The feature vector of an aligned claim, in the order of `coefficients.FEATURES`; every entry is finite.

    `words`: how many words of weight and numbers the claim has.
    """
    nearest = [index.sentences[sentence] for sentence, _ in claim.nearest[:_COMPARED]]
    triples = list(triples_of(claim.terms))
    strange = triples
    for sentence in nearest:
        known = sentence.triples
        strange = [triple for triple in strange if triple not in known]
    trigrams = (len(triples) - len(strange)) / max(1, len(triples))
    unseen = math.log1p(sum(claim.unseen.values()))
    short = max(0.0, 1.0 - words / _LONG)
    return [
        claim.chunk_coverage,
        trigrams,
        unseen,
        float(min(_count_strange_numbers(index, claim), _MOST)),
        float(min(_count_loose_names(claim, nearest), _MOST)),
        float(list_item),
        short,
        short * claim.chunk_coverage,
        short * trigrams,
        short * unseen,
        *(differences.values[name] for name in DIFFERENCES),
    ]


def _count_strange_numbers(index: EvidenceIndex, claim: Alignment) -> int:
    numbers = claim.numbers - index.question_terms
    for sentence, _ in claim.evidence:
        if not numbers:
            break
        numbers -= index.sentences[sentence].distinct
    return len(numbers)


def _count_loose_names(claim: Alignment, nearest: Sequence[EvidenceSentence]) -> int:
    """How many names and numbers stand in other company here than in the evidence. Names as capitals tell them."""
    # The first word is capitalised in any case.
    names = claim.numbers.union(
        [
            term
            for token, term in zip(claim.tokens[1:], claim.terms[1:], strict=True)
            if token[0].isupper() and len(token) > 1 and WEIGHTS.get(term, 1.0) >= 1.0
        ]
    )
    if not names:
        return 0
    here = of_weight(claim.terms)
    loose = 0
    for at, name in enumerate(here):
        if name in names:
            beside = _beside(here, at, _BESIDE_HERE)
            loose += bool(beside) and not any(
                _stands_beside(sentence.of_weight, name, beside) for sentence in nearest if name in sentence.distinct
            )
    return loose


def _beside(terms: Sequence[str], at: int, reach: int) -> set[str]:
    return set(terms[max(0, at - reach) : at + reach + 1]) - {terms[at]}


def _stands_beside(terms: Sequence[str], name: str, others: Collection[str]) -> bool:
    return any(
        term == name and not _beside(terms, at, _BESIDE_THERE).isdisjoint(others) for at, term in enumerate(terms)
    )
