"""What the embedded judge looks at in a claim: numbers with a plain meaning each (`coefficients.FEATURES`).

The first ones are of overlap, the others differences that overlap does not see. Coverage is by chunk, because over a
whole large context everything is covered.
"""

from __future__ import annotations

import math
from typing import Final

from rag_otel_evaluators.judges.embedded.alignment import Alignment
from rag_otel_evaluators.judges.embedded.coefficients import DIFFERENCES
from rag_otel_evaluators.judges.embedded.differences import Differences
from rag_otel_evaluators.judges.embedded.evidence import EvidenceIndex
from rag_otel_evaluators.judges.embedded.passages import triples_of

_COMPARED: Final = 3
"""How many of the nearest sentences are compared word for word."""
_LONG: Final = 10
"""Words of weight from which a claim is not short."""


def features_of(
    index: EvidenceIndex,
    claim: Alignment,
    differences: Differences,
    *,
    words: int,
    list_item: bool,
    in_conflict: bool,
) -> list[float]:
    """The feature vector of an aligned claim, in the order of `coefficients.FEATURES`; every entry is finite.

    `words`: how many words of weight and numbers the claim has.
    """
    triples = list(triples_of(claim.terms))
    strange = triples
    for sentence, _ in claim.nearest[:_COMPARED]:
        known = index.sentences[sentence].triples
        strange = [triple for triple in strange if triple not in known]
    trigrams = (len(triples) - len(strange)) / max(1, len(triples))
    unseen = math.log1p(sum(claim.unseen.values()))
    short = max(0.0, 1.0 - words / _LONG)
    return [
        claim.chunk_coverage,
        trigrams,
        unseen,
        float(claim.has_unseen_digits),
        float(list_item),
        float(in_conflict),
        short,
        short * claim.chunk_coverage,
        short * trigrams,
        short * unseen,
        *map(differences.values.__getitem__, DIFFERENCES),
    ]
