"""Whether a number that stands nowhere can be worked out of those that do: sums, differences, rates, shares, times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from typing import Final

from rag_otel_evaluators.judges.embedded.close_reading import Reading
from rag_otel_evaluators.judges.embedded.quantities import Quantity
from rag_otel_evaluators.text.languages.numerals import FRACTIONS
from rag_otel_evaluators.text.languages.quantities import DIMENSIONS

PLACED: Final = ("date", "clock")
"""Units of points in time: they are never added."""
_CALCULATED_WITH: Final = 10
"""Quantities that are added, multiplied and so on."""
_GIVEN: Final = 4
"""Quantities of the claim and the question that are multiplied with them."""
_ROUNDED: Final = 0.006
"""Relative error of a result that is written in fewer digits."""
_MONEY: Final = ("dollar", "euro", "pound", "franc", "yuan", "£", "¥")
_PERIODS: Final = ("day", "week", "month", "year", "hour")
_MOST_PERIODS: Final = 60
"""A sum by the month or so is counted so often at most."""
_MINUTES: Final = {"minute": 1.0, "hour": 60.0}
_OF_A_SHARE: Final = 0.6
"""Percent by which a share of two numbers may be rounded."""
_DEGREE: Final = 0.8
_TEMPERATURES: Final = ("degree", "celsius", "fahrenheit")

_OF_A_REST: Final = frozenset({"none", "negating", "privative", "except", "differing"})
"""Classes of words beside which a share may be what is left of the whole."""
_TIMES: Final = "time"
"""Unit of "twice": it divides nothing, and what comes out where one number is so many times another."""

Result = tuple[float, str]
"""(value, unit); of no unit where the unit is anything."""


def can_be_worked_out(quantity: Quantity, claim: Reading, evidence: Sequence[Reading], question: Reading) -> bool:
    """Sum, difference, product, quotient or share of quantities that stand near, or the time between two."""
    if quantity.unit == "clock":
        return _is_so_long_after(quantity, evidence)
    if quantity.unit in PLACED or quantity.value <= 0.0:
        return False
    places = [(at, other) for at, reading in enumerate(evidence) for other in reading.quantities][:_CALCULATED_WITH]
    found = [other for _, other in places]
    if quantity.unit in _TEMPERATURES:
        values = [value for other in found for value in (other.value * 1.8 + 32, (other.value - 32) / 1.8)]
        return any(abs(quantity.value - value) < _DEGREE for value in values)
    given = [other for other in (*claim.quantities, *question.quantities) if other.value != quantity.value][:_GIVEN]
    shares = {FRACTIONS[word] for reading in evidence[:3] for word in reading.written if word in FRACTIONS}
    with_rest = any(not _OF_A_REST.isdisjoint(reading.marks) for reading in (claim, question))
    return any(is_result(quantity, result) for result in _results(places, given, sorted(shares), with_rest=with_rest))


def _is_so_long_after(quantity: Quantity, evidence: Sequence[Reading]) -> bool:
    """True for "9:35" where the evidence has "9:00" and "35 minutes", or "10:10" and so much before it."""
    found = [other for reading in evidence for other in reading.quantities][: 2 * _CALCULATED_WITH]
    starts = [other.value for other in found if other.unit == "clock"]
    lengths = [other.value * _MINUTES[other.unit] for other in found if other.unit in _MINUTES]
    return any(quantity.value in (start + length, start - length) for start in starts for length in lengths)


def is_result(quantity: Quantity, result: Result) -> bool:
    """True where a calculation gives this quantity, in whatever unit, as far as it is written."""
    value, unit = result
    if unit == "share":  # "48 of 60" is 80%; of two numbers that stand together any could be one of the other
        return quantity.unit == "percent" and abs(value - quantity.value) < _OF_A_SHARE
    if quantity.known_unit and unit in DIMENSIONS and quantity.unit != unit:
        dimension, factor = DIMENSIONS[unit]
        other, own_factor = DIMENSIONS.get(quantity.unit, ("", 1.0))
        if dimension != other:
            return False
        value *= factor / own_factor
    elif quantity.known_unit and unit and quantity.unit != unit:
        return False
    if _is_year(quantity):  # nobody rounds a year, and two years near each other are not the same
        return value == quantity.value
    return abs(value - quantity.value) <= _ROUNDED * quantity.value


def _results(
    places: Sequence[tuple[int, Quantity]], given: Sequence[Quantity], shares: Sequence[float], *, with_rest: bool
) -> Iterator[Result]:
    """`places`: (reading, quantity). `with_rest`: what is left of 100% as well."""
    for (at, one), (there, other) in combinations(places, 2):
        yield from _of_two(one, other, together=at == there)
    measured = [other for _, other in places if other.unit not in PLACED]
    factors = [other for other in given if other.unit not in PLACED]
    for other in measured:
        if not other.unit:
            continue
        for factor in factors:
            yield factor.value * other.value, other.unit
            if "percent" in (factor.unit, other.unit):
                yield factor.value * other.value / 100, factor.unit if other.unit == "percent" else other.unit
        for one, two in combinations(factors, 2):
            yield one.value * two.value * other.value, other.unit
        for share in shares:
            yield share * other.value, other.unit
    for other in measured:
        if with_rest and other.unit == "percent" and other.value < 100.0:
            yield 100.0 - other.value, "share"
    for count, money in permutations(measured, 2):
        if money.unit in _MONEY and count.unit in _PERIODS and 1.0 < count.value <= _MOST_PERIODS:
            yield count.value * money.value, money.unit
    by_unit: dict[str, list[float]] = {}
    for other in measured:
        by_unit.setdefault(other.unit, []).append(other.value)
    for unit, values in by_unit.items():
        if len(values) > 2:
            yield sum(values[:3]), unit
            yield sum(values), unit


def _of_two(one: Quantity, other: Quantity, *, together: bool) -> Iterator[Result]:
    if one.unit in PLACED or other.unit in PLACED or _is_year(one) or _is_year(other):
        yield from _between(one, other)
        for year, length in ((one, other), (other, one)):
            if together and _is_year(year) and length.unit == "year" and not _is_year(length):
                yield year.value + length.value, ""
                yield year.value - length.value, ""
        return
    small, large = sorted((one.value, other.value))
    unit = one.unit or other.unit
    if together and large and not (one.unit == "percent" or other.unit == "percent"):
        yield 100.0 * small / large, "share"
    if together and (one.unit == other.unit or not (one.unit and other.unit)):  # apart, any number is soon a sum
        yield small + large, unit
        yield large - small, unit
        if small and one.unit == other.unit:
            yield large / small, _TIMES
    if one.unit != other.unit and one.unit and other.unit and together:
        for mine, rate in ((one, other), (other, one)):
            if rate.unit == "percent":
                yield mine.value * rate.value / 100, mine.unit
            elif mine.known_unit and rate.unit != _TIMES:
                yield mine.value * rate.value, mine.unit
                if rate.value:
                    yield mine.value / rate.value, mine.unit


def _between(one: Quantity, other: Quantity) -> Iterator[Result]:
    """The time between two points in time."""
    if one.unit == other.unit == "clock":
        yield abs(one.value - other.value), "minute"
    elif all(quantity.unit == "date" or _is_year(quantity) for quantity in (one, other)):
        years = [quantity.value // 10_000 if quantity.unit == "date" else quantity.value for quantity in (one, other)]
        yield abs(years[0] - years[1]), "year"


def _is_year(quantity: Quantity) -> bool:
    return not quantity.known_unit and 1000 <= quantity.value <= 2199
