"""Every recorded trace of OpenInference is read as expected. The expectation lists the whole RAG trace."""

from __future__ import annotations

import pytest

from rag_otel.model import UnevaluableReason
from tests.collectors.conventions.expected import COSINE, Expected, check
from tests.collectors.conventions.spans import EUROPE, PARIS, TOWER

TOWER_THEN_EUROPE: list[tuple[str, str, float | None]] = [("d3", TOWER, None), ("d2", EUROPE, None)]
EUROPE_THEN_TOWER: list[tuple[str, str, float | None]] = [("d2", EUROPE, COSINE), ("d3", TOWER, COSINE)]

RAG_TRACES = {
    "dspy_oi": Expected(
        target="67e5c781c3d366ae",
        route="RAG.forward",
        chunk_span=None,
        chunks=[("0", PARIS, None), ("1", EUROPE, None)],
        response="Paris.",
        model="dummy",
    ),
    "haystack_oi_joiner": Expected(
        target="9e1c7d4d54e77d50",
        route="Pipeline.run",
        chunk_span=None,
        chunks=[("d1", PARIS, 0.9919354838709679), ("d9", "Lyon is a city.", 0.5)],
        response="Paris is the capital.",
        model="m",
    ),
    "haystack_oi_openai": Expected(
        target="e5786651fe40df9a",
        route="Pipeline.run",
        chunk_span="2fb563bd31eaf424",
        chunks=[("d1", PARIS, 3.682408315647122), ("d2", EUROPE, 0.8083058328619529)],
        response="Paris is the capital.",
        model="stub-model",
    ),
    "haystack_oi_rerank": Expected(
        target="f8500243a41ac973",
        route="Pipeline.run",
        chunk_span="1549b47b64abec2b",
        chunks=[("d1", PARIS, 0.5702249913643116)],
        question="Paris",
        reason=UnevaluableReason.NO_RESPONSE,
    ),
    "langchain_oi_astream": Expected(
        target="60dcf42a5f08ef76",
        route="RunnableSequence",
        chunk_span="6934bc3c11cc9f62",
        chunks=TOWER_THEN_EUROPE,
        response="Paris.",
    ),
    "langchain_oi_error": Expected(
        target="486f610666a153ec",
        route="RunnableSequence",
        chunk_span="146486f47dc0072e",
        chunks=[("d1", PARIS, 0.5), ("d2", EUROPE, 0.5), ("d3", TOWER, 0.5)],
        question="q",
        reason=UnevaluableReason.ERROR,
    ),
    "langchain_oi_hidden": Expected(
        target="e5e0dc1a2cb12111",
        route="Inner",
        chunk_span="e5e0dc1a2cb12111",
        chunks=[("0", "", None)],
        question=None,
        reason=UnevaluableReason.REDACTED,
    ),
    "langchain_oi_invoke": Expected(
        target="462f6040ffda846f",
        route="RunnableSequence",
        chunk_span="5cd0e82a93d8c491",
        chunks=TOWER_THEN_EUROPE,
        response="Paris.",
        session_id="sess-1",
        user_id="u-1",
    ),
    "langchain_oi_langgraph": Expected(
        target="b152514270c02169",
        route="LangGraph",
        chunk_span="6d65340e32e67303",
        chunks=[("d1", PARIS, None), ("d2", EUROPE, None), ("d3", TOWER, None)],
        response="Paris.",
    ),
    "langchain_oi_nested_retriever": Expected(
        target="6cdd0abebdbb0219",
        route="Rerank",
        chunk_span="6cdd0abebdbb0219",
        chunks=[("d1", PARIS, 0.5)],
        question="q",
        reason=UnevaluableReason.NO_RESPONSE,
    ),
    "langchain_oi_stream_abandoned": Expected(
        target="51148837eb47c7ae",
        route="RunnableSequence",
        chunk_span="f9622ba95e057331",
        chunks=TOWER_THEN_EUROPE,
        reason=UnevaluableReason.INCOMPLETE,
    ),
    "langchain_oi_stream_abandoned_late": Expected(
        target="d68f79c7e81a8ff7",
        route="RunnableSequence",
        chunk_span="87a95d45be12745c",
        chunks=[("d1", PARIS, None), ("d2", EUROPE, None), ("d3", TOWER, None)],
        response="Par",
        reason=UnevaluableReason.INCOMPLETE,
    ),
    "llamaindex_oi_agent": Expected(
        target="a49e7c303637af5d",
        route="ReActAgent.run",
        chunk_span="9449f3bd5943e385",
        chunks=[("d1", PARIS, COSINE), ("d2", EUROPE, COSINE)],
        response="Paris.",
        model="scripted",
    ),
    "llamaindex_oi_postprocessor": Expected(
        target="78913399897b831d",
        route="RetrieverQueryEngine.query",
        chunk_span="d7cd6a1e5e7b4f47",
        chunks=[("d1", PARIS, 0.9)],
        response="text text text text text text text text",
    ),
    "llamaindex_oi_query": Expected(
        target="d04173b2f2758acd",
        route="RetrieverQueryEngine.query",
        chunk_span="3fd6329cc5bc4e33",
        chunks=EUROPE_THEN_TOWER,
        response="text text text text text text text text",
    ),
    "llamaindex_oi_retriever_only": Expected(
        target="2e70b3faf930df5e",
        route="VectorIndexRetriever.retrieve",
        chunk_span="2e70b3faf930df5e",
        chunks=EUROPE_THEN_TOWER,
        question="capital of France",
        reason=UnevaluableReason.NO_RESPONSE,
    ),
    "llamaindex_oi_stream": Expected(
        target="87eb0c12fb5ef4f1",
        route="RetrieverQueryEngine.query",
        chunk_span="e7dadc67b4fd2823",
        chunks=EUROPE_THEN_TOWER,
        response="text text text text text text text",
    ),
}


@pytest.mark.parametrize("name", sorted(RAG_TRACES))
def test_recorded_trace_is_read_whole(name: str) -> None:
    """Target, question, chunks, answer, ids and reason are exactly as expected."""
    check(name, [RAG_TRACES[name]])
