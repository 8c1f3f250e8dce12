"""The claims of a response and of a reference answer in one numbered list, as the prompts of two metrics have them.

[0] (response) Tower Bridge was opened in 1894.
[1] (reference) It was opened on 30 June 1894.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rag_otel.model import Claim
from rag_otel_evaluators.text.claim_segmentation import segment

MOST_CLAIMS: Final = 30
"""Maximum number of claims of each text, so that one call is enough. Of more, the first ones are judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimPair:
    """The claims of the two texts."""

    response: tuple[Claim, ...]
    reference: tuple[Claim, ...]
    abstained: bool
    """The response only says that it does not know."""
    cut: bool
    """One of the texts has more than `MOST_CLAIMS`."""

    @property
    def items(self) -> list[str]:
        """All claims with their origin: those of the response, then those of the reference."""
        return [
            *(f"(response) {claim.text}" for claim in self.response),
            *(f"(reference) {claim.text}" for claim in self.reference),
        ]


def claim_pair(response: str, reference: str) -> ClaimPair:
    """Splits both texts into claims. A short answer without a statement ("No") is one claim."""
    ours, abstained = _claims(response)
    theirs, _ = _claims(reference)
    return ClaimPair(
        response=ours[:MOST_CLAIMS],
        reference=theirs[:MOST_CLAIMS],
        abstained=abstained,
        cut=max(len(ours), len(theirs)) > MOST_CLAIMS,
    )


def _claims(text: str) -> tuple[tuple[Claim, ...], bool]:
    """Returns the claims of a text, and whether it only abstains."""
    segmentation = segment(text)
    claims = tuple(segmentation.claims)
    if claims or segmentation.abstained:
        return claims, not claims
    start = len(text) - len(text.lstrip())
    return (Claim(text=text.strip(), sentence_index=0, start=start, end=len(text.rstrip())),), False
