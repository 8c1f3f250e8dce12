"""Retrieved documents, whatever library they come from, as `Chunk`s: by their shape, without importing the library.

| from | text | id | score | metadata |
|---|---|---|---|---|
| plain text | itself | | | |
| LangChain `Document`, alone or as `(document, score)` | `page_content` | `id` | the pair's | `metadata` |
| LlamaIndex `NodeWithScore` or a bare node | `node.text` | `node_id` | `score` | `metadata` |
| Haystack `Document` | `content` | `id` | `score` | `meta` |
| a mapping | `text`, `content`, `page_content`, ... | `id`, `_id`, `doc_id`, ... | `score`, ... | `metadata`, `meta` |
| a vector store's hit | in its `payload`, `_source`, `properties`, `metadata` | `id`, ... | `score`, ... | |
| Chroma's table of columns | `documents[0]` | `ids[0]` | | `metadatas[0]` |
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final, TypeAlias, TypeVar

from rag_otel.formats import usual_names
from rag_otel.model import Chunk
from rag_otel.observing.allowance import MAX_CHUNKS, MAX_WIDTH, Allowance

_NESTED_TEXT: Final = ("payload", "_source", "properties", "metadata", "fields")
"""Where vector stores put the text when it is not at the top."""
_METADATA_IDS: Final = ("id", "_id", "doc_id", "chunk_id", "document_id")
_NOTHING: Final[Mapping[str, Any]] = {}
_NO_ROW: Final[dict[str, Any]] = {}
_TEXTS: Final[set[type]] = {str}
_T = TypeVar("_T")
_Read: TypeAlias = Callable[[str], Any]


def to_chunks(documents: object, *, start: int = 0, allowance: Allowance | None = None) -> tuple[Chunk, ...] | None:
    """The documents as chunks in their order, positions counted from `start`; None where they cannot be read.

    `documents` is a list or tuple of any of the shapes above, one single document, or Chroma's table. An empty list
    gives an empty tuple: nothing was found, which is something else than unknown. One item of an unknown shape makes
    the whole list unknown: judging with some of the evidence missing would invent unsupported claims. Beyond
    `MAX_CHUNKS`, those before `start` included, documents are left out and counted in the `allowance`.
    """
    allowance = Allowance() if allowance is None else allowance
    room = max(0, MAX_CHUNKS - start)
    listed = documents if type(documents) is list else _listed(documents, room)
    size = len(listed)
    if size > room or type(listed) is not list:  # what is no plain list may go on beyond its length
        listed = list(islice(listed, room + 1))
        allowance.omitted_chunks += max(0, size - room, len(listed) - room)
        del listed[room:]
    if set(map(type, listed)) == _TEXTS:  # by far the most usual, so it takes the shortest way
        return tuple(
            [
                Chunk(id=str(position), text=text, position=position, metadata=_NOTHING)
                for position, text in enumerate(allowance.chunk_texts(listed), start)
            ]
        )
    chunks: list[Chunk] = []
    for position, document in enumerate(listed, start):
        chunk = _to_chunk(document, position, allowance)
        if chunk is None:
            return None
        chunks.append(chunk)
    return unique(chunks, start=start)


def _text_chunk(text: str, position: int, allowance: Allowance) -> Chunk:
    return Chunk(id=str(position), text=allowance.chunk_text(text), position=position, metadata=_NOTHING)


def unique(chunks: Sequence[Chunk], *, start: int = 0) -> tuple[Chunk, ...]:
    """The chunks without repetitions of id and text; another text under a taken id gets the id `<id>#<n>`.

    Positions count from `start`.
    """
    if len({chunk.id for chunk in chunks}) == len(chunks):
        return tuple(chunks)
    kept: dict[str, Chunk] = {}
    seen: set[tuple[str, str]] = set()
    copies: Counter[str] = Counter()
    for chunk in chunks:
        if (chunk.id, chunk.text) in seen:
            continue
        seen.add((chunk.id, chunk.text))
        chunk_id = chunk.id
        while chunk_id in kept:
            copies[chunk.id] += 1
            chunk_id = f"{chunk.id}#{copies[chunk.id] + 1}"
        kept[chunk_id] = Chunk(
            id=chunk_id, text=chunk.text, position=start + len(kept), score=chunk.score, metadata=chunk.metadata
        )
    return tuple(kept.values())


def _listed(documents: object, most: int) -> Collection[Any]:
    """The documents one by one: a table has rows (those after `most` are empty), a set or a dictionary's view has
    members, anything else is one."""
    if isinstance(documents, Mapping):
        return _table_rows(documents, most) if _is_table(documents) else (documents,)
    if isinstance(documents, Sequence) and not isinstance(documents, (str, bytes)):
        return documents
    if isinstance(documents, (set, frozenset)) or type(documents).__name__ in ("dict_values", "ndarray", "deque"):
        return documents  # type: ignore[return-value]
    return (documents,)


def _to_chunk(document: object, position: int, allowance: Allowance) -> Chunk | None:
    if isinstance(document, str):
        return _text_chunk(document, position, allowance)
    if isinstance(document, Chunk):
        return Chunk(
            id=document.id,
            text=allowance.chunk_text(document.text),
            position=position,
            score=document.score,
            metadata=document.metadata,
        )
    if isinstance(document, tuple) and len(document) == 2 and _number(document[1]) is not None:
        inner, score = _to_chunk(document[0], position, allowance), _number(document[1])
        return inner and Chunk(id=inner.id, text=inner.text, position=position, score=score, metadata=inner.metadata)
    read_outer = _reader(document)
    node = read_outer("node")  # LlamaIndex: the score stands outside, the rest inside
    inside = document if node is None else node
    read = _reader(inside)
    text = _text(read)
    if text is None and not _is_empty(inside):
        return None
    metadata: Mapping[str, Any] = _first(read, usual_names.METADATA, _mapping) or _NOTHING
    identity = _first(read, usual_names.ID, _identity) or _first(metadata.get, _METADATA_IDS, _identity)
    return Chunk(
        id=identity or str(position),
        text=allowance.chunk_text(text or ""),
        position=position,
        score=_first(read_outer, usual_names.SCORE, _number),
        metadata=dict(islice(metadata.items(), MAX_WIDTH)) if metadata else _NOTHING,
    )


def _text(read: _Read) -> str | None:
    text = _first(read, usual_names.TEXT, _string)
    if text is not None:
        return text
    for name in _NESTED_TEXT:
        nested = _mapping(read(name))
        if nested and (text := _first(nested.get, usual_names.TEXT, _string)) is not None:
            return text
    return None


def _is_empty(document: object) -> bool:
    """A document that says that it has no text (an image): an empty chunk, so that positions stay the retriever's."""
    fields = document if isinstance(document, Mapping) else getattr(document, "__dict__", None) or {}
    return any(name in fields and fields[name] is None for name in ("content", "page_content"))


def _reader(document: object) -> _Read:
    """`document[name]` or `document.name`, None where there is none, also where a property raises."""
    if isinstance(document, Mapping):
        return document.get

    def read(name: str) -> Any:
        try:
            return getattr(document, name, None)
        except Exception:  # noqa: BLE001 - somebody else's property
            return None

    return read


def _first(read: _Read, names: Iterable[str], accept: Callable[[Any], _T | None]) -> _T | None:
    for name in names:
        value = read(name)
        if value is not None and (accepted := accept(value)) is not None:
            return accepted
    return None


def _string(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _mapping(value: object) -> Mapping[str, Any] | None:
    return value if isinstance(value, Mapping) else None


def _identity(value: object) -> str | None:
    """Text, a whole number or a UUID; never an object's repr."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return str(value) if type(value).__name__ == "UUID" else None


def _number(value: object) -> float | None:
    """A finite number as a float; numpy's scalars are numbers too."""
    if isinstance(value, (bool, str, bytes)) or not hasattr(value, "__float__"):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _is_table(documents: Mapping[str, Any]) -> bool:
    return "ids" in documents and isinstance(documents.get("documents"), list)


def _table_rows(table: Mapping[str, Any], most: int) -> list[dict[str, Any]]:
    """Rows of the first query of a table of columns, as Chroma's `query` and `get` return it."""

    def column(name: str) -> list[Any]:
        values = table.get(name) or []
        return values[0] if values and isinstance(values[0], list) else values

    metadatas, ids, texts = column("metadatas"), column("ids"), column("documents")
    count = min(len(ids), len(texts))
    rows = [
        {"id": ids[i], "content": texts[i], "metadata": metadatas[i] if i < len(metadatas) else None}
        for i in range(min(count, most))
    ]
    return rows + [_NO_ROW] * (count - len(rows))
