"""The unsupported sentences of an answer: where they are, the answer without them, the answer with notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from rag_otel.model import ClaimVerdict

Range: TypeAlias = tuple[int, int]
Sentences: TypeAlias = Callable[[str], Iterable[Range]]


def unsupported_sentences(text: str, claims: Sequence[ClaimVerdict], sentences: Sentences) -> list[Range]:
    """(start, end) of each sentence that holds a part of one of the claims, in order."""
    places = [(each.claim.start, each.claim.end) for each in claims]
    return [
        (start, end) for start, end in sentences(text) if any(begin < end and start < stop for begin, stop in places)
    ]


def without(text: str, ranges: Sequence[Range]) -> str:
    """The text without these sentences and the white space behind them; a line that was nothing else goes too."""
    kept, position = [], 0
    for start, end in ranges:
        kept.append(text[position:start])
        while end < len(text) and text[end] in " \t":
            end += 1
        alone = start == 0 or text[start - 1] == "\n"
        position = end + 1 if alone and text[end : end + 1] == "\n" else end
    kept.append(text[position:])
    left = "".join(kept)
    return left.rstrip() if ranges and position == len(text) else left


def annotated(text: str, ranges: Sequence[Range], note: str) -> str:
    """The text with the note behind each of these sentences; behind the text if there are none."""
    if not ranges:
        return text + note
    kept, position = [], 0
    for _, end in ranges:
        kept += [text[position:end], note]
        position = end
    return "".join(kept) + text[position:]
