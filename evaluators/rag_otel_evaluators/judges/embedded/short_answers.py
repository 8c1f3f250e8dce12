"""What is read in a claim of a short answer alone: what only the trees for short answers can use.

The weights for long answers do without it: with it the AUROC of people's claims, each judged by weights that never saw
its question, is .870, without it .876; and it takes a sixth of the time that a claim takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rag_otel.lazy_dataclass import dataclass
from rag_otel_evaluators.judges.embedded.close_reading import Reading
from rag_otel_evaluators.judges.embedded.hearsay import reported, unreliable
from rag_otel_evaluators.judges.embedded.limits import hedge_added, limits_kept, too_sure
from rag_otel_evaluators.judges.embedded.meanings import meaning_turned
from rag_otel_evaluators.judges.embedded.members import members_missing
from rag_otel_evaluators.judges.embedded.nearness import count_held, places_in, support
from rag_otel_evaluators.judges.embedded.wording import WORDED, worded

FEW_WORDS: Final = 10
"""Words of weight up to which a claim is read word by word: of many words one often has such a neighbour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A claim and what it is compared with."""

    claim: Reading
    evidence: Sequence[Reading]
    question: Reading
    anchors: Sequence[str]
    """The claim's words of weight, then the question's."""
    best: Reading
    """The sentence that holds most of them."""
    near: Sequence[int]
    """Where they stand in it."""


def read_for_short(
    compared: Compared, *, about: float, order: Sequence[tuple[int, int]], reply: int, refuted: Sequence[bool]
) -> dict[str, float]:
    """The values of `coefficients.FOR_SHORT`. `about`: share of the anchors that the nearest sentence holds.

    `order`, `reply`, `refuted`: as in `differences.compare`.
    """
    claim, evidence, question = compared.claim, compared.evidence, compared.question
    is_few = len(claim.places) <= FEW_WORDS
    focus_gap, focus_near = _focus(claim, evidence, question)
    return {
        "opposite_meaning": meaning_turned(claim, evidence, compared.anchors) if is_few else 0.0,
        "hedge_added": about * hedge_added(claim, evidence),
        "limits_kept": limits_kept(claim, evidence, compared.anchors),
        "reported": reported(claim, compared.best, compared.near),
        "unreliable": unreliable(claim, evidence, question, refuted),
        "sure": too_sure(claim, evidence),
        "focus_gap": focus_gap,
        "members_missing": members_missing(claim, evidence) if is_few else 0.0,
        "focus_near": focus_near,
        "reply": float(reply),
        **(worded(claim, evidence, question, order) if is_few else dict.fromkeys(WORDED, 0.0)),
    }


def _focus(claim: Reading, evidence: Sequence[Reading], question: Reading) -> tuple[float, float]:
    """(how much more of the question a sentence without the focus holds, how near the focus stands to it)."""
    asked = list(question.places)
    focus = [term for term in claim.places if term not in question.places]
    if not asked or not focus:
        return 0.0, 0.0
    total = len(asked)
    best_any = best_with = near = 0.0
    for reading in evidence:
        share = count_held(asked, reading) / total
        has = count_held(focus, reading) / len(focus)
        best_any = max(best_any, share)
        best_with = max(best_with, share * has)
        if has:
            placed = places_in(reading, asked)
            if not placed:
                continue  # nothing is near: `support` would be 0
            places = [reading.places[term][0] for term in focus if term in reading.places]
            near = max(near, sum(support(reading, place, placed, total) for place in places) / len(focus))
    return best_any - best_with, near
