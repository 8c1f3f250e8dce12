"""Embeddings: the protocol, cosine similarity, an embedder that needs no key and no download, and one over a model."""

from __future__ import annotations

import math
import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias, runtime_checkable

from pydantic import BaseModel

from rag_otel.model import Usage
from rag_otel_evaluators.llm.structured import Message, StructuredModel

Vector: TypeAlias = Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Embeddings:
    """One vector per text, in the texts' order, and what they cost."""

    vectors: Sequence[Vector]
    usage: Usage = field(default_factory=Usage)


@runtime_checkable
class Embedder(Protocol):
    """Gives texts of like meaning vectors of like direction."""

    @property
    def name(self) -> str:
        """Which model embeds, for the record: scores of two embedders cannot be compared."""
        ...

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """Embed all texts in one call. Raises RetryableError or PermanentError as `StructuredModel` does."""
        ...


def cosine_similarity(first: Vector, second: Vector) -> float | None:
    """In -1..1; None where it is not defined: a zero vector, unequal lengths, a number that is not finite."""
    if len(first) != len(second):
        return None
    length = math.hypot(*first) * math.hypot(*second)
    if not math.isfinite(length) or length == 0.0:
        return None
    return max(-1.0, min(1.0, math.fsum(a * b for a, b in zip(first, second, strict=True)) / length))


@dataclass(frozen=True, slots=True, kw_only=True)
class HashedNgramEmbedder:
    """Words and pieces of words, hashed into a fixed number of signed counts: shared wording, not meaning.

    "When was it built?" and "When was it constructed?" come near each other, "What is its age?" does not: unrelated
    words in another phrasing read as another question, and nothing connects two languages. Good enough to rank answers
    of one application against each other; not comparable with an embedding model, whose scores are higher.
    Deterministic in every process. Method: feature hashing (Weinberger et al., 2009) over words and their character
    trigrams and four-grams; characters and pairs of them in scripts without spaces.
    """

    dimensions: int = 1024

    @property
    def name(self) -> str:
        return f"hashed-ngrams-{self.dimensions}"

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        return Embeddings(vectors=[self._embed(text) for text in texts])

    def _embed(self, text: str) -> list[float]:
        vector = [0.0] * self.dimensions
        for feature, count in Counter(_features(text)).items():
            code = zlib.crc32(feature.encode())
            sign = 1.0 if code & 0x8000_0000 else -1.0
            vector[code % self.dimensions] += sign * (1.0 + math.log(count))
        return vector


_WORD: Final = re.compile(r"[^\W_]+")
_WITHOUT_SPACES: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
"""Kana, Han, Thai, Lao, Burmese, Khmer: scripts that do not put spaces between words."""


def _features(text: str) -> Iterator[str]:
    for match in _WORD.finditer(unicodedata.normalize("NFKC", text).casefold()):
        word = match[0]
        if _WITHOUT_SPACES.search(word):
            yield from word
            yield from (word[i : i + 2] for i in range(len(word) - 1))
        else:
            yield f" {word} "
            padded = f" {word} "
            yield from (padded[i : i + n] for n in (3, 4) for i in range(len(padded) - n + 1))


class Vectors(BaseModel):
    """One vector per text, in the texts' order."""

    vectors: list[list[float]]


class ModelEmbedder:
    """An `Embedder` over a model whose transport takes texts for messages and answers with `Vectors`."""

    def __init__(self, model: StructuredModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """See `Embedder.embed`. No vectors at all where the answer is not one vector per text."""
        answer = await self._model.complete([Message(role="user", content=text) for text in texts], Vectors)
        vectors = answer.value.vectors if answer.value is not None else []
        return Embeddings(vectors=vectors if len(vectors) == len(texts) else [], usage=answer.usage)
