"""LangChain under its three instrumentations: chains, streams, agents, evaluated in process and read afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from testkit.judge_server import JudgeServer
from testkit.when_used import WhenUsed
from tests.frameworks.kit import ANSWER, QUESTION, TEXTS, Run, a_run, running, told

if TYPE_CHECKING:
    from langchain_core.documents import Document as Retrieved
    from langchain_core.runnables import Runnable

create_agent = WhenUsed("langchain.agents", "create_agent")
Document = WhenUsed("langchain_core.documents", "Document")
FakeListChatModel = WhenUsed("langchain_core.language_models.fake_chat_models", "FakeListChatModel")
AIMessage = WhenUsed("langchain_core.messages", "AIMessage")
StrOutputParser = WhenUsed("langchain_core.output_parsers", "StrOutputParser")
ChatPromptTemplate = WhenUsed("langchain_core.prompts", "ChatPromptTemplate")
RunnablePassthrough = WhenUsed("langchain_core.runnables", "RunnablePassthrough")
tool = WhenUsed("langchain_core.tools", "tool")
ChatOpenAI = WhenUsed("langchain_openai", "ChatOpenAI")
Shelf = WhenUsed("tests.frameworks.langchain_parts", "Shelf")
ScriptedChat = WhenUsed("tests.frameworks.langchain_parts", "ScriptedChat")
StreamedChat = WhenUsed("tests.frameworks.langchain_parts", "StreamedChat")
OpenInferenceInstrumentor = WhenUsed("openinference.instrumentation.langchain", "LangChainInstrumentor")
GenAiInstrumentor = WhenUsed("opentelemetry.instrumentation.genai.langchain", "LangChainInstrumentor")
TraceloopInstrumentor = WhenUsed("opentelemetry.instrumentation.langchain", "LangchainInstrumentor")

CHUNKS = list(TEXTS.values())
EVALUATED = ("evaluated", None, 1.0)


def joined(documents: list[Retrieved]) -> str:
    return "\n\n".join(document.page_content for document in documents)


def rag_chain(model: Any) -> Runnable[str, str]:
    """The chain of every tutorial: retrieve, put into the prompt, ask, take the text."""
    prompt = ChatPromptTemplate.from_messages([("system", "Use context:\n{context}"), ("human", "{question}")])
    inputs: Any = {"context": Shelf() | joined, "question": RunnablePassthrough()}
    return inputs | prompt | model | StrOutputParser()  # type: ignore[no-any-return]


def agent() -> Any:
    """An agent that searches once, through a tool with a retriever in it."""
    shelf = Shelf()

    @tool
    def search(query: str) -> str:
        """Search the shelf."""
        return joined(shelf.invoke(query))

    call = {"name": "search", "args": {"query": "capital of France"}, "id": "c1"}
    said = iter([AIMessage(content="", tool_calls=[call]), AIMessage(content=ANSWER)])
    return create_agent(ScriptedChat(messages=said), [search])


@pytest.fixture
def openinference() -> Iterator[Run]:
    with running() as run:
        run.under(OpenInferenceInstrumentor())
        yield run


@pytest.fixture(scope="module")
def instrumented_by_traceloop() -> Iterator[Run]:
    """Once: it leaves its first callback in place when it is taken off."""
    instrumentor, run = TraceloopInstrumentor(), a_run()
    instrumentor.instrument(tracer_provider=run.provider)
    yield run
    instrumentor.uninstrument()


@pytest.fixture
def traceloop(instrumented_by_traceloop: Run) -> Iterator[Run]:
    with running(instrumented_by_traceloop) as run:
        yield run


@pytest.fixture
def genai(monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "SPAN_ONLY")
    monkeypatch.setenv("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai_latest_experimental")
    with running() as run:
        run.under(GenAiInstrumentor())
        yield run


def test_chain_under_openinference(openinference: Run) -> None:
    """The chain's span is scored; session and user come from the metadata."""
    rag_chain(FakeListChatModel(responses=[ANSWER])).invoke(
        QUESTION, config={"metadata": {"session_id": "s-1", "user_id": "u-1"}}
    )
    trace = openinference.read_one()
    assert told(trace) == ("openinference", QUESTION, CHUNKS, ANSWER, None)
    assert ([chunk.id for chunk in trace.chunks], trace.session_id, trace.user_id) == (["d1", "d2"], "s-1", "u-1")
    assert openinference.statuses() == {"RunnableSequence": EVALUATED}


def test_chain_under_traceloop(traceloop: Run) -> None:
    """The workflow's span is scored; session and user come from the association properties."""
    rag_chain(FakeListChatModel(responses=[ANSWER])).invoke(
        QUESTION, config={"metadata": {"session_id": "s-1", "user_id": "u-1"}}
    )
    trace = traceloop.read_one()
    assert told(trace) == ("traceloop", QUESTION, CHUNKS, ANSWER, None)
    assert (trace.session_id, trace.user_id) == ("s-1", "u-1")
    assert traceloop.statuses() == {"RunnableSequence.workflow": EVALUATED}


def test_chain_under_genai(genai: Run) -> None:
    """The retrieval has ids alone: the texts are taken from the prompt's variable."""
    with JudgeServer(answer=lambda request: ANSWER) as server:
        model = ChatOpenAI(model="stub", base_url=server.url, api_key="k")  # type: ignore[arg-type]
        rag_chain(model).invoke(QUESTION)
    trace = genai.read_one()
    assert told(trace) == ("genai", QUESTION, CHUNKS, ANSWER, None)
    assert [chunk.id for chunk in trace.chunks] == ["d1", "d2"]
    assert genai.statuses() == {"invoke_workflow RunnableSequence": EVALUATED}


def test_chain_under_genai_with_a_resolver(monkeypatch: pytest.MonkeyPatch) -> None:
    """The application's own store has the last word on what its documents say."""
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "SPAN_ONLY")
    asked: list[list[str]] = []

    def fetch(ids: list[str]) -> dict[str, str]:
        asked.append(list(ids))
        return TEXTS

    with running(chunk_resolver=fetch) as run, JudgeServer(answer=lambda request: ANSWER) as server:
        run.under(GenAiInstrumentor())
        model = ChatOpenAI(model="stub", base_url=server.url, api_key="k")  # type: ignore[arg-type]
        rag_chain(model).invoke(QUESTION)
        assert run.statuses() == {"invoke_workflow RunnableSequence": EVALUATED}
    assert asked == [["d1", "d2"]]


def test_documents_without_ids_under_genai(genai: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither ids nor texts: nothing to look up, nothing to judge."""

    def nameless(self: Any, query: str, **options: Any) -> list[Retrieved]:
        return [Document(page_content=text) for text in CHUNKS]

    monkeypatch.setattr("tests.frameworks.langchain_parts.Shelf._get_relevant_documents", nameless)
    rag_chain(FakeListChatModel(responses=[ANSWER])).invoke(QUESTION)
    trace = genai.read_one()
    assert told(trace) == ("genai", QUESTION, ["", ""], None, "no_chunk_text")
    assert not any(chunk.has_id for chunk in trace.chunks)


def test_content_that_is_not_captured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without content there is nothing to judge, and the span says so."""
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "NO_CONTENT")
    with running() as run:
        run.under(GenAiInstrumentor())
        rag_chain(FakeListChatModel(responses=[ANSWER])).invoke(QUESTION)
        assert run.statuses() == {"invoke_workflow RunnableSequence": ("skipped", "no_chunk_text", None)}


@pytest.mark.parametrize("dialect", ["openinference", "traceloop"])
def test_stream(dialect: str, request: pytest.FixtureRequest) -> None:
    """A stream that was read to its end is judged like any answer."""
    run: Run = request.getfixturevalue(dialect)
    assert "".join(rag_chain(FakeListChatModel(responses=[ANSWER])).stream(QUESTION)) == ANSWER
    assert told(run.read_one()) == (dialect, QUESTION, CHUNKS, ANSWER, None)
    assert list(run.statuses().values()) == [EVALUATED]


def test_stream_under_genai(genai: Run) -> None:
    """The root of a stream has the input `{"input": ""}`: the question is on the spans below."""
    model = StreamedChat(model="stub", api_key="k")  # type: ignore[arg-type]
    assert "".join(rag_chain(model).stream(QUESTION)) == ANSWER
    assert told(genai.read_one()) == ("genai", QUESTION, CHUNKS, ANSWER, None)
    (root,) = [span for span in genai.spans if span.name == "invoke_workflow RunnableSequence"]
    assert r"{\"input\": \"\"}" in str((root.attributes or {})["gen_ai.input.messages"])
    assert genai.statuses() == {"invoke_workflow RunnableSequence": EVALUATED}


@pytest.mark.parametrize("dialect", ["openinference", "traceloop"])
def test_stream_that_its_reader_left(dialect: str, request: pytest.FixtureRequest) -> None:
    """What was read of an abandoned stream is no answer."""
    run: Run = request.getfixturevalue(dialect)
    stream = rag_chain(FakeListChatModel(responses=[ANSWER])).stream(QUESTION)
    next(iter(stream))
    stream.close()  # type: ignore[attr-defined]
    assert run.read_one().unevaluable_reason == "incomplete"
    assert [status[:2] for status in run.statuses().values()] == [("skipped", "incomplete")]


@pytest.mark.parametrize("dialect", ["openinference", "traceloop", "genai"])
def test_retriever_as_a_tool_of_an_agent(dialect: str, request: pytest.FixtureRequest) -> None:
    """The user's question, not the tool's query; the documents that the tool found; the last thing that was said."""
    run: Run = request.getfixturevalue(dialect)
    agent().invoke({"messages": [("user", QUESTION)]})
    assert told(run.read_one()) == (dialect, QUESTION, CHUNKS, ANSWER, None)
    assert list(run.statuses().values()) == [EVALUATED]


@pytest.mark.parametrize("dialect", ["openinference", "traceloop", "genai"])
def test_several_questions_in_one_trace(dialect: str, request: pytest.FixtureRequest) -> None:
    """A batch under one span of the application: each question has its trace and its scores."""
    run: Run = request.getfixturevalue(dialect)
    with run.provider.get_tracer("app").start_as_current_span("batch"):
        for _ in range(2):
            agent().invoke({"messages": [("user", QUESTION)]})
    assert [told(trace) for trace in run.read()] == [(dialect, QUESTION, CHUNKS, ANSWER, None)] * 2
    assert len({trace.target for trace in run.read()}) == 2


def test_failing_chain(openinference: Run) -> None:
    """The application's error is its own, and its span says that there is no answer."""

    def broken(prompt: Any) -> str:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        rag_chain(broken).invoke(QUESTION)
    assert openinference.statuses() == {"RunnableSequence": ("skipped", "error", None)}


def test_hidden_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a privacy switch hides is not read from another field, in which it may still stand."""
    monkeypatch.setenv("OPENINFERENCE_HIDE_INPUTS", "true")
    with running() as run:
        run.under(OpenInferenceInstrumentor())
        rag_chain(FakeListChatModel(responses=[ANSWER])).invoke(QUESTION)
        assert run.statuses() == {"RunnableSequence": ("skipped", "redacted", None)}
        assert run.read_one().question is None
