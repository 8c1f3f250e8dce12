"""Documents of every library are recognised by their attributes. Unreadable documents give no chunks."""

from __future__ import annotations

import math
import uuid
from collections import deque
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_otel.model import Chunk
from rag_otel.observing.allowance import encodable
from rag_otel.observing.documents import to_chunks, unique

UUID = uuid.UUID(int=7)


@dataclass
class LangChainDocument:
    page_content: str
    metadata: dict[str, Any] = field(default_factory=dict)
    id: str | None = None


@dataclass
class HaystackDocument:
    id: str
    content: str | None
    meta: dict[str, Any] = field(default_factory=dict)
    score: float | None = None
    embedding: list[float] | None = None


class LlamaIndexNode:
    def __init__(self, node_id: str, text: str) -> None:
        self.node_id = node_id
        self.text = text
        self.metadata = {"page": 3}

    @property
    def broken(self) -> str:
        raise RuntimeError("never read")


class Number:
    """A scalar like those of numpy."""

    def __init__(self, value: float) -> None:
        self._value = value

    def __float__(self) -> float:
        return self._value


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("text", ("0", "text", None, {})),
        (LangChainDocument("text", {"source": "a.pdf"}, "d1"), ("d1", "text", None, {"source": "a.pdf"})),
        (LangChainDocument("text", {"doc_id": 12}), ("12", "text", None, {"doc_id": 12})),
        ((LangChainDocument("text", {}, "d1"), 0.25), ("d1", "text", 0.25, {})),
        (("text", Number(0.25)), ("0", "text", 0.25, {})),
        (
            SimpleNamespace(node=LlamaIndexNode("n1", "text"), score=0.25, text="text"),
            ("n1", "text", 0.25, {"page": 3}),
        ),
        (LlamaIndexNode("n1", "text"), ("n1", "text", None, {"page": 3})),
        (HaystackDocument("h1", "text", {"k": "v"}, 0.25), ("h1", "text", 0.25, {"k": "v"})),
        (HaystackDocument("h1", None), ("h1", "", None, {})),
        ({"id": 7, "text": "text", "score": 1}, ("7", "text", 1.0, {})),
        ({"_id": "e1", "_score": 2.5, "_source": {"content": "text"}}, ("e1", "text", 2.5, {})),
        ({"id": "p1", "score": 0.5, "metadata": {"text": "text"}}, ("p1", "text", 0.5, {"text": "text"})),
        (SimpleNamespace(id=UUID, score=0.5, payload={"page_content": "text"}), (str(UUID), "text", 0.5, {})),
        (SimpleNamespace(uuid=UUID, properties={"body": "text"}), (str(UUID), "text", None, {})),
        ({"passage": "text", "score": math.nan}, ("0", "text", None, {})),
        ({"chunk": "text", "score": "high", "id": ""}, ("0", "text", None, {})),
        (Chunk(id="c", text="text", position=9, score=0.5), ("c", "text", 0.5, {})),
    ],
)
def test_a_document_of_any_library(document: object, expected: tuple[str, str, float | None, dict[str, Any]]) -> None:
    """Text, id, score and metadata are found where each library keeps them."""
    chunks = to_chunks([document])
    assert chunks is not None
    (chunk,) = chunks
    assert (chunk.id, chunk.text, chunk.score, dict(chunk.metadata)) == expected
    assert chunk.position == 0


@pytest.mark.parametrize(
    "documents",
    [["a", "b"], ("a", "b"), deque(["a", "b"]), {"x": "a", "y": "b"}.values(), [{"text": "a"}, {"text": "b"}]],
)
def test_lists_of_every_kind(documents: object) -> None:
    """Order and positions are those of the retriever."""
    chunks = to_chunks(documents)
    assert chunks is not None
    assert [(chunk.position, chunk.id, chunk.text) for chunk in chunks] == [(0, "0", "a"), (1, "1", "b")]


def test_a_table_of_columns() -> None:
    """Chroma's result holds one list per query; the first query's rows are the chunks."""
    table = {"ids": [["a", "b"]], "documents": [["x", "y"]], "metadatas": [[{"p": 1}, None]], "distances": [[0.1, 0.2]]}
    chunks = to_chunks(table)
    assert chunks is not None
    assert [(chunk.id, chunk.text, dict(chunk.metadata)) for chunk in chunks] == [("a", "x", {"p": 1}), ("b", "y", {})]
    assert to_chunks({"ids": ["a"], "documents": ["x"]}) == (Chunk(id="a", text="x", position=0),)


@pytest.mark.parametrize("documents", [None, 3, object(), [object()], ["a", object()], [{"url": "u"}], [["a"]], {}])
def test_what_cannot_be_read_is_unknown(documents: object) -> None:
    """One unreadable document makes the whole list unknown, because missing evidence would make claims look
    unsupported."""
    assert to_chunks(documents) is None


def test_an_empty_list_is_an_empty_retrieval() -> None:
    """No results differs from unknown chunks."""
    assert to_chunks([]) == ()


def test_repetitions_and_taken_ids() -> None:
    """A repeated document is one chunk. A different text with the same id gets a new id."""
    chunks = to_chunks([{"id": "a", "text": "x"}, {"id": "a", "text": "x"}, {"id": "a", "text": "y"}])
    assert chunks is not None
    assert [(chunk.id, chunk.text, chunk.position) for chunk in chunks] == [("a", "x", 0), ("a#2", "y", 1)]


def test_metadata_is_a_copy() -> None:
    """Later changes by the application do not change the snapshot."""
    metadata = {"page": 1}
    chunks = to_chunks([{"text": "a", "metadata": metadata}])
    metadata["page"] = 2
    assert chunks is not None
    assert chunks[0].metadata == {"page": 1}


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"))))
def test_ids_are_unique_and_no_text_is_lost(pairs: list[tuple[str, str]]) -> None:
    """For any repetitions, ids are unique, positions are consecutive, and every (id, text) is kept."""
    given_chunks = [Chunk(id=chunk_id, text=text, position=i) for i, (chunk_id, text) in enumerate(pairs)]
    chunks = unique(given_chunks)
    assert [chunk.position for chunk in chunks] == list(range(len(chunks)))
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    assert {(chunk.id.partition("#")[0], chunk.text) for chunk in chunks} == set(pairs)


@given(st.text(st.characters(categories=["L", "Cs"])))
def test_encodable_text_keeps_its_length(text: str) -> None:
    """The text can be encoded in UTF-8, and all offsets stay valid."""
    mended = encodable(text)
    assert mended.encode().decode() == mended
    assert len(mended) == len(text)
    assert all(after in (before, "?") for before, after in zip(text, mended, strict=True))
