"""LlamaIndex under its three instrumentations: queries, streams, chats."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from rag_otel.cli.inspect_explain import explanation
from testkit.when_used import WhenUsed
from tests.frameworks.kit import ANSWER, QUESTION, TEXTS, Run, running, told

if TYPE_CHECKING:
    from llama_index.core import VectorStoreIndex as Index

MockEmbedding = WhenUsed("llama_index.core", "MockEmbedding")
VectorStoreIndex = WhenUsed("llama_index.core", "VectorStoreIndex")
TextNode = WhenUsed("llama_index.core.schema", "TextNode")
Scripted = WhenUsed("tests.frameworks.llama_index_parts", "Scripted")
WithoutCallback = WhenUsed("tests.frameworks.llama_index_parts", "WithoutCallback")
OpenInferenceInstrumentor = WhenUsed("openinference.instrumentation.llama_index", "LlamaIndexInstrumentor")
GenAiInstrumentor = WhenUsed("opentelemetry.instrumentation.genai.llama_index", "LlamaIndexInstrumentor")

EVALUATED = ("evaluated", None, 1.0)
CHUNKS = list(TEXTS.values())


@pytest.fixture(scope="module")
def index() -> Index:
    nodes = [TextNode(id_=chunk_id, text=text) for chunk_id, text in TEXTS.items()]
    return VectorStoreIndex(nodes, embed_model=MockEmbedding(embed_dim=8))


@pytest.fixture
def openinference() -> Iterator[Run]:
    with running() as run:
        run.under(OpenInferenceInstrumentor())
        yield run


@pytest.fixture
def traceloop(monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    if "llama_index.llms" not in sys.modules:  # the namespace of the model packages, which it expects to be there
        namespace = types.ModuleType("llama_index.llms")
        namespace.__path__ = []
        monkeypatch.setitem(sys.modules, "llama_index.llms", namespace)
    from opentelemetry.instrumentation.llamaindex import LlamaIndexInstrumentor

    with running() as run:
        run.under(LlamaIndexInstrumentor())
        yield run


def engine(index: Index, **options: Any) -> Any:
    return index.as_query_engine(llm=Scripted(), similarity_top_k=2, **options)


@pytest.mark.parametrize(
    ("dialect", "target"),
    [("openinference", "RetrieverQueryEngine.query"), ("traceloop", "RetrieverQueryEngine.workflow")],
)
def test_query(index: Index, dialect: str, target: str, request: pytest.FixtureRequest) -> None:
    """Ids, texts and scores of the nodes; the query engine's span is scored."""
    run: Run = request.getfixturevalue(dialect)
    engine(index).query(QUESTION)
    trace = run.read_one()
    assert told(trace) == (dialect, QUESTION, CHUNKS, ANSWER, None)
    assert [chunk.id for chunk in trace.chunks] == ["d1", "d2"]
    assert all(chunk.score is not None for chunk in trace.chunks)
    assert run.statuses() == {target: EVALUATED}


def test_stream_under_openinference(index: Index, openinference: Run) -> None:
    """The query's own span ends with a generator in the place of its answer: the model's span has it."""
    assert "".join(engine(index, streaming=True).query(QUESTION).response_gen) == ANSWER
    assert told(openinference.read_one()) == ("openinference", QUESTION, CHUNKS, ANSWER, None)
    assert openinference.statuses() == {"RetrieverQueryEngine.query": EVALUATED}


def test_stream_of_a_model_without_its_callback(index: Index, openinference: Run) -> None:
    """No span has the answer. The reason says so, and what to do about it."""
    streaming = index.as_query_engine(llm=WithoutCallback(), similarity_top_k=2, streaming=True)
    assert "".join(streaming.query(QUESTION).response_gen) == ANSWER
    trace = openinference.read_one()
    assert told(trace) == ("openinference", QUESTION, CHUNKS, None, "no_response")
    why = str(explanation(trace)["why_not"])
    assert "a streamed answer is on the model's span" in why
    assert "@llm_completion_callback" in why
    assert openinference.statuses() == {"RetrieverQueryEngine.query": ("skipped", "no_response", None)}


def test_stream_under_traceloop(index: Index, traceloop: Run) -> None:
    """The root is never exported and the answer is on no span: one trace, which says so; nothing is held for ever."""
    assert "".join(engine(index, streaming=True).query(QUESTION).response_gen) == ANSWER
    trace = traceloop.read_one()
    assert told(trace) == ("traceloop", QUESTION, CHUNKS, None, "no_response")
    assert traceloop.statuses() == {}


@pytest.mark.parametrize("dialect", ["openinference", "traceloop"])
def test_chat(index: Index, dialect: str, request: pytest.FixtureRequest) -> None:
    """Every turn of a chat is a question of its own, in one trace too."""
    run: Run = request.getfixturevalue(dialect)
    chat = index.as_chat_engine(chat_mode="context", llm=Scripted(), similarity_top_k=2)
    with run.provider.get_tracer("app").start_as_current_span("session"):
        chat.chat(QUESTION)
        chat.chat("And where is it?")
    assert [trace.question for trace in run.read()] == [QUESTION, "And where is it?"]
    assert all(trace.evaluable for trace in run.read())


def test_retriever_under_genai(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids and scores alone, and no model's span: the application's store can give the texts, not the answer."""
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "SPAN_ONLY")
    with running() as run:
        run.under(GenAiInstrumentor())
        engine(index).query(QUESTION)
        trace = run.read_one()
        assert told(trace) == ("genai", QUESTION, ["", ""], None, "no_chunk_text")
        assert [chunk.id for chunk in trace.chunks] == ["d1", "d2"]
        assert run.statuses() == {"retrieval": ("skipped", "no_chunk_text", None)}
