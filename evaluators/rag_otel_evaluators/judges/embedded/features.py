"""What the embedded judge looks at in a claim: six numbers, each with a plain meaning.

Few on purpose. On the development data they separate supported from unsupported claims as well as thirty did, and
what is not there cannot be overfitted. Coverage is by chunk, because over a whole large context everything is covered:
with 36 passages about other things added, AUROC of risk stays (.84) where coverage by the context loses .02.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from rag_otel_evaluators.judges.embedded.alignment import Alignment
from rag_otel_evaluators.judges.embedded.conflicts import negated_differently
from rag_otel_evaluators.judges.embedded.evidence import EvidenceIndex

FEATURES: Final = (
    "chunk_coverage",  # share of the claim's words that the best single chunk holds
    "trigrams",  # share of the claim's word triples that the nearest sentences hold: wording taken over
    "unseen",  # log of the weight of words that are nowhere
    "unseen_numbers",  # numbers that are nowhere, 0..2
    "negation",  # 1 where a word is negated in only one of claim and nearest sentence
    "list_item",  # 1 for an item of a list
)
"""Names of the features, in the order of the vector."""


_MOST_NUMBERS: Final = 2
_COMPARED: Final = 3
"""How many of the nearest sentences are compared word for word."""


def features_of(index: EvidenceIndex, claim: Alignment, *, list_item: bool) -> list[float]:
    """The feature vector of an aligned claim; every entry is finite."""
    terms, unseen = claim.terms, claim.unseen
    triples = list(_triples(terms))
    found = {
        triple for sentence, _ in claim.nearest[:_COMPARED] for triple in _triples(index.sentences[sentence].terms)
    }
    return [
        claim.chunk_coverage,
        sum(triple in found for triple in triples) / max(1, len(triples)),
        math.log1p(sum(unseen.values())),
        float(min(sum(term[0].isdigit() for term in unseen), _MOST_NUMBERS)),
        _negation_differs(index, claim),
        float(list_item),
    ]


def _triples(terms: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    return zip(terms, terms[1:], terms[2:], strict=False)


def _negation_differs(index: EvidenceIndex, claim: Alignment) -> float:
    if not claim.nearest:
        return 0.0
    return float(negated_differently(claim.terms, index.sentences[claim.nearest[0][0]].terms) is not None)
