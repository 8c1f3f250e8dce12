"""Shortens texts to a length: between words, never inside a character, keeping marked parts.

A text is shortened before a channel escapes it, so no escape sequence is cut in two. The channel's `measure` returns
the length of a text after escaping.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from rag_otel.rendering.claim_marking import Fragment

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
    marked = [number for number, fragment in enumerate(fragments) if fragment.marked]
    for last in reversed(marked):
        rest = Fragment(text="".join(fragment.text for fragment in fragments[last + 1 :]))
        around = partial(_around, (*fragments[: last + 1], rest))
        too_wide = bisect_right(range(limit + 1), limit, key=lambda radius: measure(around(radius)))
        if too_wide:
            return around(too_wide - 1)
    return _beginning(fragments, marked[0] if marked else None, limit, measure)


def _around(fragments: Sequence[Fragment], radius: int) -> tuple[Fragment, ...]:
    """The marked fragments with `radius` characters on either side of each. `GAP` replaces the text left out."""
    shown: list[Fragment] = []
    for number, fragment in enumerate(fragments):
        text, size = fragment.text, len(fragment.text)
        head = _between_words(text, min(radius, size), backwards=True) if number else 0
        tail = _between_words(text, max(0, size - radius), backwards=False) if number < len(fragments) - 1 else size
        if fragment.marked or head >= tail:
            shown.append(fragment)
        else:
            shown += [Fragment(text=text[:head]), Fragment(text=GAP), Fragment(text=text[tail:])]
    return tuple(each for each in shown if each.text)


def _beginning(
    fragments: Sequence[Fragment], first: int | None, limit: int, measure: Callable[[Sequence[Fragment]], int]
) -> tuple[Fragment, ...]:
    """The beginning of the first marked fragment, which is too long by itself; of all where none is marked."""
    whole = Fragment(text="".join(each.text for each in fragments)) if first is None else fragments[first]
    gap = (Fragment(text=GAP),) if first else ()
    short = shorten(whole.text, limit, measure=lambda kept: measure((*gap, replace(whole, text=kept))))
    return (*gap, replace(whole, text=short)) if short else ()


def _between_words(text: str, at: int, *, backwards: bool) -> int:
    """The nearest position to `at` between two words, else between two visible characters.

    Searches in one direction.
    """
    if at in (0, len(text)):
        return at
    step = -1 if backwards else 1
    edge = 0 if backwards else len(text)
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
