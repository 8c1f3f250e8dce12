"""Traceloop's OpenLLMetry: steps with JSON inputs and outputs, vector stores with events, hidden and cut texts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rag_otel import semconv
from rag_otel.model import SpanRecord, StatusCode, UnevaluableReason
from tests.collectors.conventions.spans import ANSWER, EUROPE, PARIS, QUESTION, a_span, read_all, read_one, texts

LANGCHAIN = "opentelemetry.instrumentation.langchain"
LLAMA_INDEX = "opentelemetry.instrumentation.llamaindex"


def step(
    inputs: Any = None, output: Any = None, *, parent: SpanRecord | None = None, kind: str = "task", **changes: Any
) -> SpanRecord:
    """A span with an entity's input and output as JSON."""
    attributes: dict[str, Any] = {semconv.TRACELOOP_KIND: kind} | changes.pop("attributes", {})
    if inputs is not None:
        attributes[semconv.TRACELOOP_INPUT] = json.dumps(inputs)
    if output is not None:
        attributes[semconv.TRACELOOP_OUTPUT] = json.dumps(output)
    return a_span(parent=parent, **{"scope": LANGCHAIN, **changes, "attributes": attributes})


def workflow(inputs: Any = None, output: Any = None, **changes: Any) -> SpanRecord:
    inputs = {"inputs": QUESTION} if inputs is None else inputs
    output = {"outputs": ANSWER} if output is None else output
    return step(inputs, output, kind="workflow", **{"end_ns": 10**12, **changes})


def retriever(parent: SpanRecord, *documents: str, **changes: Any) -> SpanRecord:
    found = {"documents": [{"page_content": text, "metadata": {}} for text in documents]}
    retrieves = {"gen_ai.operation.name": "vector_db_retrieve"}
    return step({"query": "a query"}, found, parent=parent, **{"attributes": retrieves, **changes})


@pytest.mark.parametrize(
    ("inputs", "output"),
    [
        ({"inputs": {"question": QUESTION, "chat_history": []}}, {"outputs": {"answer": ANSWER, "context": [PARIS]}}),
        ({"inputs": {"input": ""}}, {"outputs": ANSWER, "kwargs": {"inputs": {"input": QUESTION}}}),
        ({"args": [QUESTION], "kwargs": {}}, ANSWER),
        ({"args": [], "kwargs": {"question": QUESTION}}, {"answer": ANSWER}),
        ({"str_or_query_bundle": {"query_str": QUESTION}}, {"response": ANSWER, "source_nodes": []}),
    ],
)
def test_inputs_and_outputs(inputs: Any, output: Any) -> None:
    """Chains, streams, decorated functions and query engines use different names for question and answer."""
    root = workflow(inputs, output)
    trace = read_one(root, retriever(root, PARIS))
    assert (trace.question, trace.response, texts(trace), trace.evaluable) == (QUESTION, ANSWER, [PARIS], True)


def test_compression_and_union() -> None:
    """The outermost retriever counts and parallel retrievers are joined, as in every dialect."""
    root = workflow()
    outer = retriever(root, PARIS)
    inner, other = retriever(outer, PARIS, EUROPE), retriever(root, EUROPE)
    assert texts(read_one(root, outer, inner, other)) == [PARIS, EUROPE]


def _node(node_id: str, text: str, score: float) -> str:
    return json.dumps({"node": {"id_": node_id, "text": text, "metadata": {"page": 1}}, "score": score})


def test_nodes_are_json_in_json() -> None:
    """Nodes of LlamaIndex have ids, scores and metadata. A postprocessor's selection replaces its input."""
    root = workflow({"str_or_query_bundle": QUESTION}, {"response": ANSWER}, scope=LLAMA_INDEX)
    nodes = [_node("d1", PARIS, 0.9), _node("d2", EUROPE, 0.2)]
    name = {semconv.TRACELOOP_ENTITY: "VectorIndexRetriever.task"}
    found = step({"str_or_query_bundle": QUESTION}, nodes, parent=root, scope=LLAMA_INDEX, attributes=name)
    name = {semconv.TRACELOOP_ENTITY: "SimilarityPostprocessor.task"}
    chosen = step({"nodes": nodes}, nodes[:1], parent=root, scope=LLAMA_INDEX, attributes=name)
    trace = read_one(root, found, chosen)
    assert [(chunk.id, chunk.text, chunk.score, chunk.metadata) for chunk in trace.chunks] == [
        ("d1", PARIS, 0.9, {"page": 1})
    ]
    failed = step({"nodes": nodes}, parent=root, scope=LLAMA_INDEX, attributes=name, status=StatusCode.ERROR)
    assert texts(read_one(root, found, failed)) == [PARIS, EUROPE]


def test_vector_store_with_an_event_for_each_result() -> None:
    """Chroma, Pinecone, Qdrant and others write documents as events. An insert has none and is not a retrieval."""
    root = workflow()
    scope = "opentelemetry.instrumentation.chromadb"
    events = tuple(
        (
            "db.query.result",
            {"db.query.result.id": name, "db.query.result.document": text, "db.query.result.score": 0.5},
        )
        for name, text in (("a", PARIS), ("b", EUROPE))
    )
    query = a_span(parent=root, scope=scope, name="chroma.query", events=events)
    insert = a_span(parent=root, scope=scope, name="chroma.add")
    trace = read_one(root, query, insert)
    assert [(chunk.id, chunk.text, chunk.score) for chunk in trace.chunks] == [("a", PARIS, 0.5), ("b", EUROPE, 0.5)]
    assert read_all([root, insert]) == []


def test_abandoned_stream() -> None:
    """The output of a stream that was closed early is null, and the status is not an error."""
    root = workflow(output={"outputs": None, "kwargs": {}})
    trace = read_one(root, retriever(root, PARIS))
    assert (trace.response, trace.unevaluable_reason) == (None, UnevaluableReason.INCOMPLETE)


def test_content_that_is_switched_off() -> None:
    """With TRACELOOP_TRACE_CONTENT=false, steps have no texts."""
    root = a_span(scope=LANGCHAIN, attributes={semconv.TRACELOOP_KIND: "workflow"})
    found = a_span(parent=root, scope=LANGCHAIN, attributes={"gen_ai.operation.name": "vector_db_retrieve"})
    assert read_one(root, found).unevaluable_reason is UnevaluableReason.NO_CHUNK_TEXT


def test_values_that_were_cut() -> None:
    """A length limit cuts JSON. A cut answer or cut documents are not judged."""
    root = workflow()
    found = retriever(root, PARIS)
    found.attributes[semconv.TRACELOOP_OUTPUT] = '{"documents": [{"page_con'  # type: ignore[index]
    assert read_one(root, found).unevaluable_reason is UnevaluableReason.TRUNCATED
    root.attributes[semconv.TRACELOOP_OUTPUT] = '{"outputs": "Par'  # type: ignore[index]
    assert read_one(root, retriever(root, PARIS)).unevaluable_reason is UnevaluableReason.TRUNCATED


@pytest.mark.parametrize("key", [semconv.TRACELOOP_INPUT, semconv.TRACELOOP_OUTPUT])
def test_values_that_were_hidden(key: str) -> None:
    """Text that a redaction processor removed is not read from another field."""
    root = workflow()
    root.attributes[key] = semconv.REDACTED  # type: ignore[index]
    assert read_one(root, retriever(root, PARIS)).unevaluable_reason is UnevaluableReason.REDACTED
    found = retriever(root := workflow(), PARIS)
    found.attributes[semconv.TRACELOOP_OUTPUT] = semconv.REDACTED  # type: ignore[index]
    assert read_one(root, found).unevaluable_reason is UnevaluableReason.REDACTED


def test_failed_workflow() -> None:
    """The application's error is the reason, whatever else is missing."""
    root = workflow(status=StatusCode.ERROR)
    assert read_one(root, retriever(root, PARIS)).unevaluable_reason is UnevaluableReason.ERROR


def test_session_and_user() -> None:
    """Association properties are on every span."""
    properties = {f"traceloop.association.properties.{key}": key for key in ("session_id", "user_id")}
    root = workflow(attributes=properties)
    trace = read_one(root, retriever(root, PARIS))
    assert (trace.session_id, trace.user_id) == ("session_id", "user_id")
