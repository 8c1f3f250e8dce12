"""The numbers of a claim against those of its evidence: the same, another one, worked out, or nowhere.

Competition: a number of the claim stands in the evidence among words that the claim or the question names too. Where
another number of the same unit stands nearer to those words, the claim took the wrong one: a wrong table cell, list
member, date or person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rag_otel.lazy_dataclass import dataclass
from rag_otel_evaluators.judges.embedded.arithmetic import PLACED, can_be_worked_out
from rag_otel_evaluators.judges.embedded.close_reading import Reading
from rag_otel_evaluators.judges.embedded.nearness import places_in, support
from rag_otel_evaluators.judges.embedded.quantities import CURRENCIES, FREE, Quantity
from rag_otel_evaluators.judges.embedded.rates import differ, period_of
from rag_otel_evaluators.judges.embedded.terms import term_of
from rag_otel_evaluators.text.languages.quantities import DIMENSIONS, MEASURING, ROUGHLY

_SAID_ALONE: Final = (*PLACED, "weekday", FREE)
_NEAR: Final = 0.02
"""Relative error within which a converted number is the same."""
_OF_A_PERCENT: Final = 0.5
"""Percent by which a share in words and one in figures may differ: "a third", "33%"."""
_OTHER_NAME: Final = 0.5
_ROUGH: Final = 0.08
"""Relative error of a number that is given as a rough one."""
_ROUGHLY_WITHIN: Final = 3
"""Words before a number within which it is called rough."""
_MEASURING: Final = frozenset(map(term_of, MEASURING))
_BY_CHANCE: Final = 0.5
"""What a number counts for that can be worked out where nobody speaks of a sum, a difference or a change."""
_OF_WHAT_WEIGHT: Final = 3
"""What a number is of counts as so many words beside a verb such as "costs"."""
_HOURS: Final = 24
_HALF_A_DAY: Final = 720
_DEGREES: Final = frozenset({"celsius", "fahrenheit"})
_WORKED_OUT: Final = ("summed", "differing", "up", "down")
"""Classes of words beside which a number is often worked out from others."""
NAME_WEIGHT: Final = 3
"""A name, or a number or letter that names something, counts as so many words: it tells rows and members of a list
apart."""
_SAME_NUMBER: Final = 0.25
"""Support that another unit of the claim's own number has more than another number."""


@dataclass(frozen=True, slots=True)
class Rival:
    """What stands in the evidence where the claim has something else."""

    sentence: int
    """Index into the readings."""
    claimed: str
    found: str
    margin: float
    """How much nearer it stands to the claim's other words, 0..1."""
    same_unit: bool = True
    """False for a number that may count something else."""
    may_be_worked_out: bool = False
    """The claim's number is nowhere, and claim or question speak of a sum, a difference or a change."""

    @property
    def is_plain(self) -> bool:
        """Whether it may be said to contradict the claim."""
        return self.same_unit and not self.may_be_worked_out


def numbers_agree(claim: Reading, evidence: Sequence[Reading]) -> bool:
    """True where each of the claim's numbers stands in one of the sentences, or it has none."""
    return all(
        any(agrees(quantity, other) for reading in evidence for other in reading.quantities)
        for quantity in claim.quantities
    )


def compare_numbers(
    claim: Reading, evidence: Sequence[Reading], anchors: Sequence[str], question: Reading, *, days_hold: bool = False
) -> tuple[float, float, Rival | None]:
    """(numbers that are nowhere, numbers that can be worked out, the clearest rival).

    `days_hold`: whether the claim's weekdays are known to be right.
    """
    missing = derived = 0.0
    rival: Rival | None = None
    labels = list(dict.fromkeys([*claim.labels, *question.labels, *claim.names, *question.names]))
    if claim.words and claim.written[0][0].isupper():
        labels += [term for term in claim.words[:1] if any(term in reading.names for reading in evidence)]
    for quantity in claim.quantities:
        if _is_label(quantity, question) or _is_condition(quantity, claim, question):
            continue
        if (days_hold and quantity.unit == "weekday") or (quantity.unit == FREE and len(claim.quantities) > 1):
            continue  # of "free under 14" the number is compared
        own, at_all = 0.0, False
        best_other: tuple[float, int, Quantity] | None = None
        others = _beside(quantity, claim, anchors, labels)
        is_rough = _is_rough(claim, quantity)
        for number, reading in enumerate(evidence):
            if not reading.quantities:
                continue
            placed = places_in(reading, others)
            total = (len(others) or 1) * _of_another_row(reading, others)
            for other in reading.quantities:
                agreed = agrees(quantity, other) or (is_rough and _nearly(quantity, other))
                if agreed and not differ(claim, quantity, reading, other):
                    own, at_all = max(own, support(reading, other.at, placed, 1) / total), True
                    continue
                same_number = other.value == quantity.value
                if not same_number and not comparable(quantity, other):
                    continue
                if not agreed and any(agrees(also, other) for also in claim.quantities):
                    continue
                near = support(reading, other.at, placed, 1) / total + _SAME_NUMBER * same_number
                if best_other is None or near > best_other[0]:
                    best_other = (near, number, other)
        if not at_all:
            if can_be_worked_out(quantity, claim, evidence, question):
                derived += 1.0 if _speaks_of_change(claim, question) else _BY_CHANCE
                continue
            missing += quantity.unit != FREE and not (
                _is_one(quantity) or any(agrees(quantity, asked) for asked in question.quantities)
            )
        if best_other is not None:
            margin = max(0.0, min(1.0, best_other[0] - own))
            if rival is None or margin > rival.margin:
                worked_out = not at_all and _speaks_of_change(claim, question)
                rival = replace(_rival(claim, quantity, evidence, best_other, margin), may_be_worked_out=worked_out)
    return missing, derived, rival


def _beside(quantity: Quantity, claim: Reading, anchors: Sequence[str], labels: Sequence[str]) -> list[str]:
    """The words that tell which number is meant, each as often as it counts."""
    its_own = {quantity.unit, *claim.words[quantity.at : quantity.at + len(quantity.text.split(" "))]}
    others = [term for term in anchors if term not in its_own] or list(anchors)
    if not _MEASURING.isdisjoint(others):
        others += [term for term in others if term not in _MEASURING] * (_OF_WHAT_WEIGHT - 1)
    return others + [label for label in labels if label not in its_own] * (NAME_WEIGHT - 1)


def _speaks_of_change(claim: Reading, question: Reading) -> bool:
    return any(mark in reading.marks for reading in (claim, question) for mark in _WORKED_OUT)


def _of_another_row(reading: Reading, asked: Sequence[str]) -> float:
    """1, and up to 1.5 for a row whose name has words that nobody asked for: "Loop Pro" is another than "Loop"."""
    if not reading.key:
        return 1.0
    return 1.0 + _OTHER_NAME * sum(word not in asked for word in reading.key) / len(reading.key)


def _is_one(quantity: Quantity) -> bool:
    """ "In a year", which is an article as well."""
    return quantity.value == 1.0 and not quantity.text[0].isdigit()


def _is_label(quantity: Quantity, question: Reading) -> bool:
    """True for a number that the question has too: "line 41" is asked for, it is not the answer."""
    return not quantity.known_unit and any(quantity.value == other.value for other in question.quantities)


def _is_condition(quantity: Quantity, claim: Reading, question: Reading) -> bool:
    """True for a number of the question beside another one: "a child of ten pays 9 euros" answers with the 9 euros."""
    if not any(agrees(quantity, asked) for asked in question.quantities):
        return False
    return any(not any(agrees(other, asked) for asked in question.quantities) for other in claim.quantities)


def _rival(
    claim: Reading, mine: Quantity, evidence: Sequence[Reading], best: tuple[float, int, Quantity], margin: float
) -> Rival:
    _, sentence, other = best
    there = evidence[sentence]
    if agrees(mine, other):
        claimed, found = (f"by the {period_of(*each)}" for each in ((claim, mine), (there, other)))
        return Rival(sentence, claimed, found, margin)
    same_unit = bool(mine.unit and other.unit) or (_is_year(mine.value) and _is_year(other.value))
    return Rival(sentence, said(claim, mine), said(there, other), margin, same_unit)


def agrees(mine: Quantity, other: Quantity) -> bool:
    """The same quantity, in whatever unit: "2.2 kW" and "2,200 watts"; a date with or without its year."""
    if mine.unit == "date" and other.unit == "date":
        return _dates_agree(int(mine.value), int(other.value))
    if mine.unit == other.unit == "percent" and not (mine.text[0].isdigit() and other.text[0].isdigit()):
        return abs(mine.value - other.value) < _OF_A_PERCENT
    if mine.unit == other.unit == "clock" and (_in_words(mine) or _in_words(other)):
        return mine.value % _HALF_A_DAY == other.value % _HALF_A_DAY  # "half past nine" is in the evening, too
    if mine.unit == other.unit or not (mine.known_unit and other.known_unit):
        return mine.value == other.value or _is_that_hour(mine, other) or _is_that_hour(other, mine)
    if {mine.unit, other.unit} == {"hour", "clock"}:  # "10 h 30" is a length of time or a time of day
        return _minutes(mine) == _minutes(other)
    if "degree" in (mine.unit, other.unit) and not _DEGREES.isdisjoint((mine.unit, other.unit)):
        return mine.value == other.value
    one, two = DIMENSIONS.get(mine.unit), DIMENSIONS.get(other.unit)
    if one is None or two is None or one[0] != two[0]:
        return "date" in (mine.unit, other.unit) and _years_agree(mine, other)
    return abs(mine.value * one[1] - other.value * two[1]) <= _NEAR * other.value * two[1]


def _is_rough(reading: Reading, quantity: Quantity) -> bool:
    """ "About 30 minutes", "just under 30 minutes"."""
    before = reading.written[max(0, quantity.at - _ROUGHLY_WITHIN) : quantity.at]
    return any(word.lower() in ROUGHLY for word in before)


def _nearly(mine: Quantity, other: Quantity) -> bool:
    """As near as a rough number is: "about half an hour" and "28 minutes"."""
    if mine.unit in _SAID_ALONE or other.unit in _SAID_ALONE or not (mine.known_unit or mine.unit == other.unit):
        return False
    one, two = (DIMENSIONS.get(quantity.unit, (quantity.unit, 1.0)) for quantity in (mine, other))
    return one[0] == two[0] and abs(mine.value * one[1] - other.value * two[1]) <= _ROUGH * other.value * two[1]


def _in_words(clock: Quantity) -> bool:
    return " " in clock.text and not clock.text[0].isdigit()


def _is_that_hour(clock: Quantity, other: Quantity) -> bool:
    """ "At half past nine" without a unit, in the morning or in the evening."""
    if clock.unit != "clock" or other.known_unit or not 0 < other.value <= _HOURS:
        return False
    return other.value * 60 % _HALF_A_DAY == clock.value % _HALF_A_DAY


def _minutes(quantity: Quantity) -> float:
    return quantity.value if quantity.unit == "clock" else quantity.value * 60


def _dates_agree(mine: int, other: int) -> bool:
    for part in (10_000, 100, 1):
        one, two = (
            mine // part % (10_000 if part == 10_000 else 100),
            other // part % (10_000 if part == 10_000 else 100),
        )
        if one and two and one != two:
            return False
    return True


def _years_agree(mine: Quantity, other: Quantity) -> bool:
    year, date = (other, mine) if mine.unit == "date" else (mine, other)
    return year.value in (date.value // 10_000, date.value % 100)


def comparable(mine: Quantity, other: Quantity) -> bool:
    """Whether one could have been written where the other stands."""
    if FREE in (mine.unit, other.unit):
        return mine.unit in CURRENCIES or other.unit in CURRENCIES
    if mine.known_unit and other.known_unit:
        one, two = DIMENSIONS.get(mine.unit), DIMENSIONS.get(other.unit)
        return mine.unit == other.unit or (one is not None and two is not None and one[0] == two[0])
    if mine.known_unit or other.known_unit:
        a_year = _is_year(mine.value) or _is_year(other.value)
        return not a_year and (not mine.unit or not other.unit)
    return mine.unit == other.unit or _is_year(mine.value) == _is_year(other.value)


def _is_year(value: float) -> bool:
    return 1000 <= value <= 2199 and value == int(value)


def said(reading: Reading, quantity: Quantity) -> str:
    """The quantity as it is written, with the word after it."""
    end = quantity.at + len(quantity.text.split(" "))
    after = reading.written[end : end + 1] if quantity.known_unit and quantity.unit not in _SAID_ALONE else []
    return " ".join([quantity.text, *after])
