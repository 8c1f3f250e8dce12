"""Where words stand in a sentence that was read closely: which it has, in which part, how near to each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rag_otel_evaluators.judges.embedded.close_reading import STRONG, Reading

_STEP: Final = 0.15
"""What a word between two places takes away."""
_SEPARATOR: Final = 0.7
"""What a comma, a colon or an "and" between them takes away."""
_MOST_PLACES: Final = 6


def nearness(reading: Reading, one: int, other: int) -> float:
    """1 for neighbours, less with every word and separator between two places, above 0."""
    gap = abs(one - other)
    return 1.0 / (1.0 + _STEP * max(0, gap - 1) + _SEPARATOR * abs(reading.clauses[one] - reading.clauses[other]))


def places_in(reading: Reading, words: Sequence[str]) -> list[list[int]]:
    """Where those of the words stand that the reading has, each with its first places."""
    places_of, labels_of = reading.places, reading.labels
    if labels_of:
        found = [places for word in words if (places := places_of.get(word) or labels_of.get(word))]
    else:
        found = [places_of[word] for word in words if word in places_of]
    return [places if len(places) <= _MOST_PLACES else places[:_MOST_PLACES] for places in found]


def count_held(terms: Sequence[str], reading: Reading) -> int:
    """How many of the terms the reading has."""
    places = reading.places
    return len([term for term in terms if term in places])


def parts_of(reading: Reading) -> list[int]:
    """By word, the number of semicolons and line breaks before it."""
    part, parts, last = 0, [], 0
    for clause in reading.clauses:
        part += clause - last >= STRONG
        last = clause
        parts.append(part)
    return parts


def support(reading: Reading, at: int, others: Sequence[Sequence[int]], total: int) -> float:
    """How near other words (`places_in`) stand to a place, 0..1: their mean nearness, of `total` words."""
    if not others:
        return 0.0
    near = 0.0
    clauses = reading.clauses
    clause = clauses[at]
    for places in others:
        # `nearness`, written out: this is asked most often of all.
        if len(places) == 1:
            (place,) = places
            away = _STEP * abs(at - place) + _SEPARATOR * abs(clause - clauses[place]) - _STEP
        else:
            away = min([_STEP * abs(at - p) + _SEPARATOR * abs(clause - clauses[p]) for p in places]) - _STEP
        near += 1.0 / (1.0 + away) if away > 0.0 else 1.0
    return near / total
