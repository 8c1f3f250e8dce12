"""A small question-answering app that is evaluated by rag-otel.

    python examples/quickstart/app.py "how do automotive technicians get paid"

It searches passages for its question and lets a language model answer from them. It needs no API key, because it
replays recorded data: the passages are from a web search, and the named model generated every answer from these
passages (examples/data/README.md). rag-otel only needs the decorator on `answer`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import rag_otel

DATA = Path(__file__).parents[1] / "data" / "ragtruth_qa_dev.jsonl"


class Library:
    """Web passages by the search query that found them."""

    def __init__(self, searches: Mapping[str, Sequence[str]]) -> None:
        """`searches`: query -> the passages that were found, best first."""
        self._searches = searches
        self._number = {search: number for number, search in enumerate(searches)}

    def search(self, question: str) -> list[dict[str, Any]]:
        """The passages of the most similar query: dicts of id, text and score (share of the question's words, 0..1)."""
        nearest = max(self._searches, key=lambda search: _shared_words(search, question))
        return [
            {"id": f"{self._number[nearest]}-{rank}", "text": text, "score": round(_shared_words(question, text), 2)}
            for rank, text in enumerate(self._searches[nearest])
        ]


class RecordedModels:
    """Language models that return recorded answers."""

    def __init__(self, answers: Mapping[tuple[str, str], str]) -> None:
        """`answers`: (model, question) -> the recorded answer."""
        self._answers = answers

    def complete(self, model: str, question: str, passages: Sequence[Mapping[str, Any]]) -> str:
        """The answer that `model` generated to `question` from these `passages`."""
        return self._answers.get((model, question), f"I have {len(passages)} passages and no recorded answer.")


def _shared_words(wanted: str, text: str) -> float:
    asked, found = (set(re.findall(r"\w+", part.lower())) for part in (wanted, text))
    return len(asked & found) / len(asked)


records = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]
library = Library({record["question"]: record["contexts"] for record in records})
models = RecordedModels({(record["model"], record["question"]): record["response"] for record in records})


@rag_otel.observe(tags={"model": "model"})
def answer(question: str, model: str = "gpt-4-0613") -> dict[str, Any]:
    """Answers from the library with the given model."""
    passages = library.search(question)
    return {"answer": models.complete(model, question, passages), "chunks": passages}


if __name__ == "__main__":
    print(answer(" ".join(sys.argv[1:]) or "how do automotive technicians get paid")["answer"])
