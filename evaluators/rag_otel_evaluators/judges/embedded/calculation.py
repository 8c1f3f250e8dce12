"""A number of the claim against what the question asks to be worked out: a sum, a difference, so many times a price.

"Together they have 63 employees" copies one of the two numbers that were to be added. A copied number looks well
supported by its words, and the right sum stands nowhere: only the calculation tells them apart. Of many numbers most
others can be worked out, so the ones count that stand nearest to the words of the question.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final, NamedTuple

from rag_otel_evaluators.judges.embedded.arithmetic import PLACED, is_result
from rag_otel_evaluators.judges.embedded.close_reading import Reading
from rag_otel_evaluators.judges.embedded.nearness import places_in, support
from rag_otel_evaluators.judges.embedded.numbers import agrees, comparable
from rag_otel_evaluators.judges.embedded.quantities import Quantity
from rag_otel_evaluators.text.languages import words
from rag_otel_evaluators.text.languages.quantities import DIMENSIONS

_MOST: Final = 10
"""Quantities of the evidence that are calculated with: those nearest to the question's words."""
_MOST_READ: Final = 40
"""Quantities of the evidence that are looked at."""
_MOST_OWN: Final = 3
"""Quantities of the claim that are looked at."""
_MOST_FACTORS: Final = 3
_NEAR_BEST: Final = 0.85
"""A result is the one that is asked for where its numbers stand so near as those of the best, by share."""
_ANOTHER: Final = -0.3
"""What a result counts for of numbers that stand farther away."""
_MONTHLY: Final = words(
    "month monthly mensual mensuales mes monat monatlich mois mensuel mensuelle pro 月 每月 月租 月费"
)
_YEARLY: Final = words(
    "year yearly annual annually año anual jahr jahres jährlich an année annuel annuelle annuels 年 全年 一年 每年"
)
_MONEY: Final = frozenset(
    ["dollar", "euro", "pound", "franc", "yuan", "yen", "krone", "cent", "rupee", "zloty", "peso"]
)
_MONTHS_OF_A_YEAR: Final = 12.0


class _Place(NamedTuple):
    near: float
    """How near the question's words stand, 0..1."""
    reading: int
    quantity: Quantity


class _Result(NamedTuple):
    near: float
    value: float
    unit: str


def calculated(claim: Reading, evidence: Sequence[Reading], question: Reading) -> float:
    """-1 where the claim gives the result that is asked for, 1 where it copies a number that goes into it, else 0.

    Between 0 and -1 where it gives the result of other numbers than those nearest to the question's words. What can be
    worked out although nobody asks for it counts nothing: of ten numbers most others can, by chance.
    """
    own = [
        quantity
        for quantity in claim.quantities[:_MOST_OWN]
        if quantity.unit not in ("date", "weekday")
        and not any(quantity.value == other.value for other in question.quantities)
    ]
    if not own:
        return 0.0
    places = _nearest(evidence, question)
    best = 0.0
    for quantity in own:
        found = _of_one(quantity, claim, evidence, places, question)
        if found < 0.0:  # what it was worked out from may be told beside it
            return found
        best = max(best, found)
    return best


def _nearest(evidence: Sequence[Reading], question: Reading) -> list[_Place]:
    asked = [*question.places, *(label for label in question.labels if label not in question.places)]
    found: list[_Place] = []
    for number, reading in enumerate(evidence):
        placed = places_in(reading, asked)
        for quantity in reading.quantities:
            near = support(reading, quantity.at, placed, len(asked) or 1)
            found.append(_Place(near, number, quantity))
        if len(found) >= _MOST_READ:
            break
    return heapq.nsmallest(_MOST, found, key=lambda place: (-place.near, place.reading, place.quantity.at))


def _of_one(
    quantity: Quantity, claim: Reading, evidence: Sequence[Reading], places: Sequence[_Place], question: Reading
) -> float:
    results = [
        result for result in _asked(quantity, claim, evidence, places, question) if _measures(quantity, result.unit)
    ]
    if not results:
        return 0.0
    best = max(result.near for result in results)
    given = [result.near for result in results if is_result(quantity, (result.value, result.unit))]
    if given:
        return -1.0 if max(given) >= _NEAR_BEST * best else _ANOTHER
    copied = any(agrees(quantity, place.quantity) for place in places)
    return 1.0 if copied and _asks(question) else 0.0


def _measures(quantity: Quantity, unit: str) -> bool:
    """Whether a result of this unit could be what the claim gives."""
    if not quantity.known_unit or not unit or unit == quantity.unit or unit not in DIMENSIONS:
        return not (quantity.known_unit and unit in _MONEY and unit != quantity.unit)
    return DIMENSIONS[unit][0] == DIMENSIONS.get(quantity.unit, ("",))[0]


def _asks(question: Reading) -> bool:
    return "summed" in question.marks or "differing" in question.marks


def _asked(
    quantity: Quantity,
    claim: Reading,
    evidence: Sequence[Reading],
    places: Sequence[_Place],
    question: Reading,
) -> Iterator[_Result]:
    """What comes out where the question or the claim says what to do."""
    sums = "summed" in question.marks or "summed" in claim.marks
    differences = "differing" in question.marks or "differing" in claim.marks
    is_time = DIMENSIONS.get(quantity.unit, ("",))[0] == "time"
    for one, two in combinations(places, 2):
        yield from _of_two(one, two, sums=sums, differences=differences, is_time=is_time)
    if sums:
        yield from _of_all(places)
    yield from _times(claim, evidence, places, question)


def _of_two(one: _Place, two: _Place, *, sums: bool, differences: bool, is_time: bool) -> Iterator[_Result]:
    first, second = one.quantity, two.quantity
    near = one.near + two.near
    if first.unit == second.unit == "clock":
        if is_time and one.reading == two.reading:
            yield _Result(near, abs(first.value - second.value), "minute")
        return
    if first.unit in PLACED or second.unit in PLACED or first.value == second.value:
        return
    if not comparable(first, second):
        return
    unit = first.unit if first.known_unit else second.unit if second.known_unit else ""
    if sums:
        yield _Result(near, first.value + second.value, unit)
    if differences:
        yield _Result(near, abs(first.value - second.value), unit)


def _of_all(places: Sequence[_Place]) -> Iterator[_Result]:
    by_unit: dict[str, list[_Place]] = {}
    for place in places:
        if place.quantity.unit and place.quantity.unit not in PLACED:
            by_unit.setdefault(place.quantity.unit, []).append(place)
    for unit, added in by_unit.items():
        for count in {3, len(added)}:
            if 2 < count <= len(added):
                near = 2 * sum(place.near for place in added[:count]) / count
                yield _Result(near, sum(place.quantity.value for place in added[:count]), unit)


def _times(
    claim: Reading, evidence: Sequence[Reading], places: Sequence[_Place], question: Reading
) -> Iterator[_Result]:
    """So many times a price: the count stands in the question, or a year is asked for and a month given."""
    factors = [
        own.value for own in question.quantities if own.unit not in (*PLACED, "percent", "weekday") and own.value > 1.0
    ][:_MOST_FACTORS]
    yearly = any(word.lower() in _YEARLY for word in (*question.written, *claim.written))
    for place in places:
        quantity = place.quantity
        if quantity.unit not in _MONEY:
            continue
        for factor in factors:
            if factor != quantity.value:
                yield _Result(2 * place.near, factor * quantity.value, quantity.unit)
        reading = evidence[place.reading]
        if yearly and _MONTHS_OF_A_YEAR not in factors and any(word.lower() in _MONTHLY for word in _said_of(reading)):
            yield _Result(2 * place.near, _MONTHS_OF_A_YEAR * quantity.value, quantity.unit)


def _said_of(reading: Reading) -> list[str]:
    """The words of a sentence, those of the head of its table included."""
    return [*reading.written, *reading.places]
