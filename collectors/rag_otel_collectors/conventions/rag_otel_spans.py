"""Our own spans: what `@observe` writes. Every observed call is an entry, whatever it hangs under.

The question, the response and, where the call knew them, the documents stand on the observed span itself. Otherwise
the chunks come from the retriever spans nested under it, in any dialect that the others can read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rag_otel import semconv
from rag_otel.model import RagTrace, SpanRecord, UnevaluableReason
from rag_otel_collectors.conventions.compose import Reading, compose, missing_text
from rag_otel_collectors.conventions.documents import flattened_documents
from rag_otel_collectors.conventions.openinference_spans import is_evaluator, model_name
from rag_otel_collectors.conventions.retrieval import (
    Passages,
    Retrieval,
    RetrievalReader,
    find_retrievals,
    text_problem,
    unite,
)
from rag_otel_collectors.conventions.tree import SpanTree

_FIRST_DOCUMENT: Final = f"{semconv.DOCUMENTS}.0.{semconv.DOCUMENT_CONTENT}"


class RagOtelSpans:
    """The dialect of the spans that `@observe` makes."""

    def __init__(self, retrievals: Sequence[RetrievalReader] = ()) -> None:
        """`retrievals`: the dialects whose retriever spans may hang under an observed call."""
        self._readers: tuple[RetrievalReader, ...] = (self, *retrievals)

    @property
    def name(self) -> str:
        return "rag_otel"

    def owns(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        return scope == semconv.SCOPE

    def retrieves(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        """An observed call that returned documents and no answer is the retrieval of the call around it."""
        return scope == semconv.SCOPE and _FIRST_DOCUMENT in attributes and semconv.OUTPUT_VALUE not in attributes

    def read(self, spans: Sequence[SpanRecord]) -> list[RagTrace]:
        tree = SpanTree(spans)
        return [self._read_entry(tree, span) for span in tree.spans if _observed(span)]

    def retrieval(self, span: SpanRecord) -> Retrieval | None:
        return _own_documents(span) if self.retrieves(span.scope, span.attributes) else None

    def _read_entry(self, tree: SpanTree, entry: SpanRecord) -> RagTrace:
        below = tree.descendants(entry, prune=is_evaluator)
        return compose(
            convention=self.name,
            entry=entry,
            below=below,
            question=_reading(entry, semconv.INPUT_VALUE, UnevaluableReason.NO_QUESTION),
            passages=self._passages(tree, entry),
            response=_response(entry),
            model=model_name(below),
            tags=_tags(entry),
        )

    def _passages(self, tree: SpanTree, entry: SpanRecord) -> Passages:
        """The entry's own documents, else those retrieved under it by no other observed call that answered."""
        own = _own_documents(entry)
        if own.documents:
            return unite([own])
        nested = tree.descendants(entry, prune=lambda span: is_evaluator(span) or is_answered_call(span))
        return unite(find_retrievals(tree, nested, self._readers))


def _observed(span: SpanRecord) -> bool:
    return span.scope == semconv.SCOPE and not is_evaluator(span)


def is_answered_call(span: SpanRecord) -> bool:
    """True for an observed call with an answer: what was retrieved under it belongs to it, not to what is around."""
    return span.scope == semconv.SCOPE and semconv.OUTPUT_VALUE in span.attributes


def _own_documents(span: SpanRecord) -> Retrieval:
    flat = flattened_documents(span.attributes, semconv.DOCUMENTS)
    truncated = flat.gap or span.dropped_attributes > 0 or semconv.OMITTED_DOCUMENTS in span.attributes
    return Retrieval(
        span=span,
        documents=flat.documents,
        problem=text_problem(flat.documents, truncated=truncated),
        query=_text(span, semconv.INPUT_VALUE),
    )


def _response(entry: SpanRecord) -> Reading:
    if entry.attributes.get(semconv.INCOMPLETE) is True:
        return Reading(text=_text(entry, semconv.OUTPUT_VALUE), problem=UnevaluableReason.INCOMPLETE)
    return _reading(entry, semconv.OUTPUT_VALUE, UnevaluableReason.NO_RESPONSE)


def _reading(span: SpanRecord, key: str, missing: UnevaluableReason) -> Reading:
    return Reading.of(_text(span, key), missing_text(span, missing))


def _text(span: SpanRecord, key: str) -> str | None:
    """Our own spans hold the text itself: nothing in it is taken for JSON."""
    value = span.attributes.get(key)
    return value if isinstance(value, str) and value.strip() else None


def _tags(span: SpanRecord) -> dict[str, str]:
    return {
        key.removeprefix(semconv.TAG_PREFIX): str(value)
        for key, value in span.attributes.items()
        if key.startswith(semconv.TAG_PREFIX)
    }
