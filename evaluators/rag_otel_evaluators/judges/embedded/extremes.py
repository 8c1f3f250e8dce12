"""Whether a claim names the right one of several: "the cheapest is Mini", "nothing here outlasts the Loop".

Read where the evidence is a table: the word of degree says which way, the question and the claim which column.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from rag_otel_evaluators.judges.embedded.close_reading import Reading, read_closely
from rag_otel_evaluators.judges.embedded.concepts import CONCEPTS
from rag_otel_evaluators.judges.embedded.quantities import Quantity
from rag_otel_evaluators.judges.embedded.terms import terms_of
from rag_otel_evaluators.text.languages.comparisons import ADJECTIVES, EQUALS, FORMS, LESS_OF, MORE_OF, NOBODY
from rag_otel_evaluators.text.languages.quantities import DIMENSIONS

_LEAST_ROWS: Final = 3
_MOST_ROWS: Final = 12
_MOST_CELLS: Final = 8
_REACH: Final = 2
"""Words between "most" and its adjective, and one more."""
_PREFIX: Final = 5
"""Letters that two forms of a word share."""
_MONEY: Final = frozenset(["dollar", "euro", "pound", "franc", "yuan", "yen", "£", "¥", "$", "€"])


class Degree(NamedTuple):
    """What a word of degree says."""

    direction: int
    """1 for the most, -1 for the least."""
    measured: str
    """ "money", "mass", "pace", "age" or "span"; empty where the word does not tell."""


def degree_in(reading: Reading) -> Degree | None:
    """The first word of degree of a sentence; None without one."""
    lower = [word.lower() for word in reading.written]
    more = MORE_OF | EQUALS if not NOBODY.isdisjoint(lower) else MORE_OF
    for at, word in enumerate(lower):
        if word in more or word in LESS_OF:
            way = 1 if word in more else -1
            for after in range(at + 1, min(len(lower), at + 1 + _REACH)):
                joined = "".join(lower[after : after + 2])
                if found := ADJECTIVES.get(lower[after]) or ADJECTIVES.get(joined):
                    return Degree(way * found[0], found[1])
            if word not in ("更", "最") and word not in EQUALS:
                return Degree(way, "")
        elif found := FORMS.get(word) or FORMS.get("".join(lower[at : at + 2])):
            return Degree(*found)
    return None


def compares(claim: Reading, question: Reading) -> bool:
    """True where either has a word of degree."""
    return degree_in(claim) is not None or degree_in(question) is not None


def extreme_wrong(claim: Reading, question: Reading, rows: Sequence[str]) -> float:
    """1 where the table names another one as the most or the least, -1 where it names the claim's, 0 elsewhere.

    `rows`: the lines of one table, its head first.
    """
    if len(rows) < _LEAST_ROWS:
        return 0.0
    degree = degree_in(question) or degree_in(claim)
    table = [[cell.strip() for cell in row.strip().strip("|").split("|")][:_MOST_CELLS] for row in rows[:_MOST_ROWS]]
    if degree is None:
        return 0.0
    head, *body = table
    labels = [frozenset(terms_of(row[0])) for row in body]
    named = _named(claim, labels)
    if not named:
        return 0.0
    compared = named if len(named) > 1 else _named(question, labels)
    if len(compared) < 2 or named[0] not in compared:
        compared = list(range(len(body)))
    claimed = {(quantity.value, quantity.unit) for quantity in claim.quantities}
    values = _value_column(head, body, {*claim.places, *question.places}, degree, labels, claimed)
    if values is None:
        return 0.0
    mine = values.get(named[0])
    others = [value for at in compared if at != named[0] and (value := values.get(at)) is not None]
    if mine is None or not others:
        return 0.0
    way = _way(degree, mine)
    ahead = [way * (_size(mine) - _size(other)) for other in others]
    return 0.0 if not way or min(ahead) == 0.0 else -1.0 if min(ahead) > 0.0 else 1.0


def _named(reading: Reading, labels: Sequence[Collection[str]]) -> list[int]:
    """The rows whose label a sentence has, in its order; of "Loop" and "Loop Pro" the longer one."""
    words = {word: at for at, word in reversed(list(enumerate(_terms(reading))))}
    found = [at for at, label in enumerate(labels) if label and all(term in words for term in label)]
    found = [at for at in found if not any(set(labels[at]) < set(labels[other]) for other in found)]
    return sorted(found, key=lambda at: min(words[term] for term in labels[at]))


def _terms(reading: Reading) -> list[str]:
    """The terms of a sentence; of Chinese in pairs of characters, as labels have them."""
    written = reading.written
    pairs = [one + other for one, other in pairwise(written) if len(one) == len(other) == 1]
    return [*reading.words, *pairs]


def _value_column(
    head: Sequence[str],
    body: Sequence[Sequence[str]],
    asked: Collection[str],
    degree: Degree,
    labels: Sequence[Collection[str]],
    claimed: Collection[tuple[float, str]],
) -> dict[int, Quantity] | None:
    """The values of the column that is asked for, by row; None where nobody can tell."""
    scored = []
    asked = set(asked) - {term for label in labels for term in label}
    for column in range(1, len(head)):
        values = {at: found for at, row in enumerate(body) if (found := _value(row, column, head[column])) is not None}
        if len(values) < 2:
            continue
        any_value = next(iter(values.values()))
        likeness = _likeness(head[column], asked) + 1.5 * _fits(any_value, head[column], degree)
        likeness += 2.0 * any((value.value, value.unit) in claimed for value in values.values())
        scored.append((likeness, -column, values))
    scored.sort(key=lambda each: each[:2], reverse=True)
    if not scored or (len(scored) > 1 and scored[0][0] == scored[1][0]) or (len(scored) > 1 and scored[0][0] <= 0.0):
        return None
    return scored[0][2]


def _value(row: Sequence[str], column: int, head: str) -> Quantity | None:
    if column >= len(row) or not any(character.isdigit() for character in row[column]):
        return None
    found = read_closely(row[column]).quantities
    return found[0] if found else None


def _likeness(head: str, asked: Collection[str]) -> float:
    """How many words of a head are asked for, in this or another form, or by a word of the same meaning."""
    total = 0.0
    for term in terms_of(head):
        if term in asked or (len(term) == 2 and set(term) <= set(asked) and not term.isascii()):
            total += 1.0
        elif any(len(term) >= _PREFIX and other[:_PREFIX] == term[:_PREFIX] for other in asked):
            total += 0.8
        elif meant := CONCEPTS[term]:
            total += 0.7 * any(not meant.isdisjoint(CONCEPTS[other]) for other in asked)
    return total


def _fits(value: Quantity, head: str, degree: Degree) -> bool:
    """True where the column holds what the word of degree measures."""
    if degree.measured == "money":
        return value.unit in _MONEY or any(sign in head for sign in "$€£¥元")
    dimension = DIMENSIONS.get(value.unit, ("",))[0]
    if degree.measured == "span":
        return dimension in ("time", "length")
    return dimension == degree.measured or (degree.measured == "pace" and (dimension == "time" or "/s" in head))


def _way(degree: Degree, value: Quantity) -> int:
    """1 where the larger value is the more extreme one."""
    dimension = DIMENSIONS.get(value.unit, ("",))[0]
    if degree.measured == "pace":
        return -degree.direction if dimension == "time" or value.unit == "clock" else degree.direction
    if degree.measured == "age":  # the older one has the smaller year
        return -degree.direction if 1000 <= value.value <= 2199 else degree.direction
    return degree.direction


def _size(quantity: Quantity) -> float:
    return quantity.value * DIMENSIONS.get(quantity.unit, ("", 1.0))[1]
