"""Chats with a history under real instrumentations: earlier turns count where the setting says so."""

from __future__ import annotations

from typing import Any

import pytest

import rag_otel
from rag_otel import semconv
from testkit.judge_server import JudgeServer
from testkit.when_used import WhenUsed
from tests.frameworks.kit import TEXTS, Run, running
from tests.frameworks.test_langchain import ChatOpenAI, ChatPromptTemplate, Shelf, StrOutputParser, joined

LangChainInstrumentor = WhenUsed("openinference.instrumentation.langchain", "LangChainInstrumentor")
LlamaIndexInstrumentor = WhenUsed("openinference.instrumentation.llama_index", "LlamaIndexInstrumentor")
GenAiInstrumentor = WhenUsed("opentelemetry.instrumentation.genai.langchain", "LangChainInstrumentor")
AIMessage = WhenUsed("langchain_core.messages", "AIMessage")
HumanMessage = WhenUsed("langchain_core.messages", "HumanMessage")
MessagesPlaceholder = WhenUsed("langchain_core.prompts", "MessagesPlaceholder")
MockEmbedding = WhenUsed("llama_index.core", "MockEmbedding")
VectorStoreIndex = WhenUsed("llama_index.core", "VectorStoreIndex")
ChatMessage = WhenUsed("llama_index.core.llms", "ChatMessage")
TextNode = WhenUsed("llama_index.core.schema", "TextNode")
Chatting = WhenUsed("tests.frameworks.llama_index_parts", "Chatting")

SAID = "I ordered a blue bicycle with the number 4711 in March."
PROMISED = "The parcel arrives on Monday."
QUESTION = "What did I order, and when does it arrive?"
ORDERED = "You ordered a blue bicycle with the number 4711 in March."
ANSWER = f"{ORDERED} {PROMISED}"
CLAIMS = "rag.evaluation.faithfulness.claims."


def chat(history: list[Any]) -> None:
    """A chain that retrieves, and gives the history to the model before the question."""
    prompt = ChatPromptTemplate.from_messages(
        [("system", "Use context:\n{context}"), MessagesPlaceholder("history"), ("human", "{question}")]
    )
    shelf = Shelf()
    inputs: Any = {
        "context": (lambda asked: asked["question"]) | shelf | joined,
        "question": lambda asked: asked["question"],
        "history": lambda asked: asked["history"],
    }
    with JudgeServer(answer=lambda request: ANSWER) as server:
        model = ChatOpenAI(model="stub", base_url=server.url, api_key="k")  # type: ignore[arg-type]
        chain = inputs | prompt | model | StrOutputParser()
        chain.invoke({"question": QUESTION, "history": history}, config={"metadata": {"session_id": "s-1"}})


def evidence(run: Run) -> list[tuple[str, list[str]]]:
    """(verdict, chunk ids) of each claim on the span that has the scores."""
    (span,) = [dict(each.attributes or {}) for each in run.spans if semconv.STATUS in (each.attributes or {})]
    numbers = range(int(span["rag.evaluation.faithfulness.claim_count"]))  # type: ignore[arg-type]
    return [(str(span[f"{CLAIMS}{n}.verdict"]), list(span.get(f"{CLAIMS}{n}.chunk_ids") or ())) for n in numbers]  # type: ignore[arg-type]


@pytest.fixture(params=["openinference", "genai"])
def instrumentor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "SPAN_ONLY")
    monkeypatch.setenv("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai_latest_experimental")
    return LangChainInstrumentor() if request.param == "openinference" else GenAiInstrumentor()


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ("none", [("not_enough_info", []), ("not_enough_info", [])]),
        ("user", [("supported", ["turn-1"]), ("not_enough_info", [])]),
        ("all", [("supported", ["turn-1"]), ("supported", ["turn-1-answer"])]),
    ],
)
def test_langchain(instrumentor: Any, context: Any, expected: list[Any]) -> None:
    """Without the setting nothing but the passages counts. The passages stay the passages."""
    with running(conversation_context=context) as run:
        run.under(instrumentor)
        chat([HumanMessage(SAID), AIMessage(PROMISED)])
        (trace,) = run.read(context)
        assert [chunk.text for chunk in trace.chunks] == list(TEXTS.values())
        assert trace.question == QUESTION
        assert trace.conversation.previous_question == (None if context == "none" else SAID)
        assert evidence(run) == expected


def test_every_turn_is_judged_once_and_by_its_own_answer() -> None:
    """Three turns are three traces with one result each, though the third holds the first two."""
    history: list[Any] = []
    with running(conversation_context="user") as run:
        run.under(LangChainInstrumentor())
        for _ in range(3):
            chat(history)
            history += [HumanMessage(QUESTION), AIMessage(ANSWER)]
        counts = [
            (span.attributes or {})["rag.evaluation.faithfulness.claim_count"]
            for span in run.spans
            if semconv.STATUS in (span.attributes or {})
        ]
        assert counts == [2, 2, 2]
        assert {trace.session_id for trace in run.read()} == {"s-1"}


def test_llama_index_chat_engine() -> None:
    """The engine puts the passages into the system message and its memory before the question."""
    nodes = [TextNode(id_=chunk_id, text=text) for chunk_id, text in TEXTS.items()]
    index = VectorStoreIndex(nodes, embed_model=MockEmbedding(embed_dim=8))
    with running(conversation_context="user") as run:
        run.under(LlamaIndexInstrumentor())
        engine = index.as_chat_engine(chat_mode="context", llm=Chatting())
        earlier = [ChatMessage(role="user", content=SAID), ChatMessage(role="assistant", content=PROMISED)]
        engine.chat(QUESTION, chat_history=earlier)
        (trace,) = run.read("user")
        assert trace.question == QUESTION
        assert [(chunk.id, chunk.text) for chunk in trace.conversation.turns] == [("turn-1", SAID)]


def test_memory_and_history_of_an_observed_call() -> None:
    """The span has both, so a collector reads what the process judged; the list may change while the call runs."""

    @rag_otel.observe(history="messages")
    def answer(question: str, messages: list[dict[str, str]]) -> dict[str, Any]:
        messages.append({"role": "assistant", "content": ANSWER})
        rag_otel.record_memory([PROMISED])
        return {"answer": ANSWER, "documents": ["Parcels are blue."]}

    with running() as run:
        answer(QUESTION, [{"role": "user", "content": SAID}, {"role": "user", "content": QUESTION}])
        assert evidence(run) == [("supported", ["turn-1"]), ("supported", ["memory-1"])]
        (trace,) = run.read()
        assert [chunk.id for chunk in trace.conversation.evidence] == ["memory-1", "turn-1"]


def test_a_guard_counts_them_too() -> None:
    """What the user said before is no reason to block an answer."""

    @rag_otel.observe(guard=rag_otel.Guard(action="block", refusal="No.", deadline=60), history="messages")
    def answer(question: str, messages: list[dict[str, str]]) -> dict[str, Any]:
        return {"answer": ORDERED, "documents": ["Parcels are blue."]}

    with running():
        assert answer(QUESTION, [{"role": "user", "content": SAID}])["answer"] == ORDERED
        assert answer(QUESTION, [])["answer"] == "No."


def test_a_hidden_question_hides_turns_and_quotes_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are what the user said."""
    monkeypatch.setenv("OPENINFERENCE_HIDE_INPUTS", "true")

    @rag_otel.observe(history="messages")
    def answer(question: str, messages: list[dict[str, str]]) -> dict[str, Any]:
        return {"answer": ORDERED, "documents": ["Parcels are blue."]}

    with running() as run:
        answer(QUESTION, [{"role": "user", "content": SAID}])
        assert evidence(run) == [("supported", ["turn-1"])]
        written = [str(value) for span in run.spans for value in (span.attributes or {}).values()]
        assert not any(SAID in text for text in written)
