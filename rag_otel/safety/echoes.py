"""Keeps what was sent out of what a server says about it: refusals quote requests, and log lines quote refusals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

ECHO: Final = "<sent text>"
_LONGEST: Final = 2_000
"""Characters of a message that are looked at and kept."""
_RUN: Final = 12
"""Letters and digits in a row that also stand in what was sent are an echo; a shorter run may be chance."""
_ESCAPED: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([\s\S]))")
_QUOTED: Final = re.compile(r"(?P<sign>[\"'`])(?P<text>[^\"'`]{3,200})(?P=sign)")


def without_echoes(said: str, sent: Iterable[str]) -> str:
    """A server's message with a placeholder for each part of it that was sent, in whatever spacing, case or escaping.

    `sent`: the texts of the request. A part counts from 12 letters and digits on, and between quotation marks from 3
    characters on. At most 2,000 characters of the message are kept.
    """
    plain = _ESCAPED.sub(_unescaped, said[:_LONGEST])
    known = [text for text in (_letters(each) for each in sent) if text]
    parts = sorted(_echoes(plain, known))
    kept, at = [], 0
    for start, end in parts:
        if start >= at:
            kept += [plain[at:start], ECHO]
        at = max(at, end)
    return "".join([*kept, plain[at:]])


def _echoes(said: str, known: list[str]) -> Iterator[tuple[int, int]]:
    """(start, end) of each echo; they may overlap."""
    places = [place for place, character in enumerate(said) if character.isalnum()]
    letters = _letters("".join(said[place] for place in places))
    at = 0
    while at + _RUN <= len(letters):
        length = max((_length(letters, at, text) for text in known), default=0)
        if length:
            yield places[at], places[at + length - 1] + 1
        at += length or 1
    for found in _QUOTED.finditer(said):
        if (quoted := _letters(found["text"])) and any(quoted in text for text in known):
            yield found.span("text")


def _length(letters: str, at: int, known: str) -> int:
    """How many characters from here on are a run of the known text; 0 for less than a run."""
    if letters[at : at + _RUN] not in known:
        return 0
    short, long = _RUN, len(letters) - at
    while short < long:
        middle = (short + long + 1) // 2
        short, long = (middle, long) if letters[at : at + middle] in known else (short, middle - 1)
    return short


def _letters(text: str) -> str:
    """Letters and digits in lower case, one for each: of all letters only this one would become two."""
    return "".join(filter(str.isalnum, text)).replace("\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}", "i").lower()


def _unescaped(found: re.Match[str]) -> str:
    """What a JSON escape stands for, in one character."""
    if found[1]:
        return chr(int(found[1], 16))
    return " " if found[2] in "nrt" else found[2]
