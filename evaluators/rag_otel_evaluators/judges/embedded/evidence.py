"""The chunks of one trace, indexed once by sentence, so that every claim finds its evidence without a scan.

Long work is written as generators that yield at cooperative points (a fraction of a millisecond apart): whoever drives
them decides whether to give up the interpreter there.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from itertools import islice
from typing import Final

from rag_otel.model import Chunk
from rag_otel_evaluators.judges.embedded.passages import EvidenceSentence, Passage, PassageMemory, passages_of
from rag_otel_evaluators.text.statement import Statement
from rag_otel_evaluators.text.terms import terms_of

_MANY_PASSAGES: Final = 32
"""From so many passages on looking up all the terms of a claim takes too long for one go."""
_MOST_NUMBERED: Final = 8
"""Sentences with figures that are asked for another form of a number that is nowhere."""
_MOST_PLACES: Final = 2_000
"""Sentences that are remembered for one term."""


class EvidenceIndex:
    """What the chunks say, by term. Built by `index_chunks`; beside its memos it is then only read."""

    __slots__ = (
        "_passages",
        "_places",
        "_with_figures",
        "chunk_of",
        "chunks",
        "question_terms",
        "sentences",
        "vocabulary",
    )

    def __init__(self, chunks: Sequence[Chunk], question: str | None) -> None:
        self.chunks = tuple(chunks)
        self.question_terms = set(terms_of(question or ""))
        """What is asked, by the user or by a chunk."""
        self.sentences: list[EvidenceSentence] = []
        self.chunk_of: list[int] = []
        """The chunk of each sentence."""
        self.vocabulary: set[str] = set()
        """Every term of the chunks."""
        self._passages: list[tuple[int, Passage]] = []
        """(number of its first sentence, passage)."""
        self._places: dict[str, tuple[list[int], set[int]]] = {}
        self._with_figures: list[int] | None = None

    def add(self, chunk: int, passage: Passage) -> None:
        """Take in the next passage of a chunk."""
        self._passages.append((len(self.sentences), passage))
        self.sentences += passage.sentences
        self.chunk_of += [chunk] * len(passage.sentences)
        self.vocabulary.update(passage.vocabulary)
        self.question_terms |= passage.asked

    def look_up(self, text: str) -> Generator[None, None, None]:
        """Find the places of a text's terms before they are asked for; yields between them where chunks are many."""
        if len(self._passages) < _MANY_PASSAGES:
            return
        for term in terms_of(text):
            if term in self.vocabulary:
                self.places_of(term)
            yield

    def places_of(self, term: str) -> tuple[list[int], set[int]]:
        """(indices of the sentences that hold the term, ascending; their chunks); not to be changed.

        Of a term that is everywhere, the first `_MOST_PLACES`: it tells no sentence from another.
        """
        places = self._places.get(term)
        if places is None:
            sentences = [
                number
                for first, passage in self._passages
                if term in passage.vocabulary
                for number, sentence in enumerate(passage.sentences, first)
                if term in sentence.distinct
            ][:_MOST_PLACES]
            places = self._places[term] = (sentences, {self.chunk_of[number] for number in sentences})
        return places

    @property
    def with_figures(self) -> list[int]:
        """The first sentences that hold a number in figures."""
        if self._with_figures is None:
            numbered = (at for at, sentence in enumerate(self.sentences) if any(map(_is_number, sentence.distinct)))
            self._with_figures = list(islice(numbered, _MOST_NUMBERED))
        return self._with_figures

    def statement(self, number: int) -> Statement:
        """One sentence for the search for conflicts, remembered with its passage."""
        sentence = self.sentences[number]
        if sentence.statement is None:
            text = self.chunks[self.chunk_of[number]].text[sentence.start : sentence.end]
            sentence.statement = Statement(text, sentence.terms)
        return sentence.statement


def _is_number(term: str) -> bool:
    return term[0].isdigit()


def index_chunks(
    chunks: Sequence[Chunk], question: str | None, memory: PassageMemory | None = None
) -> Generator[None, None, EvidenceIndex]:
    """Index the chunks; yields at cooperative points, returns the index. `memory`: of the chunks that came before."""
    read = passages_of if memory is None else memory.passages_of
    index = EvidenceIndex(chunks, question)
    for number, chunk in enumerate(chunks):
        for passage in (yield from read(chunk.text)):
            index.add(number, passage)
            yield
    return index
