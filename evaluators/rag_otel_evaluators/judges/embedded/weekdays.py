"""What the evidence says of the weekdays that a claim names: open as the claim has it, or "closed on Sunday".

It may well say the claim's own word, too, of other days.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from rag_otel_evaluators.judges.embedded.close_reading import Reading
from rag_otel_evaluators.text.languages.negations import ANTONYMS

_OTHERWISE: Final = ("none", "negating", "only", "except", "condition", "hedge")
"""Classes of words that deny, or with which a sentence says less than that it is so all day."""


class SaidOnDays(NamedTuple):
    """What the sentences that name the claim's weekdays say of them."""

    opposite: tuple[int, str, str] | None
    """(reading, the claim's word, its opposite there), where they all say the opposite of the claim."""

    @property
    def agrees(self) -> bool:
        """Whether they say what the claim says."""
        return self.opposite is None


def said_on_days(claim: Reading, evidence: Sequence[Reading]) -> SaidOnDays | None:
    """Compare a word of the claim that has an opposite, on the claim's weekdays; None where nothing can be told."""
    if not claim.opposites or not (days := _weekdays(claim)):
        return None
    for word in claim.opposites:
        told = [(at, said) for at, reading in enumerate(evidence) for said in _said(reading, word, days)]
        if not told or any(said is None for _, said in told):
            continue
        turned = [(at, word, said) for at, said in told if said is not None and said != word]
        if len(turned) in (0, len(told)):
            return SaidOnDays(turned[0] if turned else None)
    return None


def _weekdays(reading: Reading) -> dict[float, int]:
    return {quantity.value: quantity.at for quantity in reading.quantities if quantity.unit == "weekday"}


def _said(reading: Reading, word: str, days: Collection[float]) -> list[str | None]:
    """By weekday that a sentence shares with the claim, the word or the opposite of it that stands nearest.

    None where it has neither, or says it with a denial, a limit or an hour.
    """
    here = {at for day, at in _weekdays(reading).items() if day in days}
    if not here:
        return []
    either = {word, *ANTONYMS[word]} & reading.opposites.keys()
    words = [(at, said) for said in either for at in reading.opposites[said]]
    if not words or any(mark in reading.marks for mark in _OTHERWISE):
        return [None]
    nearest = {min((_distance(reading, at, to), at, said) for at, said in words) for to in here}
    return [None if _has_hour(reading, at) else said for _, at, said in nearest]


def _distance(reading: Reading, one: int, other: int) -> tuple[int, int]:
    """Clauses, then words."""
    return abs(reading.clauses[one] - reading.clauses[other]), abs(one - other)


def _has_hour(reading: Reading, at: int) -> bool:
    """True where the clause has one number that is no weekday: "closes at 18", but not "open from 9 to 18"."""
    numbers = [q for q in reading.quantities if q.unit != "weekday" and reading.clauses[q.at] == reading.clauses[at]]
    return len(numbers) == 1
