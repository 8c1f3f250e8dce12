"""Two things that a claim sets against each other: which came first, which is more.

"Line 41 leaves before line 3", "Grove has more storage than Seed": the claim has two sides and says which comes first
or has the larger value. The evidence says so itself, or gives a value beside each, or tells the one before the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from rag_otel_evaluators.judges.embedded.close_reading import Reading
from rag_otel_evaluators.judges.embedded.denial import denied_clauses
from rag_otel_evaluators.judges.embedded.nearness import nearness, places_in, support
from rag_otel_evaluators.judges.embedded.numbers import comparable
from rag_otel_evaluators.judges.embedded.quantities import Quantity
from rag_otel_evaluators.text.languages import words
from rag_otel_evaluators.text.languages.polarity import MEASURED, PARTICLES
from rag_otel_evaluators.text.languages.quantities import DIMENSIONS

_THEN: Final = words(
    "then later afterwards subsequently following luego después posteriormente später dann danach anschließend "
    "daraufhin puis ensuite 再 之后 后 以后 后来 随 接"
)
"""What stands before them came first."""
_FIRST_OF_ALL: Final = ["首"]
"""What stands before the mark in 首先, read by characters."""
_AND: Final = words("and y und et")
_OLDER: Final = words("older oldest elder älter ältere antiguo antigua ancien ancienne vieux vieille")
_NEWER: Final = words(
    "newer newest younger youngest jünger neuer joven nuevo nueva récent récente jeune nouveau nouvelle"
)
_PIVOTS: Final = ("before", "after", "than", "greater", "smaller", "exceeds", "trails")
_BY: Final = frozenset({"by", "von", "par", "por", "vom"})
"""After a verb they turn it round: "is beaten by"."""
_MONEY: Final = frozenset(["dollar", "euro", "pound", "franc", "yuan", "£", "¥"])
_REACH: Final = 4
"""Words after a value within which "ago" says that it is the older one."""
_MOST_PLACES: Final = 4
_TREND_READ: Final = 3
_MOST_TURNS: Final = 12
"""Words of rise and fall of one sentence that are looked at."""
_PARTICLE_REACH: Final = 10
"""Words after a verb in which its particle stands: "nimmt ... zu"."""
_ENDED: Final = frozenset({"plus", "mehr", "más"})
"""With a negation: "ne ... plus", "nicht mehr"."""
_ENDED_OR_LESS: Final = frozenset({"plus", "moins", "más", "menos"})
_IN_PHRASE: Final = frozenset({"à", "au", "al", "lo", "du", "en", "de", "non", "a", "por", "además"})
"""Before "moins" or "más" they make a phrase: "au moins", "de plus"."""
_LIMIT_REACH: Final = 2
"""Words after a comparative within which a number makes it a limit: "more than 20"."""
_BEFORE_DEGREE: Final = frozenset("更变越较最还")
_AFTER_DEGREE: Final = frozenset("了些点")


class Sides(NamedTuple):
    """What a sentence sets against each other."""

    one: frozenset[str]
    """Words that only the first side has."""
    other: frozenset[str]
    direction: int
    """1 where the first has more, or comes later, -1 where it has less, or comes first."""
    in_time: bool
    measured: str
    """What is compared: a dimension of `DIMENSIONS`, or "money"; empty where nothing says."""


def sides_of(reading: Reading) -> Sides | None:
    """The two sides of a comparison or of a before and after; None where there are none."""
    marks = reading.marks
    if (than := marks.get("than")) and ("greater" in marks or "smaller" in marks):
        compared = min(at for mark in ("greater", "smaller") for at in marks.get(mark, ()))
        pivot = next((at for at in than if at > compared), than[-1])
        if age := _age(reading):
            return _split(reading, pivot, pivot, age, in_time=True)
        direction = (-1 if "smaller" in marks else 1) * (-1 if "soon" in marks else 1)
        return _split(reading, pivot, pivot, direction, in_time=False)
    for mark, direction in (("exceeds", 1), ("trails", -1)):
        if places := marks.get(mark):
            after = {word.lower() for word in reading.written[places[0] + 1 : places[0] + 3]}
            turned_round = not after.isdisjoint(_BY)
            return _split(reading, places[0], places[0], -direction if turned_round else direction, in_time=False)
    for mark in ("before", "after"):
        if places := marks.get(mark):
            at = places[0]
            if mark == "before" and "after" in marks and (at == 0 or reading.written[:at] == _FIRST_OF_ALL):
                return _split_then(reading, at, marks["after"][-1])  # "First A, then B."
            then = reading.written[at].lower() in _THEN
            if then and _starts_apart(reading, at):  # "A; B came later."
                return _split_then(reading, -1, at)
            direction = -1 if mark == "before" or then else 1
            if at == 0:  # "Before A, B."
                return _split_clause(reading, -direction)
            return _split(reading, at, at, direction, in_time=True)
    return None


def _age(reading: Reading) -> int:
    """-1 where the sentence says that something is older, so came first, 1 where it is newer."""
    lower = {word.lower() for word in reading.written}
    return (not lower.isdisjoint(_NEWER)) - (not lower.isdisjoint(_OLDER))


def _split(reading: Reading, first: int, last: int, direction: int, *, in_time: bool) -> Sides | None:
    left = _side(reading, range(last) if first == last else range(first + 1, last))
    right = _side(reading, range(last + 1, len(reading.words)))
    return _exclusive(reading, left, right, direction, in_time=in_time)


def _starts_apart(reading: Reading, at: int) -> bool:
    """True where a comma or more stands between the first words and the clause of this word."""
    clauses, begins = reading.clauses, reading.clauses.index(reading.clauses[at])
    return begins > 0 and (begins == at or clauses[at] - clauses[begins - 1] > 1 or not _is_and(reading, begins))


def _is_and(reading: Reading, at: int) -> bool:
    return reading.written[at].lower() in _AND


def _split_then(reading: Reading, first: int, then: int) -> Sides | None:
    """What stands before the clause with "then" came first; before the word where the clause is the first."""
    begins = reading.clauses.index(reading.clauses[then]) if _starts_apart(reading, then) else then
    if begins <= first:
        begins = then
    left = _side(reading, range(first + 1, begins))
    right = _side(reading, range(begins, len(reading.words)))
    return _exclusive(reading, left, right, -1, in_time=True)


def _split_clause(reading: Reading, direction: int) -> Sides | None:
    clauses = reading.clauses
    left = _side(reading, (at for at in range(1, len(clauses)) if clauses[at] == clauses[0]))
    right = _side(reading, (at for at in range(1, len(clauses)) if clauses[at] != clauses[0]))
    return _exclusive(reading, left, right, direction, in_time=True)


def _exclusive(reading: Reading, left: set[str], right: set[str], direction: int, *, in_time: bool) -> Sides | None:
    one, other = left - right, right - left
    for kind in (reading.labels, reading.names):
        mine, theirs = {word for word in one if word in kind}, {word for word in other if word in kind}
        if theirs and not mine and reading.written[0][0].isupper():
            mine = one & set(reading.words[:1])
        if mine and theirs:  # what is set against each other is of one kind
            one, other = mine, theirs
            break
    if not one or not other:
        return None
    measured = next((MEASURED[word] for word in map(str.lower, reading.written) if word in MEASURED), "")
    return Sides(frozenset(one), frozenset(other), direction, in_time, measured)


def _side(reading: Reading, places: Iterator[int] | range) -> set[str]:
    found = set()
    for at in places:
        word, written = reading.words[at], reading.written[at]
        if word in reading.places or word[0].isdigit() or (len(written) == 1 and written.isupper()):
            found.add(word)
    return found - {reading.words[at] for mark in _PIVOTS for at in reading.marks.get(mark, ())}


def turned(
    claim: Reading, evidence: Sequence[Reading], order: Sequence[tuple[int, int]], anchors: Sequence[str]
) -> tuple[float, float]:
    """(wrong comparison, wrong order in time): 1 where the evidence says the opposite, -1 where it says the same.

    `order`: (chunk, sentence) of each reading; what a chunk tells first came first. `anchors`: what both speak of.
    """
    sides = sides_of(claim)
    if sides is None:
        return _trend_turned(claim, evidence, anchors), 0.0
    said = _said(sides, evidence) or _valued(sides, evidence)
    if not said and sides.in_time:
        said = _told(sides, evidence, order)
    wrong = -float(said * sides.direction)
    return (0.0, wrong) if sides.in_time else (wrong, 0.0)


def _said(sides: Sides, evidence: Sequence[Reading]) -> int:
    """The direction that the evidence states itself; 0 where it does not."""
    for reading in evidence:
        theirs = sides_of(reading)
        if theirs is None or theirs.in_time != sides.in_time:
            continue
        # What stands after the "than" is one thing; before it the whole sentence may stand, so it counts for less.
        same = len(sides.one & theirs.one) + 2 * len(sides.other & theirs.other)
        crossed = 2 * len(sides.one & theirs.other) + 2 * len(sides.other & theirs.one)
        if same != crossed:
            return theirs.direction if same > crossed else -theirs.direction
    return 0


def _valued(sides: Sides, evidence: Sequence[Reading]) -> int:
    """The direction of two comparable values, one beside each side."""
    of_one, of_other = list(_values(sides.one, sides.other, evidence)), list(_values(sides.other, sides.one, evidence))
    best, direction = 0.0, 0
    for near, mine in of_one:
        for near_other, theirs in of_other:
            if near + near_other > best and mine.value != theirs.value and _may_be_compared(sides, mine, theirs):
                best, direction = near + near_other, 1 if _size(mine) > _size(theirs) else -1
    return direction


def _may_be_compared(sides: Sides, mine: Quantity, theirs: Quantity) -> bool:
    if sides.in_time:
        return _is_time(mine) and _is_time(theirs) and comparable(mine, theirs)
    if sides.measured and not (_measures(mine, sides.measured) and _measures(theirs, sides.measured)):
        return False
    return bool(mine.unit) and comparable(mine, theirs)


def _measures(quantity: Quantity, dimension: str) -> bool:
    if dimension == "money":
        return quantity.unit in _MONEY
    return DIMENSIONS.get(quantity.unit, ("",))[0] == dimension


def _is_time(quantity: Quantity) -> bool:
    return quantity.unit in ("date", "clock") or 1000 <= quantity.value <= 2199


def _values(
    side: frozenset[str], other: frozenset[str], evidence: Sequence[Reading]
) -> Iterator[tuple[float, Quantity]]:
    """(how much nearer it stands to this side than to the other one, value)."""
    for reading in evidence:
        here, there = _places(reading, side), _places(reading, other)
        if not here:
            continue
        labels = {*here, *there}
        for quantity in reading.quantities:
            if quantity.at in labels:
                continue
            near = max(nearness(reading, quantity.at, place) for place in here)
            away = max((nearness(reading, quantity.at, place) for place in there), default=0.0)
            if near > away:
                yield near - away, quantity


def _places(reading: Reading, side: frozenset[str]) -> list[int]:
    return [at for at, word in enumerate(reading.words) if word in side]


def _told(sides: Sides, evidence: Sequence[Reading], order: Sequence[tuple[int, int]]) -> int:
    """-1 where a chunk tells the first side first, 1 where it tells it later."""
    first: dict[int, dict[bool, tuple[int, float]]] = {}
    for reading, (chunk, sentence) in sorted(zip(evidence, order, strict=True), key=lambda pair: pair[1]):
        found = first.setdefault(chunk, {})
        for is_one, side in ((True, sides.one), (False, sides.other)):
            if is_one not in found and (places := _places(reading, side)[:_MOST_PLACES]):
                found[is_one] = (sentence, sum(places) / len(places))
    for found in first.values():
        if len(found) == 2:
            return -1 if found[True] < found[False] else 1
    return 0


def _trend_turned(claim: Reading, evidence: Sequence[Reading], anchors: Sequence[str]) -> float:
    """1 where the claim says that something rose and the evidence has a smaller value after a larger one, or so."""
    claimed = _direction(claim, ())
    if not claimed:
        return 0.0
    for reading in evidence[:_TREND_READ]:
        if _turns_in(reading):
            if said := _direction(reading, anchors):
                return _wrong(said, claimed)
        elif found := _trend(reading):
            return _wrong(found, claimed)
    return _wrong(_trend_of_two(evidence), claimed)


def _wrong(said: int, claimed: int) -> float:
    """1 where the two directions differ, -0.5 where they are the same: something else may be wrong then."""
    return 0.0 if not said else 1.0 if said != claimed else -0.5


def _direction(reading: Reading, anchors: Sequence[str]) -> int:
    """1 where the words say that something is more than it was, -1 where they say that it is less.

    Of a sentence that says both the clause counts that holds most of `anchors`.
    """
    turns = _turns_in(reading)
    directions = {direction for _, direction in turns}
    if len(directions) == 1:
        return directions.pop()
    if turns:
        return _turn_beside(reading, turns, anchors)
    more, less = _compared(reading, "greater"), _compared(reading, "smaller")
    return (-1 if "soon" in reading.marks else 1) * (more - less) if more != less else 0


def _turn_beside(reading: Reading, turns: Sequence[tuple[int, int]], anchors: Sequence[str]) -> int:
    """The direction of the word that the anchors stand nearest to; 0 where two are as near."""
    placed = places_in(reading, anchors)
    near = [(support(reading, at, placed, max(1, len(anchors))), direction) for at, direction in turns]
    up, down = (max((value for value, said in near if said == way), default=0.0) for way in (1, -1))
    return (up > down) - (down > up)


def _turns_in(reading: Reading) -> list[tuple[int, int]]:
    """(place, direction) of the words that say that something rises (1) or falls (-1), and are not denied."""
    marks, found = reading.marks, []
    for mark, direction in (("up", 1), ("down", -1)):
        found += [(at, direction) for at in marks.get(mark, ())]
    lower = [word.lower() for word in reading.written]
    for at, word in enumerate(lower):
        if (ways := PARTICLES.get(word)) is not None:
            reach = range(at + 1, min(len(lower), at + 1 + _PARTICLE_REACH))
            found += [(there, ways[lower[there]]) for there in reach if lower[there] in ways]
    found = found[:_MOST_TURNS]
    if found and "none" in marks:
        denied = denied_clauses(reading)
        return [(at, way) for at, way in found if reading.clauses[at] not in denied]
    return found


def _compared(reading: Reading, mark: str) -> bool:
    """True where such a word compares: "longer", but not in "no longer" nor in "no more than 20"."""
    denied, numbers = reading.marks.get("none", ()), {quantity.at for quantity in reading.quantities}
    lower = [word.lower() for word in reading.written]
    return any(
        at - 1 not in denied
        and not (denied and lower[at] in _ENDED)
        and numbers.isdisjoint(range(at + 1, at + 1 + _LIMIT_REACH))
        and not (lower[at] in _ENDED_OR_LESS and at and lower[at - 1] in _IN_PHRASE)
        and not ("\u3400" <= lower[at][0] <= "\u9fff" and not _is_chinese_degree(lower, at))
        for at in reading.marks.get(mark, ())
    )


def _is_chinese_degree(lower: Sequence[str], at: int) -> bool:
    """True where one character compares: "更长", "长了", "长些"; it may be part of any word."""
    before, after = lower[at - 1] if at else "", lower[at + 1] if at + 1 < len(lower) else ""
    return before in _BEFORE_DEGREE or after in _AFTER_DEGREE


def _trend_of_two(evidence: Sequence[Reading]) -> int:
    """1 where a value is larger than the one of a sentence that says what was before, -1 where it is smaller."""
    for before in evidence:
        if not is_past(before):
            continue
        for now in evidence:
            if now is before or is_past(now):
                continue
            for old in before.quantities:
                for new in now.quantities:
                    if old.known_unit and new.known_unit and old.value != new.value and comparable(old, new):
                        one, two = _size(old), _size(new)
                        return (two > one) - (two < one)
    return 0


def is_past(reading: Reading) -> bool:
    """True where a sentence says what was so: "previously", "used to"."""
    return "past" in reading.marks or any(
        word == "used" and reading.written[at + 1 : at + 2] == ["to"] for at, word in enumerate(reading.written)
    )


def _size(quantity: Quantity) -> float:
    return quantity.value * DIMENSIONS.get(quantity.unit, ("", 1.0))[1]


def _trend(reading: Reading) -> int:
    """1 where the first two values of a kind in the sentence rise in time, -1 where they fall."""
    years = [quantity for quantity in reading.quantities if _is_time(quantity)]
    values = [quantity for quantity in reading.quantities if quantity not in years]
    return _trend_of(reading, values, years) or _trend_of(reading, [each for each in years if each.unit == "clock"], [])


def _trend_of(reading: Reading, values: Sequence[Quantity], years: Sequence[Quantity]) -> int:
    for at, one in enumerate(values):
        for other in values[at + 1 :]:
            if one.value == other.value or not comparable(one, other):
                continue
            rises = 1 if other.value > one.value else -1
            if len(years) > 1:
                return rises if _year_at(years, one) <= _year_at(years, other) else -rises
            is_turned = any(one.at < place < other.at + _REACH for place in reading.marks.get("formerly", ()))
            now = {reading.clauses[at] for at in reading.marks.get("now", ())}
            is_turned |= reading.clauses[one.at] in now and reading.clauses[other.at] not in now
            return -rises if is_turned else rises
    return 0


def _year_at(years: Sequence[Quantity], quantity: Quantity) -> float:
    return min(years, key=lambda year: abs(year.at - quantity.at)).value
