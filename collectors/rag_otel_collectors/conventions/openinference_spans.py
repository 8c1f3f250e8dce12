"""Reads the documents of retrievers, rerankers and document filters in OpenInference spans."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from rag_otel import semconv
from rag_otel.model import SpanRecord, StatusCode, UnevaluableReason
from rag_otel_collectors.conventions.reading.documents import Document, documents_in, flattened_documents
from rag_otel_collectors.conventions.reading.retrieval import Retrieval, text_problem
from rag_otel_collectors.conventions.reading.values import parse, parse_object, question_text

RETRIEVALS: Final = (semconv.KIND_RETRIEVER, semconv.KIND_RERANKER)

_HAYSTACK: Final = "openinference.instrumentation.haystack"
_LLAMA_INDEX: Final = "openinference.instrumentation.llama_index"
_POSTPROCESSING: Final = "postprocess_nodes"


def kind(span: SpanRecord) -> Any:
    """The value of `openinference.span.kind`, or None."""
    return span.attributes.get(semconv.SPAN_KIND)


def parsed_input(span: SpanRecord) -> Any:
    """The value of `input.value`: parsed JSON or text, according to its MIME type."""
    return parse(span.attributes.get(semconv.INPUT_VALUE), span.attributes.get(semconv.INPUT_MIME_TYPE))


def parsed_output(span: SpanRecord) -> Any:
    """The value of `output.value`: parsed JSON or text, according to its MIME type."""
    return parse(span.attributes.get(semconv.OUTPUT_VALUE), span.attributes.get(semconv.OUTPUT_MIME_TYPE))


def read_retrieval(span: SpanRecord) -> Retrieval | None:
    """The documents that a RETRIEVER returned, or that a RERANKER or a framework's filter selected. None for any other
    span."""
    if kind(span) == semconv.KIND_RETRIEVER:
        asked: dict[str, Any] = {"query": _query(span), "query_attribute": semconv.INPUT_VALUE}
        if span.status is StatusCode.ERROR:
            return Retrieval(span=span, **asked)
        documents, problem = _documents(span, semconv.DOCUMENTS)
        return Retrieval(span=span, documents=documents, problem=problem, attribute=_where(span), **asked)
    if span.status is StatusCode.ERROR:
        return None
    if kind(span) == semconv.KIND_RERANKER:
        documents, problem = _documents(span, semconv.RERANKER_OUTPUT_DOCUMENTS)
        fed = flattened_documents(span.attributes, semconv.RERANKER_INPUT_DOCUMENTS).documents
        where = f"{semconv.RERANKER_OUTPUT_DOCUMENTS}.*"
        return Retrieval(span=span, documents=documents, problem=problem, query=_query(span), fed=fed, attribute=where)
    return _read_filter(span)


def _read_filter(span: SpanRecord) -> Retrieval | None:
    """Reads LlamaIndex postprocessors and Haystack joiners and filters. They are CHAIN spans that contain the `repr` of
    documents."""
    if kind(span) != semconv.KIND_CHAIN:
        return None
    if span.scope.startswith(_LLAMA_INDEX) and span.name.endswith(_POSTPROCESSING):
        fed, chosen = parse_object(parsed_input(span)).get("nodes"), parsed_output(span)
    elif span.scope.startswith(_HAYSTACK):
        fed, chosen = (parse_object(value).get("documents") for value in (parsed_input(span), parsed_output(span)))
    else:
        return None
    given, documents = documents_in(_flat(fed)), documents_in(chosen)
    if not given or documents is None:
        return None
    return Retrieval(span=span, documents=documents, fed=given, by_name=True, attribute=semconv.OUTPUT_VALUE)


def _flat(value: Any) -> Any:
    """Flattens the list of lists that a joiner receives."""
    if isinstance(value, list) and value and all(isinstance(item, list) for item in value):
        return [each for item in value for each in item]
    return value


def _query(span: SpanRecord) -> str | None:
    query = span.attributes.get(semconv.RERANKER_QUERY)
    return query if isinstance(query, str) else question_text(parsed_input(span))


def _where(span: SpanRecord) -> str:
    flat = any(key.startswith(semconv.DOCUMENTS) for key in span.attributes)
    return f"{semconv.DOCUMENTS}.*" if flat else semconv.OUTPUT_VALUE


def _missing(span: SpanRecord) -> UnevaluableReason:
    return UnevaluableReason.TRUNCATED if span.dropped_attributes > 0 else UnevaluableReason.NO_CHUNK_TEXT


def _documents(span: SpanRecord, prefix: str) -> tuple[tuple[Document, ...], UnevaluableReason | None]:
    """The documents of a retrieval span, and the problem with them if there is one.

    The JSON of `output.value` completes the flattened attributes (LangChain's ids are only there). It is not used if a
    privacy setting hid a text, because it may still contain that text.
    """
    flat = flattened_documents(span.attributes, prefix)
    if text_problem(flat.documents, truncated=False) is UnevaluableReason.REDACTED:
        return flat.documents, UnevaluableReason.REDACTED
    truncated = flat.gap or (span.dropped_attributes > 0 and bool(flat.documents))
    if flat.documents and not truncated and all(document.id is not None for document in flat.documents):
        return flat.documents, text_problem(flat.documents, truncated=False)
    output = parsed_output(span)
    listed = documents_in(output)
    if not flat.documents:
        if output == semconv.REDACTED:
            return (), UnevaluableReason.REDACTED
        if listed is None:
            return (), _missing(span)
        return listed, text_problem(listed, truncated=False)
    if truncated and listed is not None and _covers(listed, flat.documents):
        return listed, None
    return _with_ids(flat.documents, listed or ()), text_problem(flat.documents, truncated=truncated)


def _covers(listed: Sequence[Document], flat: Iterable[Document]) -> bool:
    texts = {document.text for document in listed}
    return None not in texts and all(document.text in texts for document in flat)


def _with_ids(documents: Sequence[Document], listed: Sequence[Document]) -> tuple[Document, ...]:
    if len(documents) != len(listed):
        return tuple(documents)
    return tuple(
        replace(document, id=other.id) if document.id is None and document.text == other.text else document
        for document, other in zip(documents, listed, strict=True)
    )
