"""Reads retrievals of OpenLLMetry: the JSON output of a step, or the events of a vector store, one per result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rag_otel import semconv
from rag_otel.model import SpanRecord, StatusCode, UnevaluableReason
from rag_otel_collectors.conventions.reading.documents import Document, documents_in
from rag_otel_collectors.conventions.reading.retrieval import Retrieval, text_problem
from rag_otel_collectors.conventions.reading.values import (
    finite,
    is_cut,
    parse,
    parse_object,
    parse_whole,
    question_text,
)

VECTOR_STORES: Final = frozenset(
    f"opentelemetry.instrumentation.{name}"
    for name in ("chromadb", "lancedb", "marqo", "milvus", "pinecone", "qdrant", "weaviate")
)
_OPERATION: Final = "vector_db_retrieve"
_RETRIEVER: Final = "Retriever."
_CHOOSERS: Final = ("Postprocessor.", "Rerank.", "Reranker.")
"""Parts of entity names in LlamaIndex, which have the form `<class>.<kind>`."""
_QUERY: Final = semconv.DB_QUERY_RESULT
_NODES: Final = "nodes"


def searches(scope: str, attributes: Mapping[str, Any]) -> bool:
    """True for a retriever and for a span of a vector store. Parses nothing."""
    if attributes.get(semconv.GEN_AI_OPERATION_NAME) == _OPERATION or scope in VECTOR_STORES:
        return True
    name = attributes.get(semconv.TRACELOOP_ENTITY)
    return isinstance(name, str) and _RETRIEVER in name


def chooses(attributes: Mapping[str, Any]) -> bool:
    """True for a LlamaIndex postprocessor or reranker."""
    name = attributes.get(semconv.TRACELOOP_ENTITY)
    return isinstance(name, str) and any(part in name for part in _CHOOSERS)


def entity(span: SpanRecord, key: str) -> Any:
    """The parsed input or output of a step. None if a length limit cut it."""
    value = span.attributes.get(key)
    if not isinstance(value, str):
        return None
    return _string(value) if value[:1] == '"' else parse_whole(value)


def read_retrieval(span: SpanRecord) -> Retrieval | None:
    """The documents that a retriever, a postprocessor or a vector store returned. None for a failed postprocessor and
    for other operations of a vector store."""
    if span.scope in VECTOR_STORES:
        return _from_events(span)
    inputs = entity(span, semconv.TRACELOOP_INPUT)
    fed = documents_in(_unwrapped(inputs.get(_NODES))) if isinstance(inputs, Mapping) and _NODES in inputs else None
    failed = span.status is StatusCode.ERROR
    if chooses(span.attributes) and (failed or fed is None):
        return None
    documents, problem = ((), None) if failed else _documents(span)
    return Retrieval(
        span=span,
        documents=documents,
        problem=problem,
        query=question_text(inputs),
        query_attribute=semconv.TRACELOOP_INPUT,
        attribute=semconv.TRACELOOP_OUTPUT if documents else "",
        fed=fed if chooses(span.attributes) else None,
        in_order=False,
    )


def _documents(span: SpanRecord) -> tuple[tuple[Document, ...], UnevaluableReason | None]:
    value = span.attributes.get(semconv.TRACELOOP_OUTPUT)
    if value == semconv.REDACTED:
        return (), UnevaluableReason.REDACTED
    documents = documents_in(_unwrapped(entity(span, semconv.TRACELOOP_OUTPUT)))
    if documents is not None:
        return documents, text_problem(documents, truncated=False)
    truncated = is_cut(value) or (value is None and span.dropped_attributes > 0)
    return (), UnevaluableReason.TRUNCATED if truncated else UnevaluableReason.NO_CHUNK_TEXT


def _unwrapped(value: Any) -> Any:
    """Parses the items of a list, because LlamaIndex writes nodes as JSON text within JSON."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [parse(item) for item in value]
    return value


def _from_events(span: SpanRecord) -> Retrieval | None:
    """One document for each `db.query.result` event of a vector store. None without such events (an insert)."""
    found = [attributes for name, attributes in span.events if name == _QUERY]
    if not found:
        return None
    documents = tuple(
        Document(
            text=text if isinstance(text := event.get(f"{_QUERY}.document"), str) else None,
            id=str(named) if isinstance(named := event.get(f"{_QUERY}.id"), str | int) else None,
            score=finite(event.get(f"{_QUERY}.score")),
            metadata=parse_object(event.get(f"{_QUERY}.metadata")),
        )
        for event in found
    )
    problem = text_problem(documents, truncated=False)
    return Retrieval(span=span, documents=documents, problem=problem, attribute="events", in_order=False)


def _string(value: str) -> str:
    """The text of a JSON string (`"Paris."`), or `value` itself if it only begins with a quotation mark."""
    parsed = parse(value, semconv.MIME_JSON)
    return parsed if isinstance(parsed, str) else value
