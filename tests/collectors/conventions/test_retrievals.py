"""Which retrievals count: nested ones, rerankers, filters, joined retrievals, contexts of DSPy."""

from __future__ import annotations

from typing import Any

from rag_otel import semconv
from rag_otel.model import SpanRecord, StatusCode
from tests.collectors.conventions.spans import (
    EUROPE,
    PARIS,
    QUESTION,
    TOWER,
    a_chain,
    a_reranker,
    a_retriever,
    a_span,
    json_input,
    json_output,
    read_all,
    read_one,
    texts,
)

DSPY = "openinference.instrumentation.dspy"
HAYSTACK = "openinference.instrumentation.haystack"
LLAMA_INDEX = "openinference.instrumentation.llama_index"


# --- nested, side by side, reranked -----------------------------------------------------------------------------------


def test_outermost_retriever_has_the_final_documents() -> None:
    """The documents of a compressor count, not those of the retriever inside it."""
    root = a_chain()
    outer = a_retriever(PARIS, parent=root, end_ns=10**9)
    trace = read_one(root, outer, a_retriever(PARIS, EUROPE, parent=outer))
    assert texts(trace) == [PARIS]
    assert trace.chunk_span is not None
    assert trace.chunk_span.span_id == outer.span_id


def test_nested_retriever_speaks_for_a_silent_outer_one() -> None:
    """If an outer RETRIEVER records no documents, the nested ones count."""
    root = a_chain()
    silent = a_span(semconv.KIND_RETRIEVER, parent=root)
    trace = read_one(root, silent, a_retriever(PARIS, parent=silent))
    assert texts(trace) == [PARIS]
    assert trace.evaluable


def test_inner_retriever_without_documents_takes_nothing_away() -> None:
    """LlamaIndex's inner `_retrieve` is a RETRIEVER too, but has only the reprs of the nodes."""
    root = a_chain(scope=LLAMA_INDEX)
    outer = a_retriever({"content": PARIS, "id": "d1", "score": 0.5}, parent=root)
    inner = a_span(semconv.KIND_RETRIEVER, parent=outer, attributes=json_output([_node("d1", 0.5)]))
    trace = read_one(root, outer, inner)
    assert [(chunk.id, chunk.text) for chunk in trace.chunks] == [("d1", PARIS)]


def test_retrievals_side_by_side_are_united_without_repeats() -> None:
    """Parallel retrievers: every text once, in order of their start. No single span has all chunks."""
    root = a_chain()
    first = a_retriever({"content": PARIS, "id": "a"}, {"content": EUROPE, "id": "b"}, parent=root)
    second = a_retriever({"content": EUROPE, "id": "b"}, {"content": TOWER, "id": "c"}, parent=root)
    trace = read_one(root, second, first)
    assert [(chunk.id, chunk.text, chunk.position) for chunk in trace.chunks] == [
        ("a", PARIS, 0),
        ("b", EUROPE, 1),
        ("c", TOWER, 2),
    ]
    assert trace.chunk_span is None


def test_reranker_replaces_what_it_was_fed() -> None:
    """The reranker's selection and the documents of the other retrieval remain."""
    root = a_chain()
    reranked = a_retriever(PARIS, EUROPE, parent=root)
    other = a_retriever("another source", parent=root)
    reranker = a_reranker([PARIS, EUROPE], EUROPE, parent=root)
    assert texts(read_one(root, reranked, other, reranker)) == ["another source", EUROPE]


def test_last_of_two_rerankers_decides() -> None:
    """Of consecutive rerankers the last selection counts, and its span gets the annotations."""
    root = a_chain()
    retriever = a_retriever(PARIS, EUROPE, TOWER, parent=root)
    first = a_reranker([PARIS, EUROPE, TOWER], TOWER, PARIS, parent=root)
    second = a_reranker([TOWER, PARIS], PARIS, parent=root)
    trace = read_one(root, retriever, first, second)
    assert texts(trace) == [PARIS]
    assert trace.chunk_span is not None
    assert trace.chunk_span.span_id == second.span_id


def test_failed_reranker_leaves_the_retrieval() -> None:
    """The application continued with the retrieved documents."""
    root = a_chain()
    failed = a_reranker([PARIS], parent=root, status=StatusCode.ERROR)
    assert texts(read_one(root, a_retriever(PARIS, parent=root), failed)) == [PARIS]


def test_failed_retriever_beside_its_fallback_counts_for_nothing() -> None:
    """The chunks are the documents of the fallback, on its span."""
    root = a_chain()
    failed = a_span(semconv.KIND_RETRIEVER, parent=root, status=StatusCode.ERROR)
    fallback = a_retriever(PARIS, parent=root)
    trace = read_one(root, failed, fallback)
    assert texts(trace) == [PARIS]
    assert trace.chunk_span is not None
    assert trace.chunk_span.span_id == fallback.span_id


# --- filters and joiners that name documents --------------------------------------------------------------------------


def _node(node_id: str, score: float) -> str:
    return f"<NodeWithScore(node=TextNode(id_={node_id}), score={score})>"


def _haystack(document_id: str, content: str, score: float) -> str:
    return f"Document(id={document_id}, content: '{content}', meta: {{'a': 1}}, score: {score})"


def _nodes(*named: str) -> tuple[dict[str, Any], ...]:
    return tuple({"id": name, "content": f"text of {name}", "score": 0.9} for name in named)


def _postprocessor(parent: SpanRecord, given: list[str], chosen: list[str], **changes: Any) -> SpanRecord:
    return a_span(
        semconv.KIND_CHAIN,
        parent=parent,
        scope=LLAMA_INDEX,
        name="SomePostprocessor._postprocess_nodes",
        attributes=json_input({"nodes": given, "query_bundle": {"query_str": QUESTION}}) | json_output(chosen),
        **changes,
    )


def test_llama_index_postprocessor_drops_nodes() -> None:
    """A similarity cut-off keeps the first nodes. They are still at the same positions on the retriever's span."""
    root = a_chain(scope=LLAMA_INDEX)
    retriever = a_retriever(*_nodes("d1", "d2", "d3"), parent=root)
    given = [_node(name, 0.9) for name in ("d1", "d2", "d3")]
    trace = read_one(root, retriever, _postprocessor(root, given, given[:2]))
    assert [chunk.id for chunk in trace.chunks] == ["d1", "d2"]
    assert trace.chunk_span is not None
    assert trace.chunk_span.span_id == retriever.span_id


def test_llama_index_postprocessor_reorders_nodes() -> None:
    """A reordered selection has new scores and an order that no span has."""
    root = a_chain(scope=LLAMA_INDEX)
    retriever = a_retriever(*_nodes("d1", "d2"), parent=root)
    given = [_node("d1", 0.9), _node("d2", 0.9)]
    trace = read_one(root, retriever, _postprocessor(root, given, [_node("d2", 0.99), _node("d1", 0.1)]))
    assert [(chunk.id, chunk.text, chunk.score) for chunk in trace.chunks] == [
        ("d2", "text of d2", 0.99),
        ("d1", "text of d1", 0.1),
    ]
    assert trace.chunk_span is None


def test_postprocessor_that_drops_everything_leaves_an_empty_retrieval() -> None:
    """If no node is left, the answer has no evidence, and it can be judged."""
    root = a_chain(scope=LLAMA_INDEX)
    trace = read_one(root, a_retriever(*_nodes("d1"), parent=root), _postprocessor(root, [_node("d1", 0.9)], []))
    assert trace.chunks == ()
    assert trace.evaluable


def test_postprocessor_that_names_strangers_is_ignored() -> None:
    """A selection of unknown nodes has no texts, so the retrieval counts."""
    root = a_chain(scope=LLAMA_INDEX)
    stranger = _postprocessor(root, [_node("d1", 0.9)], [_node("d9", 0.9)])
    assert texts(read_one(root, a_retriever(*_nodes("d1"), parent=root), stranger)) == ["text of d1"]


def test_postprocessing_alone_is_no_retrieval() -> None:
    """Nodes from elsewhere were not retrieved in this trace."""
    root = a_chain(scope=LLAMA_INDEX)
    assert read_all([root, _postprocessor(root, [_node("d1", 0.9)], [_node("d1", 0.9)])]) == []


def test_haystack_joiner_decides_over_both_retrievers() -> None:
    """The joiner's list of documents, with its scores, replaces both inputs."""
    root = a_chain(scope=HAYSTACK)
    keyword = a_retriever(*_nodes("d1", "d2"), parent=root)
    dense = a_retriever(*_nodes("d3"), parent=root)
    lists = [[_haystack("d1", "x", 1.0), _haystack("d2", "y", 1.0)], [_haystack("d3", "z", 1.0)]]
    joined = [_haystack("d3", "z", 0.75), _haystack("d1", "score: 9)", 0.25)]
    attributes = json_input({"documents": lists, "top_k": 2}) | json_output({"documents": joined})
    joiner = a_span(semconv.KIND_CHAIN, parent=root, scope=HAYSTACK, attributes=attributes)
    trace = read_one(root, keyword, dense, joiner)
    assert [(chunk.id, chunk.text, chunk.score) for chunk in trace.chunks] == [
        ("d3", "text of d3", 0.75),
        ("d1", "text of d1", 0.25),
    ]


# --- DSPy -------------------------------------------------------------------------------------------------------------


def test_dspy_last_context_of_several_hops() -> None:
    """Each hop adds context. The last one has the chunks of the answer."""
    root = a_chain(scope=DSPY, attributes=json_input({"question": QUESTION}) | json_output({"answer": "x"}))
    hops = [_module(root, context) for context in ([], ["one"], ["one", "two"])]
    inner = _module(hops[-1], ["one", "two"])
    assert texts(read_one(root, *hops, inner)) == ["one", "two"]


def _module(parent: SpanRecord, context: Any) -> SpanRecord:
    inputs = json_input({"context": context, "question": QUESTION})
    return a_span(semconv.KIND_CHAIN, parent=parent, scope=DSPY, attributes=inputs)


def test_dspy_context_as_one_text() -> None:
    """A context that is one string is one chunk."""
    root = a_chain(scope=DSPY)
    assert texts(read_one(root, _module(root, f"{PARIS}\n{EUROPE}"))) == [f"{PARIS}\n{EUROPE}"]


def test_context_of_other_frameworks_is_no_retrieval() -> None:
    """In other frameworks an input named `context` may be anything."""
    root = a_chain(attributes=json_input({"context": [PARIS], "question": QUESTION}))
    assert read_all([root]) == []
