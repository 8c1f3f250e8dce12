"""Finds the lines of private keys in text: PEM, OpenSSH, PGP and PuTTY, whole or cut at either end by a chunk's border.

The first lines of each are those of detect-secrets 1.5.0 (Yelp, Apache License 2.0), plugin `private_key`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_MARK: Final = re.compile(
    r"-{4,5} ?(?P<side>BEGIN|END) (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
    r"|Private-Lines: \d{1,4}"
)
_PIECE: Final = re.compile(r"(?:(?!\\[nr])[^\s>|\"',])+")
_HEADER: Final = re.compile(r"(?:\\[nr]|\s){0,8}(?:[A-Z][\w-]{1,30}: [^\n\\]{1,300})(?=\n|\\n)")
_ENCODED: Final = re.compile(r"[A-Za-z0-9+/=]+")
_SHORTEST: Final = 8
_FULL_LINE: Final = 32
"""Characters that a line within a key has at least: 64 or 70 in all formats. The last one may be shorter."""
_LONGEST_KEY: Final = 20_000
_HEADERS: Final = 6


def private_key_lines(text: str) -> Iterator[str]:
    """The encoded lines of each private key, one by one: a prompt may show them one by one."""
    if "PRIVATE KEY" not in text and "Private-" not in text:
        return
    end = 0
    for mark in _MARK.finditer(text):
        if mark["side"] == "END":
            yield from _before(text[max(end, mark.start() - _LONGEST_KEY) : mark.start()])
            end = mark.end()
        else:
            end = max(end, mark.end())
            yield from _after(text, mark.end())


def _after(text: str, at: int) -> Iterator[str]:
    """The lines behind the first one: its headers are passed over, and prose ends it."""
    for _ in range(_HEADERS):
        header = _HEADER.match(text, at)
        if header is None:
            break
        at = header.end()
    for found in _PIECE.finditer(text, at, at + _LONGEST_KEY):
        if not _is_line(found[0]):
            return
        if len(found[0]) >= _SHORTEST:
            yield found[0]
        if len(found[0]) < _FULL_LINE:
            return


def _before(text: str) -> Iterator[str]:
    """The lines in front of the last one, which may be all that is there: from the end until prose begins."""
    for number, piece in enumerate(reversed(_PIECE.findall(text))):
        if not _is_line(piece) or (number > 1 and len(piece) < _FULL_LINE):
            return
        if len(piece) >= _SHORTEST:
            yield piece


def _is_line(piece: str) -> bool:
    """True for what is encoded: a word of prose has neither digits, signs nor capitals inside."""
    return _ENCODED.fullmatch(piece) is not None and not (piece.isalpha() and piece[1:].islower())
