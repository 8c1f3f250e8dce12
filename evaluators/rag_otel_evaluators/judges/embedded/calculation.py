"""A number of the claim against what the question asks to be worked out: a sum, a difference, a time between two.

"Together they have 63 employees" copies one of the two numbers that were to be added. A copied number looks well
supported by its words, and the right sum stands nowhere: only the calculation tells them apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

from rag_otel_evaluators.judges.embedded.arithmetic import PLACED, Result, is_result
from rag_otel_evaluators.judges.embedded.close_reading import Reading
from rag_otel_evaluators.judges.embedded.numbers import agrees, comparable
from rag_otel_evaluators.judges.embedded.quantities import Quantity
from rag_otel_evaluators.text.languages.quantities import DIMENSIONS

_MOST: Final = 10
"""Quantities of the evidence that are calculated with."""
_MOST_OWN: Final = 3
"""Quantities of the claim that are looked at."""


def calculated(claim: Reading, evidence: Sequence[Reading], question: Reading) -> float:
    """-1 where the claim gives the result that is asked for, 1 where it copies a number that goes into it, else 0.

    What can be worked out although nobody asks for it counts nothing: of ten numbers most others can, by chance.
    """
    best = 0.0
    for quantity in claim.quantities[:_MOST_OWN]:
        if quantity.unit in ("date", "weekday") or any(quantity.value == other.value for other in question.quantities):
            continue
        found = _of_one(quantity, claim, evidence, question)
        if found < 0.0:  # what it was worked out from may be told beside it
            return found
        best = max(best, found)
    return best


def _of_one(quantity: Quantity, claim: Reading, evidence: Sequence[Reading], question: Reading) -> float:
    places = [(at, other) for at, reading in enumerate(evidence) for other in reading.quantities][:_MOST]
    copied = any(agrees(quantity, other) for _, other in places)
    results = list(_asked(quantity, claim, places, question))
    if results:
        if any(is_result(quantity, result) for result in results):
            return -1.0
        if copied and _asks(question):
            return 1.0
    return 0.0


def _asks(question: Reading) -> bool:
    return "summed" in question.marks or "differing" in question.marks


def _asked(
    quantity: Quantity, claim: Reading, places: Sequence[tuple[int, Quantity]], question: Reading
) -> Iterator[Result]:
    """What comes out where the question or the claim says what to do."""
    sums = "summed" in question.marks or "summed" in claim.marks
    differences = "differing" in question.marks or "differing" in claim.marks
    is_time = DIMENSIONS.get(quantity.unit, ("",))[0] == "time"
    by_unit: dict[str, list[float]] = {}
    for (at, one), (there, other) in combinations(places, 2):
        if one.unit == other.unit == "clock":
            if is_time and at == there:
                yield abs(one.value - other.value), "minute"
            continue
        if one.unit in PLACED or other.unit in PLACED or not comparable(one, other) or one.value == other.value:
            continue
        unit = one.unit if one.known_unit else other.unit if other.known_unit else ""
        if sums:
            yield one.value + other.value, unit
        if differences:
            yield abs(one.value - other.value), unit
    if sums:
        for _, other in places:
            if other.unit and other.unit not in PLACED:
                by_unit.setdefault(other.unit, []).append(other.value)
        for unit, values in by_unit.items():
            if len(values) > 2:
                yield sum(values), unit
                yield sum(values[:3]), unit
