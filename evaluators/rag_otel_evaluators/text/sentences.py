"""Where sentences end: deterministic, without a model, in any script.

The same rule cuts answers into claims and chunks into evidence, so that the two line up. It returns offsets only:
whoever needs text slices it, and what is quoted is verbatim by construction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rag_otel_evaluators.text.languages.abbreviations import ABBREVIATIONS, NUMBER_ABBREVIATIONS, OPENERS
from rag_otel_evaluators.text.languages.units import MONTHS

CITATIONS: Final = r"(?:\[\^?\d{1,3}(?:\s{0,2}[,;–-]\s{0,2}\^?\d{1,3}){0,20}\]|【[^】]{1,20}】)"
"""Markers like [1], [2, 3], [^4]: they belong to the sentence before them. Every repetition has a bound."""

_STOPS: Final = ".!?…"
"""Marks of the scripts that put white space after a sentence."""
_WIDE_STOPS: Final = "。！？｡।॥؟۔"
"""Marks of the scripts that need not."""
_CLOSERS: Final = "\"'”’»)\\]*_」』）"


def _candidates(stops: str) -> re.Pattern[str]:
    """Where a sentence may end: one of the stops or a line break with what closes it, then the white space."""
    return re.compile(
        rf"[{stops}\n]"  # one class first: the search skips to it at full speed
        rf"(?:(?<=\n)|[{stops}]*+[{_CLOSERS}]*+(?:\s?{CITATIONS})*+)(\s*+)"
    )


_CANDIDATE: Final = _candidates(_STOPS + _WIDE_STOPS)
_ASCII_CANDIDATE: Final = _candidates(".!?")
"""The same in plain text, faster."""
_LAST_WORD: Final = re.compile(r"[^\s(\[\"'“‘«*_]+$")
_NEXT_WORD: Final = re.compile(r"[\s\"'“‘«(\[*_¿¡]*+([^\W_]{1,40})")
_LONGEST_LAST_WORD: Final = 24
"""How far before a full stop its word is looked for."""
_LEAD: Final = 24
"""How far before that word the end of a list's stem is looked for."""
_ABBREVIATED: Final = ABBREVIATIONS | NUMBER_ABBREVIATIONS
_WRAPPED_LINE: Final = 40
"""A line at least this long may go on in the next one; shorter ones are lines by intention."""
_ENDS_ANYWAY: Final = 2_000
"""Characters after which a sentence ends at the next stop, whatever stands there: no text makes one step long."""


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """The sentences of `text[start:end]` as (start, end), in order, trimmed of white space, none empty.

    Everything between two spans is white space. Line breaks end a sentence, except where a long line plainly goes
    on (the next begins in lower case). Full stops of abbreviations, initials, list numbers, dates and decimals
    end none.
    """
    end = len(text) if end is None else end
    begin = start
    for mark in (_ASCII_CANDIDATE if text.isascii() else _CANDIDATE).finditer(text, start, end):
        at, after = mark.span()
        if after - at == 1 and after != end and text[at] == "." and at - begin <= _ENDS_ANYWAY:
            continue  # "3.5", "e.g": as `_ends_here` says, at once
        if _ends_here(text, begin, mark, end):
            if (span := trimmed(text, begin, mark.start(1))) is not None:
                yield span
            begin = after
    if begin < end and (span := trimmed(text, begin, end)) is not None:
        yield span


def _ends_here(text: str, begin: int, mark: re.Match[str], end: int) -> bool:
    """Whether `mark` ends a sentence that began at `begin`."""
    at, after = mark.span()
    gap = mark[1]
    first = text[at]
    if first == "\n":
        line_start = max(begin, text.rfind("\n", begin, at) + 1)
        return "\n" in gap or not line_goes_on(text, line_start, at, after)
    if after == end or first in _WIDE_STOPS or at - begin > _ENDS_ANYWAY:
        return True
    return gap != "" and ("\n" in gap or _stop_ends(text, begin, at, after))


def trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    """`text[start:end]` without the white space at its ends, as offsets; None where nothing is left."""
    if start < end and not (text[start].isspace() or text[end - 1].isspace()):
        return start, end
    piece = text[start:end].rstrip()
    end = start + len(piece)
    start = end - len(piece.lstrip())
    return (start, end) if start < end else None


def cut_long(text: str, start: int, end: int, longest: int) -> Iterator[tuple[int, int]]:
    """`text[start:end]` in pieces of at most `longest` characters, cut at white space where there is any."""
    while end - start > longest:
        gap = text.rfind(" ", start + longest // 2, start + longest)
        cut = gap if gap > 0 else start + longest
        if (piece := trimmed(text, start, cut)) is not None:
            yield piece
        start = cut
    if (piece := trimmed(text, start, end)) is not None:
        yield piece


def line_goes_on(text: str, line_start: int, line_end: int, next_line: int) -> bool:
    """Whether the line `text[line_start:line_end]` is only wrapped: long, without an end, then a lower-case word."""
    return (
        line_end - line_start >= _WRAPPED_LINE
        and text[next_line : next_line + 1].islower()
        and text[line_end - 1] not in ".!?:;…。！？"
    )


def _stop_ends(text: str, begin: int, at: int, after: int) -> bool:
    """Whether the mark `text[at:after]`, like `.`, `!`, `...` with its white space, ends a sentence from `begin` on."""
    lead = max(begin, at - _LONGEST_LAST_WORD)
    if text[after].isalnum():
        if text[after].islower():
            # "approx. five", "Yahoo! is": answers begin sentences with capitals, so nothing ends here.
            return False
        word = text[max(lead, text.rfind(" ", lead, at) + 1) : at]
        if text[at : at + 2] == ". " and len(word) > 1 and word.isalpha() and word.lower() not in _ABBREVIATED:
            return True  # a plain word before a capital or a figure, as nearly always: the rules below, in short
    following = _NEXT_WORD.match(text, after + (text[after] == "»"))  # French puts a space before what closes a quote
    if following is None:
        return True
    if following[1][0].islower():
        return False
    if text[at] != "." or text[at + 1] in _STOPS:
        return True
    before = _LAST_WORD.search(text, lead, at)
    if before is None:
        return True
    return _full_stop_ends(text[max(begin, before.start() - _LEAD) : before.start()], before[0], following[1])


def _full_stop_ends(lead: str, word: str, next_word: str) -> bool:
    """Whether the full stop between `word` and the capitalised `next_word` ends the sentence.

    `lead`: what stands before `word`, no more than is looked at.
    """
    lower, next_lower = word.lower(), next_word.lower()
    if lower in NUMBER_ABBREVIATIONS and next_word[0].isdigit():
        return False
    if lower in ABBREVIATIONS:
        return False
    if word.isdigit() and len(word) <= 3:
        lead = lead.rstrip(" \t*_(")
        is_list_number = not lead or lead.endswith(":")
        return not (is_list_number or next_lower in MONTHS)  # "1. Preheat", "14. März"
    if (len(word) == 1 and word.isalpha() and word.isupper()) or _is_acronym(word):
        return next_lower in OPENERS  # "J. K. Rowling", "the U.S. Army", but "in the U.S. The law"
    return True


def _is_acronym(word: str) -> bool:
    parts = word.split(".")
    return len(parts) > 1 and all(len(part) == 1 for part in parts)
