"""Supported claims made wrong in one place: examples of subtle swaps, which people's answers hold too few of.

Every swap is found by rule and chosen by a hash of the claim, so the same data give the same examples everywhere.
English rules, for the development data; only training and benchmarks use them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rag_otel_evaluators.text.languages.negations import ANTONYMS
from rag_otel_evaluators.text.languages.quantities import MONTHS


@dataclass(frozen=True, slots=True, kw_only=True)
class Perturbation:
    """A claim's text with one thing changed."""

    kind: str
    """One of `KINDS`."""
    text: str


_MONTH_NAMES: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_MONTH: Final = re.compile(rf"\b(?:{'|'.join(_MONTH_NAMES)})\b")
_YEAR: Final = re.compile(r"(?<![\d.,$€£-])(?:1[5-9]|20)\d\d(?![\d.,%-]\d|\d)")
_NUMBER: Final = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?(?![\w]|[.,]\d)")
_NOT_COUNTED: Final = re.compile(r"(?:passages?|sources?|documents?|\[)[\s#]*$", re.IGNORECASE)
"""Before a number that only points at a source."""
_NAME: Final = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,})*")
_AUXILIARY: Final = re.compile(
    r"\b(is|are|was|were|can|could|will|would|should|must|may|might|has|have)\b(?! (?:not|no)\b)"
)
_NEGATED: Final = re.compile(r"\b(is|are|was|were|can|could|will|would|should|must|may|might|has|have) ?not\b")
_WORD: Final = re.compile(r"[A-Za-z]+")


def perturb(text: str, names: Sequence[str]) -> list[Perturbation]:
    """One perturbation of each kind that the claim has a place for. `names`: what a name may be changed into."""
    found = []
    for kind, change in _CHANGES.items():
        changed = change(text, _pick(f"{kind} {text}"), names)
        if changed is not None and changed != text:
            found.append(Perturbation(kind=kind, text=changed))
    return found


def names_in(text: str) -> list[str]:
    """Names as far as capitals tell, in order, each once: what `perturb` swaps and swaps in."""
    return [name for name in dict.fromkeys(_NAME.findall(text)) if name not in _MONTH_NAMES]


def _pick(seed: str) -> int:
    """A large number that only the seed decides."""
    return int.from_bytes(hashlib.sha256(seed.encode()).digest()[:6], "big")


def _swap(text: str, match: re.Match[str], new: str) -> str:
    return text[: match.start()] + new + text[match.end() :]


def _change_number(text: str, pick: int, _: Sequence[str]) -> str | None:
    places = [
        match
        for match in _NUMBER.finditer(text)
        if not _YEAR.fullmatch(match[0]) and not _NOT_COUNTED.search(text, 0, match.start())
    ]
    if not places:
        return None
    match = places[pick % len(places)]
    value = float(match[0].replace(",", ""))
    other = value * (2, 3, 1.5, 0.5, 10)[pick // 7 % 5] + (value < 10)
    decimals = len(match[0].partition(".")[2])
    return _swap(text, match, f"{other:{',' if ',' in match[0] else ''}.{decimals}f}")


def _change_date(text: str, pick: int, _: Sequence[str]) -> str | None:
    if years := list(_YEAR.finditer(text)):
        match = years[pick % len(years)]
        return _swap(text, match, str(int(match[0]) + (-30, -7, -1, 2, 9, 40)[pick // 7 % 6]))
    if months := list(_MONTH.finditer(text)):
        match = months[pick % len(months)]
        return _swap(text, match, _MONTH_NAMES[(MONTHS[match[0].lower()] + pick // 7 % 11) % 12])
    return None


def _change_name(text: str, pick: int, names: Sequence[str]) -> str | None:
    places = [match for match in _NAME.finditer(text) if match[0] not in _MONTH_NAMES]
    others = [name for name in names if name not in text and not any(word in text for word in name.split())]
    if not places or not others:
        return None
    return _swap(text, places[pick % len(places)], others[pick // 7 % len(others)])


def _change_negation(text: str, pick: int, _: Sequence[str]) -> str | None:
    if (match := _NEGATED.search(text)) is not None:
        return _swap(text, match, match[1])
    if places := list(_AUXILIARY.finditer(text)):
        match = places[pick % len(places)]
        return _swap(text, match, f"{match[0]} not")
    return None


def _change_antonym(text: str, pick: int, _: Sequence[str]) -> str | None:
    places = [match for match in _WORD.finditer(text) if match[0] in ANTONYMS]
    if not places:
        return None
    match = places[pick % len(places)]
    opposites = sorted(ANTONYMS[match[0]])
    return _swap(text, match, opposites[pick // 7 % len(opposites)])


_CHANGES: Final[dict[str, Callable[[str, int, Sequence[str]], str | None]]] = {
    "number": _change_number,
    "date": _change_date,
    "name": _change_name,
    "negation": _change_negation,
    "antonym": _change_antonym,
}

KINDS: Final = tuple(_CHANGES)
