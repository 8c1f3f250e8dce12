"""Parts of something and of a period: "two thirds", "one in five", "half an hour", "an hour and a quarter"."""

from __future__ import annotations

from typing import Final

from rag_otel_evaluators.judges.embedded.points_in_time import small_number
from rag_otel_evaluators.text.languages import words as listed_words
from rag_otel_evaluators.text.languages.numerals import CJK_NUMERALS, MULTIPLIERS, SPELLED, cjk_value
from rag_otel_evaluators.text.languages.quantities import CLOCK_WORDS, UNITS

_ARTICLES: Final = listed_words("a an one the un una uno ein eine einen einem einer eines une la le el der die das")
_INDEFINITE: Final = listed_words("a an one un una uno ein eine einen einem einer eines une")
_OF: Final = listed_words("of de des del der die von du d aller all her his its their ihrer seiner")
_WITHIN: Final = listed_words(
    "for within in after of than about under over lasts takes least every por durante en de tras "
    "für in nach von binnen innerhalb pendant sous dans après d durée"
)
_AND: Final = listed_words("and y et")
_AND_A_HALF: Final = frozenset({("and", "a", "half"), ("y", "media"), ("y", "medio"), ("et", "demie"), ("et", "demi")})
PERIODS_ALONE: Final = {
    word: (value, unit)
    for value, unit, listed in (
        (1.0, "year", "year año jahr jahres jahrs an année"),
        (1.0, "month", "month mes monat monats mois"),
        (1.0, "week", "week semana woche semaine"),
        (1.0, "day", "day día tag tages jour"),
        (1.0, "hour", "hour hora stunde heure"),
        (2.0, "week", "fortnight quincena quinzaine"),
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
_SURE_SHARES: Final = listed_words("mitad hälfte moitié drittel fünftel achtel zehntel tercio tercios")
"""Shares without an "of" as well; "a third" may be one more."""
HALVES: Final = listed_words("half media medio halb halbe halben halber halbes demi 半")
"""Half of the period or the million after them."""
_PART_FILLERS: Final = listed_words("of a an de d un une einer eines einem eine")
QUARTERS_OF_HOURS: Final = {"viertelstunde": 15.0, "dreiviertelstunde": 45.0}
AND_A_QUARTER: Final = frozenset({("and", "a", "quarter"), ("y", "cuarto"), ("et", "quart"), ("et", "un", "quart")})
_QUARTERS: Final[dict[tuple[str, ...], float]] = {
    **dict.fromkeys(AND_A_QUARTER, 0.25),
    **dict.fromkeys([("and", "three", "quarters"), ("y", "tres", "cuartos"), ("et", "trois", "quarts")], 0.75),
}
_DOZEN: Final = listed_words("dozen dutzend docena douzaine")
_EVERY: Final = listed_words("every each jeder jede jedes jeden jedem cada")
_ORDINALS: Final = {
    word: value
    for value, listed in {
        3: "third dritte dritter drittes dritten",
        4: "fourth vierte vierter viertes vierten",
        5: "fifth fünfte fünfter fünftes fünften",
        6: "sixth sechste sechster sechstes sechsten",
        8: "eighth achte achter achtes achten",
        10: "tenth zehnte zehnter zehntes zehnten",
    }.items()
    for word in listed.split()
}
_ONE: Final = listed_words("one uno una un une einer eine eins")
_IN: Final = frozenset({("in",), ("out", "of"), ("de", "cada"), ("von",), ("sur",), ("of", "every")})
"""Between the two numbers of "one in five"."""
_TEN_OF_HUNDRED: Final = "成"


def share_at(written: list[str], at: int) -> tuple[float, str, int] | None:
    """(value, unit, end) of a share in percent, "a quarter of", "two thirds", "三分之一", or of "for a year"."""
    lower, before = written[at].lower(), written[at - 1].lower() if at else ""
    if lower in CLOCK_WORDS or (not lower.isascii() and "".join(written[at : at + 2]) in CLOCK_WORDS):
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
            other = small_number(written[at + 3])
        return (100.0 * other / (100.0 if lower == "百" else one or 0.0), "percent", at + 4) if one and other else None
    following = written[at + 1].lower() if at + 1 < len(written) else ""
    if following == _TEN_OF_HUNDRED and lower[0] in CJK_NUMERALS and (one := cjk_value(lower)) and one <= 10:
        return 10.0 * one, "percent", at + 2
    if lower in SHARES and (part := _part_of(written, at + 1, SHARES[lower])) is not None and part[2] > at + 2:
        return part
    if lower in _ORDINALS and before in _EVERY and following and following not in PERIODS_ALONE:
        return 100.0 / _ORDINALS[lower], "percent", at + 1
    is_of = following in _OF or following == "parte" or lower in _SURE_SHARES
    if is_of and lower in SHARES and (before in _ARTICLES or lower in _SURE_SHARES):
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
    if is_one and (half := half_after(written, at + 1)) is not None:
        return value * 1.5, unit, half
    following = [word.lower() for word in written[at + 1 : at + 5]]
    if is_one and unit == "hour":
        if (quarters := quarters_after(written, at + 1)) is not None:
            return 1.0 + quarters[0], unit, quarters[1]
        if following and following[0] in _AND and any(UNITS.get(word) == "minute" for word in following):
            return value, unit, at + 1
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
    if lower in _DOZEN:
        return share * 12, "", at + 1
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
            of = SPELLED.get(written[there].lower()) or small_number(written[there])
            if of is not None and count < of <= 20.0 and (count == 1.0 or length == 2):
                return 100.0 * count / of, "percent", there + 1
    return None


def quarters_after(written: list[str], end: int) -> tuple[float, int] | None:
    """(0.25 or 0.75, where it ends) of "and a quarter" or "and three quarters" that begins here; else None."""
    if end >= len(written) or written[end].lower() not in _AND:
        return None
    following = tuple(word.lower() for word in written[end : end + 3])
    for length in (3, 2):
        if following[:length] in _QUARTERS:
            return _QUARTERS[following[:length]], end + length
    return None


def half_after(written: list[str], end: int) -> int | None:
    """Where "and a half" ends that begins here, with or without the unit before it; None where there is none."""
    if end >= len(written) or written[end].lower() not in _AND:
        return None
    following = [word.lower() for word in written[end : end + 3]]
    for length in (3, 2):
        if tuple(following[:length]) in _AND_A_HALF:
            return end + length
    return None
