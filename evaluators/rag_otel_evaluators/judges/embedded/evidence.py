"""The chunks of one trace, indexed once by sentence, so that every claim finds its evidence without a scan.

Long work is written as generators that yield at cooperative points (a fraction of a millisecond apart): whoever drives
them decides whether to give up the interpreter there.
"""

from __future__ import annotations

import heapq
from collections.abc import Generator, Mapping, Sequence
from itertools import chain, islice, pairwise
from typing import Final

from rag_otel.model import Chunk
from rag_otel_evaluators.judges.embedded.close_reading import Reading, read_closely
from rag_otel_evaluators.judges.embedded.concepts import CONCEPTS
from rag_otel_evaluators.judges.embedded.passages import PREFIX, EvidenceSentence, Passage, PassageMemory, passages_of
from rag_otel_evaluators.judges.embedded.tables import read_row
from rag_otel_evaluators.judges.embedded.terms import WEIGHTS, terms_of
from rag_otel_evaluators.text.languages.refutations import refutes

_MANY_PASSAGES: Final = 32
"""From so many passages on looking up all the terms of a claim takes too long for one go."""

QUESTION_WEIGHT: Final = 0.6
"""What a word of the question counts beside one of the claim when the nearest sentences are sought."""
_MOST_NUMBERED: Final = 48
"""Sentences with numbers, and dates, that are remembered."""
_MOST_PLACES: Final = 2_000
"""Sentences that are remembered for one term."""


_MOST_MEANT: Final = 5_000
"""Terms of the chunks whose meanings are looked up: some 2 ms."""
_MOST_SYNONYMS: Final = 8


class EvidenceIndex:
    """What the chunks say, by term. Built by `index_chunks`; beside its memos it is then only read."""

    __slots__ = (
        "_asked",
        "_by_concept",
        "_has_tables",
        "_iso_dates",
        "_kin",
        "_passages",
        "_places",
        "_question",
        "_with_numbers",
        "chunk_of",
        "chunks",
        "question_bigrams",
        "question_terms",
        "sentences",
        "vocabulary",
    )

    def __init__(self, chunks: Sequence[Chunk], question: str | None) -> None:
        asked = terms_of(question or "")
        self.chunks = tuple(chunks)
        self.question_terms: frozenset[str] | set[str] = frozenset(asked)
        """What is asked, by the user or by a chunk."""
        self.question_bigrams = frozenset(pairwise(asked))
        self.sentences: list[EvidenceSentence] = []
        self.chunk_of: list[int] = []
        """The chunk of each sentence."""
        self.vocabulary: set[str] = set()
        """Every term of the chunks."""
        self._asked: tuple[Reading, dict[int, float]] | None = None
        self._question = question or ""
        self._passages: list[tuple[int, Passage]] = []
        """(number of its first sentence, passage)."""
        self._places: dict[str, tuple[list[int], set[int]]] = {}
        self._kin: dict[str, tuple[str, float]] = {}
        self._by_concept: dict[int, list[str]] | None = None
        self._with_numbers: list[int] | None = None
        self._iso_dates: list[str] | None = None
        self._has_tables: bool | None = None

    def add(self, chunk: int, passage: Passage) -> None:
        """Take in the next passage of a chunk."""
        self._passages.append((len(self.sentences), passage))
        self.sentences += passage.sentences
        self.chunk_of += [chunk] * len(passage.sentences)
        self.vocabulary.update(passage.vocabulary)
        if passage.asked:
            self.question_terms |= passage.asked

    def look_up(self, text: str) -> Generator[None, None, None]:
        """Find the places of a text's terms before they are asked for; yields between them where chunks are many."""
        if len(self._passages) < _MANY_PASSAGES:
            return
        for term in terms_of(text):
            if term in self.vocabulary:
                self.places_of(term)
            else:
                self.closest_kin(term)
            yield

    @property
    def with_numbers(self) -> list[int]:
        """The first sentences that hold a number in figures."""
        if self._with_numbers is None:
            numbered = (
                number
                for first, passage in self._passages
                if passage.figures
                for number, sentence in enumerate(passage.sentences, first)
                if not sentence.distinct.isdisjoint(passage.figures)
            )
            self._with_numbers = list(islice(numbered, _MOST_NUMBERED))
        return self._with_numbers

    @property
    def question(self) -> Reading:
        """The close reading of what the user asked."""
        return self._read_question()[0]

    def _read_question(self) -> tuple[Reading, dict[int, float]]:
        if self._asked is None:
            held: dict[int, float] = {}
            for term in dict.fromkeys(terms_of(self._question)):
                weight = WEIGHTS.get(term, 1.0)
                form = term if term in self.vocabulary else self.closest_kin(term)[0]
                if weight and form:
                    for number in self.places_of(form)[0]:
                        held[number] = held.get(number, 0.0) + weight
            self._asked = (read_closely(self._question), held)
        return self._asked

    def with_question(self, held: Mapping[int, float], most: int) -> list[int]:
        """The sentences that hold most of a claim (`held`: sentence -> weight) and of the question, best first."""
        asked = self._read_question()[1]
        total = {number: weight + QUESTION_WEIGHT * asked.get(number, 0.0) for number, weight in held.items()}
        for number, weight in asked.items():
            if number not in total:
                total[number] = QUESTION_WEIGHT * weight
        return heapq.nsmallest(most, total, key=lambda number: (-total[number], number))

    @property
    def iso_dates(self) -> list[str]:
        """The first dates of the chunks that are written like 2024-01-31, each once."""
        if self._iso_dates is None:
            dates = (term for _, passage in self._passages for term in passage.figures if term.count("-") == 2)
            self._iso_dates = list(islice(dict.fromkeys(dates), _MOST_NUMBERED))
        return self._iso_dates

    def read_closely(self, number: int) -> Reading:
        """The close reading of one sentence, remembered with its passage."""
        sentence = self.sentences[number]
        if sentence.reading is None:
            text = self.chunks[self.chunk_of[number]].text
            is_row = text.find("|", sentence.start, sentence.end) >= 0
            row = read_row(text, sentence.start, sentence.end) if is_row else None
            sentence.reading = row or read_closely(text[sentence.start : sentence.end])
        return sentence.reading

    def is_refuted(self, number: int) -> bool:
        """True where the sentence after this one says that it is not so."""
        after = number + 1
        if after >= len(self.sentences) or self.chunk_of[after] != self.chunk_of[number]:
            return False
        sentence = self.sentences[after]
        if sentence.refutes is None:
            sentence.refutes = refutes(self.text_of(after))
        return sentence.refutes

    @property
    def has_tables(self) -> bool:
        """True where a chunk may hold a table."""
        if self._has_tables is None:
            self._has_tables = any("|" in chunk.text for chunk in self.chunks)
        return self._has_tables

    def text_of(self, number: int) -> str:
        """One sentence as it is written."""
        sentence = self.sentences[number]
        return self.chunks[self.chunk_of[number]].text[sentence.start : sentence.end]

    def sentences_with(self, term: str) -> list[int]:
        """Indices into `sentences` of those that hold the term, ascending; not to be changed."""
        return self.places_of(term)[0]

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

    def holds_pair(self, first: str, second: str) -> bool:
        """True where some sentence, or the question, has the two terms one after the other."""
        if (first, second) in self.question_bigrams:
            return True
        if first not in self.vocabulary or second not in self.vocabulary:
            return False
        shared = set(self.sentences_with(first)).intersection(self.sentences_with(second))
        return any((first, second) in pairwise(self.sentences[number].terms) for number in shared)

    def closest_kin(self, term: str) -> tuple[str, float]:
        """The context's term that looks most like another form of `term`, and its likeness; ("", 0) without any.

        Likeness is the shared prefix over the longer of the two: "german" and "germani" (Germany) give 0.86.
        """
        kin = self._kin.get(term)
        if kin is None:
            kin = self._kin[term] = self._find_kin(term)
        return kin

    def synonyms(self, term: str) -> list[str]:
        """The context's terms that share a meaning of `concepts` with this one; not to be changed."""
        concepts = CONCEPTS[term]
        if not concepts:
            return []
        if self._by_concept is None:
            self._by_concept = {}
            terms = islice(chain.from_iterable(passage.vocabulary for _, passage in self._passages), _MOST_MEANT)
            for other in dict.fromkeys(terms):
                for concept in CONCEPTS[other]:
                    self._by_concept.setdefault(concept, []).append(other)
        found = [other for concept in concepts for other in self._by_concept.get(concept, ())]
        return found[:_MOST_SYNONYMS]

    def _find_kin(self, term: str) -> tuple[str, float]:
        best, best_likeness = "", 0.0
        if len(term) < PREFIX or term[0].isdigit():
            return best, best_likeness
        prefix = term[:PREFIX]
        for _, passage in self._passages:
            for other in passage.beginning_with(prefix):
                likeness = _shared_prefix(term, other) / max(len(term), len(other))
                if likeness > best_likeness:
                    best, best_likeness = other, likeness
        return best, best_likeness


def _shared_prefix(one: str, other: str) -> int:
    shared = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        shared += 1
    return shared


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
