"""The chunks as evidence: each is read once, sentence by sentence, and indexed for the claims of one trace.

Popular chunks are retrieved again and again, so what was read of one is remembered, in memory, up to a bound. Effect,
measured: 1.3 to 2 times as many claims a second over chunks that came before. The index finds the sentences of a claim
without a scan.

Long work is written as generators that yield at cooperative points (a fraction of a millisecond apart): whoever drives
them decides whether to give up the interpreter there.
"""

from __future__ import annotations

import contextlib
import re
from collections import OrderedDict
from collections.abc import Generator, Iterator, Sequence
from itertools import chain, islice
from typing import Final, NamedTuple

from rag_otel.model import Chunk
from rag_otel_evaluators.text.sentences import cut_long, sentence_spans
from rag_otel_evaluators.text.statement import AnalysedStatement
from rag_otel_evaluators.text.terms import terms_of

_COURTESY_CHARACTERS: Final = 500
"""Characters read between two cooperative points: well below 0.1 ms."""
_LONGEST_SENTENCE: Final = 600
"""A longer sentence (a table, a log) is cut at white space, so that a quote stays readable."""
_PASSAGE_CHARACTERS: Final = 1_500
"""From this length on a passage ends and the next begins: short enough to be searched sentence by sentence."""
_QUESTION_MARKS: Final = ("?", "？", "؟")
_AFFIRMED: Final = re.compile(r"\W{0,4}(?:(?:yes|sí|ja|oui|sim)\b|是|对|對|可以|はい|نعم|हाँ)", re.IGNORECASE)
_MANY_PASSAGES: Final = 32
"""From so many passages on looking up all the terms of a claim takes too long for one go."""
_MOST_NUMBERED: Final = 8
"""Sentences with figures that are asked for another form of a number that is nowhere."""
_MOST_PLACES: Final = 2_000
"""Sentences that are remembered for one term."""

Triple = tuple[str, str, str]


# --- a chunk, read ----------------------------------------------------------------------------------------------------


class EvidenceSentence:
    """A sentence of a chunk, `text[start:end]`, with its terms; what few claims ask for is found out when asked."""

    __slots__ = ("_triples", "distinct", "end", "start", "statement", "terms")

    def __init__(self, start: int, end: int, terms: list[str]) -> None:
        self.start = start
        self.end = end
        self.terms = terms
        """In order, one per token."""
        self.distinct = frozenset(terms)
        """The same terms, each once."""
        self._triples: frozenset[Triple] | None = None
        self.statement: AnalysedStatement | None = None
        """For the search for conflicts, once a claim has come near it."""

    @property
    def triples(self) -> frozenset[Triple]:
        """Every three terms in a row."""
        if self._triples is None:
            self._triples = frozenset(triples_of(self.terms))
        return self._triples


def triples_of(terms: list[str]) -> Iterator[Triple]:
    """Every three terms in a row, in order."""
    return zip(terms, terms[1:], terms[2:], strict=False)


class Passage(NamedTuple):
    """A run of a chunk's sentences, and their terms together."""

    sentences: list[EvidenceSentence]
    vocabulary: dict[str, None]
    """The terms of all the sentences, each once, in the order in which they first stand there."""
    asked: frozenset[str]
    """The words of its questions: what a chunk asks it does not say. No numbers."""


def passages_of(text: str) -> Generator[None, None, tuple[Passage, ...]]:
    """Read a chunk's text; yields at cooperative points and returns its passages. Sentences without a term stay out."""
    passages: list[Passage] = []
    sentences: list[EvidenceSentence] = []
    asked: set[str] = set()
    characters, passage_start = 0, 0
    for start, end, is_question in _with_questions(text, _pieces(text)):
        terms = terms_of(text[start:end])
        if is_question:
            asked.update(terms)
        elif terms:
            sentences.append(EvidenceSentence(start, end, terms))
        if end - passage_start >= _PASSAGE_CHARACTERS and sentences:
            yield
            passages.append(_passage(sentences, asked))
            sentences, asked, passage_start = [], set(), end
        characters += end - start
        if characters >= _COURTESY_CHARACTERS:
            characters = 0
            yield
    if sentences:
        passages.append(_passage(sentences, asked))
    return tuple(passages)


def _with_questions(text: str, pieces: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int, bool]]:
    """Each piece, and whether it only asks: "Is it 999 metres high? Nobody knows.", but not "Is it high? Yes." """
    held: tuple[int, int] | None = None
    for start, end in pieces:
        if held is not None:
            yield (*held, _AFFIRMED.match(text, start, end) is None)
        held = (start, end) if text.startswith(_QUESTION_MARKS, end - 1, end) else None
        if held is None:
            yield start, end, False
    if held is not None:
        yield (*held, True)


def _passage(sentences: list[EvidenceSentence], asked: set[str]) -> Passage:
    return Passage(
        sentences,
        dict.fromkeys(chain.from_iterable(sentence.terms for sentence in sentences)),
        frozenset(term for term in asked if not term[0].isdigit()),
    )


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    for start, end in sentence_spans(text):
        if end - start <= _LONGEST_SENTENCE:
            yield start, end
        else:
            yield from cut_long(text, start, end, _LONGEST_SENTENCE)


class PassageMemory:
    """Text of a chunk -> its passages, for the texts that came by last.

    What was asked for longest ago is forgotten first. Without a lock, so that a fork never finds one taken: where
    threads race, a text is read twice, nothing worse.
    """

    def __init__(self, characters: int) -> None:
        """`characters`: how much text may be remembered, in all; 0 for none. Longer chunks than half of it are not."""
        self._most = characters
        self._kept: OrderedDict[str, tuple[Passage, ...]] = OrderedDict()
        """What was asked for longest ago first."""
        self._characters = 0

    @property
    def characters(self) -> int:
        """How much text is remembered, in characters."""
        return sum(map(len, self._kept))

    def passages_of(self, text: str) -> Generator[None, None, tuple[Passage, ...]]:
        """As the function of this name, which it asks for what it does not remember."""
        passages = self._kept.get(text)
        if passages is None:
            passages = yield from passages_of(text)
            yield from _release(self._remember(text, passages))
        else:
            with contextlib.suppress(KeyError):  # another thread has just forgotten it
                self._kept.move_to_end(text)
        return passages

    def _remember(self, text: str, passages: tuple[Passage, ...]) -> list[tuple[Passage, ...]]:
        """Remember one text; returns what is forgotten for it."""
        forgotten: list[tuple[Passage, ...]] = []
        size = len(text)
        if 2 * size > self._most or text in self._kept:
            return forgotten
        while self._kept and self._characters + size > self._most:
            with contextlib.suppress(KeyError):
                oldest, passages_of_oldest = self._kept.popitem(last=False)
                length = len(oldest)
                self._characters -= length
                forgotten.append(passages_of_oldest)
        self._characters = size + (self._characters if self._kept else 0)
        self._kept[text] = passages
        return forgotten


def _release(forgotten: list[tuple[Passage, ...]]) -> Generator[None, None, None]:
    """Give the memory of these passages back one by one; yields between them. All at once would take 10 ms and more."""
    while forgotten:
        passages = list(forgotten.pop())
        while passages:
            passages.pop()
            yield


# --- the chunks of a trace, indexed -----------------------------------------------------------------------------------


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

    def statement(self, number: int) -> AnalysedStatement:
        """One sentence for the search for conflicts, remembered with its passage."""
        sentence = self.sentences[number]
        if sentence.statement is None:
            text = self.chunks[self.chunk_of[number]].text[sentence.start : sentence.end]
            sentence.statement = AnalysedStatement(text, sentence.terms)
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
