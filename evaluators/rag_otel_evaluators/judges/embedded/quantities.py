"""Quantities in a sentence: a number in any form with what it counts, a date, a time of day."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from rag_otel_evaluators.judges.embedded.terms import AMBIGUOUS_MONTHS, MONTH_TERMS, WEIGHTS, normalize_number
from rag_otel_evaluators.text.languages.numerals import (
    CJK_DIGITS,
    CJK_MYRIADS,
    CJK_SCALES,
    JOINERS,
    MULTIPLIERS,
    SPELLED,
    cjk_value,
    roman_value,
)
from rag_otel_evaluators.text.languages.quantities import UNITS, WEEKDAYS

CJK_NUMERALS: Final = "".join([*CJK_DIGITS, *CJK_SCALES, *CJK_MYRIADS])
_CJK_WEEKDAYS: Final = "一二三四五六"
_CJK_WEEK: Final = "周期拜"
_MOST_QUANTITIES: Final = 12
_CJK_UNITS: Final = {
    word: unit
    for unit, words in {
        "yuan": "元",
        "year": "年",
        "month": "月",
        "day": "天 日",
        "hour": "小",
        "minute": "分",
        "second": "秒",
        "metre": "米",
        "kilo": "公",
        "person": "人",
        "age": "岁",
        "week": "周",
        "volume": "册",
        "tonne": "吨",
        "degree": "度 ℃",
        "percent": "％",
        "time": "次",
        "piece": "个",
        "line": "路",
        "number": "号",
        "oclock": "点",
    }.items()
    for word in words.split()
}
_CJK_PAIRS: Final = {
    word: unit
    for unit, words in {
        "hour": "小时",
        "minute": "分钟",
        "kilometre": "公里 千米",
        "centimetre": "厘米",
        "millimetre": "毫米",
        "kilogram": "公斤 千克",
        "millilitre": "毫升",
        "mile": "英里",
        "foot": "英尺",
        "inch": "英寸",
        "week": "星期",
        "month": "个月",
        "dollar": "美元",
        "euro": "欧元",
        "kilowatt": "千瓦",
        "hectare": "公顷",
    }.items()
    for word in words.split()
}
_JOINED: Final = frozenset({"and", "y", "et", "und", "or", "o", "ou", "oder", "to", "a", "à", "bis", "至", "到"})
_UNIT_OF: Final = dict(UNITS)


class Quantity(NamedTuple):
    """A number with what it counts."""

    value: float
    unit: str
    """Canonical unit, or the stem of the word after it; empty where there is none."""
    known_unit: bool
    at: int
    """Position among the words."""
    text: str
    """As written."""


def quantities_in(words: list[str], written: list[str], numbers: list[int]) -> list[Quantity]:
    """The first quantities of a sentence. `numbers`: the places where one may begin."""
    return list(islice(_quantities(words, written, numbers), _MOST_QUANTITIES))


def _quantities(words: list[str], written: list[str], numbers: list[int]) -> Iterator[Quantity]:
    """The quantities that begin at one of these places."""
    end = 0
    may_be_dates = "年" in written or any(words[at] in MONTH_TERMS for at in numbers)
    for at in numbers:
        if at < end:
            continue
        date = _date_at(words, written, at) if may_be_dates or "-" in written[at] else None
        if date is not None:
            value, end = date
            yield Quantity(value, "date", True, at, " ".join(written[at:end]))
            continue
        if (place := _place_in_calendar(words, written, at)) is not None:
            yield place
            continue
        spelled, end = _number_at(words, written, at)
        if spelled is None:
            continue
        value = spelled
        unit, known = _unit(words, written, at, end)
        if unit == "oclock" or ":" in written[at]:
            value, unit, known = (value if ":" in written[at] else value * 60), "clock", True
        yield Quantity(value, unit, known, at, " ".join(written[at:end]))


def _place_in_calendar(words: list[str], written: list[str], at: int) -> Quantity | None:
    """A weekday or a month alone."""
    lower = written[at].lower()
    if lower in WEEKDAYS:
        return Quantity(float(WEEKDAYS[lower]), "weekday", True, at, written[at])
    if written[at] in _CJK_WEEKDAYS and at and written[at - 1] in _CJK_WEEK:
        return Quantity(float(_CJK_WEEKDAYS.index(written[at]) + 1), "weekday", True, at, written[at])
    if words[at] in MONTH_TERMS and words[at] not in AMBIGUOUS_MONTHS:
        return Quantity(MONTH_TERMS[words[at]] * 100.0, "date", True, at, written[at])
    return None


def _date_at(words: list[str], written: list[str], at: int) -> tuple[float, int] | None:
    """(yyyymmdd, end) of a date that begins here: "2019-06-28", "28 June 2019", "June 28 2019", "2019年6月28日"."""
    token = written[at]
    if token.count("-") == 2 and token[0].isdigit():
        return float(token.replace("-", "")), at + 1
    if not (token[0].isdigit() or words[at] in MONTH_TERMS):
        return None
    window = written[at : at + 6]
    if len(window) > 4 and window[1] == "年" and window[3] == "月" and window[0].isdigit() and window[2].isdigit():
        day = int(window[4]) if window[4].isdigit() and len(window[4]) < 3 else 0
        return float(int(window[0][:4]) * 10_000 + int(window[2][:2]) * 100 + day), at + (6 if day else 4)
    parts: dict[str, int] = {}
    end = at
    while end < min(at + 6, len(words)) and len(parts) < 3:
        term, mark = words[end], written[end]
        number = mark.rstrip("stndrh") if mark[0].isdigit() else ""
        if term in MONTH_TERMS and "month" not in parts:
            parts["month"] = MONTH_TERMS[term]
        elif number.isascii() and number.isdigit() and len(number) <= 2 and "day" not in parts:
            parts["day"] = int(number)
        elif number.isascii() and number.isdigit() and len(number) == 4 and "month" in parts:
            parts["year"] = int(number)
        elif mark.lower() not in {"of", "de", "del", "the", "den"}:
            break
        end += 1
    if "month" not in parts or not {"day", "year"} & parts.keys():
        return None
    return float(parts.get("year", 0) * 10_000 + parts["month"] * 100 + parts.get("day", 0)), end


def _number_at(words: list[str], written: list[str], at: int) -> tuple[float | None, int]:
    token = written[at]
    if token[0].isdigit():
        value = _digits(token)
        end = at + 1
        if value is not None and end < len(written) and written[end][0] in CJK_MYRIADS:
            return value * CJK_MYRIADS[written[end][0]], end + 1
        if value is not None and end < len(written) and written[end].lower() in MULTIPLIERS:
            return value * MULTIPLIERS[written[end].lower()], end + 1
        return value, end
    if token[0] in CJK_NUMERALS:
        if token in {"一", "百", "千", "万", "亿", "十"}:
            return None, at + 1
        return cjk_value(token), at + 1
    if token.isupper() and (roman := roman_value(token)) is not None:
        return roman, at + 1
    return _spelled(written, at)


def _spelled(written: list[str], at: int) -> tuple[float | None, int]:
    total = current = 0.0
    found, end = False, at
    while end < len(written):
        word = written[end].lower()
        if word in SPELLED:
            value = SPELLED[word]
            if (
                found
                and current
                and not (value < current and (value < 10 or current >= 100 or (value < 20 and current >= 60)))
            ):
                if current == 4.0 and value == 20.0:  # quatre-vingt
                    current = 80.0
                    end += 1
                    continue
                break
            current += value
            found = True
        elif word in MULTIPLIERS and (found or word in ("hundred", "hundert", "cien", "mil", "mille", "cent")):
            current = max(current, 1.0) * MULTIPLIERS[word]
            if MULTIPLIERS[word] >= 1000:
                total, current = total + current, 0.0
            found = True
        elif word in JOINERS and found and end + 1 < len(written) and current and written[end + 1].lower() in SPELLED:
            if SPELLED[written[end + 1].lower()] >= current:
                break
        else:
            break
        end += 1
    return (total + current, end) if found else (None, at + 1)


def _digits(token: str) -> float | None:
    if ":" in token:
        parts = token.split(":")
        return float(parts[0][:4]) * 60 + float(parts[1][:2]) if all(p.isdigit() for p in parts) else None
    if token.count("-") == 2:
        return float(token.replace("-", ""))
    try:
        return float(normalize_number(token[:24]))
    except ValueError:
        return None


def _unit(words: list[str], written: list[str], at: int, end: int) -> tuple[str, bool]:
    if at and written[at - 1] in "$€£¥":
        return _UNIT_OF.get(written[at - 1], written[at - 1]), True
    for there in range(end, min(end + 2, len(words))):
        lower = written[there].lower()
        if lower in _UNIT_OF:
            return _UNIT_OF[lower], True
        if (two := "".join(written[there : there + 2])) in _CJK_PAIRS:
            return _CJK_PAIRS[two], True
        if lower in _CJK_UNITS:
            return _CJK_UNITS[lower], True
        if lower[0].isdigit() or lower in _JOINED:
            break
        if words[there] in MONTH_TERMS or words[there].startswith("month"):
            return "date", True
    if end < len(words) and not words[end][0].isdigit() and WEIGHTS.get(words[end], 1.0) > 0.0:
        return words[end], False
    return "", False
