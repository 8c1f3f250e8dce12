"""From the retrievals of an answer to its chunks: which of them count, in which order, without repeats.

The rules, the same for every dialect:
- Retrievers within a retriever (compression, fusion, reranking) are its inner business: the outermost one that tells
  its documents decides.
- A reranker beside the retrievers replaces those that it was fed from.
- Retrievals side by side, or one after another, are united; a text that several of them found counts once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rag_otel import semconv
from rag_otel.model import Chunk, SpanRecord, SpanRef, UnevaluableReason
from rag_otel_collectors.conventions.documents import Document
from rag_otel_collectors.conventions.tree import SpanTree


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """What one retriever or reranker span returned."""

    span: SpanRecord
    documents: tuple[Document, ...] = ()
    """Empty where nothing was found, and where it cannot be told (see `problem`)."""
    problem: UnevaluableReason | None = None
    """Why the texts are not all there: no_chunk_text, redacted or truncated."""
    query: str | None = None
    """What was searched for."""
    fed_by: frozenset[str] | None = None
    """Texts that a reranker was given, empty where it does not say; None for a retriever."""

    @property
    def tells(self) -> bool:
        """False when the span says nothing of its documents, so that a nested one may."""
        return bool(self.documents) or self.problem is not UnevaluableReason.NO_CHUNK_TEXT

    @property
    def texts(self) -> frozenset[str]:
        return frozenset(document.text for document in self.documents if document.text is not None)


class RetrievalReader(Protocol):
    """The part of a convention that other conventions build on: retrievals nested under their spans."""

    def retrieves(self, scope: str, attributes: Mapping[str, Any]) -> bool: ...

    def retrieval(self, span: SpanRecord) -> Retrieval | None:
        """What a span that `retrieves` returned; None where it came to nothing (a reranker that failed)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Passages:
    """The chunks that an answer was written from."""

    chunks: tuple[Chunk, ...] = ()
    span: SpanRef | None = None
    """The one span whose documents the chunks are, position by position; None for a union."""
    problem: UnevaluableReason | None = None
    seen: bool = True
    """False: there was no retrieval at all, which is not the same as one that found nothing."""


def find_retrievals(tree: SpanTree, spans: Iterable[SpanRecord], readers: Sequence[RetrievalReader]) -> list[Retrieval]:
    """The retrievals among `spans` that decide, by start, before they are united."""
    read: dict[str, Retrieval] = {}
    for span in spans:
        reader = next((each for each in readers if each.retrieves(span.scope, span.attributes)), None)
        retrieval = None if reader is None else reader.retrieval(span)
        if retrieval is not None:
            read[span.span_id] = retrieval
    above = {span_id: [a.span_id for a in tree.ancestors(r.span) if a.span_id in read] for span_id, r in read.items()}
    with_nested = {ancestor for ancestors in above.values() for ancestor in ancestors}
    return [
        retrieval
        for span_id, retrieval in read.items()
        if not any(read[ancestor].tells for ancestor in above[span_id])
        and (retrieval.tells or span_id not in with_nested)
    ]


def unite(retrievals: Sequence[Retrieval]) -> Passages:
    """The chunks of retrievals that decide, in the order in which they were started."""
    kept = _after_reranking(retrievals)
    if not kept:
        return Passages(seen=False)
    documents = kept[0].documents if len(kept) == 1 else _without_repeats(kept)
    return Passages(
        chunks=to_chunks(documents),
        span=reference(kept[0].span) if len(kept) == 1 and documents else None,
        problem=next((each.problem for each in kept if each.problem is not None), None),
    )


def text_problem(documents: Sequence[Document], *, truncated: bool) -> UnevaluableReason | None:
    """What keeps these documents from being judged as a whole: one unreadable text is enough."""
    if any(document.text == semconv.REDACTED for document in documents):
        return UnevaluableReason.REDACTED
    if truncated:
        return UnevaluableReason.TRUNCATED
    if any(document.text is None for document in documents):
        return UnevaluableReason.NO_CHUNK_TEXT
    return None


def to_chunks(documents: Sequence[Document]) -> tuple[Chunk, ...]:
    """Documents with their rank and with ids that are unique among them."""
    taken: set[str] = {document.id for document in documents if document.id is not None}
    used: set[str] = set()
    chunks: list[Chunk] = []
    for position, document in enumerate(documents):
        chunk_id = document.id if document.id is not None else _unused(str(position), taken)
        chunk_id = _unused(chunk_id, used)
        used.add(chunk_id)
        readable = document.text is not None and document.text != semconv.REDACTED
        chunks.append(
            Chunk(
                id=chunk_id,
                text=document.text or "" if readable else "",
                position=position,
                score=document.score,
                metadata=document.metadata,
            )
        )
    return tuple(chunks)


def reference(span: SpanRecord) -> SpanRef:
    return SpanRef(trace_id=span.trace_id, span_id=span.span_id)


def _after_reranking(retrievals: Sequence[Retrieval]) -> list[Retrieval]:
    kept: list[Retrieval] = []
    for retrieval in retrievals:
        if retrieval.fed_by is not None:
            kept = [earlier for earlier in kept if not _fed(earlier, retrieval)]
        kept.append(retrieval)
    return kept


def _fed(earlier: Retrieval, reranker: Retrieval) -> bool:
    if earlier.span.end_ns > reranker.span.start_ns:
        return False
    return not reranker.fed_by or not earlier.texts or bool(earlier.texts & reranker.fed_by)


def _without_repeats(retrievals: Sequence[Retrieval]) -> list[Document]:
    seen: set[str] = set()
    documents: list[Document] = []
    for document in (each for retrieval in retrievals for each in retrieval.documents):
        repeated = document.text if document.text not in (None, semconv.REDACTED) else document.id
        if repeated is None or repeated not in seen:
            documents.append(document)
        if repeated is not None:
            seen.add(repeated)
    return documents


def _unused(wanted: str, used: set[str]) -> str:
    """`wanted`, or `wanted#2`, `wanted#3`, ... where it is taken."""
    candidate, count = wanted, 1
    while candidate in used:
        count += 1
        candidate = f"{wanted}#{count}"
    return candidate
