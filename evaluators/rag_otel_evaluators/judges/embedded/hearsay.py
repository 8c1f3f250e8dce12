"""Whether the evidence says a thing itself, or tells what somebody asks or says, or what was so once."""

from __future__ import annotations

from collections.abc import Sequence

from rag_otel_evaluators.judges.embedded.close_reading import Reading
from rag_otel_evaluators.judges.embedded.limits import places_of
from rag_otel_evaluators.judges.embedded.nearness import parts_of
from rag_otel_evaluators.judges.embedded.order import is_past


def reported(claim: Reading, best: Reading, near: Sequence[int]) -> float:
    """1 where the claim's words stand in what somebody says, and 1 more in quotation marks; `near`: their places."""
    if "reported" in claim.marks:
        return 0.0
    quoted = bool(best.quoted) and sum(best.quoted[place] for place in near) > len(near) / 2
    return float(quoted) + float(_is_reported(best, near))


def _is_reported(reading: Reading, near: Sequence[int]) -> bool:
    """True where somebody says what stands at these places: up to the next semicolon."""
    marked = reading.marks.get("reported")
    if not marked:
        return False
    parts = parts_of(reading)
    return not {parts[place] for place in near}.isdisjoint(parts[at] for at in marked)


def unreliable(claim: Reading, evidence: Sequence[Reading], question: Reading, refuted: Sequence[bool]) -> float:
    """1 where the sentence with what the claim adds to the question asks, is quoted, reported, denied, or past, else 0.

    `refuted`: by sentence of the evidence, whether the next one says that it is not so.
    """
    if not question.places:
        return 0.0
    focus = [term for term in claim.places if term not in question.places]
    focus += [term for term in claim.labels if term not in question.labels]

    def held(number: int) -> tuple[int, int]:
        reading = evidence[number]
        mine = sum(term in reading.places or term in reading.labels for term in focus)
        return mine, len(question.places.keys() & reading.places.keys())

    number = max(range(len(evidence)), key=held)
    best = evidence[number]
    if not held(number)[0]:
        return 0.0
    near = places_of(best, focus)
    quoted = bool(best.quoted) and sum(best.quoted[place] for place in near) > len(near) / 2
    says_who = "reported" in claim.marks or "reported" in question.marks
    told = not says_who and (_is_reported(best, near) or (number < len(refuted) and refuted[number]))
    past = is_past(best) and not is_past(claim) and not is_past(question)
    return float(quoted or told or past or (best.asks and not says_who))
