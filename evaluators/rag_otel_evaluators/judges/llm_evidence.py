"""Chunks cut into numbered sentences, and the way back from a number to a verbatim quote.

A language model is shown `[c0.s3] ...` and answers with ids. What it copies is never used: the quote is cut out of the
chunk by our code, so that it is always there to be found.
"""

from __future__ import annotations

import functools
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Final

from rag_otel.model import Chunk, Quote
from rag_otel_evaluators.judges.llm_ids import Place, find_quote, read_ids
from rag_otel_evaluators.text.sentences import sentence_spans

_LEAST_SENTENCE: Final = 25
"""Characters from which a text that begins like an id may be a copied sentence."""
_SHOWN: Final = 60
"""Characters shown of an id that means nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a model's ids point to."""

    chunk_ids: tuple[str, ...]
    """Chunks, in the order of the ids, each once."""
    quotes: tuple[Quote, ...]
    """One per sentence id; an id of a whole chunk (`c2`) names it and quotes nothing."""
    unknown: tuple[str, ...]
    """Ids that point to nothing."""


@dataclass(frozen=True, kw_only=True)
class NumberedEvidence:
    """The sentences of all chunks: `[c<chunk>.s<sentence>]`, both counted from 0."""

    chunks: tuple[Chunk, ...]
    spans: tuple[tuple[tuple[int, int], ...], ...]
    """By chunk: (start, end) of each sentence in its text."""

    @functools.cached_property
    def texts(self) -> list[list[str]]:
        """By chunk: its sentences on one line each, as a prompt shows them."""
        return [
            [" ".join(chunk.text[start:end].split()) for start, end in spans]
            for chunk, spans in zip(self.chunks, self.spans, strict=True)
        ]

    def find(self, ids: Sequence[str]) -> Found:
        """What a judge means by its ids, in whatever form: lists in one string, brackets, `chunk 0`, copied quotes.

        What does not exist is named.
        """
        chunk_ids: dict[str, None] = {}
        quotes: dict[tuple[int, int], Quote] = {}
        unknown: list[str] = []
        for text in ids:
            places, unclear = self._places(text)
            unknown += unclear
            for chunk_index, sentence in places:
                chunk = self.chunks[chunk_index]
                chunk_ids[chunk.id] = None
                if sentence is not None:
                    start, end = self.spans[chunk_index][sentence]
                    quotes[chunk_index, sentence] = Quote(
                        chunk_id=chunk.id, start=start, end=end, text=chunk.text[start:end]
                    )
        return Found(chunk_ids=tuple(chunk_ids), quotes=tuple(quotes.values()), unknown=tuple(unknown))

    def is_counted_from_one(self, ids: Sequence[str]) -> bool:
        """Whether chunks or sentences are numbered from 1 in these ids: never by 0, and somewhere one past the last.

        Then also those of the ids that exist mean the sentence, or the chunk, before.
        """
        places = [place for text in ids for place in read_ids(text, chunks=len(self.chunks)) or []]
        chunks = {chunk for chunk, _ in places}
        sentences = [(chunk, sentence) for chunk, sentence in places if sentence is not None]
        past_a_chunk = any(0 <= c < len(self.spans) and s == len(self.spans[c]) for c, s in sentences)
        return (0 not in chunks and len(self.chunks) in chunks) or (all(s for _, s in sentences) and past_a_chunk)

    @property
    def ids(self) -> list[str]:
        """Every sentence id that exists, in order."""
        return [f"c{chunk}.s{n}" for chunk, spans in enumerate(self.spans) for n in range(len(spans))]

    def _places(self, text: str) -> tuple[list[Place], list[str]]:
        """The places that `text` means, and those it names that do not exist."""
        named = read_ids(text, chunks=len(self.chunks)) or []
        exist = [place for place in named if self._exists(*place)]
        missing = [_as_id(place) for place in named if place not in exist]
        if exist and len(text) < _LEAST_SENTENCE:
            return exist, missing
        quoted = find_quote(text, self.texts)  # a chunk may itself speak of "chunk 9" or "C4"
        if quoted or exist:
            return (list(quoted), []) if quoted else (exist, missing)
        return [], [" ".join(text.split())[:_SHOWN]]

    def _exists(self, chunk: int, sentence: int | None) -> bool:
        """A chunk without a sentence holds no evidence: it cannot be named either."""
        if not 0 <= chunk < len(self.chunks) or not self.spans[chunk]:
            return False
        return sentence is None or sentence < len(self.spans[chunk])


def number_evidence(chunks: Sequence[Chunk]) -> Generator[None, None, NumberedEvidence]:
    """Cut all chunks into sentences; yields after each sentence, for `cooperative`."""
    spans: list[tuple[tuple[int, int], ...]] = []
    for chunk in chunks:
        of_chunk: list[tuple[int, int]] = []
        for span in sentence_spans(chunk.text):
            of_chunk.append(span)
            yield
        spans.append(tuple(of_chunk))
    return NumberedEvidence(chunks=tuple(chunks), spans=tuple(spans))


def _as_id(place: Place) -> str:
    chunk, sentence = place
    return f"c{chunk}" if sentence is None else f"c{chunk}.s{sentence}"
