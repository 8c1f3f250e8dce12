"""Quantities in a sentence: a number in any form with what it counts, a date, a time of day."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from rag_otel_evaluators.judges.embedded.spelled_numbers import PER_CENT, spelled_number
from rag_otel_evaluators.judges.embedded.terms import AMBIGUOUS_MONTHS, MONTH_TERMS, WEIGHTS, normalize_number
from rag_otel_evaluators.text.languages import words as listed_words
from rag_otel_evaluators.text.languages.numerals import (
    CJK_DIGITS,
    CJK_MYRIADS,
    CJK_SCALES,
    MULTIPLIERS,
    SPELLED,
    cjk_value,
    roman_value,
)
from rag_otel_evaluators.text.languages.quantities import (
    AFTERNOON,
    CLOCK_WORDS,
    CUBIC,
    DIMENSIONS,
    MORNING,
    SQUARE,
    UNITS,
    WEEKDAYS,
)

CJK_NUMERALS: Final = "".join([*CJK_DIGITS, *CJK_SCALES, *CJK_MYRIADS])
_CJK_WEEKDAYS: Final = "一二三四五六"
_CJK_WEEK: Final = "周期拜"
_MOST_QUANTITIES: Final = 12
_MOST_BETWEEN: Final = 2
"""Words between the two parts of one quantity: the unit, "and"."""
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
        "square metre": "平米 平方米",
        "square kilometre": "平方公里 平方千米",
        "cubic metre": "立方米",
        "pound": "英镑",
        "yen": "日元",
        "celsius": "摄氏 ℃",
        "kilowatthour": "千瓦时",
        "milligram": "毫克",
        "gram": "克",
        "litre": "升",
        "percent": "百分点",
        "decibel": "分贝",
        "degree": "度",
        "time": "次 回",
    }.items()
    for word in words.split()
}
_OF_THEIR_OWN: Final = ("date", "clock", "weekday")
"""Units that a number after them does not share: "48 people in Berlin, 63 in Paris" counts people twice."""
_JOINED: Final = frozenset({"and", "y", "et", "und", "or", "o", "ou", "oder", "to", "a", "à", "bis", "至", "到"})
_ARTICLES: Final = listed_words("a an one the un una uno ein eine einen einem einer eines une la le el der die das")
_INDEFINITE: Final = listed_words("a an one un una uno ein eine einen einem einer eines une")
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
        1 / 3: "third tercio tercios tercera drittel tiers",
        0.25: "quarter cuarto cuarta cuartos viertel quart",
        0.2: "fifth quinta quinto quintos fünftel cinquième",
        1 / 6: "sixth sexta sexto sechstel sixième",
        0.125: "eighth octavo octava achtel huitième",
        0.1: "tenth décima décimo zehntel dixième",
    }.items()
    for word in listed.split()
}
"""Words for a part of something."""
_SURE_SHARES: Final = frozenset("mitad hälfte moitié drittel fünftel achtel zehntel tercio tercios".split())
"""Shares without an "of" as well; "a third" may be one more."""
HALVES: Final = frozenset("half media medio halb halbe halben halber halbes demi 半".split())
"""Half of the period or the million after them."""
_PART_FILLERS: Final = frozenset("of a an de d un une einer eines einem eine".split())
QUARTERS_OF_HOURS: Final = {"viertelstunde": 15.0, "dreiviertelstunde": 45.0}
_AND_A_QUARTER: Final = frozenset({("and", "a", "quarter"), ("y", "cuarto"), ("et", "quart"), ("et", "un", "quart")})
_ONE: Final = frozenset("one uno una un une einer eine eins".split())
_IN: Final = frozenset({("in",), ("out", "of"), ("de", "cada"), ("von",), ("sur",), ("of", "every")})
"""Between the two numbers of "one in five"."""
_ORDINAL_MARKS: Final = frozenset(["st", "nd", "rd", "th", "er", "º"])
_FIRST: Final = {"first": 1.0, "second": 2.0, "primero": 1.0, "premier": 1.0, "ersten": 1.0, "erste": 1.0, "uno": 1.0}
"""Days of a month in words that are no numbers elsewhere."""
_BYTES: Final = {"kilo": "kilobyte", "méga": "megabyte", "mega": "megabyte", "giga": "gigabyte", "téra": "terabyte"}
_RATES: Final = {"kb": "kilobit", "mb": "megabit", "gb": "gigabit"}
"""Before "/s"."""
_TEN_OF_HUNDRED: Final = "成"
_MILLIONS: Final = {"m": 1e6, "mn": 1e6, "bn": 1e9, "k": 1e3}
"""What multiplies an amount of money only: "£4.75m"."""
_UNIT_OF: Final = dict(UNITS)
_CURRENCIES: Final = frozenset(["dollar", "euro", "pound", "franc", "yuan", "yen", "krone", "rupee", "zloty", "¥"])


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


def quantities_in(words: list[str], written: list[str], numbers: list[int], clauses: list[int]) -> list[Quantity]:
    """The first quantities of a sentence. `numbers`: the places where one may begin; `clauses`: by word."""
    found: list[Quantity] = []
    for own in islice(_quantities(words, written, numbers), _MOST_QUANTITIES):
        before = found[-1] if found else None
        if before is not None and (joined := _joined(before, own, written, clauses)) is not None:
            found[-1] = joined
            continue
        if before is not None and not own.unit and before.unit and before.unit not in _OF_THEIR_OWN:
            if not _is_year(own.value):
                own = own._replace(unit=before.unit, known_unit=before.known_unit)
        found.append(own)
    return found


def _joined(one: Quantity, two: Quantity, written: list[str], clauses: list[int]) -> Quantity | None:
    """ "1 h 45" and "five feet ten inches" as one quantity, in the unit of the first part."""
    end = one.at + len(one.text.split(" "))
    if one.unit in _CURRENCIES and not two.unit and two.at - end == 1 and 0 < two.value < 100 and one.value < 1000:
        if one.value == int(one.value) and two.value == int(two.value) and clauses[one.at] == clauses[two.at]:
            text = " ".join(written[one.at : two.at + len(two.text.split(" "))])
            return one._replace(value=one.value + two.value / 100, text=text)
    if not one.known_unit or not 1 <= two.at - end <= _MOST_BETWEEN or clauses[one.at] != clauses[two.at]:
        return None
    dimension, factor = DIMENSIONS.get(one.unit, ("", 1.0))
    if not two.unit and one.unit == "hour":
        other, its_factor = "time", 60.0
    elif two.known_unit:
        other, its_factor = DIMENSIONS.get(two.unit, ("", 1.0))
    else:
        return None
    if dimension not in ("time", "length", "mass") or other != dimension or its_factor >= factor:
        return None
    if two.value * its_factor >= factor:
        return None
    text = " ".join(written[one.at : two.at + len(two.text.split(" "))])
    return one._replace(value=one.value + two.value * its_factor / factor, text=text)


def _is_year(value: float) -> bool:
    return 1000 <= value <= 2199 and value == int(value)


def _quantities(words: list[str], written: list[str], numbers: list[int]) -> Iterator[Quantity]:
    """The quantities that begin at one of these places."""
    end = 0
    may_be_dates = "年" in written or "月" in written or any(words[at] in MONTH_TERMS for at in numbers)
    for at in numbers:
        if at < end:
            continue
        date = _date_at(words, written, at) if may_be_dates or written[at].count("-") + written[at].count("/") else None
        if date is None and written[at].count(".") == 2:
            date = _numeric_date(written[at], at)
        if date is not None:
            value, end = date
            yield Quantity(value, "date", True, at, " ".join(written[at:end]))
            continue
        if (place := _place_in_calendar(words, written, at)) is not None:
            yield place
            continue
        if (share := _share_at(written, at)) is not None:
            value, unit, end = share
            known = bool(unit)
            if not unit:  # half a million of something
                unit, known = _unit(words, written, at, end)
            yield Quantity(value, unit, known, at, " ".join(written[at:end]))
            continue
        spelled, end = _number_at(words, written, at)
        if spelled is None:
            continue
        value = spelled
        if (half := _half_after(written, end)) is not None:
            value, end = value + 0.5 * _scale(written, end - 1), half
            value, end = value * _scale(written, end), end + (_scale(written, end) > 1.0)
        elif tuple(word.lower() for word in written[end : end + 2]) in _AND_A_QUARTER and _scale(written, end - 1) > 1:
            value, end = value + 0.25 * _scale(written, end - 1), end + 2
        if written[end : end + 2] == ["个", "半"]:
            value, end = value + 0.5, end + 2
        if (minutes := _clock(written, at, end, value)) is not None:
            yield Quantity(minutes, "clock", True, at, " ".join(written[at:end]))
            continue
        unit, known = _unit(words, written, at, end)
        if known and unit in _CURRENCIES and written[end : end + 1] and written[end].lower() in _MILLIONS and at:
            value, end = value * _MILLIONS[written[end].lower()], end + 1
        if known and _is_half(written, end + 1):
            value += 0.5
        yield Quantity(value, unit, known, at, " ".join(written[at:end]))


def _scale(written: list[str], at: int) -> float:
    """1000 of "thousand" and so on; 1 of any other word."""
    return MULTIPLIERS.get(written[at].lower(), 1.0) if 0 <= at < len(written) else 1.0


def _is_half(written: list[str], at: int) -> bool:
    """ "two hours and a half", "三年半"."""
    return written[at : at + 1] == ["半"] or _half_after(written, at) is not None


def _clock(written: list[str], at: int, end: int, value: float) -> float | None:
    """Minutes after midnight of a time of day: "8:30", "7 pm", "8.30 a.m.", "18 Uhr 30", "下午3点半"; else None."""
    after = [word.lower() for word in written[end : end + 4]]
    token = written[at]
    hours, minutes = value, 0.0
    is_clock = ":" in token
    if is_clock:
        hours, minutes = divmod(value, 60)
    elif value < 25 and token[0].isdigit() and "." in token and len(token.partition(".")[2]) == 2:
        hours, minutes = float(int(value)), float(token.partition(".")[2])
    marker = after[0] if after else ""
    if marker in ("a", "p") and after[1:2] == ["m"]:
        marker += "m"
    if marker in ("am", "pm", "uhr") or after[:2] == ["o", "clock"] or marker in ("点", "點", "时"):
        is_clock = True
        rest = after[1:2]
        if marker in ("点", "點", "时", "uhr") and rest and not minutes:
            minutes = 30.0 if rest == ["半"] else _small(rest[0]) or minutes
    if not is_clock or hours > 24 or minutes >= 60:
        return None
    around = {marker, *after[:4], *(word for word in written[max(0, at - 2) : at])}
    around |= {"".join(written[max(0, at - 2) : at])}
    if hours < 12 and not around.isdisjoint(AFTERNOON) and around.isdisjoint(MORNING):
        hours += 12
    elif hours == 12 and marker == "am":
        hours = 0.0
    return hours * 60 + minutes


def _small(word: str) -> float | None:
    """A number of minutes."""
    value = float(word) if word.isascii() and word.isdigit() and len(word) < 3 else None
    if value is None and word and word[0] in CJK_NUMERALS:
        value = cjk_value(word)
    return value if value is not None and value < 60 else None


def _share_at(written: list[str], at: int) -> tuple[float, str, int] | None:
    """(value, unit, end) of a share in percent, "a quarter of", "two thirds", "三分之一", or of "for a year"."""
    lower, before = written[at].lower(), written[at - 1].lower() if at else ""
    if lower in CLOCK_WORDS or "".join(written[at : at + 2]) in CLOCK_WORDS:
        minutes = CLOCK_WORDS.get(lower, CLOCK_WORDS.get("".join(written[at : at + 2]), 0.0))
        return minutes, "clock", at + (1 if lower in CLOCK_WORDS else 2)
    if lower in PERIODS_ALONE and (period := _one_period(written, at)) is not None:
        return period
    if lower in QUARTERS_OF_HOURS:
        return QUARTERS_OF_HOURS[lower], "minute", at + 1
    if lower in HALVES and (part := _part_of(written, at + 1, 0.5)) is not None:
        return part
    if written[at + 1 : at + 3] == ["分", "之"] and at + 3 < len(written):
        one, other = cjk_value(lower) if lower[0] in CJK_NUMERALS else None, cjk_value(written[at + 3])
        if lower == "百" and other is None and written[at + 3][0].isdigit():
            other = _digits(written[at + 3])
        return (100.0 * other / (100.0 if lower == "百" else one or 0.0), "percent", at + 4) if one and other else None
    following = written[at + 1].lower() if at + 1 < len(written) else ""
    if following == _TEN_OF_HUNDRED and lower[0] in CJK_NUMERALS and (one := cjk_value(lower)) and one <= 10:
        return 10.0 * one, "percent", at + 2
    if lower in SHARES and (part := _part_of(written, at + 1, SHARES[lower])) is not None and part[2] > at + 2:
        return part
    if lower in SHARES and before in _ARTICLES:
        if following in _OF or following == "parte" or lower in _SURE_SHARES:
            return 100.0 * SHARES[lower], "percent", at + 1
    count = SPELLED.get(lower, 1.0 if lower in _ONE else None)
    if following.rstrip("sn") in SHARES or following in SHARES:
        share = SHARES.get(following) or SHARES[following.rstrip("sn")]
        if count is not None and 1.0 < count < 10.0 and count * share < 1.0:
            part = _part_of(written, at + 2, count * share)
            return part or (100.0 * count * share, "percent", at + 2)
    return _one_in(written, at, count) if count is not None and count < 10.0 else None


def _one_period(written: list[str], at: int) -> tuple[float, str, int] | None:
    """ "for a year", "an hour and a half", "une heure et quart"."""
    value, unit = PERIODS_ALONE[written[at].lower()]
    before = written[at - 1].lower() if at else ""
    is_one = not at or before in _ARTICLES
    if is_one and (half := _half_after(written, at + 1)) is not None:
        return value * 1.5, unit, half
    following = tuple(word.lower() for word in written[at + 1 : at + 4])
    if is_one and unit == "hour":
        for length in (3, 2):
            if following[:length] in _AND_A_QUARTER:
                return 1.25, unit, at + 1 + length
    if before in _INDEFINITE and at > 1 and written[at - 2].lower() in _WITHIN:
        return value, unit, at + 1
    return None


def _part_of(written: list[str], at: int, share: float) -> tuple[float, str, int] | None:
    """ "(half) an hour", "(three quarters) of an hour", "(medio) millón", "半年"."""
    while at < len(written) and written[at].lower() in _PART_FILLERS:
        at += 1
    if at >= len(written):
        return None
    lower = written[at].lower()
    if lower in PERIODS_ALONE:
        value, unit = PERIODS_ALONE[lower]
        return (share * 12, "month", at + 1) if unit == "year" and value == 1.0 else (share * value, unit, at + 1)
    if MULTIPLIERS.get(lower, 0.0) >= 1e6:
        return share * MULTIPLIERS[lower], "", at + 1
    if (two := "".join(written[at : at + 2])) in ("小时", "钟头"):
        return share, "hour", at + 2
    if lower in ("年", "天") and two not in ("年级",):
        return (share * 12, "month", at + 1) if lower == "年" else (share, "day", at + 1)
    return (share, "month", at + 2) if two == "个月" else None


def _one_in(written: list[str], at: int, count: float) -> tuple[float, str, int] | None:
    """ "one in five", "three out of four", "uno de cada diez", as a share."""
    for length in (1, 2):
        there = at + 1 + length
        if tuple(word.lower() for word in written[at + 1 : there]) in _IN and there < len(written):
            of = SPELLED.get(written[there].lower()) or _small(written[there])
            if of is not None and count < of <= 20.0 and (count == 1.0 or length == 2):
                return 100.0 * count / of, "percent", there + 1
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
    if "/" in token:
        return _numeric_date(token, at)
    if (short := _chinese_day(written, at)) is not None:
        return short
    in_words = _day_in_words(words, written, at)
    if not (token[0].isdigit() or words[at] in MONTH_TERMS or in_words):
        return None
    window = written[at : at + 6]
    if len(window) > 4 and window[1] == "年" and window[3] == "月" and window[0].isdigit() and window[2].isdigit():
        day = int(window[4]) if window[4].isdigit() and len(window[4]) < 3 else 0
        return float(int(window[0][:4]) * 10_000 + int(window[2][:2]) * 100 + day), at + (6 if day else 4)
    parts: dict[str, int] = {}
    end = last = at
    while end < min(at + 6, len(words)) and len(parts) < 3:
        term, mark = words[end], written[end]
        number = mark.rstrip("stndrh") if mark[0].isdigit() else ""
        known = len(parts)
        if term in MONTH_TERMS and "month" not in parts:
            parts["month"] = MONTH_TERMS[term]
        elif number.isascii() and number.isdigit() and len(number) <= 2 and "day" not in parts:
            parts["day"] = int(number)
        elif in_words and end == at:
            parts["day"] = in_words
        elif number.isascii() and number.isdigit() and len(number) == 4 and "month" in parts:
            parts["year"] = int(number)
        elif mark.lower() not in {"of", "de", "del", "the", "den"} and mark.lower() not in _ORDINAL_MARKS:
            break
        end += 1
        last = end if len(parts) > known else last
    if "month" not in parts or not {"day", "year"} & parts.keys():
        return None
    return float(parts.get("year", 0) * 10_000 + parts["month"] * 100 + parts.get("day", 0)), last


def _day_in_words(words: list[str], written: list[str], at: int) -> int:
    """The day of "the first of April" and "quince de enero"; 0 where no month follows."""
    lower = written[at].lower()
    value = _FIRST.get(lower) or SPELLED.get(lower)
    if value is None or not 1.0 <= value <= 31.0:
        return 0
    following = [word for word in words[at + 1 : at + 3] if word not in ("of", "de", "the")]
    return int(value) if following and following[0] in MONTH_TERMS else 0


def _chinese_day(written: list[str], at: int) -> tuple[float, int] | None:
    """ "6月28日" without a year, as month * 100 + day."""
    window = written[at : at + 4]
    if len(window) < 4 or window[1] != "月" or window[3] not in ("日", "号"):
        return None
    month, day = _small(window[0]), _small(window[2])
    return (month * 100.0 + day, at + 4) if month and day and month <= 12 and day <= 31 else None


def _numeric_date(token: str, at: int) -> tuple[float, int] | None:
    """(yyyymmdd, end) of "15.03.2024" and "15/03/24"; the year alone where day and month cannot be told apart."""
    parts = [int(part) for part in token.replace("/", ".").split(".") if part.isdigit() and len(part) < 5]
    if len(parts) != 3 or not 0 < min(parts[:2]) <= 12 or max(parts[:2]) > 31:
        return None
    first, second, year = parts
    year += 2000 if year < 100 else 0
    if second > 12:
        first, second = second, first
    elif first <= 12 and first != second and "/" in token:
        return year * 10_000.0, at + 1
    return year * 10_000.0 + second * 100 + first, at + 1


def _number_at(words: list[str], written: list[str], at: int) -> tuple[float | None, int]:
    token = written[at]
    if token[0].isdigit():
        value = _digits(token)
        end = at + 1
        if value is not None and end < len(written) and written[end][0] in CJK_MYRIADS:
            return round(value * CJK_MYRIADS[written[end][0]], 4), end + 1
        if value is not None and end < len(written) and written[end].lower() in MULTIPLIERS:
            value *= MULTIPLIERS[written[end].lower()]
            thousands = MULTIPLIERS.get(written[end + 1].lower(), 0.0) if end + 2 < len(written) else 0.0
            return (value * thousands, end + 2) if thousands >= 1e6 else (value, end + 1)
        return value, end
    if token[0] in CJK_NUMERALS:
        if token == "千万" and written[at + 1 : at + 2] and written[at + 1] in "别不要注记":  # "by all means"
            return None, at + 1
        if token in {"百", "千", "万", "亿", "十"} or (token == "一" and not _counts_one(written, at + 1)):
            return None, at + 1
        return cjk_value(token), at + 1
    if token.isupper() and (roman := roman_value(token)) is not None:
        return roman, at + 1
    return spelled_number(written, at)


def _counts_one(written: list[str], at: int) -> bool:
    """ "一小时" and "一个半": one of a unit of time, no article."""
    two, three = "".join(written[at : at + 2]), "".join(written[at : at + 3])
    return two in ("小时", "个半", "分钟", "星期", "个月") or three == "个小时" or two[:1] in ("年", "天", "周")


def _digits(token: str) -> float | None:
    if ":" in token:
        parts = token.split(":")
        return float(parts[0][:4]) * 60 + float(parts[1][:2]) if all(p.isdigit() for p in parts) else None
    if token.count("-") == 2:
        return float(token.replace("-", ""))
    if "/" in token:
        return None
    try:
        return float(normalize_number(token[:24]))
    except ValueError:
        return None


def _unit(words: list[str], written: list[str], at: int, end: int) -> tuple[str, bool]:
    if at and written[at - 1] in "$€£¥":
        return _UNIT_OF.get(written[at - 1], written[at - 1]), True
    if at and written[at - 1].isupper() and (code := _UNIT_OF.get(written[at - 1].lower())) in _CURRENCIES:
        return code or "", True
    for there in range(end, min(end + 2, len(words))):
        lower = written[there].lower()
        if (pair := _of_two_words(written, there)) is not None:
            return pair, True
        if lower in _UNIT_OF:
            return _UNIT_OF[lower], True
        for length in (4, 3, 2, 1):
            if (joined := "".join(written[there : there + length])) in _CJK_PAIRS:
                return _CJK_PAIRS[joined], True
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


def _of_two_words(written: list[str], at: int) -> str | None:
    """The unit of "square metres", "mètres carrés", "per cent" and "kilo-octets"."""
    one, two = written[at].lower(), written[at + 1].lower() if at + 1 < len(written) else ""
    if (one, two) in PER_CENT:
        return "percent"
    if two == "s" and one in _RATES:
        return _RATES[one]
    if one in _BYTES and two.startswith(("octet", "byte")):
        return _BYTES[one]
    for shape, prefix in ((SQUARE, "square"), (CUBIC, "cubic")):
        if one in shape and two in _UNIT_OF:
            return f"{prefix} {_UNIT_OF[two]}"
        if two in shape and one in _UNIT_OF:
            return f"{prefix} {_UNIT_OF[one]}"
    return None
