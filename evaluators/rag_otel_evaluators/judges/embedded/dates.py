"""Dates as terms spell them: with a month's name in any order and language of `languages`, or in ISO form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rag_otel.lazy_dataclass import dataclass
from rag_otel_evaluators.judges.embedded.terms import MONTH_TERMS

MOST_DATES: Final = 6
"""Dates of one sentence that are read: a longer row of them is a table."""
_FILLERS: Final = frozenset({"of", "de", "del", "the", "den", "der", "le", "du"})


@dataclass(frozen=True, slots=True)
class Date:
    """A date as far as it is given. `year` and `day` are None where the text leaves them out."""

    year: int | None
    month: int
    day: int | None
    terms: frozenset[str]
    """The terms that it was read from."""

    def agrees(self, other: Date) -> bool:
        """True where no part that both give differs."""
        pairs = ((self.year, other.year), (self.month, other.month), (self.day, other.day))
        return all(mine is None or theirs is None or mine == theirs for mine, theirs in pairs)

    def comparable(self, other: Date) -> bool:
        """True where both give the same parts, so that a difference is a conflict and not a lack of detail."""
        return (self.year is None) == (other.year is None) and (self.day is None) == (other.day is None)

    def __str__(self) -> str:
        return "-".join(
            part
            for part in (
                "" if self.year is None else f"{self.year:04}",
                f"{self.month:02}",
                "" if self.day is None else f"{self.day:02}",
            )
            if part
        )


def dates_in(terms: Sequence[str]) -> list[Date]:
    """The dates among the terms of a sentence, in order: "14 March 1879", "March 14", "marzo de 1879", "1879-03-14".

    Of many the first `MOST_DATES`.
    """
    found: list[Date] = []
    for at, term in enumerate(terms):
        if len(found) == MOST_DATES:
            break
        if term.count("-") == 2 and term[0].isdigit():
            year, month, day = (int(part) for part in term.split("-"))
            if 1 <= month <= 12 and 1 <= day <= 31:
                found.append(Date(year, month, day, frozenset({term})))
        elif term in MONTH_TERMS and (date := _around_month(terms, at)) is not None:
            found.append(date)
    return found


def _around_month(terms: Sequence[str], at: int) -> Date | None:
    """The date that the month at `at` is part of; None where neither a day nor a year stands beside it."""
    before, after = list(reversed(terms[max(0, at - 2) : at])), list(terms[at + 1 : at + 5])
    day = _next(before) if _is_day(_next(before)) else None
    if day is None and _is_day(_next(after)):  # "March 14, 1879"
        day = _next(after)
        after = after[after.index(day) + 1 :]
    year = _next(after) if is_year(_next(after)) else None
    if day is None and year is None:
        return None
    return Date(
        year=None if year is None else int(year),
        month=MONTH_TERMS[terms[at]],
        day=None if day is None else int(day),
        terms=frozenset(part for part in (terms[at], day, year) if part is not None),
    )


def _next(terms: Sequence[str]) -> str:
    """The first of the terms, one filler skipped ("14 de marzo"); empty where there is none."""
    return next((term for term in terms[:2] if term not in _FILLERS), "")


def _is_day(term: str) -> bool:
    return term.isdigit() and len(term) <= 2 and 1 <= int(term) <= 31


def is_year(term: str) -> bool:
    """True for a bare number that is most likely a year."""
    return len(term) == 4 and term.isdigit() and 1000 <= int(term) <= 2199
