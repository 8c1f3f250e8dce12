"""A LangChain retriever over the passages of `corpus.json`: the three that share the rarest words with the question."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

CORPUS = Path(__file__).with_name("corpus.json")


class PassageRetriever(BaseRetriever):
    """BM25 (k1 1.5, b 0.75) over a few passages, in memory."""

    passages: Sequence[Document]
    count: int = 3

    def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        texts = [_words(each.page_content) for each in self.passages]
        mean = sum(map(len, texts)) / len(texts)
        asked = set(_words(query))

        def score(words: list[str]) -> float:
            counts, room = Counter(words), 1.5 * (0.25 + 0.75 * len(words) / mean)
            return sum(_rarity(word, texts) * counts[word] * 2.5 / (counts[word] + room) for word in asked)

        scores = [score(words) for words in texts]
        best = sorted(range(len(texts)), key=lambda number: -scores[number])[: self.count]
        return [self.passages[number] for number in best if scores[number] > 0]


def corpus_retriever() -> PassageRetriever:
    """The retriever over `corpus.json`."""
    rows = json.loads(CORPUS.read_text(encoding="utf-8"))
    return PassageRetriever(passages=[Document(id=row["id"], page_content=row["text"]) for row in rows])


def _words(text: str) -> list[str]:
    """Lower case, without a plural's s."""
    return [word.removesuffix("s") for word in re.findall(r"\w+", text.lower())]


def _rarity(word: str, texts: list[list[str]]) -> float:
    holding = sum(word in words for words in texts)
    return math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
