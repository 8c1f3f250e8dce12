"""What the embedded judge looks at in a claim: eight numbers, each with a plain meaning (`coefficients.FEATURES`).

Few on purpose. On the development data they separate supported from unsupported claims as well as thirty did, and
what is not there cannot be overfitted. Coverage is by chunk, because over a whole large context everything is covered:
with 36 passages about other things added, AUROC of risk stays (.84) where coverage by the context loses .02.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Final

from rag_otel_evaluators.judges.embedded.alignment import Alignment
from rag_otel_evaluators.judges.embedded.evidence import EvidenceIndex
from rag_otel_evaluators.judges.embedded.opposites import antonym_in, denies_alone
from rag_otel_evaluators.judges.embedded.passages import EvidenceSentence, of_weight, triples_of
from rag_otel_evaluators.judges.embedded.terms import WEIGHTS

_MOST: Final = 2
"""What is counted is counted up to this."""
_COMPARED: Final = 3
"""How many of the nearest sentences are compared word for word."""
_BESIDE_HERE: Final = 2
_BESIDE_THERE: Final = 4
"""Words of weight between two that stand beside each other, in the claim and in a sentence that may say more."""
DENIAL_SHARE: Final = 0.5
ANTONYM_SHARE: Final = 0.4
"""Share of the claim that a sentence must hold to be asked whether it says the opposite."""


def features_of(index: EvidenceIndex, claim: Alignment, *, list_item: bool) -> list[float]:
    """The feature vector of an aligned claim, in the order of `coefficients.FEATURES`; every entry is finite."""
    nearest = [index.sentences[sentence] for sentence, _ in claim.nearest[:_COMPARED]]
    triples = list(triples_of(claim.terms))
    strange = triples
    for sentence in nearest:
        known = sentence.triples
        strange = [triple for triple in strange if triple not in known]
    return [
        claim.chunk_coverage,
        (len(triples) - len(strange)) / max(1, len(triples)),
        math.log1p(sum(claim.unseen.values())),
        float(min(_count_strange_numbers(index, claim), _MOST)),
        float(min(_count_loose_names(claim, nearest), _MOST)),
        float(denies_alone(index, claim, DENIAL_SHARE)),
        float(antonym_in(index, claim, ANTONYM_SHARE) is not None),
        float(list_item),
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
