"""The dialect of spans with custom attribute names, which an `AttributeMapping` describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rag_otel import semconv
from rag_otel.formats.paths import Step
from rag_otel.model import SpanRecord, StatusCode
from rag_otel_collectors.conventions.mapping import AttributeMapping, Reference, follow
from rag_otel_collectors.conventions.reading.dialect import Dialect, Found, RecordedAnswer, Role
from rag_otel_collectors.conventions.reading.documents import Document, documents_in
from rag_otel_collectors.conventions.reading.retrieval import Retrieval, text_problem
from rag_otel_collectors.conventions.reading.values import as_id, finite


class Mapped(Dialect):
    """Spans that have one of the mapped attributes."""

    questions_are_exact = True

    def __init__(self, mapping: AttributeMapping) -> None:
        self._mapping = mapping
        self.name = mapping.name

    def owns(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        mapping = self._mapping
        return (
            mapping.question.is_on(attributes) or mapping.response.is_on(attributes) or mapping.chunks.is_on(attributes)
        )

    def retrieves(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        return self._mapping.chunks.is_on(attributes)

    def calls(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        return self._mapping.response.is_on(attributes) and not self._mapping.chunks.is_on(attributes)

    def role(self, span: SpanRecord) -> Role:
        """A span with chunks and no response is a retrieval. A span with a response and no chunks is a model call."""
        if self._mapping.chunks.is_on(span.attributes):
            return Role.CHAIN if self._mapping.response.is_on(span.attributes) else Role.RETRIEVAL
        return Role.MODEL if self._mapping.response.is_on(span.attributes) else Role.CHAIN

    def question(self, span: SpanRecord) -> Found | None:
        return _text(self._mapping.question, span)

    def answer(self, span: SpanRecord) -> RecordedAnswer:
        return RecordedAnswer(found=_text(self._mapping.response, span))

    def asked(self, call: SpanRecord) -> Found | None:
        return _text(self._mapping.question, call)

    def wrote(self, call: SpanRecord) -> Found | None:
        return _text(self._mapping.response, call)

    def model(self, call: SpanRecord) -> str | None:
        return self._optional(self._mapping.model, call)

    def session_id(self, span: SpanRecord) -> str | None:
        return self._optional(self._mapping.session_id, span)

    def user_id(self, span: SpanRecord) -> str | None:
        return self._optional(self._mapping.user_id, span)

    def retrieval(self, span: SpanRecord) -> Retrieval | None:
        mapping = self._mapping
        if not mapping.chunks.is_on(span.attributes):
            return None
        failed = span.status is StatusCode.ERROR
        documents = () if failed else _documents(mapping, span.attributes)
        question = _text(mapping.question, span)
        return Retrieval(
            span=span,
            documents=documents,
            problem=text_problem(documents, truncated=span.dropped_attributes > 0),
            query=None if question is None else question.text,
            query_attribute=mapping.question.text,
            attribute=mapping.chunks.text,
            in_order=False,
        )

    @staticmethod
    def _optional(reference: Reference | None, span: SpanRecord) -> str | None:
        found = None if reference is None else _text(reference, span)
        return None if found is None else found.text


def _text(reference: Reference, span: SpanRecord) -> Found | None:
    """The text at a reference. Several texts are joined with line breaks."""
    values = [value for value in reference.values(span.attributes).values() if not isinstance(value, Mapping | list)]
    text = "\n".join(str(value) for value in values if str(value).strip())
    return Found.of(text, reference.text)


def _documents(mapping: AttributeMapping, attributes: Mapping[str, Any]) -> tuple[Document, ...]:
    items = mapping.chunks.values(attributes)
    if not mapping.chunks.numbered and not mapping.chunks.steps:
        listed = follow(attributes.get(mapping.chunks.key), (None,))
        items = dict(enumerate(listed)) if listed else items
    return tuple(_document(mapping, attributes, number, item) for number, item in items.items())


def _document(mapping: AttributeMapping, attributes: Mapping[str, Any], number: int, item: Any) -> Document:
    recognised = documents_in([item])
    base = recognised[0] if recognised else Document(text=None)
    text = _detail(mapping.chunk_text, attributes, number, item)
    named = _detail(mapping.chunk_id, attributes, number, item)
    score = _detail(mapping.chunk_score, attributes, number, item)
    hidden = base.text == semconv.REDACTED or text == semconv.REDACTED
    return Document(
        text=semconv.REDACTED if hidden else text if isinstance(text, str) else base.text,
        id=as_id(named) or base.id,
        score=base.score if score is None else finite(score),
        metadata=base.metadata,
    )


def _detail(where: Sequence[Step] | Reference | None, attributes: Mapping[str, Any], number: int, item: Any) -> Any:
    """A field of a chunk. `where` is a path within the chunk, or an attribute with the same number."""
    if where is None:
        return None
    if isinstance(where, Reference):
        return where.values(attributes).get(number)
    found = follow(item, where)
    return found[0] if found else None
