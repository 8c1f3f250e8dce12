"""The contract of conventions: no exceptions on unexpected values, light imports, the protocol, robust span trees."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_otel import semconv
from rag_otel.model import SpanRecord, StatusCode
from rag_otel.protocols import Convention
from rag_otel_collectors.conventions import default_conventions
from rag_otel_collectors.conventions.reading.tree import SpanTree
from testkit.size import examples
from tests.collectors.conventions.spans import PARIS, TRACE_ID, a_chain, a_retriever, a_span, read_all, read_one

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just(semconv.REDACTED),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["question", "messages", "content", "documents", "role", "type", "id", "kwargs", "data"])
            | st.text(max_size=3),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)
_KEYS = st.sampled_from(
    [
        semconv.INPUT_VALUE,
        semconv.OUTPUT_VALUE,
        semconv.INPUT_MIME_TYPE,
        semconv.OUTPUT_MIME_TYPE,
        semconv.METADATA,
        semconv.SESSION_ID,
        semconv.LLM_MODEL_NAME,
        semconv.LLM_INVOCATION_PARAMETERS,
        semconv.RERANKER_QUERY,
        "retrieval.documents.0.document.content",
        "retrieval.documents.1.document.id",
        "retrieval.documents.x.document.score",
        "retrieval.documents.٣.document.score",
        f"retrieval.documents.{'9' * 5_000}.document.content",
        f"llm.output_messages.{'9' * 5_000}.message.content",
        "reranker.output_documents.0.document.content",
        "reranker.input_documents.0.document.metadata",
        "llm.output_messages.0.message.content",
        "llm.input_messages.0.message.role",
        semconv.GEN_AI_OPERATION_NAME,
        semconv.GEN_AI_INPUT_MESSAGES,
        semconv.GEN_AI_OUTPUT_MESSAGES,
        semconv.GEN_AI_SYSTEM_INSTRUCTIONS,
        semconv.GEN_AI_RETRIEVAL_QUERY,
        semconv.GEN_AI_RETRIEVAL_DOCUMENTS,
        semconv.GEN_AI_TOOL_NAME,
        semconv.GEN_AI_TOOL_ARGUMENTS,
        semconv.GEN_AI_TOOL_RESULT,
        f"{semconv.GEN_AI_PROMPT_VARIABLE}context",
        "gen_ai.prompt.0.content",
        "gen_ai.completion.0.content",
        "gen_ai.workflow.output",
        semconv.TRACELOOP_KIND,
        semconv.TRACELOOP_ENTITY,
        semconv.TRACELOOP_INPUT,
        semconv.TRACELOOP_OUTPUT,
        "pydantic_ai.all_messages",
        "pydantic_ai.new_message_index",
        "final_result",
        "litellm.call_id",
        "metadata.vector_store_request_metadata",
    ]
)
_WORDS = st.sampled_from(
    ["chat", "retrieval", "execute_tool", "invoke_agent", "search_docs", "task", "X.Retriever.task"]
)
_VALUES = _JSON | _JSON.map(lambda value: json.dumps(value)) | st.binary(max_size=4) | _WORDS
_KINDS = st.sampled_from(
    ["CHAIN", "RETRIEVER", "RERANKER", "LLM", "TOOL", "AGENT", "EMBEDDING", "EVALUATOR", 7, ["CHAIN"], None]
)
_FRAMEWORKS = [f"openinference.instrumentation.{name}" for name in ("dspy", "haystack", "llama_index")]
_OTHERS = [f"opentelemetry.instrumentation.{name}" for name in ("llamaindex", "chromadb", "genai.langchain")]
_SCOPES = st.sampled_from([semconv.SCOPE, "app", "", "pydantic-ai", "litellm", "openlit.x", *_OTHERS, *_FRAMEWORKS])
_EVENTS = st.dictionaries(st.sampled_from([f"db.query.result.{n}" for n in ("id", "document", "score")]), _VALUES)
_IDS = st.integers(0, 7).map(lambda number: f"{number:016x}")


@st.composite
def _spans(draw: st.DrawFn) -> SpanRecord:
    attributes: dict[str, Any] = draw(st.dictionaries(_KEYS, _VALUES, max_size=6))
    kind = draw(_KINDS)
    if kind is not None:
        attributes[semconv.SPAN_KIND] = kind
    return SpanRecord(
        trace_id=TRACE_ID,
        span_id=draw(_IDS),
        parent_id=draw(st.none() | _IDS),
        name=draw(st.sampled_from(["", "X._postprocess_nodes"])),
        scope=draw(_SCOPES),
        attributes=attributes,
        status=draw(st.sampled_from(StatusCode)),
        start_ns=draw(st.integers(0, 5)),
        end_ns=draw(st.integers(0, 5)),
        events=draw(st.lists(st.tuples(st.just(semconv.DB_QUERY_RESULT), _EVENTS), max_size=2).map(tuple)),
        dropped_attributes=draw(st.integers(0, 1)),
    )


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(_spans(), max_size=8))
def test_odd_spans_never_raise(spans: list[SpanRecord]) -> None:
    """For any attributes and parents, traces are valid: ranks, unique ids, no NaN, no hidden text, and a reason if a
    part is missing."""
    for trace in read_all(spans):
        ids = [chunk.id for chunk in trace.chunks]
        assert len(set(ids)) == len(ids)
        assert [chunk.position for chunk in trace.chunks] == list(range(len(ids)))
        assert all(chunk.score is None or math.isfinite(chunk.score) for chunk in trace.chunks)
        assert semconv.REDACTED not in [trace.question, trace.response, *(chunk.text for chunk in trace.chunks)]
        if trace.evaluable:
            assert trace.question
            assert trace.response
        assert trace.duration_ns >= 0


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(_spans(), max_size=8))
def test_targets_are_unique(spans: list[SpanRecord]) -> None:
    """No span is the target of two RAG traces, in any dialect."""
    targets = [trace.target for trace in read_all(spans)]
    assert len(set(targets)) == len(targets)


@pytest.mark.parametrize("convention", default_conventions(), ids=lambda convention: convention.name)
def test_conventions_keep_the_protocol(convention: Convention) -> None:
    """Each has a unique name, reads nothing from no spans, and ignores unknown spans."""
    assert isinstance(convention, Convention)
    assert [each.name for each in default_conventions()].count(convention.name) == 1
    assert convention.read([]) == []
    assert convention.read([a_span(scope="app")]) == []
    assert not convention.owns("app", {"http.method": "GET"})
    assert not convention.retrieves("app", {"http.method": "GET"})


def test_deeply_nested_spans_and_values() -> None:
    """A chain of thousands of spans and a deeply nested JSON value cause no failure."""
    spans = [a_chain()]
    for _ in range(3_000):
        spans.append(a_span(semconv.KIND_CHAIN, parent=spans[-1]))
    spans.append(a_retriever(PARIS, parent=spans[-1]))
    assert read_one(*spans).evaluable
    deep = {semconv.INPUT_VALUE: "[" * 100_000, semconv.INPUT_MIME_TYPE: semconv.MIME_JSON}
    root = a_chain(attributes=deep)
    assert read_one(root, a_retriever(PARIS, parent=root)).question == "[" * 100_000


def test_tree_keeps_the_first_of_two_equal_spans_and_survives_circles() -> None:
    """A duplicate span counts once. A cycle of parents does not cause an endless loop."""
    first = a_span(span_id="0" * 15 + "1", name="first")
    again = a_span(span_id=first.span_id, name="again")
    assert [span.name for span in SpanTree([first, again]).spans] == ["first"]
    a = a_span(span_id="0" * 15 + "a", parent_id="0" * 15 + "b")
    b = a_span(span_id="0" * 15 + "b", parent_id="0" * 15 + "a")
    tree = SpanTree([a, b])
    assert list(tree.ancestors(a)) == [b]
    assert tree.descendants(a) == [b]


def test_tree_prunes_with_all_that_is_below() -> None:
    """Pruning a span removes its descendants too."""
    root = a_span(name="root")
    kept, cut = a_span(name="kept", parent=root), a_span(name="cut", parent=root)
    below = a_span(name="below", parent=cut)
    tree = SpanTree([below, cut, kept, root])
    assert [span.name for span in tree.descendants(root, prune=lambda span: span.name == "cut")] == ["kept"]
    assert [span.name for span in tree.descendants(root)] == ["kept", "cut", "below"]


def test_importing_conventions_is_light() -> None:
    """Applications import the conventions, so they must not import modules for files, servers, numbers or models."""
    code = (
        "import sys; import rag_otel_collectors.conventions; "
        "print([n for n in ('gzip', 'numpy', 'pandas', 'pydantic', 'grpc', 'litellm', 'phoenix', 'requests',"
        " 'opentelemetry.sdk', 'rag_otel_collectors.stored.otlp_files', 'rag_otel_evaluators') if n in sys.modules])"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert run.stdout.strip() == "[]"
