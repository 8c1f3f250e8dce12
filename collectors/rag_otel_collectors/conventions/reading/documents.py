"""Reads retrieved documents in the forms that instrumentations write: flattened attributes, or a JSON value."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from rag_otel import semconv
from rag_otel.formats import usual_names
from rag_otel.lazy_dataclass import dataclass
from rag_otel_collectors.conventions.reading.messages import is_list, numbered
from rag_otel_collectors.conventions.reading.values import as_id, finite, is_repr, parse_object

_LISTS: Final = (*usual_names.CHUNKS, *usual_names.CHUNKS_TOO)
_REPR_ID: Final = re.compile(r"(?:<?NodeWithScore\(node=\w+\(id_=|Document\(id=)([^,()]+)")
_REPR_TAIL: Final = 100
_REPR_SCORE: Final = re.compile(r"score[=:] ?([-+.\de]+)(?:, embedding: [^']*)?\)>?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One document of one retrieval, before it becomes a chunk of a trace."""

    text: str | None
    """None if the span has the document without its text."""
    id: str | None = None
    score: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlattenedDocuments:
    """The documents in attributes `<prefix>.<n>.document.*`."""

    documents: tuple[Document, ...]
    """In order of their index."""
    gap: bool
    """True if an index is missing, because the SDK's limits dropped it."""


def flattened_documents(attributes: Mapping[str, Any], prefix: str) -> FlattenedDocuments:
    """Reads the documents in attributes `<prefix>.<n>.document.{content,id,score,metadata}`."""
    fields = numbered(attributes, prefix)
    return FlattenedDocuments(
        documents=tuple(map(_from_attributes, fields.values())),
        gap=list(fields) != list(range(len(fields))),
    )


def documents_in(value: Any) -> tuple[Document, ...] | None:
    """Returns the documents in a parsed JSON output. None if it contains no list of documents.

    The list may contain texts or objects, and may be a field with a common name. The `repr` of a document gives a
    document without text.
    """
    if isinstance(value, Mapping):
        listed = next((value[name] for name in _LISTS if is_list(value.get(name))), None)
        return None if listed is None else documents_in(listed)
    if not is_list(value):
        return None
    documents = [_from_json(item) for item in value]
    return tuple(each for each in documents if each is not None) if all(documents) else None


def _from_attributes(fields: Mapping[str, Any]) -> Document:
    text = fields.get(semconv.DOCUMENT_CONTENT)
    metadata = _metadata(fields.get(semconv.DOCUMENT_METADATA))
    return Document(
        text=text if isinstance(text, str) else None,
        id=as_id(fields.get(semconv.DOCUMENT_ID)),
        score=_score(fields.get(semconv.DOCUMENT_SCORE), metadata),
        metadata=metadata,
    )


def _from_json(item: Any) -> Document | None:
    if isinstance(item, str):
        return _from_repr(item) if is_repr(item) else Document(text=item)
    if not isinstance(item, Mapping):
        return None
    body = next((item[name] for name in ("node", "document") if isinstance(item.get(name), Mapping)), item)
    metadata = _metadata(_first(body, usual_names.METADATA))
    text = _first(body, usual_names.TEXT)
    return Document(
        text=text if isinstance(text, str) else None,
        id=as_id(_first(body, usual_names.ID)),
        score=_score(item.get("score"), metadata),
        metadata=metadata,
    )


def _from_repr(text: str) -> Document:
    """Reads the `repr` of a document: `<NodeWithScore(node=TextNode(id_=d1), score=0.9)>` of LlamaIndex,
    `Document(id=d1, ..., score: 0.9)` of Haystack."""
    named = _REPR_ID.match(text)
    scored = _REPR_SCORE.search(text[-_REPR_TAIL:])
    return Document(text=None, id=named[1] if named else None, score=finite(scored[1]) if scored else None)


def _first(fields: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def _metadata(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else parse_object(value)


def _score(value: Any, metadata: Mapping[str, Any]) -> float | None:
    score = finite(value)
    return score if score is not None else finite(_first(metadata, usual_names.SCORE))
