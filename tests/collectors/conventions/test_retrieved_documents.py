"""The documents of a retrieval: missing or hidden texts, ids, scores, and unique chunks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rag_otel import semconv
from rag_otel.model import UnevaluableReason
from tests.collectors.conventions.spans import (
    EUROPE,
    PARIS,
    a_chain,
    a_retriever,
    a_span,
    flattened,
    json_output,
    read_one,
    texts,
)

# --- what cannot be read ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("empty", [[], {"documents": []}])
def test_empty_retrieval_is_evaluable(empty: Any) -> None:
    """The retriever found nothing and records that: no claim has evidence."""
    root = a_chain()
    retriever = a_span(semconv.KIND_RETRIEVER, parent=root, attributes=json_output(empty))
    trace = read_one(root, retriever)
    assert (trace.chunks, trace.chunk_span, trace.unevaluable_reason) == ((), None, None)


def test_silent_retriever_is_not_an_empty_one() -> None:
    """Without documents and without an empty list, the result is unknown."""
    root = a_chain()
    silent = a_span(semconv.KIND_RETRIEVER, parent=root)
    assert read_one(root, silent).unevaluable_reason is UnevaluableReason.NO_CHUNK_TEXT


def test_ids_without_text() -> None:
    """Documents with only ids cannot be judged. The trace has the reason and keeps the ids."""
    root = a_chain()
    trace = read_one(root, a_retriever({"id": "d1", "score": 0.5}, parent=root))
    assert [(chunk.id, chunk.text) for chunk in trace.chunks] == [("d1", "")]
    assert trace.unevaluable_reason is UnevaluableReason.NO_CHUNK_TEXT


def test_one_text_missing_of_two_retrievals_is_enough() -> None:
    """The answer may depend on the missing text."""
    root = a_chain()
    spans = a_retriever(PARIS, parent=root), a_retriever({"id": "d2"}, parent=root)
    assert read_one(root, *spans).unevaluable_reason is UnevaluableReason.NO_CHUNK_TEXT


def test_hidden_document_is_not_read_from_the_output() -> None:
    """The JSON output still contains the text that the documents hide."""
    output = json_output({"documents": [{"id": "d1", "page_content": "secret"}]})
    root = a_chain()
    trace = read_one(root, a_retriever(semconv.REDACTED, parent=root, attributes=output))
    assert trace.unevaluable_reason is UnevaluableReason.REDACTED
    assert [(chunk.id, chunk.text) for chunk in trace.chunks] == [("0", "")]


def test_hidden_output_without_documents() -> None:
    """If outputs are hidden, a reranker has no documents. Its output shows why."""
    root = a_chain()
    hidden = a_span(semconv.KIND_RERANKER, parent=root, attributes={semconv.OUTPUT_VALUE: semconv.REDACTED})
    assert read_one(root, a_retriever(PARIS, parent=root), hidden).unevaluable_reason is UnevaluableReason.REDACTED


def test_evicted_documents_are_truncated() -> None:
    """Limits drop the oldest keys, so the first documents are missing."""
    documents = flattened(semconv.DOCUMENTS, [PARIS, EUROPE])
    del documents[f"{semconv.DOCUMENTS}.0.document.content"]
    root = a_chain()
    retriever = a_span(semconv.KIND_RETRIEVER, parent=root, attributes=documents)
    assert read_one(root, retriever).unevaluable_reason is UnevaluableReason.TRUNCATED


def test_dropped_attributes_on_the_retriever_are_truncated() -> None:
    """Other SDKs drop the newest keys, so the last documents may be missing."""
    root = a_chain()
    retriever = a_retriever(PARIS, parent=root, dropped_attributes=1)
    assert read_one(root, retriever).unevaluable_reason is UnevaluableReason.TRUNCATED


def test_json_output_mends_evicted_documents() -> None:
    """If the JSON output has the whole list, nothing is missing."""
    output = json_output({"documents": [{"id": "d1", "page_content": PARIS}, {"id": "d2", "page_content": EUROPE}]})
    root = a_chain()
    retriever = a_retriever(PARIS, parent=root, dropped_attributes=9, attributes=output)
    trace = read_one(root, retriever)
    assert [(chunk.id, chunk.text) for chunk in trace.chunks] == [("d1", PARIS), ("d2", EUROPE)]
    assert trace.evaluable


# --- fields of documents ----------------------------------------------------------------------------------------------


def test_ids_only_in_the_json_output() -> None:
    """LangChain writes the ids only in `output.value`."""
    output = json_output({"documents": [{"id": "d1", "page_content": PARIS}, {"id": "d2", "page_content": EUROPE}]})
    root = a_chain()
    trace = read_one(root, a_retriever(PARIS, EUROPE, parent=root, attributes=output))
    assert [chunk.id for chunk in trace.chunks] == ["d1", "d2"]


def test_ids_of_other_texts_are_not_taken() -> None:
    """Ids of a JSON output with other texts are not used."""
    output = json_output({"documents": [{"id": "d1", "page_content": "something else"}]})
    root = a_chain()
    trace = read_one(root, a_retriever(PARIS, parent=root, attributes=output))
    assert [chunk.id for chunk in trace.chunks] == ["0"]


def test_ids_are_unique() -> None:
    """Passages of one file share its id, and an id may look like a rank: every chunk gets a unique id."""
    root = a_chain()
    documents = [{"content": "a", "id": "file"}, {"content": "b", "id": "file"}, {"content": "c"}, {"content": "d"}]
    trace = read_one(root, a_retriever(*documents, {"content": "e", "id": "2"}, parent=root))
    assert [chunk.id for chunk in trace.chunks] == ["file", "file#2", "2#2", "3", "2"]


def test_repeats_within_one_retrieval_keep_their_rank() -> None:
    """Annotations refer to positions on the span, so a single list keeps its repetitions."""
    root = a_chain()
    assert texts(read_one(root, a_retriever(PARIS, PARIS, EUROPE, parent=root))) == [PARIS, PARIS, EUROPE]


def test_scores_and_metadata() -> None:
    """The score of the document, else a score in its metadata. NaN is no score."""
    root = a_chain()
    documents: list[dict[str, Any]] = [
        {"content": "a", "score": 0.25, "metadata": json.dumps({"page": 1})},
        {"content": "b", "metadata": json.dumps({"relevance_score": 0.5})},
        {"content": "c", "score": float("nan")},
        {"content": "d", "metadata": "not json"},
    ]
    trace = read_one(root, a_retriever(*documents, parent=root))
    assert [chunk.score for chunk in trace.chunks] == [0.25, 0.5, None, None]
    assert trace.chunks[0].metadata == {"page": 1}
