"""The numbers of a text, in figures or in words: whether a statement's number is its sentence's own.

Lenient on purpose. `2 people` is `two people`, `1,500,000` is `1.5 million`, `1.250` may be a thousand or a little more
than one: what may be the same number is taken for it.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from rag_otel_evaluators.text.languages.number_words import DIGIT_WORDS

_ONE: Final = "one single uno una ein eine einen eins une first primero primera erste ersten premier"
_MORE_WORDS: Final = {
    **dict.fromkeys(_ONE.split(), 1.0),
    **{
        word: float(value)
        for value, words in {
            0: "zero cero null zéro",
            2: "second twice double dos segundo segunda zweite zweiten doppelt deuxième seconde both beide ambos",
            3: "third tercero tercera dritte dritten troisième",
            6: "six seis sechs",
            7: "sept",
            11: "elf",
            13: "thirteen trece dreizehn treize",
            14: "fourteen catorce vierzehn quatorze",
            16: "sixteen dieciséis sechzehn seize",
            17: "seventeen diecisiete siebzehn",
            18: "eighteen dieciocho achtzehn",
            19: "nineteen diecinueve neunzehn",
            70: "seventy setenta siebzig",
            80: "eighty ochenta achtzig",
            90: "ninety noventa neunzig",
            12: "dozen docena dutzend douzaine",
            0.5: "half medio media halb halbe demi moitié mitad hälfte",
            1000: "mil",
            100: "cent",
        }.items()
        for word in words.split()
    },
}
_SCALES: Final = {
    **dict.fromkeys(["thousand", "mil", "tausend", "mille", "k", "千"], 1e3),
    **dict.fromkeys(["万", "萬"], 1e4),
    **dict.fromkeys(["million", "millions", "millón", "millones", "millionen", "mio", "mn", "m", "百万"], 1e6),
    **dict.fromkeys(["亿", "億"], 1e8),
    **dict.fromkeys(["billion", "billions", "milliarde", "milliarden", "milliard", "milliards", "mrd", "bn", "b"], 1e9),
    **dict.fromkeys(["hundred", "cien", "ciento", "hundert", "cent", "dozen", "百"], 1e2),
}
_HAN_DIGITS: Final = {character: value for value, character in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_HAN_UNITS: Final = {"十": 10, "百": 100, "千": 1_000, "万": 10_000, "亿": 100_000_000}
_MENTION: Final = re.compile(
    rf"(?P<figures>\d+(?:[.,'’ \u202f\u00a0]\d+)*)(?:\s?(?P<scale>[^\W\d_\u3040-\u9fff]+|[千万萬亿億]|百万))?"
    rf"|(?P<han>[{''.join(_HAN_DIGITS)}{''.join(_HAN_UNITS)}]+)|(?P<word>[^\W\d_\u3040-\u9fff]+)"
)
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:[.,'’ \u202f\u00a0]\d{3})+(?:[.,]\d+)?")


def numbers_in(text: str) -> list[set[float]]:
    """For each number that is mentioned, the values that it may have. A word of a number after another one (`twenty
    five`, `five million`) is a mention of its own, and their sum or product is a further reading of both."""
    found: list[set[float]] = []
    before: set[float] | None = None
    for match in _MENTION.finditer(unicodedata.normalize("NFKC", text).casefold()):
        if match["figures"]:
            found += (read := _figures(match["figures"], _SCALES.get(match["scale"] or "")))
            before = read[-1]
            continue
        values = _in_words(match["word"] or "", match["han"] or "")
        if values is None:
            before = None
            continue
        if before is not None:
            values |= {one + other for one in before for other in values}
            values |= {one * other for one in before for other in values}
            before |= values
        found.append(values)
        before = values
    return found


def _figures(text: str, scale: float | None) -> list[set[float]]:
    parts = re.split(r"[.,'’ \u202f\u00a0]", text)
    if len(parts) == 1:
        values = [{float(text)}]
    elif _THOUSANDS.fullmatch(text):
        values = [{float("".join(parts)), float(f"{''.join(parts[:-1])}.{parts[-1]}")}]
    elif len(parts) == 2 and not text[len(parts[0])].isspace():
        values = [{float(f"{parts[0]}.{parts[1]}")}]
    else:
        values = [{float(part)} for part in parts]  # a date, a list
    if scale is not None:
        values[-1] = {value * scale for value in values[-1]} | values[-1]
    return values


def _in_words(word: str, han: str) -> set[float] | None:
    if han:
        return _han(han)
    if word in _MORE_WORDS:
        return {_MORE_WORDS[word], float(DIGIT_WORDS.get(word, _MORE_WORDS[word]))}
    if word in DIGIT_WORDS:
        return {float(DIGIT_WORDS[word])}
    return {_SCALES[word]} if word in _SCALES and len(word) > 2 else None


def _han(text: str) -> set[float]:
    """A Chinese numeral; digits read one by one (`一八八九`) as well."""
    values: set[float] = set()
    if all(character in _HAN_DIGITS for character in text):
        values.add(float("".join(str(_HAN_DIGITS[character]) for character in text)))
    total = section = digit = 0
    for character in text:
        if character in _HAN_DIGITS:
            digit = _HAN_DIGITS[character]
        elif (unit := _HAN_UNITS[character]) >= 10_000:
            total, section, digit = (total + section + digit) * unit, 0, 0
        else:
            section, digit = section + (digit or 1) * unit, 0
    return values | {float(total + section + digit)}
