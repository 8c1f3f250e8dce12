"""A claim compared with its nearest sentences, difference by difference: what overlap of words does not see.

Competition: a number or name of the claim stands in the evidence among words that the claim names too. Where another
number of the same unit, or another name, stands nearer to those words, the claim took the wrong one: a wrong table
cell, list member, date or person. Nearness falls with the words and separators between two places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from rag_otel_evaluators.judges.embedded.close_reading import Quantity, Reading
from rag_otel_evaluators.text.languages.negations import ANTONYMS
from rag_otel_evaluators.text.languages.quantities import DIMENSIONS

_MOST_PAIRS: Final = 24
_STEP: Final = 0.15
_SEPARATOR: Final = 0.7
_NEAR: Final = 0.02
"""Relative error within which a converted number is the same."""


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


@dataclass(slots=True)
class Differences:
    """What a claim and its evidence do not share."""

    values: dict[str, float]
    """By the names of `DIFFERENCES`."""
    rival: Rival | None
    """The clearest wrong number or name."""
    opposite: tuple[int, str, str] | None
    """(reading, the claim's word, its opposite there)."""


DIFFERENCES: Final = (
    "cohesion",  # neighbouring words of the claim stand near each other in the evidence, 0..1
    "number_missing",  # numbers that no near sentence has, nor gives by conversion or arithmetic, 0..2
    "number_derived",  # numbers that arithmetic gives, 0..2
    "number_rival",  # how much better another number of the unit fits, 0..1
    "name_rival",  # the same for names
    "denial_lost",  # the evidence denies beside the claim's words, the claim does not
    "opposite",  # a word with an opposite stands against it
    "too_wide",  # the claim says all, most or only, and the evidence does not, 0..2
    "hedge_lost",  # the evidence hedges, the claim does not
    "events_turned",  # what comes first in the evidence comes later in the claim; -1 where it is plainly the same
    "reported",  # the nearest sentence is quoted or reported speech, 0..2
    "spread",  # share of the claim's words that the nearest sentence lacks and another one has
    "unread",  # share of the claim's words of weight that none of these sentences has
    "sure",  # the claim is certain, exclusive, or holds in any case, and the evidence does not say so, 0..3
)
"""From `denial_lost` to `hedge_lost` each counts as far as the nearest sentence holds the claim: what stands in a
sentence about something else says nothing."""


def compare(claim: Reading, evidence: Sequence[Reading], numbered: Sequence[Reading] = ()) -> Differences:
    """Compare a claim with its nearest sentences, the nearest first. `numbered`: others that hold numbers."""
    if not evidence:
        return Differences(dict.fromkeys(DIFFERENCES, 0.0) | {"unread": 1.0}, None, None)
    content = list(claim.places)
    held = [sum(term in reading.places for term in content) for reading in evidence]
    nearest = max(range(len(evidence)), key=lambda at: (held[at], -at))
    best = evidence[nearest]
    total = len(content) or 1
    about = held[nearest] / total
    known = sum(any(term in reading.places for reading in evidence) for term in content)
    missing, derived, number_rival = _numbers(claim, [*evidence, *numbered], content)
    name_rival = _names(claim, evidence, content)
    opposite = _opposite(claim, evidence)
    near = _near(best, content)
    denies, denied = "none" in claim.marks, _beside(best, "none", near)
    values = {
        "cohesion": _cohesion(claim, evidence),
        "number_missing": min(2.0, missing),
        "number_derived": min(2.0, derived),
        "number_rival": number_rival.margin if number_rival else 0.0,
        "name_rival": name_rival.margin if name_rival else 0.0,
        "denial_lost": about * (denied and not denies and opposite is None),
        "opposite": about * (opposite is not None and denies == denied),
        "too_wide": about * _too_wide(claim, evidence),
        "hedge_lost": about * ("hedge" not in claim.marks and _beside(best, "hedge", near)),
        "events_turned": _events_turned(claim, best),
        "reported": _reported(claim, best, near),
        "spread": (known - held[nearest]) / total,
        "unread": 1.0 - known / total,
        "sure": _sure(claim, evidence),
    }
    rival = max((r for r in (number_rival, name_rival) if r is not None), key=lambda r: r.margin, default=None)
    return Differences(values, rival, opposite)


def numbers_agree(claim: Reading, evidence: Sequence[Reading]) -> bool:
    """True where each of the claim's numbers stands in one of the sentences, or it has none."""
    return all(
        any(_agrees(quantity, other) for reading in evidence for other in reading.quantities)
        for quantity in claim.quantities
    )


def _nearness(reading: Reading, one: int, other: int) -> float:
    gap = abs(one - other)
    return 1.0 / (1.0 + _STEP * max(0, gap - 1) + _SEPARATOR * abs(reading.clauses[one] - reading.clauses[other]))


def _support(reading: Reading, at: int, others: Sequence[str]) -> float:
    """How near the claim's other words stand to a place, 0..1."""
    total = 0.0
    places_of, clauses = reading.places, reading.clauses
    clause = clauses[at]
    for term in others:
        if (places := places_of.get(term)) is not None:
            # `_nearness`, written out: this is asked most often of all.
            away = min(
                [_STEP * abs(at - place) + _SEPARATOR * abs(clause - clauses[place]) for place in places[:6]]
                if len(places) > 1
                else (_STEP * abs(at - places[0]) + _SEPARATOR * abs(clause - clauses[places[0]]),)
            )
            total += 1.0 / (1.0 + max(0.0, away - _STEP))
    return total / (len(others) or 1)


def _cohesion(claim: Reading, evidence: Sequence[Reading]) -> float:
    content = [word for word in claim.words if word in claim.places or word[0].isdigit()]
    pairs = list(pairwise(content))[:_MOST_PAIRS]
    total = 0.0
    for one, other in pairs:
        best = 0.0
        for reading in evidence:
            places = reading.places
            if one in places and other in places:
                best = max(best, max([_nearness(reading, a, b) for a in places[one][:3] for b in places[other][:3]]))
                if best == 1.0:
                    break
        total += best
    return total / len(pairs) if pairs else 1.0


def _agrees(mine: Quantity, other: Quantity) -> bool:
    """The same quantity, in whatever unit: "2.2 kW" and "2,200 watts"; a date with or without its year."""
    if mine.unit == "date" and other.unit == "date":
        return _dates_agree(int(mine.value), int(other.value))
    if mine.unit == other.unit or not (mine.known_unit and other.known_unit):
        return mine.value == other.value
    one, two = DIMENSIONS.get(mine.unit), DIMENSIONS.get(other.unit)
    if one is None or two is None or one[0] != two[0]:
        return "date" in (mine.unit, other.unit) and _years_agree(mine, other)
    return abs(mine.value * one[1] - other.value * two[1]) <= _NEAR * other.value * two[1]


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


def _comparable(mine: Quantity, other: Quantity) -> bool:
    """Whether one could have been written where the other stands."""
    if mine.known_unit and other.known_unit:
        one, two = DIMENSIONS.get(mine.unit), DIMENSIONS.get(other.unit)
        return mine.unit == other.unit or (one is not None and two is not None and one[0] == two[0])
    if mine.known_unit or other.known_unit:
        a_year = _is_year(mine.value) or _is_year(other.value)
        return not a_year and (not mine.unit or not other.unit)
    return mine.unit == other.unit or _is_year(mine.value) == _is_year(other.value)


def _is_year(value: float) -> bool:
    return 1000 <= value <= 2199 and value == int(value)


def _numbers(claim: Reading, evidence: Sequence[Reading], content: Sequence[str]) -> tuple[float, float, Rival | None]:
    """(numbers that are nowhere, numbers that can be worked out, the clearest rival)."""
    missing = derived = 0.0
    rival: Rival | None = None
    for quantity in claim.quantities:
        own, at_all = 0.0, False
        best_other: tuple[float, int, Quantity] | None = None
        others = [term for term in content if term != quantity.unit] or list(content)
        for number, reading in enumerate(evidence):
            for other in reading.quantities:
                support = _support(reading, other.at, others)
                if _agrees(quantity, other):
                    own, at_all = max(own, support), True
                    continue
                same_number = other.value == quantity.value
                if not same_number and not _comparable(quantity, other):
                    continue
                if any(_agrees(also, other) for also in claim.quantities):
                    continue
                support += 0.25 * same_number
                if best_other is None or support > best_other[0]:
                    best_other = (support, number, other)
        if not at_all:
            if _can_be_worked_out(quantity, evidence):
                derived += 1.0
                continue
            missing += 1.0
        if best_other is not None:
            margin = max(0.0, min(1.0, best_other[0] - own))
            if rival is None or margin > rival.margin:
                same_unit = bool(quantity.unit and best_other[2].unit) or (
                    _is_year(quantity.value) and _is_year(best_other[2].value)
                )
                there, other = evidence[best_other[1]], best_other[2]
                rival = Rival(best_other[1], _said(claim, quantity), _said(there, other), margin, same_unit)
    return missing, derived, rival


def _said(reading: Reading, quantity: Quantity) -> str:
    """The quantity as it is written, with the word after it."""
    end = quantity.at + len(quantity.text.split(" "))
    after = reading.written[end : end + 1] if quantity.known_unit and quantity.unit not in ("date", "clock") else []
    return " ".join([quantity.text, *after])


def _can_be_worked_out(quantity: Quantity, evidence: Sequence[Reading]) -> bool:
    """Sum, difference, product or quotient of two quantities that stand near, or a count of a list."""
    if quantity.unit in ("date", "clock") or quantity.value <= 0.0:
        return False
    found = [other for reading in evidence[:6] for other in reading.quantities if other.unit not in ("date", "clock")][
        :14
    ]
    wanted = quantity.value
    if quantity.unit in ("degree", "celsius", "fahrenheit") and any(
        abs(wanted - changed) < 0.8 for other in found for changed in (other.value * 1.8 + 32, (other.value - 32) / 1.8)
    ):
        return True
    for at, one in enumerate(found):
        for other in found[at + 1 :]:
            if one.unit == other.unit:  # alike: added, taken away, or one is so many times the other
                results = [one.value + other.value, abs(one.value - other.value)]
                results += [one.value / other.value, other.value / one.value] if one.value and other.value else []
            else:  # so many of such a size, or a share of them
                results = [one.value * other.value]
                results += [result / 100 for result in results if "percent" in (one.unit, other.unit)]
            if any(abs(result - wanted) < 1e-9 for result in results):
                return True
    return False


def _names(claim: Reading, evidence: Sequence[Reading], content: Sequence[str]) -> Rival | None:
    rival: Rival | None = None
    for name, places in list(claim.names.items())[:8]:
        others = [term for term in content if term != name and not _beside_in(claim, term, places[0])]
        if not others:
            continue
        own, best_other = 0.0, None
        for number, reading in enumerate(evidence):
            for place in reading.places.get(name, ())[:4]:
                own = max(own, _support(reading, place, others))
            for other, there in list(reading.names.items())[:16]:
                if other in claim.places:
                    continue
                for place in there[:3]:
                    support = _support(reading, place, others)
                    if best_other is None or support > best_other[0]:
                        best_other = (support, number, reading.written[place])
        if best_other is not None and (margin := min(1.0, best_other[0] - own)) > (rival.margin if rival else 0.0):
            rival = Rival(best_other[1], claim.written[places[0]], best_other[2], margin)
    return rival


def _beside_in(claim: Reading, term: str, at: int) -> bool:
    """True for another part of the same name: "Marie" beside "Curie"."""
    return any(abs(place - at) == 1 for place in claim.names.get(term, ()))


def _near(reading: Reading, content: Sequence[str]) -> list[int]:
    return sorted({place for term in content for place in reading.places.get(term, ())})


def _beside(reading: Reading, mark: str, near: Sequence[int]) -> bool:
    """True where such a word stands in a clause with the claim's words."""
    places = reading.marks.get(mark)
    if not places or not near:
        return False
    clauses = {reading.clauses[place] for place in near}
    return any(reading.clauses[place] in clauses for place in places)


def _opposite(claim: Reading, evidence: Sequence[Reading]) -> tuple[int, str, str] | None:
    for word in claim.opposites:
        others = ANTONYMS[word]
        if any(word in reading.opposites for reading in evidence) or any(other in claim.opposites for other in others):
            continue
        for number, reading in enumerate(evidence[:2]):
            for other in sorted(others):
                if other in reading.opposites:
                    return number, word, other
    return None


def _too_wide(claim: Reading, evidence: Sequence[Reading]) -> float:
    total = 0.0
    for mark, weaker in (("all", ("most", "some", "hedge", "condition")), ("most", ("some",)), ("only", ())):
        if mark in claim.marks and not any(mark in reading.marks for reading in evidence[:2]):
            total += 1.0 + 0.5 * any(other in reading.marks for other in weaker for reading in evidence[:1])
    return min(2.0, total)


def _sure(claim: Reading, evidence: Sequence[Reading]) -> float:
    return float(
        sum(
            mark in claim.marks and not any(mark in reading.marks for reading in evidence[:2])
            for mark in ("certain", "unconditional", "only")
        )
    )


def _events_turned(claim: Reading, best: Reading) -> float:
    """What the claim puts first against what the evidence puts first; 0 where either says nothing of it."""
    order = _events(claim)
    if order is None:
        return 0.0
    first, second = order
    here = [best.places[term][0] for term in first if term in best.places]
    there = [best.places[term][0] for term in second if term in best.places]
    if not here or not there:
        return 0.0
    earlier = sum(here) / len(here) < sum(there) / len(there)
    if "after" in best.marks and "before" not in best.marks and best.marks["after"][0] > 0:
        between = min(min(here), min(there)) < best.marks["after"][0] < max(max(here), max(there))
        earlier ^= between and best.written[best.marks["after"][0]].lower() not in _THEN
    return -1.0 if earlier else 1.0


_THEN: Final = frozenset(
    [
        "then",
        "later",
        "afterwards",
        "luego",
        "después",
        "dann",
        "danach",
        "puis",
        "ensuite",
        "再",
        "之后",
        "后",
        "以后",
        "following",
    ]
)


def _events(claim: Reading) -> tuple[list[str], list[str]] | None:
    """The claim's words before and after its "before" or "after", as (what comes first, what comes second)."""
    for mark in ("before", "after"):
        places = claim.marks.get(mark)
        if not places:
            continue
        at = places[0]
        left = [term for term, found in claim.places.items() if found[0] < at]
        right = [term for term, found in claim.places.items() if found[0] > at]
        if not left:  # "Before X, Y."
            clause = claim.clauses[at]
            left = [term for term, found in claim.places.items() if claim.clauses[found[0]] > clause]
            right = [term for term in right if term not in left]
        if not left or not right:
            return None
        then = claim.written[at].lower() in _THEN
        return (left, right) if (mark == "before" or then) else (right, left)
    return None


def _reported(claim: Reading, best: Reading, near: Sequence[int]) -> float:
    if "reported" in claim.marks:
        return 0.0
    quoted = bool(best.quoted) and sum(best.quoted[place] for place in near) > len(near) / 2
    return float(quoted) + float("reported" in best.marks)
