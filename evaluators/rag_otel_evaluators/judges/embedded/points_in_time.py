"""Dates, weekdays and times of day among the words of a sentence."""

from __future__ import annotations

from typing import Final

from rag_otel_evaluators.judges.embedded.terms import AMBIGUOUS_MONTHS, MONTH_TERMS
from rag_otel_evaluators.text.languages import words as listed_words
from rag_otel_evaluators.text.languages.numerals import CJK_NUMERALS, SPELLED, cjk_value
from rag_otel_evaluators.text.languages.quantities import AFTERNOON, CLOCK_WORDS, MORNING, WEEKDAYS

_CJK_WEEKDAYS: Final = "一二三四五六"
_CJK_WEEK: Final = "周期拜"
_CJK_SUNDAYS: Final = frozenset(["周日", "期日", "期天", "拜日", "拜天"])
"""The last two characters of each."""
_HOUR_MARKS: Final = frozenset(["a", "p", "am", "pm", "o", "uhr", "点", "點", "时"])
"""What stands after the hour, or begins what does."""
_QUARTER_OR_HALF: Final = {
    word: minutes
    for minutes, listed in {15.0: "quarter cuarto viertel quart", 30.0: "half media"}.items()
    for word in listed.split()
}
_HOURS_SAID: Final = frozenset({"heures", "heure", "h", "horas", "uhr"})
_OF_A_PART: Final = frozenset({"in", "de", "du", "am", "por"})
"""Between an hour and the part of the day."""
_BEFORE_MONTHS: Final = listed_words("in of until till by since from to through early late mid last next each")
"""Before a "May" that is a month."""
_MINUTES_SAID: Final = frozenset({"minute", "minutes", "minuten"})
_FIVES: Final = (5.0, 10.0, 20.0, 25.0)
_AT: Final = frozenset({"at", "until", "till", "by", "around"})
"""Before a time of day."""
_A_DAY: Final = 1440.0
_PAST_OR_TO: Final = {"past": 1, "after": 1, "to": -1, "nach": 1, "vor": -1}
_ORDINAL_MARKS: Final = frozenset(["st", "nd", "rd", "th", "er", "º"])
_FIRST: Final = {"first": 1.0, "second": 2.0, "primero": 1.0, "premier": 1.0, "ersten": 1.0, "erste": 1.0, "uno": 1.0}
"""Days of a month in words that are no numbers elsewhere."""


def time_of_day(written: list[str], at: int, end: int, value: float) -> float | None:
    """Minutes after midnight of a time of day: "8:30", "7 pm", "8.30 a.m.", "18 Uhr 30", "下午3点半"; else None."""
    token = written[at]
    if ":" not in token and (end >= len(written) or written[end].lower() not in _HOUR_MARKS):
        return _hour_of_a_part(written, end, value)
    after = [word.lower() for word in written[end : end + 4]]
    if after[:1] == ["am"] and not AFTERNOON.isdisjoint(after[1:2]):  # German: "fünf am Nachmittag"
        after[0] = "at"
    hours, minutes = value, 0.0
    is_clock = ":" in token
    if is_clock:
        hours, minutes = divmod(value, 60)
    elif value < 25 and token[0].isdigit() and "." in token and len(token.partition(".")[2]) == 2:
        hours, minutes = float(int(value)), float(token.partition(".")[2])
    marker = after[0] if after else ""
    if marker in ("a", "p") and after[1:2] == ["m"]:
        marker += "m"
    if marker in ("am", "pm", "uhr", "at") or after[:2] == ["o", "clock"] or marker in ("点", "點", "时"):
        is_clock = True
        rest = after[1:2]
        if marker in ("点", "點", "时", "uhr") and rest and not minutes:
            minutes = 30.0 if rest == ["半"] else small_number(rest[0]) or minutes
    if not is_clock or hours > 24 or minutes >= 60:
        return None
    around = {marker, *after[:4], *(word for word in written[max(0, at - 2) : at])}
    around |= {"".join(written[max(0, at - 2) : at])}
    if hours < 12 and not around.isdisjoint(AFTERNOON) and around.isdisjoint(MORNING):
        hours += 12
    elif hours == 12 and marker == "am":
        hours = 0.0
    return hours * 60 + minutes


def _hour_of_a_part(written: list[str], end: int, value: float) -> float | None:
    """ "Seven in the evening", "las siete de la tarde", "sept heures du soir"."""
    after = [word.lower() for word in written[end : end + 4]]
    while after and after[0] in _HOURS_SAID:
        del after[0]
    if not 0 < value <= 12 or not after or after[0] not in _OF_A_PART:
        return None
    part = next((word for word in after[1:3] if word in AFTERNOON or word in MORNING), None)
    if part is None:
        return None
    return (value % 12 + 12 * (part in AFTERNOON)) * 60


def time_in_words(written: list[str], at: int) -> tuple[float, int] | None:
    """(minutes after midnight, end) of "half past nine", "a quarter to ten", "halb zehn", "las nueve y cuarto"."""
    lower, after_las = written[at].lower(), at > 0 and written[at - 1].lower() == "las"
    if lower != "halb" and lower not in _QUARTER_OR_HALF and not after_las:
        return _minutes_past_or_to(written, at)
    words = [word.lower() for word in written[at : at + 4]]
    if words[0] in _QUARTER_OR_HALF and len(words) > 2 and words[1] in _PAST_OR_TO and words[0] + words[1] != "halfto":
        hour = _hour(words[2])
        if hour is not None:
            return hour * 60 + _PAST_OR_TO[words[1]] * _QUARTER_OR_HALF[words[0]], at + 3
    if (told := _minutes_past_or_to(written, at)) is not None:
        return told
    if words[0] == "halb" and len(words) > 1 and (hour := _hour(words[1])) is not None:
        return hour * 60 - 30, at + 2
    if after_las and len(words) > 2 and words[1] in ("y", "menos"):
        hour, minutes = _hour(words[0]), _QUARTER_OR_HALF.get(words[2]) or SPELLED.get(words[2])
        if hour is not None and minutes is not None and minutes < 60:
            return hour * 60 + (minutes if words[1] == "y" else -minutes), at + 3
    return None


def _minutes_past_or_to(written: list[str], at: int) -> tuple[float, int] | None:
    """ "Ten to midnight", "at five to two", "zehn nach acht"; but "five to nine" alone is a range."""
    minutes = SPELLED.get(written[at].lower()) or small_number(written[at])
    rest = [word.lower() for word in written[at + 1 : at + 4]]
    skipped = bool(rest) and rest[0] in _MINUTES_SAID
    rest = rest[skipped:]
    if minutes is None or minutes >= 60 or len(rest) < 2 or rest[0] not in _PAST_OR_TO:
        return None
    named = CLOCK_WORDS.get(rest[1])
    is_told = skipped or named is not None or rest[0] in ("past", "nach", "vor")
    if not is_told and (minutes not in _FIVES or at == 0 or written[at - 1].lower() not in _AT):
        return None
    start = named if named is not None else None if (hour := _hour(rest[1])) is None else hour * 60
    if start is None:
        return None
    return (start + _PAST_OR_TO[rest[0]] * minutes) % _A_DAY, at + 3 + skipped


def _hour(word: str) -> float | None:
    value = SPELLED.get(word) or small_number(word)
    return value if value is not None and 0 < value <= 24 else None


def small_number(word: str) -> float | None:
    """A number of minutes."""
    value = float(word) if word.isascii() and word.isdigit() and len(word) < 3 else None
    if value is None and word and word[0] in CJK_NUMERALS:
        value = cjk_value(word)
    return value if value is not None and value < 60 else None


def place_in_calendar(words: list[str], written: list[str], at: int) -> tuple[float, str] | None:
    """(value, unit) of a weekday or a month alone."""
    lower = written[at].lower()
    if lower in WEEKDAYS:
        return float(WEEKDAYS[lower]), "weekday"
    if written[at] in _CJK_WEEKDAYS and at and written[at - 1] in _CJK_WEEK:
        return float(_CJK_WEEKDAYS.index(written[at]) + 1), "weekday"
    if at and written[at - 1] + written[at] in _CJK_SUNDAYS:
        return 7.0, "weekday"
    is_month = words[at] not in AMBIGUOUS_MONTHS or (
        at > 0 and written[at] == "May" and written[at - 1] in _BEFORE_MONTHS
    )
    if words[at] in MONTH_TERMS and is_month:
        return MONTH_TERMS[words[at]] * 100.0, "date"
    return None


def date_at(words: list[str], written: list[str], at: int) -> tuple[float, int] | None:
    """(yyyymmdd, end) of a date that begins here: "2019-06-28", "28 June 2019", "June 28 2019", "2019年6月28日"."""
    token = written[at]
    if token.count("-") == 2 and token[0].isdigit():
        return float(token.replace("-", "")), at + 1
    if "/" in token:
        return numeric_date(token, at)
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
    month, day = small_number(window[0]), small_number(window[2])
    return (month * 100.0 + day, at + 4) if month and day and month <= 12 and day <= 31 else None


def numeric_date(token: str, at: int) -> tuple[float, int] | None:
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
