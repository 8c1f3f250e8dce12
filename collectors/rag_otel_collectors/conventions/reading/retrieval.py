"""From the retrievals of an answer to its chunks: which of them count, in which order, without repeats.

The rules, the same for every dialect:
- Retrievers within a retriever (compression, fusion, reranking) are its inner business: the outermost one that tells
  its documents decides.
- A reranker, a filter or a joiner beside the retrievers replaces those that it was fed from.
- Retrievals side by side, or one after another, are united; a text that several of them found counts once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from rag_otel import semconv
from rag_otel.model import Chunk, Source, SpanRecord, SpanRef, UnevaluableReason
from rag_otel_collectors.conventions.reading.documents import Document
from rag_otel_collectors.conventions.reading.tree import SpanTree


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """What one retriever returned, or what a reranker, a filter or a joiner made of what others had returned."""

    span: SpanRecord
    documents: tuple[Document, ...] = ()
    """Empty where nothing was found, and where it cannot be told (see `problem`)."""
    problem: UnevaluableReason | None = None
    """Why the texts are not all there: no_chunk_text, redacted or truncated."""
    query: str | None = None
    """What was searched for."""
    query_attribute: str = ""
    """Where that stands on the span."""
    fed: tuple[Document, ...] | None = None
    """What it was given to choose from, empty where it does not say; None for a retriever, which adds its own."""
    by_name: bool = False
    """True where the documents are named without their text, which is with the retrievals that fed this one."""
    in_order: bool = True
    """False where the documents do not stand on the span, rank by rank."""
    attribute: str = ""
    """Where the documents stand on the span."""
    guessed: bool = False
    """True for a tool that is known for a retrieval by its result alone: a retrieval nested under it knows better."""

    @property
    def tells(self) -> bool:
        """False when the span says too little of its documents, so that a nested one may say more."""
        return not self.by_name and not self.guessed and self.problem is not UnevaluableReason.NO_CHUNK_TEXT


ReadRetrieval: TypeAlias = Callable[[SpanRecord], Retrieval | None]
"""What a span retrieved or chose, in whatever dialect. None for a span of another kind, and for a failed choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passages:
    """The chunks that an answer was written from."""

    chunks: tuple[Chunk, ...] = ()
    span: SpanRef | None = None
    """The one span whose documents the chunks are, rank by rank; None where several were united or some left out."""
    problem: UnevaluableReason | None = None
    seen: bool = True
    """False: there was no retrieval at all, which is not the same as one that found nothing."""
    sources: tuple[Source, ...] = ()


def find_retrievals(tree: SpanTree, spans: Iterable[SpanRecord], retrieval_of: ReadRetrieval) -> list[Retrieval]:
    """The retrievals and choices among `spans` that decide, by start, before they are united."""
    read = {span.span_id: found for span in spans if (found := retrieval_of(span)) is not None}
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
    if all(each.by_name for each in retrievals):
        return Passages(seen=False)
    kept = _after_choices(retrievals)
    found = [each for each in kept if each.documents]
    alone = found[0] if len(found) == 1 else None
    return Passages(
        chunks=to_chunks(_without_repeats(found) if alone is None else alone.documents),
        span=reference(alone.span) if alone is not None and alone.in_order else None,
        problem=next((each.problem for each in kept if each.problem is not None), None),
        sources=tuple(source("chunks", each.span, each.attribute) for each in found or kept if each.attribute),
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
                has_id=document.id is not None,
            )
        )
    return tuple(chunks)


def reference(span: SpanRecord) -> SpanRef:
    """The ids of a span, as results name it."""
    return SpanRef(trace_id=span.trace_id, span_id=span.span_id)


def source(part: str, span: SpanRecord, attribute: str) -> Source:
    """Where a part of a trace was read."""
    return Source(part=part, span=reference(span), span_name=span.name, attribute=attribute)


def _after_choices(retrievals: Sequence[Retrieval]) -> list[Retrieval]:
    """What is left when each reranker, filter and joiner has taken the place of what it was fed from."""
    kept: list[Retrieval] = []
    for retrieval in sorted(retrievals, key=lambda each: each.span.end_ns):
        if retrieval.fed is None:
            kept.append(retrieval)
            continue
        sources = [earlier for earlier in kept if _fed(earlier, retrieval)]
        chosen = _resolved(retrieval, sources) if retrieval.by_name else retrieval
        if chosen is not None:
            kept = [*(earlier for earlier in kept if not _fed(earlier, retrieval)), chosen]
    return sorted(kept, key=lambda each: each.span.start_ns)


def _fed(earlier: Retrieval, choice: Retrieval) -> bool:
    if earlier.span.end_ns > choice.span.start_ns:
        return False
    return not choice.fed or not earlier.documents or not _names(earlier.documents).isdisjoint(_names(choice.fed))


def _resolved(choice: Retrieval, sources: Sequence[Retrieval]) -> Retrieval | None:
    """The choice with the texts of its sources; None where it names something that none of them returned."""
    known = {document.id: document for source in reversed(sources) for document in source.documents}
    if not sources or any(document.id is None or document.id not in known for document in choice.documents):
        return None
    documents = tuple(
        replace(known[chosen.id], score=known[chosen.id].score if chosen.score is None else chosen.score)
        for chosen in choice.documents
    )
    first = sources[0]
    ids = [document.id for document in documents]
    in_order = len(sources) == 1 and first.in_order and ids == [each.id for each in first.documents[: len(ids)]]
    return replace(
        choice,
        span=first.span if in_order else choice.span,
        attribute=first.attribute if in_order else choice.attribute,
        documents=documents,
        problem=next((each.problem for each in sources if each.problem is not None), None),
        in_order=in_order,
    )


def _names(documents: Iterable[Document]) -> set[tuple[str, str]]:
    ids = {("id", each.id) for each in documents if each.id is not None}
    return ids | {("text", each.text) for each in documents if each.text is not None}


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
