"""The chunks of one trace, indexed once by sentence, so that every claim finds its evidence without a scan.

Long work is written as generators that yield at courtesy points (a fraction of a millisecond apart): whoever drives
them decides whether to give up the interpreter there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Iterator, Sequence, Set
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

from rag_otel.model import Chunk
from rag_otel_evaluators.judges.embedded.terms import terms_of
from rag_otel_evaluators.sentences import sentence_spans, trimmed

PREFIX: Final = 5
"""Two terms that share at least this many leading characters may be the same word in another form."""
_COURTESY_CHARACTERS: Final = 500
"""Characters indexed between two courtesy points: about 0.1 ms."""
_LONGEST_SENTENCE: Final = 600
"""A longer sentence (a table, a log) is cut at white space, so that a quote stays readable."""


class EvidenceSentence(NamedTuple):
    """A sentence of a chunk: `chunks[chunk].text[start:end]`, with its terms in order."""

    chunk: int
    start: int
    end: int
    terms: list[str]
    distinct: Set[str]
    """The same terms, each once."""


@dataclass(slots=True)
class EvidenceIndex:
    """What the chunks say, by term. Built by `index_chunks`, then only read."""

    chunks: tuple[Chunk, ...]
    question_terms: frozenset[str] = frozenset()
    question_bigrams: frozenset[tuple[str, str]] = frozenset()
    sentences: list[EvidenceSentence] = field(default_factory=list)
    chunk_of: list[int] = field(default_factory=list)
    """The chunk of each sentence."""
    postings: dict[str, list[int]] = field(default_factory=dict)
    """term -> indices into `sentences`, ascending, each once."""
    by_prefix: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """First PREFIX characters -> the context's terms that begin so."""

    def add(self, chunk: int, start: int, end: int) -> None:
        """Take in one sentence of a chunk."""
        terms = terms_of(self.chunks[chunk].text[start:end])
        if not terms:
            return
        number = len(self.sentences)
        distinct = dict.fromkeys(terms)
        self.sentences.append(EvidenceSentence(chunk, start, end, terms, distinct.keys()))
        self.chunk_of.append(chunk)
        for term in distinct:
            known = self.postings.get(term)
            if known is not None:
                known.append(number)
            else:
                self.postings[term] = [number]
                if len(term) >= PREFIX:
                    self.by_prefix[term[:PREFIX]].append(term)

    def holds_pair(self, first: str, second: str) -> bool:
        """True where some sentence, or the question, has the two terms one after the other."""
        if (first, second) in self.question_bigrams:
            return True
        if first not in self.postings or second not in self.postings:
            return False
        shared = set(self.postings[first]).intersection(self.postings[second])
        return any((first, second) in pairwise(self.sentences[number].terms) for number in shared)

    def closest_kin(self, term: str) -> tuple[str, float]:
        """The context's term that looks most like another form of `term`, and its likeness; ("", 0) without any.

        Likeness is the shared prefix over the longer of the two: "german" and "germani" (Germany) give 0.86.
        """
        best, best_likeness = "", 0.0
        if len(term) < PREFIX or term[0].isdigit():
            return best, best_likeness
        for other in self.by_prefix.get(term[:PREFIX], ()):
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


def index_chunks(chunks: Sequence[Chunk], question: str | None) -> Generator[None, None, EvidenceIndex]:
    """Index the chunks; yields at courtesy points and returns the index."""
    asked = terms_of(question or "")
    index = EvidenceIndex(
        chunks=tuple(chunks),
        question_terms=frozenset(asked),
        question_bigrams=frozenset(pairwise(asked)),
    )
    characters = 0
    for number, chunk in enumerate(chunks):
        for start, end in _pieces(chunk.text):
            index.add(number, start, end)
            characters += end - start
            if characters >= _COURTESY_CHARACTERS:
                characters = 0
                yield
    return index


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    for start, end in sentence_spans(text):
        while end - start > _LONGEST_SENTENCE:
            gap = text.rfind(" ", start + _LONGEST_SENTENCE // 2, start + _LONGEST_SENTENCE)
            cut = gap if gap > 0 else start + _LONGEST_SENTENCE
            if (piece := trimmed(text, start, cut)) is not None:
                yield piece
            start = cut
        if (piece := trimmed(text, start, end)) is not None:
            yield piece
