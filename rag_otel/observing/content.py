"""What an observed call leaves on its span: OpenInference attributes, within the SDK's limit of attributes.

A span over its limit drops its oldest keys, with a warning for each. So what does not fit is not written: question and
answer always are, then as many of the first documents as there is room for, and the number of those left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Final

from opentelemetry.trace import Span, Status, StatusCode

from rag_otel import semconv
from rag_otel.model import AttributeValue, Chunk
from rag_otel.observing.call_snapshot import Snapshot
from rag_otel.safety.privacy import HiddenContent

_as_json: Final = json.JSONEncoder(ensure_ascii=False).encode
_MAX_METADATA: Final = 4096
"""Characters of JSON: a document's longer metadata (an embedding in it) stays out of the span."""
_MAX_METADATA_IN_ALL: Final = 40_000
"""The same for all documents of a span."""
_SCALAR: Final = 8
"""Characters that a number counts for."""


def content_attributes(
    taken: Snapshot,
    *,
    hidden: HiddenContent,
    elsewhere: Mapping[str, Any] | None = None,
    room: int | None = None,
) -> dict[str, AttributeValue]:
    """All attributes of the span of an observed call, for one `set_attributes`; at most `room` of them.

    `elsewhere` are the attributes of a nested span with documents: the very same chunks are not repeated, others (the
    five best of its twenty) are. Hidden text becomes `__REDACTED__`, as OpenInference writes it; ids and scores of
    chunks stay.
    """
    attributes: dict[str, AttributeValue] = {semconv.SPAN_KIND: semconv.KIND_CHAIN}
    if taken.question is not None:
        attributes[semconv.INPUT_VALUE] = semconv.REDACTED if hidden.question else taken.question
    if taken.response is not None:
        attributes[semconv.OUTPUT_VALUE] = semconv.REDACTED if hidden.response else taken.response
    if taken.omitted_characters:
        attributes[semconv.OMITTED_CHARACTERS] = taken.omitted_characters
    if taken.memory and not (hidden.question or hidden.documents):
        attributes[semconv.MEMORY] = _as_json(taken.memory)
    # It holds earlier answers too.
    if taken.history and not (hidden.question or hidden.response):
        attributes[semconv.HISTORY] = _as_json(taken.history)
    if taken.incomplete:
        attributes[semconv.INCOMPLETE] = True
    if taken.session_id is not None:
        attributes[semconv.SESSION_ID] = taken.session_id
    if taken.user_id is not None:
        attributes[semconv.USER_ID] = taken.user_id
    for name, tag in taken.tags.items():
        attributes[semconv.TAG_PREFIX + name] = tag
    if taken.chunks and (elsewhere is None or not _carries(elsewhere, taken.chunks)):
        _add_documents(attributes, taken.chunks, hidden.documents, room)
    if taken.omitted_chunks:
        left_out = attributes.get(semconv.OMITTED_DOCUMENTS)
        attributes[semconv.OMITTED_DOCUMENTS] = (left_out if isinstance(left_out, int) else 0) + taken.omitted_chunks
    return attributes


def attribute_room(span: Span, present: int) -> int | None:
    """How many more attributes the span takes beside those that are `present`, before it drops some; None where that is
    not known (another SDK)."""
    limit = getattr(getattr(span, "_limits", None), "max_span_attributes", None)
    return limit - present if isinstance(limit, int) else None


def mark_failed(span: Span, error: Exception, *, hide_message: bool) -> None:
    """Status and exception event; without the message where content is hidden, since it may quote some."""
    name = type(error).__name__
    if hide_message:
        module = type(error).__module__
        qualified = type(error).__qualname__ if module == "builtins" else f"{module}.{type(error).__qualname__}"
        span.add_event("exception", {"exception.type": qualified})
        span.set_status(Status(StatusCode.ERROR, name))
    else:
        span.record_exception(error)
        span.set_status(Status(StatusCode.ERROR, f"{name}: {error}"))


def _add_documents(
    attributes: dict[str, AttributeValue], chunks: Sequence[Chunk], hidden: bool, room: int | None
) -> None:
    metadata_left = _MAX_METADATA_IN_ALL
    for position, chunk in enumerate(chunks):
        content_key, id_key, score_key, metadata_key = _keys(position)
        document: dict[str, AttributeValue] = {content_key: semconv.REDACTED if hidden else chunk.text}
        if chunk.id != str(position):  # a reader counts by itself
            document[id_key] = chunk.id
        if chunk.score is not None:
            document[score_key] = chunk.score
        if chunk.metadata and not hidden and metadata_left > 0:
            metadata, looked_at = _metadata(chunk.metadata, min(_MAX_METADATA, metadata_left))
            metadata_left -= looked_at
            if metadata is not None:
                document[metadata_key] = metadata
        if room is not None and len(attributes) + len(document) >= room:
            attributes[semconv.OMITTED_DOCUMENTS] = len(chunks) - position
            return
        attributes.update(document)


def _carries(attributes: Mapping[str, Any], chunks: Sequence[Chunk]) -> bool:
    """True when the documents in the attributes are these chunks, in this order."""
    texts = [attributes.get(_keys(position)[0]) for position in range(len(chunks) + 1)]
    return texts == [*(chunk.text for chunk in chunks), None]


@lru_cache(maxsize=1024)
def _keys(position: int) -> tuple[str, str, str, str]:
    prefix = f"{semconv.DOCUMENTS}.{position}."
    return (
        prefix + semconv.DOCUMENT_CONTENT,
        prefix + semconv.DOCUMENT_ID,
        prefix + semconv.DOCUMENT_SCORE,
        prefix + semconv.DOCUMENT_METADATA,
    )


def _metadata(metadata: Mapping[str, Any], most: int) -> tuple[str | None, int]:
    """(a JSON string as OpenInference writes it, how many characters were looked at); None where it has more than
    `most` or cannot be written."""
    try:
        # Before anything is written: an embedding in it would take milliseconds.
        left = _left_after(metadata, most)
        text = json.dumps(metadata, default=str, allow_nan=False) if left >= 0 else None
    except (TypeError, ValueError, RecursionError):
        return None, most
    return (text if text is not None and len(text) <= most else None), most - max(0, left)


def _left_after(value: object, left: int) -> int:
    """What is left of `left` characters after a JSON value, roughly; negative where it is too long, or holds something
    of unknown size (a table, a tensor), whose text may be anything."""
    if isinstance(value, str):
        return left - len(value) - 2
    if isinstance(value, (list, tuple)):
        items: Iterable[object] = value
    elif isinstance(value, Mapping):
        items = chain.from_iterable(value.items())
    else:
        return -1 if hasattr(value, "__len__") else left - _SCALAR
    for item in items:
        if left < 0:
            break
        left = _left_after(item, left)
    return left - 2
