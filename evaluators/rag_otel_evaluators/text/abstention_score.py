"""How much a sentence sounds like an abstention: a linear score over its words, parts of words and concepts.

Learned from labelled sentences (`abstention_training`); it stands beside the rules of `languages.abstentions`, which
know words and orders that it has seldom seen, and takes back what they find by mistake. No text is looked up: a
feature is a hash, and its weight one byte of a table (Weinberger et al., Feature Hashing for Large Scale Multitask
Learning, 2009). Most sentences are let go after their single words, which are remembered.
"""

from __future__ import annotations

import json
import lzma
import math
import re
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from rag_otel_evaluators.text.languages.abstentions import concepts_of, may_abstain
from rag_otel_evaluators.text.languages.scripts import SPACELESS
from rag_otel_evaluators.text.word_memo import WordMemo

SIZE: Final = 1 << 19
"""Entries of the table: many more than features that are kept, so that others seldom meet one."""
WEIGHTS: Final = "abstention_weights.bin"
_TOKEN: Final = re.compile(r"[^\W_]+|[?!…:,;，、；：。]")
_LONGEST: Final = 60
"""Tokens that are read of a sentence; what it is about has been said by then."""
_STEM: Final = 5
_SALTS: Final = (2654435761, 2246822519, 3266489917, 668265263, 374761393, 1181783497, 2860486313, 3367900313)
_LEAST_TOKENS: Final = 7
"""With the start, the end and a full stop; shorter sentences ("She left.") say too little for a score."""
_GATE: Final = -0.28
"""Mean of the words' own weights, below which a sentence is let go: 3 of 100 abstentions, 9 of 10 others."""


def _hash(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def _of_word(word: str) -> tuple[int, ...]:
    """The word's own number, its stem's, and those of its parts."""
    parts = [word]
    if len(word) > 3 and word < "\u3040":
        edged = f"<{word}>"
        parts += [edged[at : at + size] for size in (4, 5) for at in range(len(edged) - size + 1)]
    if word < "\u3040" and len(word) > _STEM:
        parts.append(f"p{word[:_STEM]}")
    return (_hash(word), _hash(word[:_STEM]), *(_hash(f"u{part}") % SIZE for part in parts))


_known: Final = WordMemo(_of_word)


def tokens(sentence: str) -> list[str]:
    """Words and marks; a character each in scripts without spaces; any number is "0"."""
    words: list[str] = ["<"]
    for word in _TOKEN.findall(sentence.lower().replace("’", "'")):
        if word[0] > "\u3040":
            words.extend(word)
        else:
            words.append("0" if word[0].isdigit() else word)
        if len(words) > _LONGEST:
            break
    return [*words[: _LONGEST + 1], ">"]


def single_features(words: list[str]) -> list[int]:
    """The features of the words by themselves."""
    return [feature for word in words for feature in _known[word][2:]]


def joint_features(sentence: str, words: list[str]) -> Iterator[int]:
    """The features of words together, and of the concepts that the words stand for."""
    if SPACELESS.search(sentence) is not None:
        yield from _runs([_known[word][0] for word in words])
    else:
        yield from _pairs([_known[word][0] for word in words], [_known[word][1] for word in words])
    yield from _of_concepts(sentence)


def _pairs(whole: list[int], stems: list[int]) -> Iterator[int]:
    last = len(whole)
    for at, word in enumerate(whole):
        for gap in range(1, min(5, last - at)):
            yield (word * _SALTS[0] + whole[at + gap] * _SALTS[1] + (gap == 1)) % 4294967291 % SIZE
        for gap in range(1, min(4, last - at)):
            yield (stems[at] * _SALTS[2] + stems[at + gap] * _SALTS[3]) % 4294967291 % SIZE
        if at + 2 < last:
            yield (word * _SALTS[4] + whole[at + 1] * _SALTS[5] + whole[at + 2] * _SALTS[6]) % 4294967291 % SIZE


def _runs(characters: list[int]) -> Iterator[int]:
    last = len(characters)
    for at, character in enumerate(characters):
        run = character
        for gap in range(1, min(4, last - at)):
            run = (run * _SALTS[0] + characters[at + gap]) % 4294967291
            yield run % SIZE
        for gap in range(2, min(5, last - at)):
            yield (character * _SALTS[1] + characters[at + gap] * _SALTS[2]) % 4294967291 % SIZE


def _of_concepts(sentence: str) -> Iterator[int]:
    letters = [token[0] for token in concepts_of(sentence)]
    row = "".join(letter for at, letter in enumerate(letters) if letter != "x" or letters[at - 1 : at] != ["x"])
    row = f"<{row}>"
    for at in range(len(row)):
        for size in (1, 2, 3, 4):
            if at + size <= len(row):
                yield _hash(f"L{row[at : at + size]}") % SIZE
        for gap in (2, 3):
            if at + gap < len(row):
                yield _hash(f"L{gap}{row[at]}{row[at + gap]}") % SIZE


class AbstentionScore:
    """The score of a sentence from a table of weights: one signed byte a feature, as `bytes`."""

    def __init__(self, table: bytes, *, scale: float) -> None:
        if len(table) != SIZE:
            raise ValueError(f"a table of weights has {SIZE} entries, this one {len(table)}")
        self._table = memoryview(table).cast("b")
        self._scale = scale
        self._singles = WordMemo(self._of_word)

    def _of_word(self, word: str) -> int:
        return sum(self._table[feature] for feature in _known[word][2:])

    def may_be_one(self, sentence: str) -> bool:
        """A quick look: False for nearly all sentences that do not abstain, by their words alone."""
        if not may_abstain(sentence):
            return False
        words = tokens(sentence)
        if len(words) < _LEAST_TOKENS:
            return False
        singles = self._singles
        total: int = sum([singles[word] for word in words])
        return total * self._scale >= _GATE * len(words)

    def __call__(self, sentence: str) -> float:
        """Above 0 it is rather an abstention; about -2 to 2."""
        words = tokens(sentence)
        features = single_features(words)
        features.extend(joint_features(sentence, words))
        table = self._table
        total: int = sum([table[feature] for feature in features])
        return total * self._scale / math.sqrt(len(features))


@cache
def shipped() -> AbstentionScore:
    """The score with the package's weights, which are read once."""
    head, _, packed = Path(__file__).with_name(WEIGHTS).read_bytes().partition(b"\n")
    numbers = json.loads(head)
    return AbstentionScore(lzma.decompress(packed), scale=numbers["scale"])
