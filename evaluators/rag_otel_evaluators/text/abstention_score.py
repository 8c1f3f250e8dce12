"""Whether a sentence says that something is not known, or not in the sources: one small learned score, in any language.

It adds up the weights of the sentence's words and of pairs of them, learned from sentences in five languages that
people wrote and labelled (`benchmarks/training/train_abstentions.py`; there is no list of phrases to keep). Effect,
measured on writers left out: nine of ten sentences that it finds do abstain, and it finds nine of ten.
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
from rag_otel_evaluators.text.word_memo import WordMemo

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
