"""An answer with its unsupported claims marked, cut to size around them.

Cutting happens on the text itself, before a channel escapes it, so no escape is ever cut in two; a channel says with
`measure` how much room a piece takes once it is escaped.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rag_otel.model import ClaimVerdict

GAP: Final = "…"
"""Stands where text was cut."""
_SNAP: Final = 16
"""A cut moves inwards by at most so many characters to fall between words."""
_JOINERS: Final = frozenset("\u200d\ufe0e\ufe0f")
"""Zero-width joiner and variation selectors: what follows or precedes them belongs to one sign."""
_CONTROLS: Final = (*range(9), *range(11, 32), *range(127, 160))
_DIRECTIONS: Final = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_UNPRINTABLE: Final = dict.fromkeys((*_CONTROLS, *_DIRECTIONS))
"""Control characters, which some receivers refuse, and those that turn the direction of everything after them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A stretch of an answer."""

    text: str
    unsupported: bool = False
    """True for a claim that the chunks contradict or say nothing about."""


def clean(text: str) -> str:
    """`text` as any receiver can take it: UTF-8 throughout, no control characters but line breaks and tabs."""
    printable = text.replace("\r\n", "\n").replace("\r", "\n").translate(_UNPRINTABLE)
    return printable if printable.isascii() else printable.encode("utf-8", "replace").decode("utf-8")


def one_line(text: str, limit: int = 160) -> str:
    """`text` without line breaks, at most `limit` characters long."""
    return shorten(" ".join(clean(text).split()), limit)


def shorten(text: str, limit: int, *, measure: Callable[[str], int] = len) -> str:
    """The beginning of `text` that takes at most `limit`, with a mark where something was cut.

    `measure` counts at least one for each character.
    """
    if len(text) <= limit and measure(text) <= limit:
        return text
    fits, too_long = 0, min(len(text), max(0, limit) + 1)
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        fits, too_long = (middle, too_long) if measure(text[:middle] + GAP) <= limit else (fits, middle)
    kept = text[: _between_words(text, fits, backwards=True)].rstrip() if fits else ""
    return kept + GAP if measure(GAP) <= limit else ""


def marked(response: str, claims: Sequence[ClaimVerdict]) -> tuple[Passage, ...]:
    """The response in passages, those of `claims` marked; joined, they are the response.

    Claims may overlap, repeat and point outside the response: marks are merged and clipped. A claim whose offsets hold
    nothing is looked for by its words, and left unmarked where they are not found.
    """
    passages: list[Passage] = []
    end = 0
    for start, stop in _merged(_place(response, claim) for claim in claims):
        passages += [Passage(text=response[end:start]), Passage(text=response[start:stop], unsupported=True)]
        end = stop
    passages.append(Passage(text=response[end:]))
    return tuple(passage for passage in passages if passage.text)


def cut_around(
    passages: Sequence[Passage], limit: int, *, measure: Callable[[Sequence[Passage]], int]
) -> tuple[Passage, ...]:
    """At most `limit` of an answer, as `measure` counts: its marked passages first, then what stands around them.

    Where there is no room for all that is marked, the first ones stay. Empty when not even a sign fits. `measure`
    counts at least one for each character.
    """
    if measure(passages) <= limit:
        return tuple(passages)
    text = "".join(passage.text for passage in passages)
    marks = _marks(passages)
    for kept in range(len(marks), 0, -1):
        if (found := _widest(text, marks[:kept], limit, measure)) is not None:
            return found
    start, stop = marks[0] if marks else (0, len(text))
    return _beginning(text[start:stop], bool(marks), start > 0, limit, measure)


def _place(response: str, claim: ClaimVerdict) -> tuple[int, int]:
    start, end = max(0, claim.claim.start), min(len(response), claim.claim.end)
    if start >= end and claim.claim.text:
        start = response.find(claim.claim.text)
        end = start + len(claim.claim.text) if start >= 0 else start
    return start, end


def _merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(each for each in ranges if each[0] < each[1]):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _marks(passages: Sequence[Passage]) -> list[tuple[int, int]]:
    marks, at = [], 0
    for passage in passages:
        if passage.unsupported:
            marks.append((at, at + len(passage.text)))
        at += len(passage.text)
    return marks


def _widest(
    text: str, marks: Sequence[tuple[int, int]], limit: int, measure: Callable[[Sequence[Passage]], int]
) -> tuple[Passage, ...] | None:
    """The marks with as much around each of them as fits; None when the marks alone are too much."""
    found = _around(text, marks, 0)
    if measure(found) > limit:
        return None
    fits, too_wide = 0, min(len(text), limit + 1)
    while too_wide - fits > 1:
        middle = (fits + too_wide) // 2
        candidate = _around(text, marks, middle)
        if measure(candidate) <= limit:
            found, fits = candidate, middle
        else:
            too_wide = middle
    return found


def _around(text: str, marks: Sequence[tuple[int, int]], radius: int) -> tuple[Passage, ...]:
    """The marks and `radius` characters on either side of each, with gaps where something was left out."""
    passages: list[Passage] = []
    end = 0
    for number, (start, stop) in enumerate(marks):
        following = marks[number + 1][0] if number + 1 < len(marks) else len(text)
        before = max(end, start - radius)
        if before > end:
            before = _between_words(text, before, backwards=False, bound=start)
            passages.append(Passage(text=GAP))
        passages += [Passage(text=text[before:start]), Passage(text=text[start:stop], unsupported=True)]
        end = min(stop + radius, following)
        if end < following:
            end = _between_words(text, end, backwards=True, bound=stop)
        passages.append(Passage(text=text[stop:end]))
    if end < len(text):
        passages.append(Passage(text=GAP))
    return tuple(passage for passage in passages if passage.text)


def _beginning(
    text: str, unsupported: bool, gap_before: bool, limit: int, measure: Callable[[Sequence[Passage]], int]
) -> tuple[Passage, ...]:
    """The beginning of one passage that is too long by itself."""

    def passages(kept: str) -> tuple[Passage, ...]:
        before = [Passage(text=GAP)] if gap_before else []
        return (*before, Passage(text=kept, unsupported=unsupported))

    short = shorten(text, limit, measure=lambda kept: measure(passages(kept)))
    return passages(short) if short else ()


def _between_words(text: str, at: int, *, backwards: bool, bound: int | None = None) -> int:
    """A place near `at` between two words, else one that parts no sign from its accents; never beyond `bound`."""
    step = -1 if backwards else 1
    edge = bound if bound is not None else (0 if backwards else len(text))
    for distance in range(_SNAP):
        place = at + step * distance
        if (place <= edge) if backwards else (place >= edge):
            break
        if text[place if backwards else place - 1].isspace():
            return place
    while at != edge and 0 < at < len(text) and (_joined(text[at]) or text[at - 1] in _JOINERS):
        at += step
    return at


def _joined(sign: str) -> bool:
    return sign in _JOINERS or unicodedata.combining(sign) > 0
