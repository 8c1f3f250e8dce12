"""Every recorded trace of the other dialects is read as expected, and every file has an expectation."""

from __future__ import annotations

import pytest

from rag_otel.model import UnevaluableReason
from tests.collectors.conventions.expected import COSINE, Expected, check
from tests.collectors.conventions.spans import EUROPE, FIXTURES, PARIS, TOWER, read_all, traces_in
from tests.collectors.conventions.test_fixture_traces import RAG_TRACES

Chunks = list[tuple[str, str, float | None]]
BY_RANK: Chunks = [("0", TOWER, None), ("1", EUROPE, None)]
"""Traceloop's LangChain retrievals have no ids."""
NODES: Chunks = [("d2", EUROPE, COSINE), ("d3", TOWER, COSINE)]
TEXT = "text text text text text text text text"

DIALECTS = {
    "haystack_openlit_pipeline": [
        Expected(
            target="fd0671b34e0c71f0",
            route="invoke_workflow pipeline",
            chunk_span=None,
            chunks=[],
            response="Paris.",
            reason=UnevaluableReason.NO_CHUNK_TEXT,
            convention="openlit",
        )
    ],
    "langchain_genai_agent": [
        Expected(
            target="989087b9a9bb815a",
            route="invoke_agent",
            chunk_span=None,
            chunks=[("d1", PARIS, None), ("d2", EUROPE, None)],
            response="Paris.",
            convention="genai",
        )
    ],
    "langchain_genai_chatopenai": [
        Expected(
            target="2318ceb148c68b6b",
            route="invoke_workflow RunnableSequence",
            chunk_span=None,
            chunks=[("d3", TOWER, None), ("d2", EUROPE, None)],
            response="Paris is the capital.",
            model="stub-model",
            convention="genai",
        )
    ],
    "langchain_genai_nocontent_invoke": [
        Expected(
            target="286d6f20aa83e780",
            route="invoke_workflow RunnableSequence",
            chunk_span=None,
            chunks=[],
            question=None,
            session_id="th-1",
            reason=UnevaluableReason.NO_CHUNK_TEXT,
            convention="genai",
        )
    ],
    "langchain_genai_retriever_tool": [
        Expected(
            target="1ce42ca4fc6f4232",
            route="execute_tool search_docs",
            chunk_span=None,
            chunks=[("d2", EUROPE, None), ("d3", TOWER, None)],
            question="capital of France",
            reason=UnevaluableReason.NO_RESPONSE,
            convention="genai",
        )
    ],
    "langchain_openlit_agent": [
        Expected(
            target="9a11d000933baf32",
            route="invoke_workflow LangGraph",
            chunk_span=None,
            chunks=[("d1.md", PARIS, None), ("d2.md", EUROPE, None)],
            response="Paris.",
            model="M",
            convention="openlit",
        )
    ],
    "langchain_openlit_siblings": [
        Expected(
            target="91ef337abce33260",
            route="chat FakeListChatModel",
            chunk_span=None,
            chunks=[("d1.md", PARIS, None), ("d2.md", EUROPE, None)],
            response="Paris.",
            model="FakeListChatModel",
            session_id="s-1",
            convention="openlit",
        )
    ],
    "langchain_tl_agent": [
        Expected(
            target="78796657e799bb14",
            route="invoke_agent LangGraph",
            chunk_span=None,
            chunks=[("0", PARIS, None), ("1", EUROPE, None)],
            response="Paris.",
            convention="traceloop",
        )
    ],
    "langchain_tl_invoke": [
        Expected(
            target="74f6895901a00b51",
            route="RunnableSequence.workflow",
            chunk_span=None,
            chunks=BY_RANK,
            response="Paris.",
            session_id="sess-1",
            user_id="u-1",
            convention="traceloop",
        )
    ],
    "langchain_tl_stream_abandoned": [
        Expected(
            target="8de4bc0d30986419",
            route="RunnableSequence.workflow",
            chunk_span=None,
            chunks=BY_RANK,
            reason=UnevaluableReason.INCOMPLETE,
            convention="traceloop",
        )
    ],
    "llamaindex_genai_query": [
        Expected(
            target="2ec3e7dd546c92f6",
            route="retrieval",
            chunk_span="2ec3e7dd546c92f6",
            chunks=[("d2", "", COSINE), ("d3", "", COSINE)],
            reason=UnevaluableReason.NO_CHUNK_TEXT,
            convention="genai",
        )
    ],
    "llamaindex_oi_chat": [
        Expected(
            target="699015781b528969",
            route="ContextChatEngine.chat",
            chunk_span="91c2be170deb193e",
            chunks=NODES,
            response=TEXT,
        ),
        Expected(
            target="80b9b9409e965a30",
            route="ContextChatEngine.chat",
            chunk_span="ad7b47031c991fbe",
            chunks=NODES,
            question="And of Spain?",
            response=TEXT,
        ),
    ],
    "llamaindex_openlit_query": [
        Expected(
            target="591bfd09219cb482",
            route="retrieval query_engine_query",
            chunk_span=None,
            chunks=[],
            question=None,
            reason=UnevaluableReason.NO_CHUNK_TEXT,
            convention="openlit",
        )
    ],
    "llamaindex_tl_chat": [
        Expected(
            target="4c6d1efdbb18cf84",
            route="ContextChatEngine.workflow",
            chunk_span=None,
            chunks=NODES,
            response=TEXT,
            convention="traceloop",
        ),
        Expected(
            target="5916978f460533c5",
            route="ContextChatEngine.workflow",
            chunk_span=None,
            chunks=NODES,
            question="And of Spain?",
            response=TEXT,
            convention="traceloop",
        ),
    ],
    "llamaindex_tl_query": [
        Expected(
            target="bc9e2b8cb4af1a7f",
            route="RetrieverQueryEngine.workflow",
            chunk_span=None,
            chunks=NODES,
            response=TEXT,
            convention="traceloop",
        )
    ],
    "llamaindex_tl_stream": [
        Expected(
            target="8b8d23c979b4c2aa",
            route="MockLLM.workflow",
            chunk_span=None,
            chunks=NODES,
            reason=UnevaluableReason.NO_RESPONSE,
            convention="traceloop",
        )
    ],
    "pydantic_ai_tool_rag": [
        Expected(
            target="f6465241292e957b",
            route="invoke_agent a",
            chunk_span=None,
            chunks=[("d1", PARIS, 0.5), ("d2", EUROPE, 0.5)],
            response="Paris.",
            model="function:f:",
            session_id="01a1ffc0-539e-73ce-a204-f04dc46b1c6a",
            convention="pydantic_ai",
        )
    ],
}

NO_RETRIEVAL = {
    "langchain_plus_openai_oi_double",
    "litellm_oi",
    "litellm_otel_reqspan",
    "openai_genai_v2_capture_SPAN_ONLY",
    "openai_oi_default",
}
"""A model was called and nothing was retrieved: no RAG trace."""


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_recorded_trace_is_read_whole(name: str) -> None:
    """Target, question, chunks, answer, ids, reason and dialect are exactly as expected."""
    check(name, DIALECTS[name])


@pytest.mark.parametrize("name", sorted(NO_RETRIEVAL))
def test_trace_without_a_retrieval_is_no_rag_trace(name: str) -> None:
    """Files without a retrieval give no RAG trace."""
    traces = list(traces_in(name))
    assert sum(map(len, traces)) > 0
    assert [trace for spans in traces for trace in read_all(spans)] == []


def test_every_fixture_is_expected() -> None:
    """Every file among the fixtures has an expectation here."""
    assert {path.stem for path in FIXTURES.glob("*.json")} == RAG_TRACES.keys() | DIALECTS.keys() | NO_RETRIEVAL


@pytest.mark.parametrize("name", sorted(RAG_TRACES.keys() | DIALECTS.keys()))
def test_order_of_arrival_does_not_matter(name: str) -> None:
    """Spans that come in reverse give the same RAG traces."""
    for spans in traces_in(name):
        assert read_all(spans[::-1]) == read_all(spans)
