"""OpenInference: where the question and the answer of an entry are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rag_otel import semconv
from rag_otel.model import StatusCode, UnevaluableReason
from rag_otel_collectors.conventions.reading.values import question_text
from tests.collectors.conventions.spans import (
    ANSWER,
    PARIS,
    QUESTION,
    a_chain,
    a_model_call,
    a_retriever,
    a_span,
    json_input,
    json_output,
    rag,
    read_one,
)

HAYSTACK = "openinference.instrumentation.haystack"


# --- the question -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        {"question": QUESTION, "chat_history": [{"role": "user", "content": "before"}]},
        {"query": QUESTION},
        {"input": QUESTION, "config": {"text": "no"}},
        {"query_bundle": {"query_str": QUESTION, "embedding": None}},
        {"data": {"retriever": {"query": "capital"}, "pb": {"question": QUESTION}}},
        {"data": {"text_embedder": {"text": QUESTION}}},
        {"wanted": QUESTION, "top_k": 5},
        {"messages": [{"role": "user", "content": "hello"}, {"role": "user", "content": QUESTION}]},
        {"messages": [{"type": "human", "data": {"content": QUESTION}}, {"type": "ai", "data": {"content": "hm"}}]},
        {"messages": [["system", "be brief"], ["human", QUESTION]]},
        {"messages": [{"role": "user", "parts": [{"type": "text", "content": QUESTION}]}]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": QUESTION}, {"type": "image"}]}]},
        {
            "messages": [
                [{"lc": 1, "type": "constructor", "id": ["x", "HumanMessage"], "kwargs": {"content": QUESTION}}]
            ]
        },
        [{"role": "user", "content": QUESTION}],
        QUESTION,
    ],
)
def test_question_in_json_input(value: Any) -> None:
    """The question is found in the objects that frameworks and decorators write, in a chat as the last user message."""
    assert rag(json_input(value)).question == QUESTION


def test_plain_text_that_looks_like_json_stays_as_it_is() -> None:
    """A question with the MIME type text is not parsed."""
    asked = '{"query": "what is this?"}'
    assert rag({semconv.INPUT_VALUE: asked, semconv.INPUT_MIME_TYPE: "text/plain"}).question == asked


@pytest.mark.parametrize("empty", ['{"input": ""}', "{}", "[]", '{"input": " ", "chat_history": []}'])
def test_json_without_a_text_is_no_question(empty: str) -> None:
    """LangChain's stream gives its root such an input: the retrieval's query is the question then."""
    message = [{"role": "user", "parts": [{"type": "text", "content": empty}]}]
    assert question_text(message) is None
    assert rag({semconv.INPUT_VALUE: empty, semconv.INPUT_MIME_TYPE: "text/plain"}).question == "a query"


def test_question_is_the_searched_text_where_the_entry_has_none() -> None:
    """If the entry has no input, the question is the search query."""
    assert rag({semconv.INPUT_VALUE: None}).question == "a query"


def test_first_message_flattened_on_a_graph_is_not_its_question() -> None:
    """LangGraph flattens only the first message of a history. The input has all messages."""
    history = {"messages": [{"role": "user", "content": "hi"}, {"role": "user", "content": QUESTION}]}
    flat = {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "hi"}
    assert rag(json_input(history) | flat).question == QUESTION


def test_question_that_an_agent_was_told() -> None:
    """If an agent's input is the repr of an event, its first model call before the search has the question."""
    root = a_chain(attributes={semconv.INPUT_VALUE: "AgentStartEvent()"})
    first = a_model_call("I will search.", parent=root, attributes=_told(QUESTION))
    tool = a_span(semconv.KIND_TOOL, parent=root)
    retriever = a_retriever(PARIS, parent=tool)
    second = a_model_call(ANSWER, parent=root, attributes=_told(f"Observation: {PARIS}"))
    assert read_one(root, first, tool, retriever, second).question == QUESTION
    assert read_one(root, tool, retriever, second).question == "a query"
    assert read_one(root, first, replace(retriever, parent_id=root.span_id)).question == "a query"


def _told(text: str) -> dict[str, Any]:
    return {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": text}


def test_no_question_anywhere() -> None:
    """Without input and query the reason is `no_question`."""
    root = a_chain(attributes={semconv.INPUT_VALUE: None})
    trace = read_one(root, a_retriever(PARIS, parent=root, attributes={semconv.INPUT_VALUE: ""}))
    assert (trace.question, trace.unevaluable_reason) == (None, UnevaluableReason.NO_QUESTION)


# --- the answer -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        {"input": QUESTION, "context": [{"page_content": PARIS}], "answer": ANSWER},
        {"query": QUESTION, "result": ANSWER, "source_documents": [{"page_content": PARIS}]},
        {"response": ANSWER, "source_nodes": ["<NodeWithScore(node=TextNode(id_=d2), score=0.9)>"]},
        {"reasoning": "because", "answer": ANSWER},
        {"reasoning": "because", "verdict": ANSWER},
        {"messages": [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": ANSWER}]},
        {"type": "AIMessageChunk", "data": {"content": ANSWER, "type": "AIMessageChunk", "id": "run-1"}},
        {"content": ANSWER, "additional_kwargs": {}, "type": "ai", "id": "run-1"},
        {"llm": {"replies": [ANSWER], "meta": [{"model": "m"}]}},
        {"choices": [{"index": 0, "message": {"role": "assistant", "content": ANSWER}}]},
        {"generations": [[{"text": ANSWER, "generation_info": None}]]},
        [ANSWER],
        ANSWER,
    ],
)
def test_answer_in_json_output(value: Any) -> None:
    """The answer is found in the objects that frameworks and model providers write."""
    trace = rag(json_output(value))
    assert trace.response == ANSWER
    assert trace.evaluable


@pytest.mark.parametrize(
    "output",
    [
        {"response_gen": "<generator object wrapped at 0x7f>", "source_nodes": []},
        {"response_gen": "<async_generator object wrapped at 0x7f>"},
        {
            "llm": {
                "replies": ["ChatMessage(_role=<ChatRole.ASSISTANT: 'assistant'>, _content=[TextContent(text='x')])"]
            }
        },
        {"answer_builder": {"answers": ["GeneratedAnswer(data='x', query='y', documents=[])"]}},
    ],
)
def test_answer_of_the_model_call_where_the_output_has_no_text(output: Any) -> None:
    """If the output is a stream or the repr of an object, the answer is the text of the model call."""
    assert rag(json_output(output), a_model_call(ANSWER)).response == ANSWER


@pytest.mark.parametrize(
    "text",
    ["<" + "stream " * 50_000, "Thought:" + "\n" * 50_000, "Document(id=1, " + "score: 1, embedding: " * 50_000 + "!"],
    ids=["placeholder", "thought", "repr"],
)
def test_long_text_that_begins_like_something_else_is_an_answer(text: str) -> None:
    """A text that only begins like a stream, a thought or a repr is used unchanged."""
    call = a_model_call(text)
    assert rag({semconv.OUTPUT_VALUE: None}, call).response == text
    assert rag(json_output({"documents": [text], "answer": text})).response == text


def test_thoughts_of_an_agent_are_not_its_answer() -> None:
    """The thoughts of a ReAct agent before its answer are removed."""
    event = "StopEvent(result=AgentOutput(response=ChatMessage(role='assistant', blocks=[TextBlock(text='Par..."
    call = a_model_call(f"Thought: I can answer.\nAnswer: {ANSWER}")
    assert rag({semconv.OUTPUT_VALUE: event}, call).response == ANSWER


def test_streaming_root_without_a_model_call_is_incomplete() -> None:
    """The output is the repr of a generator, and no span has the text: the stream was not read to its end."""
    trace = rag(json_output({"response_gen": "<generator object>"}), a_model_call(None))
    assert (trace.response, trace.unevaluable_reason) == (None, UnevaluableReason.INCOMPLETE)


def test_abandoned_stream_is_incomplete() -> None:
    """`null` with status OK is a stream that was closed early. The model's text so far is not the answer."""
    trace = rag({semconv.OUTPUT_VALUE: "null"}, a_model_call("Par"), status=StatusCode.OK)
    assert (trace.response, trace.unevaluable_reason) == (None, UnevaluableReason.INCOMPLETE)


def test_stream_abandoned_later_is_incomplete() -> None:
    """A model call that ended after the entry, with a longer text, shows that the stream was closed early."""
    root = a_chain(attributes={semconv.OUTPUT_VALUE: "Par"}, end_ns=10**12)
    retriever = a_retriever(PARIS, parent=root)
    longer = a_model_call("Paris is it.", parent=root, end_ns=10**12 + 1)
    assert read_one(root, retriever, longer).unevaluable_reason is UnevaluableReason.INCOMPLETE
    same = a_model_call("Par", parent=root, end_ns=10**12 + 1)
    assert read_one(root, retriever, same).evaluable


def test_prompt_builder_of_kind_llm_writes_no_answer() -> None:
    """Haystack's PromptBuilder has the kind LLM. Its prompt is not an answer."""
    prompt = {"llm.prompt_template.template": "{{q}}", semconv.OUTPUT_VALUE: f"{PARIS} Q: {QUESTION}"}
    builder = a_span(semconv.KIND_LLM, scope=HAYSTACK, attributes=prompt)
    trace = rag(json_output({"pb": {"prompt": "..."}}), builder)
    assert (trace.response, trace.unevaluable_reason) == (None, UnevaluableReason.NO_RESPONSE)


def test_model_calls_before_or_within_the_retrieval_do_not_answer() -> None:
    """A rewritten query and the call of a reranking model are not the answer."""
    root = a_chain(attributes={semconv.OUTPUT_VALUE: None})
    rewriting = a_model_call("capital France", parent=root)
    retriever = a_retriever(PARIS, parent=root, end_ns=10**9)
    within = a_model_call("1. relevant", parent=retriever, end_ns=10**9)
    trace = read_one(root, rewriting, retriever, within)
    assert (trace.response, trace.unevaluable_reason) == (None, UnevaluableReason.NO_RESPONSE)


def test_last_model_call_answers() -> None:
    """Of several calls after the retrieval, the answer is from the last one that ended and did not fail."""
    calls = (a_model_call("draft"), a_model_call(ANSWER), a_model_call("broken", status=StatusCode.ERROR))
    assert rag({semconv.OUTPUT_VALUE: None}, *calls).response == ANSWER


def test_chain_that_only_returns_the_documents_has_not_answered() -> None:
    """The joined retrieved texts without a model call are not an answer. An extract with a model call is."""
    assert rag({semconv.OUTPUT_VALUE: f"- {PARIS}\n\n"}).unevaluable_reason is UnevaluableReason.NO_RESPONSE
    assert rag({semconv.OUTPUT_VALUE: PARIS}, a_model_call(PARIS)).response == PARIS


def test_documents_as_json_are_no_answer() -> None:
    """A chain that ends with its retriever returns documents, not an answer."""
    trace = rag(json_output([{"page_content": PARIS, "type": "Document"}]))
    assert (trace.response, trace.unevaluable_reason) == (None, UnevaluableReason.NO_RESPONSE)
