"""A sentence that abstains, taken apart: which of its parts say that something is not known, and which claim.

"The price is not mentioned, but the tour lasts two hours" abstains and claims; only the claim is judged. An abstaining
part never silences a claim beside it, in the same sentence or in another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rag_otel_evaluators.text.abstention_score import abstains, may_abstain
from rag_otel_evaluators.text.languages.discourse_markers import advice, consequences, contrasts, fillers
from rag_otel_evaluators.text.sentences import trimmed

_LEAST_WORDS: Final = 4
"""A part beside an abstention is a claim of its own from this many words on."""
_LEAST_CHARACTERS: Final = 5
"""The same in scripts without spaces."""
_LONGEST_WISH: Final = 6
"""Words of a good wish: "Have a nice day!"."""
_WORD: Final = re.compile(r"[^\W_]+")

_CONCESSION: Final = re.compile(
    r"\W{0,3}(?:while|although|though|aunque|si bien|obwohl|während|bien que)\b", re.IGNORECASE
)

Clause = tuple[bool, int, int]


def split_abstention(sentence: str) -> list[Clause]:
    """The sentence as (abstains, start, end), in order; empty where it does not abstain at all."""
    if not may_abstain(sentence) or consequences().search(sentence) is not None:
        return []
    parts = [(start, end, abstains(sentence[start:end])) for start, end in _parts(sentence)]
    if not any(said for _, _, said in parts) and not (len(parts) > 1 and abstains(sentence)):
        return []
    merged: list[Clause] = []
    for start, end, said in parts:
        piece = sentence[start:end]
        silent = said or not _claims(piece) or (may_abstain(piece) and not any(each for _, _, each in parts))
        if merged and merged[-1][0] == silent:
            merged[-1] = (silent, merged[-1][1], end)
        else:
            merged.append((silent, start, end))
    return merged if any(silent for silent, _, _ in merged) else []


def is_advice(sentence: str) -> bool:
    """Whether a sentence that follows an abstention only offers help, apologises, or says where to ask."""
    if sentence.endswith(("!", "！")) and len(_WORD.findall(sentence)) <= _LONGEST_WISH:
        return True
    return advice().match(sentence) is not None or fillers().match(sentence) is not None


def _claims(piece: str) -> bool:
    """Whether a part without an abstention says something of the world that can be judged."""
    found = _WORD.findall(piece)
    spaceless = any(word[0] > "\u3040" for word in found)
    if sum(map(len, found)) < _LEAST_CHARACTERS if spaceless else len(found) < _LEAST_WORDS:
        return False
    if piece.rstrip("\"'”’»)*_ ").endswith(("?", "？")):
        return False
    return fillers().match(piece) is None and advice().match(piece) is None


def _parts(sentence: str) -> Iterator[tuple[int, int]]:
    at = 0
    cuts = [turn.end() for turn in contrasts().finditer(sentence)]
    if _CONCESSION.match(sentence) is not None and (comma := sentence.find(",")) > 0:
        cuts = sorted([*cuts, comma + 1])
    for cut in cuts:
        if (span := trimmed(sentence, at, cut)) is not None:
            yield span
        at = cut
    if (span := trimmed(sentence, at, len(sentence))) is not None:
        yield span
