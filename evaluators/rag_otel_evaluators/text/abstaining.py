"""A sentence that abstains, taken apart: which of its clauses say that something is not known, and which claim.

"The price is not mentioned, but the tour lasts two hours" abstains and claims; only the claim is judged. An abstaining
clause never silences a claim beside it, in the same sentence or in another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from rag_otel_evaluators.text.languages.abstentions import find_abstention, mentions_documents, reports_documents
from rag_otel_evaluators.text.languages.discourse_markers import contrasts, dependent_openers, fillers
from rag_otel_evaluators.text.sentences import trimmed

_LEAST_WORDS: Final = 3
"""A clause beside an abstention is a claim of its own from this many words on."""
_LEAST_CHARACTERS: Final = 4
"""The same in scripts without spaces."""
_WORD: Final = re.compile(r"[^\W_]+")

Clause = tuple[bool, int, int]


def split_abstention(sentence: str) -> list[Clause]:
    """The sentence as (abstains, start, end), in order; empty where it does not abstain at all."""
    found = find_abstention(sentence)
    if found is None:
        return []
    clauses = [clause for start, end in _parts(sentence) for clause in _of_part(sentence, start, end, found.end())]
    merged: list[Clause] = []
    for abstains, start, end in clauses:
        if merged and merged[-1][0] == abstains:
            merged[-1] = (abstains, merged[-1][1], end)
        else:
            merged.append((abstains, start, end))
    return merged


def _of_part(sentence: str, start: int, end: int, abstained_at: int) -> Iterator[Clause]:
    """One part between semicolons or turns, by its commas. A part that does not abstain claims, unless it is manners.

    `abstained_at`: where the sentence's abstention ends. "The notes list three names, but do not say which": the part
    there abstains, though it does not by itself.
    """
    part = sentence[start:end]
    found = find_abstention(part)
    if found is None:
        yield start < abstained_at <= end or not _claims(part), start, end
        return
    at = 0
    for comma in [*(mark.end() for mark in _commas().finditer(part)), len(part)]:
        if (span := trimmed(part, at, comma)) is not None:
            piece = part[span[0] : span[1]]
            overlaps = span[0] < found.end() and found.start() < span[1]
            yield overlaps or find_abstention(piece) is not None or not _claims(piece), start + span[0], start + span[1]
        at = comma


def _claims(piece: str) -> bool:
    """Whether a clause without an abstention says something of the world that can be judged."""
    words = _WORD.findall(piece)
    spaceless = any(word[0] > "\u3040" for word in words)
    if sum(map(len, words)) < _LEAST_CHARACTERS if spaceless else len(words) < _LEAST_WORDS:
        return False
    if fillers().match(piece) is not None or dependent_openers().match(piece) is not None:
        return False
    return not mentions_documents(piece) or reports_documents(piece)


def _parts(sentence: str) -> Iterator[tuple[int, int]]:
    at = 0
    for turn in contrasts().finditer(sentence):
        if (span := trimmed(sentence, at, turn.end())) is not None:
            yield span
        at = turn.end()
    if (span := trimmed(sentence, at, len(sentence))) is not None:
        yield span


@cache
def _commas() -> re.Pattern[str]:
    return re.compile(r",(?!\d)|，")
