"""So much in what time: "25 days per month" against "25 days per year"."""

from __future__ import annotations

from typing import Final

from rag_otel_evaluators.judges.embedded.close_reading import Reading
from rag_otel_evaluators.judges.embedded.quantities import Quantity
from rag_otel_evaluators.judges.embedded.terms import UNIT_TERMS
from rag_otel_evaluators.text.languages import words
from rag_otel_evaluators.text.languages.quantities import ADVERBS_OF_PERIODS

_PERIODS: Final = frozenset({"minute", "hour", "day", "week", "month", "year"})
_PER: Final = words("per a an each every pro je im al por cada par chaque")
_WITHIN: Final = words("in within after for of than over since en dentro nach seit dans après")
"""Before an "a month" that is a length of time."""
_REACH: Final = 6
"""Words after a number in which its period stands."""
_BETWEEN: Final = 2
"""Words from a "per" to the period: "per calendar year"."""
_CJK_PERIODS: Final = {
    "分": "minute",
    "时": "hour",
    "天": "day",
    "日": "day",
    "周": "week",
    "月": "month",
    "年": "year",
}


def differ(mine: Reading, quantity: Quantity, there: Reading, other: Quantity) -> bool:
    """True where both numbers are by the month or so, and one by another period than the other."""
    own = period_of(mine, quantity)
    return bool(own) and period_of(there, other) not in ("", own)


def period_of(reading: Reading, quantity: Quantity) -> str:
    """The unit of time that a number is given for; empty where there is none."""
    if quantity.unit in _PERIODS and quantity.value == 1.0:
        return ""
    end = quantity.at + len(quantity.text.split(" "))
    last = min([end + _REACH, len(reading.words), *(each.at for each in reading.quantities if each.at > quantity.at)])
    for at in range(end, last):
        if reading.clauses[at] != reading.clauses[quantity.at]:
            break
        lower = reading.written[at].lower()
        if lower in ADVERBS_OF_PERIODS:
            return ADVERBS_OF_PERIODS[lower]
        if lower in _PER and reading.written[at - 1].lower() not in _WITHIN:
            for term in reading.words[at + 1 : at + 1 + _BETWEEN]:
                if (unit := UNIT_TERMS.get(term)) in _PERIODS:
                    return unit or ""
    return _before(reading, quantity)


def _before(reading: Reading, quantity: Quantity) -> str:
    """Of "每月5元"."""
    written = reading.written
    for at in range(max(1, quantity.at - _REACH), quantity.at):
        if written[at - 1] == "每" and written[at] in _CJK_PERIODS:
            return _CJK_PERIODS[written[at]]
    return ""
