"""Long premises in windows: as many whole sentences as the network is meant to read at once, overlapping by one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rag_otel_evaluators.text.sentences import sentence_spans
from rag_otel_evaluators.text.terms import terms_of

_LARGEST_OVERLAP: Final = 0.25
"""Share of the budget that the repeated sentence may take; a longer one is not repeated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkWindow:
    """A stretch of one chunk: `chunks[chunk].text[start:end]`."""

    chunk: int
    start: int
    end: int


def window_spans(text: str, token_offsets: Sequence[tuple[int, int]], budget: int) -> list[tuple[int, int]]:
    """Cover `text` with spans of at most `budget` tokens, in order; none for a text of white space.

    `token_offsets` are (start, end) of the text's tokens in order. Spans are made of whole sentences; one that is
    longer than the budget is cut between tokens. Neighbours share their border sentence, so that what it refers back
    to is read with it once at least.
    """
    windows: list[tuple[int, int]] = []
    held: list[tuple[int, int, int]] = []
    for piece in _pieces(text, [start for start, _ in token_offsets], budget):
        if held and sum(tokens for _, _, tokens in held) + piece[2] > budget:
            windows.append((held[0][0], held[-1][1]))
            last = held[-1]
            repeats = last[2] <= budget * _LARGEST_OVERLAP and last[2] + piece[2] <= budget
            held = [last] if repeats else []
        held.append(piece)
    if held:
        windows.append((held[0][0], held[-1][1]))
    return windows


def _pieces(text: str, token_starts: Sequence[int], budget: int) -> Iterator[tuple[int, int, int]]:
    """(start, end, tokens) of each sentence, a long one in several."""
    for start, end in sentence_spans(text):
        first = bisect_left(token_starts, start)
        last = max(first + 1, bisect_left(token_starts, end))  # all of it may lie in a token that begins before it
        for cut in range(first, last, budget):
            stop = min(cut + budget, last)
            yield (
                start if cut == first else token_starts[cut],
                end if stop == last else token_starts[stop],
                stop - cut,
            )


def nearest_sentence(text: str, span: tuple[int, int], claim: str) -> tuple[int, int] | None:
    """The sentence of `text[span]` that shares most of its terms with the claim; None where none shares any."""
    wanted = set(terms_of(claim))
    best, most = None, 0.0
    for start, end in sentence_spans(text, *span):
        terms = set(terms_of(text[start:end]))
        likeness = len(terms & wanted) / (len(terms | wanted) or 1)
        if likeness > most:
            best, most = (start, end), likeness
    return best
