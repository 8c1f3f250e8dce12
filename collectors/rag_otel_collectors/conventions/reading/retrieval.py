"""Joins the retrievals of one answer into its list of chunks: which retrievals count, and in which order.

The rules are the same for every dialect:
- If a retriever contains other retrievers (compression, fusion, reranking), the outermost one that records its
  documents counts.
- A reranker, a filter or a joiner that is a sibling of retrievers replaces the retrievals whose documents it received.
- All other retrievals, parallel or one after another, are joined. A text that several of them returned counts once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from rag_otel import semconv
from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import Chunk, Source, SpanRecord, SpanRef, StatusCode, UnevaluableReason
from rag_otel_collectors.conventions.reading.documents import Document, documents_in
from rag_otel_collectors.conventions.reading.tree import SpanTree
from rag_otel_collectors.conventions.reading.values import is_cut, parse, question_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """The documents that a retriever returned, or that a reranker, a filter or a joiner selected."""

    span: SpanRecord
    documents: tuple[Document, ...] = ()
    """Empty if nothing was found, and if the documents cannot be read (see `problem`)."""
    problem: UnevaluableReason | None = None
    """Why texts are missing: no_chunk_text, redacted or truncated."""
    query: str | None = None
    """The search query."""
    query_attribute: str = ""
    """The attribute of the query."""
    fed: tuple[Document, ...] | None = None
    """The input documents of a reranker, a filter or a joiner. Empty if the span does not record them. None for a
    retriever."""
    by_name: bool = False
    """True if the documents have ids but no texts, because the texts are on the retrievals before this one."""
    in_order: bool = True
    """True if the span has the documents in the form and order in which Phoenix shows them, so that the score of a
    chunk can be written to its position."""
    attribute: str = ""
    """The attribute of the documents."""
    guessed: bool = False
    """True for a tool that was recognised as a retrieval only by its result. A retrieval below it takes precedence."""

    @property
    def tells(self) -> bool:
        """True if the span records its documents well enough. If False, a nested retrieval takes precedence."""
        return not self.by_name and not self.guessed and self.problem is not UnevaluableReason.NO_CHUNK_TEXT


ReadRetrieval: TypeAlias = Callable[[SpanRecord], Retrieval | None]
"""Reads the documents that a span retrieved or selected. None for other spans, and for a selection that failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passages:
    """The chunks from which an answer was generated."""

    chunks: tuple[Chunk, ...] = ()
    span: SpanRef | None = None
    """The span whose documents are the chunks, in the same order. None if several retrievals were joined or documents
    were left out."""
    problem: UnevaluableReason | None = None
    seen: bool = True
    """False if there was no retrieval. A retrieval without results is True."""
    sources: tuple[Source, ...] = ()


def find_retrievals(tree: SpanTree, spans: Iterable[SpanRecord], retrieval_of: ReadRetrieval) -> list[Retrieval]:
    """Returns the retrievals among `spans` that count, in order of start: nested ones are resolved (first rule)."""
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
    """Joins the retrievals that count into one list of chunks, in order of their start (second and third rule)."""
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
    """Why these documents cannot be judged. One document without a readable text is enough. None if all are
    readable."""
    if any(document.text == semconv.REDACTED for document in documents):
        return UnevaluableReason.REDACTED
    if truncated:
        return UnevaluableReason.TRUNCATED
    if any(document.text is None for document in documents):
        return UnevaluableReason.NO_CHUNK_TEXT
    return None


Listed: TypeAlias = tuple[tuple[Document, ...], UnevaluableReason | None]
"""Documents, and why they cannot be judged; None if they can."""


def listed(value: Any, missing: Callable[[], UnevaluableReason]) -> Listed:
    """The documents in a parsed value. `missing` is asked for the reason if there is no list of documents in it."""
    if value == semconv.REDACTED:
        return (), UnevaluableReason.REDACTED
    documents = documents_in(value)
    return ((), missing()) if documents is None else (documents, text_problem(documents, truncated=False))


def to_chunks(documents: Sequence[Document]) -> tuple[Chunk, ...]:
    """Converts documents to chunks with their rank and with unique ids."""
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
    """The reference to a span."""
    return SpanRef(trace_id=span.trace_id, span_id=span.span_id)


def source(part: str, span: SpanRecord, attribute: str) -> Source:
    """The source of a part of a trace."""
    return Source(part=part, span=reference(span), span_name=span.name, attribute=attribute)


def _after_choices(retrievals: Sequence[Retrieval]) -> list[Retrieval]:
    """Replaces the inputs of each reranker, filter and joiner with its selection."""
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
    """The selection with the texts of its sources. None if it contains a document that no source returned."""
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
    """`wanted`, or `wanted#2`, `wanted#3`, ... if it is in `used`."""
    candidate, count = wanted, 1
    while candidate in used:
        count += 1
        candidate = f"{wanted}#{count}"
    return candidate


_OLD_NAME: Final = "tool_response"
_OLD_ARGUMENTS: Final = "tool_arguments"
"""Names of result and arguments in early versions of Pydantic-AI."""
_SEARCHES: Final = re.compile(
    r"(?:^|[^a-z])(?:retriev\w*|search\w*|lookup|look_up|find_\w*(?:doc|passage|context)\w*|\w*knowledge\w*|rag|"
    r"(?:get|fetch|query|read)_?(?:docs?|documents?|context|passages?|index|vectors?\w*|kb))",
    re.I,
)
_TEXT_KEYS: Final = ('"content"', '"text"', '"page_content"', "'content'", "'text'", "'page_content'")


def looks_like_documents(attributes: Mapping[str, Any]) -> bool:
    """True if the result of a tool may be documents. Searches its text for key names, without parsing."""
    result = _result(attributes)
    if not isinstance(result, str) or not result:
        return result is not None
    return any(key in result for key in _TEXT_KEYS) or _searches(attributes)


def read_tool(span: SpanRecord) -> Retrieval | None:
    """The documents that a tool returned. None if the tool failed or returned something else."""
    attributes = span.attributes
    result = _result(attributes)
    if span.status is StatusCode.ERROR or result is None:
        return None
    documents, problem = _documents(result, searches=_searches(attributes))
    if documents is None:
        return None
    arguments = semconv.GEN_AI_TOOL_ARGUMENTS if semconv.GEN_AI_TOOL_ARGUMENTS in attributes else _OLD_ARGUMENTS
    return Retrieval(
        span=span,
        documents=documents,
        problem=problem,
        query=question_text(parse(attributes.get(arguments))),
        query_attribute=arguments,
        attribute=semconv.GEN_AI_TOOL_RESULT if semconv.GEN_AI_TOOL_RESULT in attributes else _OLD_NAME,
        guessed=True,
        in_order=False,
    )


def _documents(result: Any, *, searches: bool) -> tuple[tuple[Document, ...] | None, UnevaluableReason | None]:
    if result == semconv.REDACTED:
        return ((), UnevaluableReason.REDACTED) if searches else (None, None)
    if is_cut(result):
        return ((), UnevaluableReason.TRUNCATED) if searches else (None, None)
    value = parse(result)
    documents = documents_in(value)
    if documents is not None and _are_documents(value, documents, searches=searches):
        return documents, text_problem(documents, truncated=False)
    if searches and isinstance(value, str) and value.strip():
        return (Document(text=value),), None
    return None, None


def _are_documents(value: Any, documents: tuple[Document, ...], *, searches: bool) -> bool:
    if not documents:
        return searches
    bare = isinstance(value, list) and any(isinstance(item, str) for item in value)
    return all(document.text for document in documents) and (searches or not bare)


def _result(attributes: Mapping[str, Any]) -> Any:
    return attributes.get(semconv.GEN_AI_TOOL_RESULT, attributes.get(_OLD_NAME))


def _searches(attributes: Mapping[str, Any]) -> bool:
    name = attributes.get(semconv.GEN_AI_TOOL_NAME)
    return isinstance(name, str) and _SEARCHES.search(name) is not None
