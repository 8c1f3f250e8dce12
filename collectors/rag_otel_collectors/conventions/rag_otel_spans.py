"""Reads the spans of `@observe`. Every observed call is an entry, whatever its parent span is.

The observed span has the question and the response, and the documents if the call recorded them. Otherwise the chunks
come from the retrieval spans below it, in any dialect. An observed function that returned documents and no answer is a
retrieval of the call around it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rag_otel import semconv
from rag_otel.evaluation.conversation import ConversationContext
from rag_otel.model import RagTrace, SpanRecord, UnevaluableReason
from rag_otel_collectors.conventions.reading.chunk_recovery import recover
from rag_otel_collectors.conventions.reading.dialect import Dialect
from rag_otel_collectors.conventions.reading.mixed_dialects import (
    MixedDialects,
    is_evaluator,
    is_returned_documents,
    own_documents,
    plain_text,
)
from rag_otel_collectors.conventions.reading.rag_trace import (
    TextOrReason,
    compose,
    with_conversation_of,
    with_earlier_turns,
)
from rag_otel_collectors.conventions.reading.retrieval import Passages, find_retrievals, source, unite
from rag_otel_collectors.conventions.reading.tree import SpanTree


class RagOtelSpans:
    """The convention of the spans that `@observe` creates."""

    def __init__(
        self, dialects: Sequence[Dialect], *, recover_chunks: bool = True, conversation: ConversationContext = "none"
    ) -> None:
        """`dialects` are those whose spans may be below an observed call. `recover_chunks` and `conversation` as in
        `DialectConvention`."""
        self._dialects = dialects
        self._recover = recover_chunks
        self._conversation = conversation

    @property
    def name(self) -> str:
        return "rag_otel"

    def owns(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        return scope == semconv.SCOPE

    def retrieves(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        return is_returned_documents(scope, attributes)

    def read(self, spans: Sequence[SpanRecord]) -> list[RagTrace]:
        if not any(span.scope == semconv.SCOPE for span in spans):
            return []
        tree, mixture = SpanTree(spans), MixedDialects(self._dialects)
        return [self._read_entry(tree, mixture, span) for span in tree.spans if _is_entry(tree, mixture, span)]

    def _read_entry(self, tree: SpanTree, mixture: MixedDialects, entry: SpanRecord) -> RagTrace:
        below = tree.descendants(entry, prune=is_evaluator)
        calls = [span for span in below if mixture.is_call(span)]
        trace = compose(
            convention=self.name,
            entry=entry,
            below=below,
            question=_reading("question", entry, semconv.INPUT_VALUE, UnevaluableReason.NO_QUESTION),
            passages=self._passages(tree, mixture, entry),
            response=_response(entry),
            model=mixture.model_name(calls),
            tags=_tags(entry),
        )
        trace = with_earlier_turns(trace, calls, mixture, self._conversation)
        return with_conversation_of(entry, trace, self._conversation)

    def _passages(self, tree: SpanTree, mixture: MixedDialects, entry: SpanRecord) -> Passages:
        """The documents on the entry, else the documents retrieved below it. Retrievals below another observed call
        with an answer belong to that call."""
        own = own_documents(entry)
        if own.documents:
            return unite([own])
        nested = tree.descendants(entry, prune=mixture.is_foreign)
        passages = unite(find_retrievals(tree, nested, mixture.retrieval))
        return recover(passages, nested, mixture) if self._recover else passages


def _is_entry(tree: SpanTree, mixture: MixedDialects, span: SpanRecord) -> bool:
    """True for every observed call, except a search function inside another observed call or a dialect's entry."""
    if span.scope != semconv.SCOPE or is_evaluator(span):
        return False
    if not is_returned_documents(span.scope, span.attributes):
        return True
    return not any(
        above.scope == semconv.SCOPE or mixture.dialect_of(above) is not None for above in tree.ancestors(span)
    )


def _response(entry: SpanRecord) -> TextOrReason:
    if entry.attributes.get(semconv.INCOMPLETE) is True:
        return TextOrReason(text=plain_text(entry, semconv.OUTPUT_VALUE), problem=UnevaluableReason.INCOMPLETE)
    return _reading("response", entry, semconv.OUTPUT_VALUE, UnevaluableReason.NO_RESPONSE)


def _reading(part: str, span: SpanRecord, key: str, missing: UnevaluableReason) -> TextOrReason:
    missing = UnevaluableReason.TRUNCATED if span.dropped_attributes > 0 else missing
    return TextOrReason.of(plain_text(span, key), missing, source(part, span, key))


def _tags(span: SpanRecord) -> dict[str, str]:
    return {
        key.removeprefix(semconv.TAG_PREFIX): str(value)
        for key, value in span.attributes.items()
        if key.startswith(semconv.TAG_PREFIX)
    }
