"""Shortens texts to a length: between words, never inside a character, keeping marked parts.

A text is shortened before a channel escapes it, so no escape sequence is cut in two. The channel's `measure` returns
the length of a text after escaping.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from rag_otel.rendering.claim_marking import Fragment

_Placed: TypeAlias = tuple[int, Fragment]
"""A fragment and the offset at which it begins in the whole text."""

GAP: Final = "…"
"""Replaces text that was cut."""
_SNAP: Final = 16
"""How many characters a cut may move, to fall between words."""
_JOINERS: Final = frozenset("\u200d\ufe0e\ufe0f")
"""Zero-width joiner and variation selectors. They form one visible character with their neighbours."""
_CONTROLS: Final = (*range(9), *range(11, 32), *range(127, 160))
_DIRECTIONS: Final = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_UNPRINTABLE: Final = dict.fromkeys((*_CONTROLS, *_DIRECTIONS))
"""Control characters, which some receivers reject, and characters that change the direction of writing."""


def clean(text: str) -> str:
    """Returns `text` in a form that every receiver accepts: valid UTF-8, no control characters except line breaks and
    tabs."""
    printable = text.replace("\r\n", "\n").replace("\r", "\n").translate(_UNPRINTABLE)
    return printable if printable.isascii() else printable.encode("utf-8", "replace").decode("utf-8")


def one_line(text: str, limit: int = 160) -> str:
    """`text` without line breaks, at most `limit` characters long."""
    return shorten(" ".join(clean(text).split()), limit)


def shorten(text: str, limit: int, *, measure: Callable[[str], int] = len) -> str:
    """Returns the beginning of `text`, at most `limit` long. If text was cut, it ends with `GAP`.

    `measure` returns at least 1 for each character.
    """
    if len(text) <= limit and measure(text) <= limit:
        return text
    fits, too_long = 0, min(len(text), max(0, limit) + 1)
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        fits, too_long = (middle, too_long) if measure(text[:middle] + GAP) <= limit else (fits, middle)
    kept = text[: _between_words(text, fits, backwards=True)].rstrip() if fits else ""
    return kept + GAP if measure(GAP) <= limit else ""


def cut_around(
    fragments: Sequence[Fragment], limit: int, *, measure: Callable[[Sequence[Fragment]], int]
) -> tuple[Fragment, ...]:
    """Returns at most `limit` of a text, as `measure` counts: the marked fragments and as much text around them as
    fits.

    If the marked fragments do not all fit, the first ones are kept. Empty if not even one character fits.
    `measure` returns at least 1 for each character.
    """
    if measure(fragments) <= limit:
        return tuple(fragments)
    text = "".join(fragment.text for fragment in fragments)
    marked = _marked(fragments)
    for count in range(len(marked), 0, -1):
        if (found := _widest(text, marked[:count], limit, measure)) is not None:
            return found
    start, first = marked[0] if marked else (0, Fragment(text=text))
    return _beginning(first, start > 0, limit, measure)


def _marked(fragments: Sequence[Fragment]) -> list[_Placed]:
    starts = itertools.accumulate((len(fragment.text) for fragment in fragments), initial=0)
    return [(start, fragment) for start, fragment in zip(starts, fragments, strict=False) if fragment.marked]


def _widest(
    text: str, marked: Sequence[_Placed], limit: int, measure: Callable[[Sequence[Fragment]], int]
) -> tuple[Fragment, ...] | None:
    """The marked fragments with as much text around each of them as fits. None if they are too long by themselves."""
    found = _around(text, marked, 0)
    if measure(found) > limit:
        return None
    fits, too_wide = 0, min(len(text), limit + 1)
    while too_wide - fits > 1:
        middle = (fits + too_wide) // 2
        candidate = _around(text, marked, middle)
        if measure(candidate) <= limit:
            found, fits = candidate, middle
        else:
            too_wide = middle
    return found


def _around(text: str, marked: Sequence[_Placed], radius: int) -> tuple[Fragment, ...]:
    """The marked fragments with `radius` characters on either side of each. `GAP` replaces the text left out."""
    fragments: list[Fragment] = []
    end = 0
    for number, (start, fragment) in enumerate(marked):
        stop = start + len(fragment.text)
        following = marked[number + 1][0] if number + 1 < len(marked) else len(text)
        before = max(end, start - radius)
        if before > end:
            before = _between_words(text, before, backwards=False, bound=start)
            fragments.append(Fragment(text=GAP))
        fragments += [Fragment(text=text[before:start]), fragment]
        end = min(stop + radius, following)
        if end < following:
            end = _between_words(text, end, backwards=True, bound=stop)
        fragments.append(Fragment(text=text[stop:end]))
    if end < len(text):
        fragments.append(Fragment(text=GAP))
    return tuple(fragment for fragment in fragments if fragment.text)


def _beginning(
    whole: Fragment, gap_before: bool, limit: int, measure: Callable[[Sequence[Fragment]], int]
) -> tuple[Fragment, ...]:
    """The beginning of one fragment that is too long by itself."""

    def fragments(kept: str) -> tuple[Fragment, ...]:
        before = [Fragment(text=GAP)] if gap_before else []
        return (*before, replace(whole, text=kept))

    short = shorten(whole.text, limit, measure=lambda kept: measure(fragments(kept)))
    return fragments(short) if short else ()


def _between_words(text: str, at: int, *, backwards: bool, bound: int | None = None) -> int:
    """The nearest position to `at` between two words, else between two visible characters.

    Searches in one direction, at most to `bound`.
    """
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


def _joined(character: str) -> bool:
    return character in _JOINERS or unicodedata.combining(character) > 0
