"""Numbers of several words: "two thousand four hundred", "un millón trescientos mil", "quatre-vingt-dix-sept"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rag_otel_evaluators.text.languages.numerals import JOINERS, MULTIPLIERS, ONES, spelled_value

_MOST_WORDS: Final = 12
PER_CENT: Final = frozenset({("per", "cent"), ("por", "ciento"), ("pour", "cent"), ("por", "cien")})
"""A unit in two words, of which the second is a number elsewhere."""
_COUNT_ALONE: Final = frozenset(["hundred", "hundert", "cien", "tausend", "mil", "mille", "cent"])
"""Multipliers that need no number before them."""
_INSIDE: Final = dict.fromkeys(("un", "uno", "una", "ún", "une", "one", "eins"), 1.0) | {"sept": 7.0, "neuf": 9.0}
"""Words that are numbers only inside one: alone they are articles, a month, "new"."""
_FRENCH_HUNDREDS: Final = frozenset(["deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf"])
"""What makes "cents" after it hundreds, and not the hundredth part of a dollar."""
_CENTURIES: Final = (11.0, 20.0)
"""What a year in two parts begins with: "nineteen eighty-four"."""


def spelled_number(written: Sequence[str], at: int) -> tuple[float | None, int]:
    """(value, end) of the number in words that begins here; (None, at + 1) where none does."""
    first = written[at].lower()
    before = written[at - 1].lower() if at else ""
    if (before, first) in PER_CENT:
        return None, at + 1
    total = current = 0.0
    found, end = False, at
    last = min(len(written), at + _MOST_WORDS)
    while end < last:
        word = written[end].lower()
        value = spelled_value(word)
        if value is None and found and word in _INSIDE and _fits(current, _INSIDE[word]):
            value = _INSIDE[word]
        if value is not None:
            if found and not _fits(current, value):
                if current % 100 == 4.0 and value == 20.0:  # quatre-vingts
                    value = 76.0
                elif not total and _CENTURIES[0] <= current <= _CENTURIES[1] and 10.0 <= value < 100.0:
                    current *= 100.0
                else:
                    break
            current += value
        elif word == "cents" and not (found and written[end - 1].lower() in _FRENCH_HUNDREDS):
            break
        elif word in MULTIPLIERS and (found or word in _COUNT_ALONE or before in ONES):
            total, current = _multiplied(total, current, MULTIPLIERS[word])
        elif word in JOINERS and found and end + 1 < last and _goes_on(current, written[end + 1].lower()):
            end += 1
            continue
        else:
            break
        found, end = True, end + 1
    if not found:
        return None, at + 1
    return total + current, end


def _fits(current: float, value: float) -> bool:
    """Whether a value may follow in the same number: "twenty three", "hundred five", "soixante douze", "ciento dos"."""
    if current == 0.0:
        return True
    tens = current % 100
    if value < 10:
        return tens == 0.0 or (tens >= 20.0 and current % 10 == 0.0) or (tens == 10.0 and value >= 7.0)
    if value < 20:
        return tens in (0.0, 60.0, 80.0)
    return tens == 0.0 and value < 100


def _multiplied(total: float, current: float, factor: float) -> tuple[float, float]:
    if factor < 1000.0:
        return total, max(current, 1.0) * factor
    if total and total < factor:  # "dos mil millones"
        return (total + current) * factor, 0.0
    return total + max(current, 1.0) * factor, 0.0


def _goes_on(current: float, word: str) -> bool:
    value = _INSIDE.get(word) or spelled_value(word)
    return value is not None and current > 0.0 and value < current and _fits(current, value)
