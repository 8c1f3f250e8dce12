"""When a claim is called contradicted: a rule found a conflict, or the differences together weigh enough.

What is weighed is how much those differences add to the log-odds that only a contradiction has: another number or name
in its place, the opposite word, a denial more or less, the wrong order. A word that is nowhere contradicts nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rag_otel_evaluators.judges.embedded.assessment import AssessedClaim
from rag_otel_evaluators.judges.embedded.coefficients import FEATURES, Coefficients
from rag_otel_evaluators.judges.embedded.conflicts import Conflict
from rag_otel_evaluators.judges.embedded.evidence import EvidenceIndex
from rag_otel_evaluators.judges.embedded.numbers import Rival

CONTRADICTING: Final = (
    "number_rival",
    "name_rival",
    "denial_lost",
    "opposite",
    "compared_wrong",
    "events_turned",
    "conflict",
)
"""Features that speak of a contradiction."""
CONTRADICTED_FROM: Final = 0.6
"""Log-odds that they must add together. Chosen once, out of fold, near a precision of 0.8 on the contrast pairs."""
CONTRADICTED_PROBABILITY: Final = 0.5
"""Least probability of being unsupported for a contradicted claim of a short answer. Of pairs that differ in one point
four of five such claims are wrong; where one answer in five is unfaithful that is one in two."""
_AT: Final = tuple(FEATURES.index(name) for name in CONTRADICTING)


def contradiction(
    index: EvidenceIndex, coefficients: Coefficients, claim: AssessedClaim, shortness: float
) -> Conflict | None:
    """What the claim says and what the evidence says instead; None where they get along."""
    if claim.conflict is not None:
        return claim.conflict
    features = claim.features
    there = [at for at in _AT if features[at]]
    if not there or _added(coefficients, features, there, shortness) < CONTRADICTED_FROM:
        return None
    clearest = max(there, key=lambda at: _added(coefficients, features, [at], shortness))
    found = _name(index, claim, FEATURES[clearest])
    return found if found is None or found.claimed.lower() != found.found.lower() else None


def _added(coefficients: Coefficients, features: Sequence[float], at: Sequence[int], shortness: float) -> float:
    """What these features add to the log-odds: how much less they are without them."""
    without = list(features)
    for number in at:
        without[number] = 0.0
    return coefficients.log_odds(features, shortness) - coefficients.log_odds(without, shortness)


def _name(index: EvidenceIndex, claim: AssessedClaim, feature: str) -> Conflict | None:
    """The difference in words."""
    differences, read = claim.differences, claim.read
    if feature == "number_rival" and differences.number_rival is not None:
        return _of_rival(read, differences.number_rival) if differences.number_rival.is_plain else None
    if feature == "name_rival" and differences.name_rival is not None:
        return _of_rival(read, differences.name_rival)
    if feature == "opposite" and differences.opposite is not None:
        sentence, word, other = differences.opposite
        return Conflict(read[sentence], word, other)
    if not read:
        return None
    sentence = read[differences.nearest]
    if feature == "denial_lost":
        return Conflict(sentence, "so", "not so")
    return Conflict(sentence, "it one way round", "it the other way round")


def _of_rival(read: list[int], rival: Rival) -> Conflict:
    return Conflict(read[rival.sentence], rival.claimed, rival.found)
