"""Numbers in words and in Chinese numerals: "fourteen", "fünfundzwanzig", "quatre-vingt-dix", "一百二十"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rag_otel_evaluators.text.languages import words

_FROM_ZERO: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen",
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete "
    "dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete "
    "veintiocho veintinueve",
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn "
    "achtzehn neunzehn",
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize",
)
_TENS: Final = (
    "twenty thirty forty fifty sixty seventy eighty ninety",
    "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
    "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "vingt trente quarante cinquante soixante septante huitante nonante",
)
_HUNDREDS: Final = (
    "cien doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos novecientos"
)
_GERMAN: Final = ("ein", *_FROM_ZERO[2].split()[2:10])

SCALES: Final = {
    word: value
    for value, listed in {
        1e2: "hundred hundert cent cents ciento",
        1e3: "thousand tausend mil mille k",
        1e6: "million millions millionen millón millones mio mill mln m",
        1e9: "billion billions milliarde milliarden milliard milliards mrd bn b",
        12.0: "dozen docena docenas dutzend douzaine",
    }.items()
    for word in listed.split()
}
"""A word that multiplies the number before it."""
SHORT_SCALES: Final = frozenset({"k", "m", "b"})
"""Those that do so only in amounts of money: "5 m" are metres."""
ONES: Final = words("a an one un una uno ein eine einer einem einen une")
"""One of the scale or unit after it; alone they are articles."""
JOINERS: Final = words("and y et und")
"""Between the parts of one number."""
_ELSEWHERE: Final = words("once sept elf mil cent neuf six null")
"""Months, units and everyday words of another language: numbers only beside their unit."""


def _spelled() -> dict[str, float]:
    found = {"dreissig": 30.0, "veintiún": 21.0, "veintiuna": 21.0, "zwo": 2.0, "vingts": 20.0, "octante": 80.0}
    for listed in _FROM_ZERO:
        found.update({word: float(value) for value, word in enumerate(listed.split())})
    for listed in _TENS:
        found.update({word: 10.0 * value for value, word in enumerate(listed.split(), 2)})
    found.update({word: 100.0 * value for value, word in enumerate(_HUNDREDS.split(), 1)})
    found.update({f"{word[:-2]}as": 100.0 * value for value, word in enumerate(_HUNDREDS.split(), 1) if value > 1})
    below = {unit: value for value, unit in enumerate(_GERMAN, 1)}
    for at, ten in enumerate(_TENS[2].split(), 2):
        found.update({f"{unit}und{ten}": float(10 * at + value) for unit, value in below.items()})
    for unit, value in below.items():
        found.update({f"{unit}hundert": 100.0 * value, f"{unit}tausend": 1000.0 * value})
    return {word: value for word, value in found.items() if word not in ONES and word != "eins"}


SPELLED: Final = _spelled()
"""Word in lower case -> number. The articles are in `ONES`."""
DIGIT_WORDS: Final = {
    word: int(value) for word, value in SPELLED.items() if value >= 2 and word not in _ELSEWHERE and word != "dos"
} | {word: int(SCALES[word]) for word in ("hundred", "hundert", "thousand", "tausend", "mille")}
"""Words that are numbers wherever they stand."""


def spelled_number(written: Sequence[str], at: int) -> tuple[float, int] | None:
    """(value, end) of the number in words that begins at `written[at]` (lower case); None where none does.

    Words are added while they get smaller ("two hundred" "thirty" "five") and scales multiply what stands before them.
    """
    total = current = 0.0
    end, found = at, False
    while end < len(written):
        word = written[end]
        value = SPELLED.get(word, 1.0 if word in ONES else None)
        if value is not None and (not found or _goes_on(current, value)):
            current += 76.0 if value == 20.0 and current % 100.0 == 4.0 else value  # quatre-vingts
        elif (scale := SCALES.get(word)) is not None and (found or word in DIGIT_WORDS) and word not in SHORT_SCALES:
            if scale > 100.0:
                total, current = total + (current or 1.0) * scale, 0.0
            else:
                current = (current or 1.0) * scale
        elif word in JOINERS and found and _goes_on(current, SPELLED.get(" ".join(written[end + 1 : end + 2]), 0.0)):
            end += 1
            continue
        else:
            break
        found, end = True, end + 1
    return (total + current, end) if found else None


def _goes_on(current: float, value: float) -> bool:
    """Whether a smaller number may follow: "sixty" "two", "soixante" "dix", "quatre" "vingts"."""
    if current % 100.0 == 4.0 and value == 20.0:
        return True
    if current % 100.0 in (60.0, 80.0) and 10.0 <= value < 20.0:
        return True
    return (0.0 < value < 10.0 and current % 10.0 == 0.0) or (0.0 < value < 100.0 and current % 100.0 == 0.0)


_CJK_DIGITS: Final = {mark: value for value, mark in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
_CJK_TENS: Final = {"十": 10, "百": 100, "千": 1000}
CJK_SCALES: Final = {"万": 10_000, "萬": 10_000, "亿": 100_000_000, "億": 100_000_000}
CJK_NUMERALS: Final = "".join([*_CJK_DIGITS, *_CJK_TENS, *CJK_SCALES])


def cjk_value(text: str) -> float:
    """The value of Chinese numerals: 三 -> 3, 一百二十 -> 120, 一九八八 -> 1988."""
    if all(mark in _CJK_DIGITS for mark in text):
        return float("".join(str(_CJK_DIGITS[mark]) for mark in text))
    total = section = digit = 0
    for mark in text:
        if mark in _CJK_DIGITS:
            digit = _CJK_DIGITS[mark]
        elif mark in _CJK_TENS:
            section, digit = section + (digit or 1) * _CJK_TENS[mark], 0
        else:
            total, section, digit = (total + section + digit or 1) * CJK_SCALES[mark], 0, 0
    return float(total + section + digit)
