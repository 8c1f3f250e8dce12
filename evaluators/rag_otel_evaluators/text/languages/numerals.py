"""Numbers in words and in other digits: "fourteen", "veinticinco", "fünfundzwanzig", "一百二十", "XIV"."""

from __future__ import annotations

import re
from typing import Final

_EN: Final = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_EN_TENS: Final = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_ES: Final = [
    "cero",
    "uno",
    "dos",
    "tres",
    "cuatro",
    "cinco",
    "seis",
    "siete",
    "ocho",
    "nueve",
    "diez",
    "once",
    "doce",
    "trece",
    "catorce",
    "quince",
    "dieciséis",
    "diecisiete",
    "dieciocho",
    "diecinueve",
    "veinte",
    "veintiuno",
    "veintidós",
    "veintitrés",
    "veinticuatro",
    "veinticinco",
    "veintiséis",
    "veintisiete",
    "veintiocho",
    "veintinueve",
]
_ES_TENS: Final = ["treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa"]
_ES_HUNDREDS: Final = [
    "ciento",
    "doscientos",
    "trescientos",
    "cuatrocientos",
    "quinientos",
    "seiscientos",
    "setecientos",
    "ochocientos",
    "novecientos",
]
_DE: Final = [
    "null",
    "eins",
    "zwei",
    "drei",
    "vier",
    "fünf",
    "sechs",
    "sieben",
    "acht",
    "neun",
    "zehn",
    "elf",
    "zwölf",
    "dreizehn",
    "vierzehn",
    "fünfzehn",
    "sechzehn",
    "siebzehn",
    "achtzehn",
    "neunzehn",
]
_DE_TENS: Final = ["zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"]
_FR: Final = [
    "zéro",
    "un",
    "deux",
    "trois",
    "quatre",
    "cinq",
    "six",
    "sept",
    "huit",
    "neuf",
    "dix",
    "onze",
    "douze",
    "treize",
    "quatorze",
    "quinze",
    "seize",
]
_FR_TENS: Final = ["vingt", "trente", "quarante", "cinquante", "soixante"]
_EN_ORDINALS: Final = [
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
]
_ES_ORDINALS: Final = ["tercero", "cuarto", "quinto", "sexto", "séptimo", "octavo", "noveno", "décimo"]
_DE_ORDINALS: Final = [
    "dritte",
    "vierte",
    "fünfte",
    "sechste",
    "siebte",
    "achte",
    "neunte",
    "zehnte",
    "elfte",
    "zwölfte",
]
_FR_ORDINALS: Final = ["troisième", "quatrième", "cinquième", "sixième", "septième", "huitième", "neuvième", "dixième"]


def _spelled() -> dict[str, float]:
    found: dict[str, float] = {}
    for listed in (_EN, _ES, _DE, _FR):
        found.update({word: float(value) for value, word in enumerate(listed)})
    for tens, first in ((_EN_TENS, 20), (_ES_TENS, 30), (_DE_TENS, 20), (_FR_TENS, 20)):
        found.update({word: float(first + 10 * at) for at, word in enumerate(tens)})
    for ordinals in (_EN_ORDINALS, _ES_ORDINALS, _DE_ORDINALS, _FR_ORDINALS):
        found.update({word: float(value) for value, word in enumerate(ordinals, 3)})
    found.update({word: 100.0 * value for value, word in enumerate(_ES_HUNDREDS, 1)})
    found.update({word[:-2] + "as": 100.0 * value for value, word in enumerate(_ES_HUNDREDS, 1) if value > 1})
    found.update({"veintiún": 21.0, "veintiuna": 21.0, "septante": 70.0, "huitante": 80.0, "octante": 80.0})
    found.update({"nonante": 90.0, "dreissig": 30.0, "zwo": 2.0, "quinientas": 500.0})
    units = ["ein", *_DE[2:10]]
    for at, ten in enumerate(_DE_TENS):
        found.update({f"{unit}und{ten}": float(20 + 10 * at + value) for value, unit in enumerate(units, 1)})
    found.update({f"{unit}hundert": 100.0 * value for value, unit in enumerate(units, 1)})
    found.update({f"{unit}tausend": 1000.0 * value for value, unit in enumerate(units, 1)})
    found.update(
        {"dozen": 12.0, "docena": 12.0, "dutzend": 12.0, "douzaine": 12.0, "quatre-vingts": 80.0, "vingts": 20.0}
    )
    found.update({"both": 2.0, "ambos": 2.0, "ambas": 2.0, "beide": 2.0, "beiden": 2.0, "twice": 2.0})
    found.update({"anderthalb": 1.5, "eineinhalb": 1.5, "zweieinhalb": 2.5, "dreieinhalb": 3.5, "viereinhalb": 4.5})
    # An article, a month or another everyday word as well.
    for word in ("one", "un", "uno", "eins", "once", "sept", "dos", "elf", "neuf", "cuarto", "quinto", "six"):
        found.pop(word, None)
    found.update({"six": 6.0, "elf": 11.0, "dos": 2.0})
    return found


SPELLED: Final = _spelled()
"""Word, in lower case -> number."""

ONES: Final = frozenset(["a", "an", "one", "un", "una", "uno", "ún", "ein", "eine", "einer", "une"])
"""One of what follows: "one million"; alone they are articles."""

_LONGEST_COMPOUND: Final = 60
_DE_UNITS: Final = {word: value for value, word in enumerate(["ein", *_DE[2:10]], 1)}
_UNIT: Final = "|".join(_DE_UNITS)
_BELOW_HUNDRED: Final = (
    rf"(?:(?P<{{0}}unit>{_UNIT})und)?(?P<{{0}}tens>{'|'.join([*_DE_TENS, 'dreissig'])})"
    rf"|(?P<{{0}}few>{'|'.join(sorted([*_DE[1:20], 'ein'], key=len, reverse=True))})"
)
_BELOW_THOUSAND: Final = rf"(?:(?P<{{0}}hundreds>{_UNIT})?(?P<{{0}}has>hundert)(?:und)?)?(?:{_BELOW_HUNDRED})?"
_COMPOUND: Final = re.compile(
    rf"(?:(?P<thousands>{_BELOW_THOUSAND.format('t')})tausend(?:und)?)?{_BELOW_THOUSAND.format('u')}"
)
"""German writes a number below a million as one word."""


def spelled_value(word: str) -> float | None:
    """The number that one word in lower case spells, German compounds included; None for any other word."""
    if (value := SPELLED.get(word)) is not None:
        return value
    if len(word) > _LONGEST_COMPOUND or not ("hundert" in word or "tausend" in word):
        return None
    found = _COMPOUND.fullmatch(word)
    if found is None or word in ("hundert", "tausend"):
        return None
    thousands = _below_thousand(found, "t") or 1 if found["thousands"] is not None else 0
    return float(1000 * thousands + _below_thousand(found, "u"))


def _below_thousand(found: re.Match[str], part: str) -> int:
    hundreds = 100 * _DE_UNITS.get(found[f"{part}hundreds"], 1) if found[f"{part}has"] else 0
    tens, few = found[f"{part}tens"], found[f"{part}few"]
    below = int(SPELLED[tens]) if tens else _DE_UNITS.get(few) or int(SPELLED.get(few, 1.0)) if few else 0
    return hundreds + below + (_DE_UNITS.get(found[f"{part}unit"], 0) if tens else 0)


MULTIPLIERS: Final = {
    word: value
    for value, words in {
        1e2: "hundred hundert cien cent cents",
        1e3: "thousand tausend mil mille k",
        1e6: "million millions millionen millón millones mio mill mln",
        1e9: "billion billions milliarde milliarden milliard milliards mrd bn",
    }.items()
    for word in words.split()
}
"""A word that multiplies the number before it."""

JOINERS: Final = frozenset({"and", "y", "et", "und"})
"""Between the parts of one number."""

CJK_DIGITS: Final = {mark: value for value, mark in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
CJK_SCALES: Final = {"十": 10, "百": 100, "千": 1000}
CJK_MYRIADS: Final = {"万": 10_000, "萬": 10_000, "亿": 100_000_000, "億": 100_000_000}
CJK_NUMERALS: Final = "".join([*CJK_DIGITS, *CJK_SCALES, *CJK_MYRIADS])

_ROMAN: Final = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def roman_value(word: str) -> float | None:
    """Value of a Roman numeral in capitals of two letters or more; None for anything else."""
    if not 2 <= len(word) <= 8 or any(letter not in _ROMAN for letter in word):
        return None
    values = [_ROMAN[letter] for letter in word]
    total = sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))
    return float(total) if 1 < total < 4000 else None


def cjk_value(text: str) -> float | None:
    """Value of Chinese numerals: 三 -> 3, 一百二十 -> 120, 一九八八 -> 1988; None where they make none."""
    if not any(mark in CJK_SCALES or mark in CJK_MYRIADS for mark in text):
        digits = [CJK_DIGITS[mark] for mark in text if mark in CJK_DIGITS]
        return float("".join(map(str, digits))) if 0 < len(digits) <= 15 else None
    total, section, digit = 0, 0, 0
    for mark in text:
        if mark in CJK_DIGITS:
            digit = CJK_DIGITS[mark]
        elif mark in CJK_SCALES:
            section += (digit or 1) * CJK_SCALES[mark]
            digit = 0
        elif mark in CJK_MYRIADS:
            total += ((section + digit) or 1) * CJK_MYRIADS[mark]
            section = digit = 0
    return float(total + section + digit)


FRACTIONS: Final = {
    word: value
    for value, listed in {
        0.5: "half mitad Hälfte halbe halber moitié demi 半",
        1 / 3: "third tercio tercera Drittel tiers",
        0.25: "quarter cuarto cuarta Viertel quart",
        0.1: "tenth décima décimo Zehntel dixième",
        2.0: "twice double doubled doble doppelt doppelte double 倍",
    }.items()
    for word in listed.split()
}
"""Words for shares and multiples of what they stand with."""
