"""Reads single spans of `@observe`: the answer, or the documents that the call recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rag_otel import semconv
from rag_otel.model import SpanRecord
from rag_otel_collectors.conventions.reading.documents import flattened_documents
from rag_otel_collectors.conventions.reading.retrieval import Retrieval, text_problem

_FIRST_DOCUMENT: Final = f"{semconv.DOCUMENTS}.0.{semconv.DOCUMENT_CONTENT}"


def is_answered_call(span: SpanRecord) -> bool:
    """True for an observed call with an answer. Retrievals below it belong to this call, not to a call around it."""
    return span.scope == semconv.SCOPE and semconv.OUTPUT_VALUE in span.attributes


def is_returned_documents(scope: str, attributes: Mapping[str, Any]) -> bool:
    """True for an observed call that returned documents and no answer. It is a retrieval of the call around it."""
    return scope == semconv.SCOPE and _FIRST_DOCUMENT in attributes and semconv.OUTPUT_VALUE not in attributes


def own_documents(span: SpanRecord) -> Retrieval:
    """The documents on the span of an observed call."""
    flat = flattened_documents(span.attributes, semconv.DOCUMENTS)
    truncated = flat.gap or span.dropped_attributes > 0 or semconv.OMITTED_DOCUMENTS in span.attributes
    return Retrieval(
        span=span,
        documents=flat.documents,
        problem=text_problem(flat.documents, truncated=truncated),
        query=plain_text(span, semconv.INPUT_VALUE),
        query_attribute=semconv.INPUT_VALUE,
        attribute=f"{semconv.DOCUMENTS}.*",
    )


def plain_text(span: SpanRecord, key: str) -> str | None:
    """The text of an attribute of an observed span. It is never parsed as JSON."""
    value = span.attributes.get(key)
    return value if isinstance(value, str) and value.strip() else None
