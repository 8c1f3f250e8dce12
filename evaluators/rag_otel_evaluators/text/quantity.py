"""One number, amount, date or time of a text, and when two of them say the same."""

from __future__ import annotations

from typing import Final, NamedTuple

from rag_otel_evaluators.text.languages.units import CONVERTED

_NEAR: Final = 0.005
"""Share by which two amounts may differ that are said in different units, or rounded."""


class Quantity(NamedTuple):
    """One number, date or time of a text."""

    text: str
    """As it is written, with its unit: a slice of the text."""
    said: str
    """The same with the word that it counts, for people."""
    start: int
    end: int
    value: float
    """In its unit; of a time of day in minutes after midnight; 0 for a date."""
    dimension: str = ""
    """`money`, `time`, `length` ..., `clock`, `date`; empty for a bare number or a count."""
    unit: str = ""
    factor: float = 1.0
    """How many of the dimension's base unit the unit is."""
    of: str = ""
    """Term of the word that follows a number without a unit: what it counts."""
    after: str = ""
    """Term of the word of weight before it."""
    date: tuple[int, int, int] = (0, 0, 0)
    """(year, month, day); 0 for what is not given."""
    in_figures: bool = True
    ambiguous: bool = False
    """A time of day that may be in the morning or in the afternoon."""
    scale: float = 1.0
    """What the word after the number made of it: 1,000,000 for "2.1 million"."""

    def agrees(self, other: Quantity) -> bool:
        """True where the two may say the same: parts that both give do not differ."""
        if "date" in (self.dimension, other.dimension):
            return self._agrees_as_date(other)
        if self.dimension == other.dimension == "clock":
            half = self.ambiguous or other.ambiguous
            return (self.value - other.value) % (720.0 if half else 1440.0) == 0.0
        if (self.of and other.unit) or (self.unit and other.of):
            return False
        if self.unit and other.unit and self.unit != other.unit:
            if self.dimension != other.dimension or self.dimension not in CONVERTED:
                return {self.dimension, other.dimension} == {"clock", "time"} and self._hours() == other._hours()
            return _near(self.value * self.factor, other.value * other.factor)
        return self.value == other.value or _rounded(self, other) or _rounded(other, self)

    def rivals(self, other: Quantity) -> bool:
        """True where the two measure or count the same kind of thing, so that only one of them can be right there."""
        if self.dimension or other.dimension:
            if self.dimension != other.dimension:
                return False
            if self.dimension == "date":
                return all(bool(mine) == bool(theirs) for mine, theirs in zip(self.date, other.date, strict=True))
            return self.dimension in ("clock", "money") or self.unit == other.unit or self.value == other.value
        return bool(self.of and self.of == other.of) or bool(self.after and self.after == other.after)

    def _agrees_as_date(self, other: Quantity) -> bool:
        if self.dimension != other.dimension:
            year = self.date[0] or other.date[0]
            return not (self.unit or other.unit) and float(year) == (self.value or other.value)
        pairs = zip(self.date, other.date, strict=True)
        return all(mine == theirs or not (mine and theirs) for mine, theirs in pairs)

    def _hours(self) -> float:
        return self.value / 60.0 if self.dimension == "clock" else self.value


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= _NEAR * max(abs(one), abs(other))


def _rounded(one: Quantity, other: Quantity) -> bool:
    """True for "2.1 million" where the other says 2,102,650: the same, to the digits that it gives."""
    digits = len(f"{one.value:.0f}".rstrip("0")) if one.value >= 1000.0 else 0
    if not digits or one.dimension == "date":
        return False
    step = 10.0 ** (len(f"{one.value:.0f}") - digits)
    return step > 1.0 and other.value % step != 0.0 and abs(one.value - other.value) <= step / 2.0
