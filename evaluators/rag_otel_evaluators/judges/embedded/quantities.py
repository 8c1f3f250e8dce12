"""Quantities in a sentence: a number in any form with what it counts, a date, a time of day."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from rag_otel_evaluators.judges.embedded.terms import AMBIGUOUS_MONTHS, MONTH_TERMS, WEIGHTS, normalize_number
from rag_otel_evaluators.text.languages import words as listed_words
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
        "hour": "小时 钟头",
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
_OF_THEIR_OWN: Final = ("date", "clock", "weekday")
"""Units that a number after them does not share: "48 people in Berlin, 63 in Paris" counts people twice."""
_JOINED: Final = frozenset({"and", "y", "et", "und", "or", "o", "ou", "oder", "to", "a", "à", "bis", "至", "到"})
_ARTICLES: Final = listed_words("a an one the un una uno ein eine einen einem einer eines une la le el der die das")
_OF: Final = listed_words("of de des del der die von du d aller all her his its their ihrer seiner")
_WITHIN: Final = listed_words(
    "for within in after of than about under over lasts takes least every por durante en de tras "
    "für in nach von binnen innerhalb pendant sous dans après d durée"
)
_AND_A_HALF: Final = frozenset({("and", "a", "half"), ("y", "media"), ("y", "medio"), ("et", "demie"), ("et", "demi")})
PERIODS_ALONE: Final = {
    word: (value, unit)
    for value, unit, listed in (
        (1.0, "year", "year año jahr jahres jahrs an année"),
        (1.0, "month", "month mes monat monats mois"),
        (1.0, "week", "week semana woche semaine"),
        (1.0, "day", "day día tag tages jour"),
        (1.0, "hour", "hour hora stunde heure"),
        (10.0, "year", "decade década jahrzehnt jahrzehnts décennie"),
    )
    for word in listed.split()
}
"""A period that an article counts: "for a year"; "a month" after a price is a rate, so a preposition comes first."""
SHARES: Final = {
    word: value
    for value, listed in {
        0.5: "half mitad hälfte moitié",
        1 / 3: "third tercio tercios drittel tiers",
        0.25: "quarter cuarto cuartos viertel quart",
        0.2: "fifth quinta quinto quintos fünftel cinquième",
        0.125: "eighth octavo achtel huitième",
        0.1: "tenth décima décimo zehntel dixième",
    }.items()
    for word in listed.split()
}
"""Words for a part of something."""
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
    found = list(islice(_quantities(words, written, numbers), _MOST_QUANTITIES))
    for at in range(1, len(found)):
        before, own = found[at - 1], found[at]
        if not own.unit and before.unit and before.unit not in _OF_THEIR_OWN and not _is_year(own.value):
            found[at] = own._replace(unit=before.unit, known_unit=before.known_unit)
    return found


def _is_year(value: float) -> bool:
    return 1000 <= value <= 2199 and value == int(value)


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
        if (share := _share_at(written, at)) is not None:
            value, unit, end = share
            yield Quantity(value, unit, True, at, " ".join(written[at:end]))
            continue
        spelled, end = _number_at(words, written, at)
        if spelled is None:
            continue
        value = spelled
        if (half := _half_after(written, end)) is not None:
            value, end = value + 0.5, half
        unit, known = _unit(words, written, at, end)
        if unit == "oclock" or ":" in written[at]:
            value, unit, known = (value if ":" in written[at] else value * 60), "clock", True
        yield Quantity(value, unit, known, at, " ".join(written[at:end]))


def _share_at(written: list[str], at: int) -> tuple[float, str, int] | None:
    """(value, unit, end) of a share in percent, "a quarter of", "two thirds", "三分之一", or of "for a year"."""
    lower, before = written[at].lower(), written[at - 1].lower() if at else ""
    if lower in PERIODS_ALONE and before in _ARTICLES and at > 1 and written[at - 2].lower() in _WITHIN:
        value, unit = PERIODS_ALONE[lower]
        half = _half_after(written, at + 1)
        return (value, unit, at + 1) if half is None else (value * 1.5, unit, half)
    if written[at + 1 : at + 3] == ["分", "之"] and at + 3 < len(written):
        one, other = cjk_value(written[at]), cjk_value(written[at + 3])
        return (100.0 * other / one, "percent", at + 4) if one and other else None
    following = written[at + 1].lower() if at + 1 < len(written) else ""
    if lower in SHARES and before in _ARTICLES and following in _OF:
        return 100.0 * SHARES[lower], "percent", at + 1
    if following.rstrip("sn") in SHARES or following in SHARES:
        part = SHARES.get(following) or SHARES[following.rstrip("sn")]
        count = SPELLED.get(lower)
        if count is not None and 1.0 < count < 10.0 and count * part < 1.0:
            return 100.0 * count * part, "percent", at + 2
    return None


def _half_after(written: list[str], end: int) -> int | None:
    """Where "and a half" ends that begins here, with or without the unit before it; None where there is none."""
    following = [word.lower() for word in written[end : end + 3]]
    for length in (3, 2):
        if tuple(following[:length]) in _AND_A_HALF:
            return end + length
    return None


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
            return round(value * CJK_MYRIADS[written[end][0]], 4), end + 1
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
        if lower == "个" and (two := "".join(written[there + 1 : there + 3])) in _CJK_PAIRS:
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
