"""Quantities in a sentence: a number in any form with what it counts, a date, a time of day."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, islice
from typing import Final, NamedTuple

from rag_otel_evaluators.judges.embedded.points_in_time import (
    date_at,
    numeric_date,
    place_in_calendar,
    time_in_words,
    time_of_day,
)
from rag_otel_evaluators.judges.embedded.shares import AND_A_QUARTER, half_after, quarters_after, share_at
from rag_otel_evaluators.judges.embedded.spelled_numbers import PER_CENT, spelled_number
from rag_otel_evaluators.judges.embedded.terms import MONTH_TERMS, WEIGHTS, normalize_number
from rag_otel_evaluators.text.languages.cjk_units import CJK_PAIRS, CJK_UNITS
from rag_otel_evaluators.text.languages.numerals import (
    CJK_DIGITS,
    CJK_MYRIADS,
    CJK_NUMERALS,
    MULTIPLIERS,
    cjk_value,
    roman_value,
)
from rag_otel_evaluators.text.languages.quantities import CUBIC, DIMENSIONS, FREE_OF_CHARGE, RANGES, SQUARE, UNITS

_MOST_QUANTITIES: Final = 12
_MOST_BETWEEN: Final = 2
"""Words between the two parts of one quantity: the unit, "and"."""
_MOST_IN_RANGE: Final = 3
"""Words between the first and the last day of a range: "星期五到星期日"."""
_DAYS: Final = 7
_OF_THEIR_OWN: Final = ("date", "clock", "weekday")
"""Units that a number after them does not share: "48 people in Berlin, 63 in Paris" counts people twice."""
_JOINED: Final = frozenset({"and", "y", "et", "und", "or", "o", "ou", "oder", "to", "a", "à", "bis", "至", "到"})
_AND: Final = frozenset({"and", "y", "et", "und"})
_BYTES: Final = {"kilo": "kilobyte", "méga": "megabyte", "mega": "megabyte", "giga": "gigabyte", "téra": "terabyte"}
_RATES: Final = {"kb": "kilobit", "mb": "megabit", "gb": "gigabit"}
"""Before "/s"."""
_MILLIONS: Final = {"m": 1e6, "mn": 1e6, "bn": 1e9, "k": 1e3}
"""What multiplies an amount of money only: "£4.75m"."""
_UNIT_OF: Final = dict(UNITS)
FREE: Final = "free"
"""Unit of a price of nothing."""
CURRENCIES: Final = frozenset(["dollar", "euro", "pound", "franc", "yuan", "yen", "krone", "rupee", "zloty", "¥"])


_SCALES: Final = {"celsius": "celsius", "centigrade": "celsius", "centígrados": "celsius", "fahrenheit": "fahrenheit"}
"""After "degrees"."""


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


def quantities_in(
    words: list[str], written: list[str], numbers: list[int], clauses: list[int], *, is_row: bool = False
) -> list[Quantity]:
    """The first quantities of a sentence. `numbers`: the places where one may begin; `clauses`: by word.

    `is_row`: of a table, where no number has its unit in another cell.
    """
    found: list[Quantity] = []
    parts = _by_cell(words, written, numbers, clauses) if is_row else _quantities(words, written, numbers)
    for own in islice(parts, _MOST_QUANTITIES):
        before = found[-1] if found else None
        if before is not None and (joined := _joined(before, own, written, clauses)) is not None:
            found[-1] = joined
            continue
        if before is not None and _shares_scale(before, own, written):
            found[-1] = before._replace(value=before.value * _scale_of(own), unit=own.unit, known_unit=own.known_unit)
        if before is not None and (days := _days_of_range(before, own, written, clauses)):
            found[-1:] = days
            continue
        if before is not None and not own.unit and before.unit not in _OF_THEIR_OWN and not _is_year(own.value):
            own = own._replace(unit=before.unit, known_unit=before.known_unit)
        found.append(own)
    return found


def _shares_scale(one: Quantity, two: Quantity, written: list[str]) -> bool:
    """True for the first number of "from 48 to 60 million euros"."""
    between = [word.lower() for word in written[one.at + len(one.text.split(" ")) : two.at]]
    is_small = one.value < 1000.0 <= _scale_of(two) and not one.known_unit
    return is_small and len(between) == 1 and between[0] in RANGES


def _scale_of(quantity: Quantity) -> float:
    """1,000,000 of "60 million"; 1 of a number without such a word."""
    return max([MULTIPLIERS.get(word.lower(), 1.0) for word in quantity.text.split(" ")])


def _days_of_range(one: Quantity, two: Quantity, written: list[str], clauses: list[int]) -> list[Quantity]:
    """All the days of "Monday to Friday" or "Monday-Friday"; none where these are two days."""
    if not one.unit == two.unit == "weekday" or clauses[one.at] != clauses[two.at]:
        return []
    between = [word.lower() for word in written[one.at + 1 : two.at]]
    if len(between) > _MOST_IN_RANGE or (between and RANGES.isdisjoint(between)):
        return []
    text = " ".join(written[one.at : two.at + 1])
    days = range(int(two.value - one.value) % _DAYS + 1)
    return [one._replace(value=(one.value - 1 + step) % _DAYS + 1, text=text) for step in days]


def _by_cell(words: list[str], written: list[str], numbers: list[int], clauses: list[int]) -> Iterator[Quantity]:
    for _, cell in groupby(range(len(words)), clauses.__getitem__):
        start, *others = cell
        within = slice(start, start + 1 + len(others))
        own = [at - start for at in numbers if within.start <= at < within.stop]
        for quantity in _quantities(words[within], written[within], own):
            yield quantity._replace(at=quantity.at + start)


def _joined(one: Quantity, two: Quantity, written: list[str], clauses: list[int]) -> Quantity | None:
    """ "1 h 45" and "five feet ten inches" as one quantity, in the unit of the first part."""
    end = one.at + len(one.text.split(" "))
    joined = written[end : two.at] and written[two.at - 1].lower() in _AND  # which begins a clause elsewhere
    same_clause = clauses[two.at] - clauses[one.at] == bool(joined)
    if _is_change(one, two, two.at - end) and same_clause:
        text = " ".join(written[one.at : two.at + len(two.text.split(" "))])
        return one._replace(value=one.value + two.value / 100, text=text)
    if not one.known_unit or not 1 <= two.at - end <= _MOST_BETWEEN or not same_clause:
        return None
    if not joined and two.at - end > 1:  # "two hours between 8 and 18"
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


def _is_change(one: Quantity, two: Quantity, gap: int) -> bool:
    """ "Two pounds sixty", "two dollars and sixty cents"."""
    is_beside = gap == 1 if not two.unit else two.unit == "cent" and 1 <= gap <= _MOST_BETWEEN
    if one.unit not in CURRENCIES or not is_beside:
        return False
    return one.value < 1000 and 0 < two.value < 100 and one.value.is_integer() and two.value.is_integer()


def _is_year(value: float) -> bool:
    return 1000 <= value <= 2199 and value == int(value)


def _quantities(words: list[str], written: list[str], numbers: list[int]) -> Iterator[Quantity]:
    """The quantities that begin at one of these places."""
    end = 0
    may_be_dates = "年" in written or "月" in written or any(words[at] in MONTH_TERMS for at in numbers)
    for at in numbers:
        if at < end:
            continue
        date = date_at(words, written, at) if may_be_dates or written[at].count("-") + written[at].count("/") else None
        if date is None and written[at].count(".") == 2:
            date = numeric_date(written[at], at)
        if date is not None:
            value, end = date
            yield Quantity(value, "date", True, at, " ".join(written[at:end]))
            continue
        if (place := place_in_calendar(words, written, at)) is not None:
            yield Quantity(*place, True, at, written[at])
            continue
        if written[at].lower() in FREE_OF_CHARGE:
            yield Quantity(0.0, FREE, True, at, written[at])
            continue
        if (told := time_in_words(written, at)) is not None:
            value, end = told
            yield Quantity(value, "clock", True, at, " ".join(written[at:end]))
            continue
        if (share := share_at(written, at)) is not None:
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
        if (half := half_after(written, end)) is not None:
            value, end = value + 0.5 * _scale(written, end - 1), half
            value, end = value * _scale(written, end), end + (_scale(written, end) > 1.0)
        elif _scale(written, end - 1) > 1 and tuple(word.lower() for word in written[end : end + 2]) in AND_A_QUARTER:
            value, end = value + 0.25 * _scale(written, end - 1), end + 2
        elif (quarters := quarters_after(written, end)) is not None and _unit(words, written, at, quarters[1])[1]:
            value, end = value + quarters[0], quarters[1]
        if written[end : end + 2] == ["个", "半"]:
            value, end = value + 0.5, end + 2
        if (minutes := time_of_day(written, at, end, value)) is not None:
            yield Quantity(minutes, "clock", True, at, " ".join(written[at:end]))
            continue
        unit, known = _unit(words, written, at, end)
        if known and unit in CURRENCIES and written[end : end + 1] and written[end].lower() in _MILLIONS and at:
            value, end = value * _MILLIONS[written[end].lower()], end + 1
        if known and _is_half(written, end + 1):
            value += 0.5
        elif known and unit == "hour" and (quarters := quarters_after(written, end + 1)) is not None:
            value += quarters[0]
        yield Quantity(value, unit, known, at, " ".join(written[at:end]))


def _scale(written: list[str], at: int) -> float:
    """1000 of "thousand" and so on; 1 of any other word."""
    return MULTIPLIERS.get(written[at].lower(), 1.0) if 0 <= at < len(written) else 1.0


def _is_half(written: list[str], at: int) -> bool:
    """ "two hours and a half", "三年半"."""
    return written[at : at + 1] == ["半"] or half_after(written, at) is not None


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
        if (decimal := _chinese_decimal(written, at)) is not None:
            return decimal, at + 3
        return cjk_value(token), at + 1
    if token.isupper() and (roman := roman_value(token)) is not None:
        return roman, at + 1
    return spelled_number(written, at)


def _chinese_decimal(written: list[str], at: int) -> float | None:
    """ "十二点四公里"; a minute after it makes a time of day."""
    window = written[at : at + 4]
    if len(window) < 4 or window[1] != "点" or window[3] in ("分", "刻") or window[2][0] not in CJK_DIGITS:
        return None
    if any(mark not in CJK_DIGITS for mark in window[2]):
        return None
    whole, fraction = cjk_value(window[0]), "".join(str(CJK_DIGITS[mark]) for mark in window[2])
    return None if whole is None else float(f"{int(whole)}.{fraction}")


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
    if at and written[at - 1].isupper() and (code := _UNIT_OF.get(written[at - 1].lower())) in CURRENCIES:
        return code or "", True
    for there in range(end, min(end + 2, len(words))):
        lower = written[there].lower()
        if (pair := _of_two_words(written, there)) is not None:
            return pair, True
        if lower in _UNIT_OF:
            if _UNIT_OF[lower] == "degree" and written[there + 1 : there + 2] and written[there + 1].lower() in _SCALES:
                return _SCALES[written[there + 1].lower()], True
            return _UNIT_OF[lower], True
        for length in (4, 3, 2, 1):
            if (joined := "".join(written[there : there + length])) in CJK_PAIRS:
                return CJK_PAIRS[joined], True
        if lower == "个" and (two := "".join(written[there + 1 : there + 3])) in CJK_PAIRS:
            return CJK_PAIRS[two], True
        if lower in CJK_UNITS:
            return CJK_UNITS[lower], True
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
