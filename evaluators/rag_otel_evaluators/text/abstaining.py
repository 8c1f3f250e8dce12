"""Sentences that say that something is not known, or not in the sources: which they are, which of their parts claim.

"The price is not mentioned, but the tour lasts two hours" abstains and claims; only the claim is judged. An abstaining
part never silences a claim beside it, in the same sentence or in another one.

Whether a sentence abstains is one small learned score, in any language. It adds up the weights of the sentence's words
and of pairs of them, learned from sentences in five languages that people wrote and labelled
(`benchmarks/training/train_abstentions.py`; there is no list of phrases to keep). Effect, measured on writers left out:
nine of ten sentences that it finds do abstain, and it finds nine of ten.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from rag_otel_evaluators.text.languages import words
from rag_otel_evaluators.text.languages.discourse_markers import advice, consequences, contrasts, fillers
from rag_otel_evaluators.text.sentences import trimmed
from rag_otel_evaluators.text.terms import WordMemo

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


# --- the score of a sentence, or of a part of one ---------------------------------------------------------------------

SIZE: Final = 1 << 15
"""Features that are told apart."""
WEIGHTS: Final = Path(__file__).with_name("abstention_weights.bin")
"""A signed byte a feature."""
ABSTAINS_FROM: Final = 5.0
"""The mean weight (by the root of their number) from which a sentence abstains: rather a missed abstention than a claim
that nobody judges."""
LETTERS: Final = 6
_MOST_TOKENS: Final = 60
_GAPS: Final = (1, 2, 3)
_PRIMES: Final = (31_337, 65_537, 104_729)

_TOKEN: Final = re.compile(r"[^\W_\u3040-\u9fff]+|[\u3040-\u9fff]")
_CJK_CUES: Final = "不没沒未无無难难缺ん"
_CUES: Final = words(
    # One of these stands in nearly every abstention: without one the score is not asked.
    "not t no cannot unable impossible insufficient without none nothing unclear unknown silent neither nor nowhere "
    "omits "
    "omit missing beyond outside fails fail lacks lack never unstated idea absent unspecified a "
    "ni ningún ninguno ninguna nada imposible desconozco desconoce tampoco falta sin insuficiente omite nadie "
    "nicht kein keine keinen keinem keiner keinerlei nichts unklar unbekannt offen fehlt fehlen weder unmöglich "
    "nirgends "
    "schweigt schweigen ohne "
    "ne n pas aucun aucune rien ignore insuffisant manque inconnu muet muette jamais não non لا ليس غير लेकिन नह"
) - {"a"}


def tokens_of(sentence: str) -> list[str]:
    """Words cut at six letters, single characters of scripts without spaces; its ends are tokens, too."""
    found = _TOKEN.findall(sentence.lower())[:_MOST_TOKENS]
    return ["<", *("0" if token[0].isdigit() else token[:LETTERS] for token in found), ">"]


def features_of(tokens: list[str]) -> Iterator[int]:
    """Numbers below `SIZE`: one for each token, and for each two that stand up to three apart."""
    hashes = [_hashes[token] for token in tokens]
    yield from (number % SIZE for number in hashes)
    for gap, prime in zip(_GAPS, _PRIMES, strict=True):
        for one, other in zip(hashes, hashes[gap:], strict=False):
            yield (one * prime + other * 7 + gap) % 4_294_967_291 % SIZE


_hashes: Final = WordMemo(lambda token: zlib.crc32(token.encode()))


def may_abstain(sentence: str) -> bool:
    """A quick look: False where no word stands in it that an abstention has."""
    if not sentence.isascii() and any(mark in sentence for mark in _CJK_CUES):
        return True
    return any(map(_has_cue.__getitem__, sentence.lower().split()))


_has_cue: Final = WordMemo(lambda piece: not _CUES.isdisjoint(_TOKEN.findall(piece)))


def abstains(sentence: str) -> bool:
    """Whether a sentence, or a part of one, abstains."""
    if not may_abstain(sentence):
        return False
    table = _table()
    features = list(features_of(tokens_of(sentence)))
    return sum([table[feature] for feature in features]) >= ABSTAINS_FROM * math.sqrt(len(features))


@cache
def _table() -> memoryview:
    return memoryview(WEIGHTS.read_bytes()).cast("b")
