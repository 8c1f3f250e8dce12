"""How far a claim holds, and its evidence: all, most or some, only if, perhaps or surely."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from rag_otel_evaluators.judges.embedded.close_reading import Reading
from rag_otel_evaluators.judges.embedded.marks import DENYING

_WIDE: Final = {"all": ("most", "some", "only", "hedge", "condition", "except"), "most": ("some",), "only": ()}
"""Class of words that claim much -> classes of those that claim less."""
_SAME: Final = {"all": ("all",), "most": ("most",), "only": ("only", "except", "condition", "none")}
"""Class of words that claim much -> classes of those that may say the same: "only if", "unless"."""
_SURE: Final = {"certain": ("certain",), "unconditional": ("unconditional",), "only": _SAME["only"]}
"""The same for words that leave no doubt, or nothing else."""
_LIMITING: Final = ("most", "some", "only", "except", "condition", "hedge", "reported")
"""Classes of words that limit what is said."""
_LIMITS: Final = frozenset({"except", "most", "some", "none", "only", "condition"})
"""A claim with one of them does not pass over an exception."""
_DENIED_WITHIN: Final = 3
"""Words after a "not" that it denies."""


def too_wide(claim: Reading, evidence: Sequence[Reading], anchors: Sequence[str], affirmed: Collection[str]) -> float:
    """How far the claim says all, most or only where the clauses that speak of the same do not, 0..2.

    `affirmed`: the classes of words of a question that the claim answers with a yes.
    """
    marks = [mark for mark in _WIDE if _says(claim, mark) or mark in affirmed]
    if not marks:
        return 0.0
    near = [(reading, places_of(reading, anchors)) for reading in evidence[:2]]
    total = 0.0
    for mark in marks:
        if any(is_beside(reading, other, places) for reading, places in near for other in _SAME[mark]):
            total += mark == "all" and "except" in near[0][0].marks and claim.marks.keys().isdisjoint(_LIMITS)
            continue
        total += 1.0 + 0.5 * any(other in reading.marks for other in _WIDE[mark] for reading in evidence[:1])
    return min(2.0, total)


def limits_kept(claim: Reading, evidence: Sequence[Reading], anchors: Sequence[str]) -> float:
    """How many of the claim's limits ("most", "only", "if", "may") stand in clauses that speak of the same, 0..2."""
    mine = [mark for mark in _LIMITING if mark in claim.marks]
    if not mine:
        return 0.0
    near = [(reading, places_of(reading, anchors)) for reading in evidence]
    return min(2.0, sum(any(is_beside(reading, mark, places) for reading, places in near) for mark in mine))


def hedge_added(claim: Reading, evidence: Sequence[Reading]) -> bool:
    """True where the claim hedges and the nearest sentences do not."""
    return "hedge" in claim.marks and not any("hedge" in near.marks or "some" in near.marks for near in evidence[:2])


def too_sure(claim: Reading, evidence: Sequence[Reading]) -> float:
    """How many of certain, in any case, and only the claim says where the nearest sentences do not, 0..3."""
    near = evidence[:2]
    return float(
        sum(
            _says(claim, mark) and not any(other in reading.marks for reading in near for other in same)
            for mark, same in _SURE.items()
        )
    )


def _says(reading: Reading, mark: str) -> bool:
    """True where such a word stands without a denial before it: not "not certain"."""
    places, denials = reading.marks.get(mark, ()), [at for name in DENYING for at in reading.marks.get(name, ())]
    if mark == "only" and not reading.marks.keys().isdisjoint(("reported", "hedge")):
        return False  # "That is only what a guest has heard."
    return any(not any(0 < at - there <= _DENIED_WITHIN for there in denials) for at in places)


def places_of(reading: Reading, content: Sequence[str]) -> list[int]:
    """Where these terms stand, ascending."""
    return sorted({place for term in content for place in reading.places.get(term, ())})


def is_beside(reading: Reading, mark: str, near: Sequence[int]) -> bool:
    """True where such a word stands in a clause with the claim's words."""
    places = reading.marks.get(mark)
    if not places or not near:
        return False
    clauses = {reading.clauses[place] for place in near}
    return any(reading.clauses[place] in clauses for place in places)
