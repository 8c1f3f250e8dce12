"""OpenInference: which span is the entry, and where its question and its answer are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rag_otel import semconv
from rag_otel.model import RagTrace, SpanRecord, StatusCode, UnevaluableReason
from rag_otel_collectors.conventions import OpenInference
from tests.collectors.spans import (
    ANSWER,
    PARIS,
    QUESTION,
    a_chain,
    a_model_call,
    a_retriever,
    a_span,
    json_input,
    json_output,
    read_all,
    read_one,
    texts,
)

LLAMA_INDEX = "openinference.instrumentation.llama_index"
HAYSTACK = "openinference.instrumentation.haystack"


def rag(attributes: dict[str, Any] | None = None, *below: SpanRecord, **changes: Any) -> RagTrace:
    """The trace of a chain with a retriever, and after that whatever else stands under it."""
    root = a_chain(attributes=attributes or {}, start_ns=0, **changes)
    retriever = a_retriever(PARIS, parent=root, start_ns=1, end_ns=2)
    return read_one(root, retriever, *(replace(span, parent_id=root.span_id) for span in below))


# --- entries ----------------------------------------------------------------------------------------------------------


def test_entry_is_the_topmost_span_of_the_dialect() -> None:
    """Under a web server's span the chain is the target, not the server and not the chain within the chain."""
    server = a_span(scope="fastapi", name="GET /ask")
    outer = a_chain(parent=server, name="outer")
    inner = a_chain(parent=outer)
    trace = read_one(server, outer, inner, a_retriever(PARIS, parent=inner))
    assert trace.target.span_id == outer.span_id
    assert trace.route == "outer"


def test_two_entries_in_one_trace_give_two_rag_traces() -> None:
    """Two chains under one server span are two questions with their own chunks."""
    server = a_span(scope="fastapi")
    first, second = a_chain(parent=server), a_chain(parent=server)
    traces = read_all([server, first, second, a_retriever("one", parent=first), a_retriever("two", parent=second)])
    assert [texts(trace) for trace in traces] == [["one"], ["two"]]


def test_foreign_span_in_between_does_not_make_a_second_entry() -> None:
    """A chain below another instrumentation's span below a chain still belongs to the topmost one."""
    outer = a_chain()
    foreign = a_span(parent=outer, scope="app")
    inner = a_chain(parent=foreign)
    trace = read_one(outer, foreign, inner, a_retriever(PARIS, parent=inner))
    assert trace.target.span_id == outer.span_id


def test_observed_call_within_a_chain_keeps_its_retrieval() -> None:
    """One question is one RAG trace: the observed call's, not also that of the chain around it."""
    chain = a_chain()
    call = a_chain(parent=chain, scope=semconv.SCOPE)
    trace = read_one(chain, call, a_retriever(PARIS, parent=call))
    assert (trace.target.span_id, trace.convention) == (call.span_id, "rag_otel")


def test_missing_root_leaves_the_next_span_as_entry() -> None:
    """A trace that was cut is read from the topmost span that is there."""
    lost = a_chain()
    entry = a_chain(parent=lost)
    trace = read_one(entry, a_retriever(PARIS, parent=entry))
    assert trace.target.span_id == entry.span_id


def test_model_call_without_retrieval_is_no_rag_trace() -> None:
    """A question and an answer alone are nothing to be faithful to."""
    root = a_chain()
    assert read_all([root, a_model_call(ANSWER, parent=root)]) == []


def test_judges_own_spans_are_never_read() -> None:
    """What hangs under an EVALUATOR span, retrieval and all, is no application traffic."""
    evaluator = a_span(semconv.KIND_EVALUATOR)
    chain = a_chain(parent=evaluator)
    assert read_all([evaluator, chain, a_retriever(PARIS, parent=chain)]) == []
    root = a_chain()
    judge = a_span(semconv.KIND_EVALUATOR, parent=root)
    assert read_all([root, judge, a_retriever(PARIS, parent=judge)]) == []


def test_retriever_alone_is_a_trace_without_an_answer() -> None:
    """The retriever is its own target; its documents are not an answer."""
    retriever = a_retriever(PARIS, attributes=json_output([{"page_content": PARIS}]))
    trace = read_one(retriever)
    assert trace.target.span_id == retriever.span_id
    assert (trace.question, trace.response) == ("a query", None)
    assert trace.unevaluable_reason is UnevaluableReason.NO_RESPONSE


def test_retriever_as_a_tool() -> None:
    """A RETRIEVER below a TOOL below an AGENT gives the agent's chunks."""
    agent = a_chain(attributes={semconv.SPAN_KIND: semconv.KIND_AGENT})
    tool = a_span(semconv.KIND_TOOL, parent=agent, attributes={semconv.OUTPUT_VALUE: PARIS})
    trace = read_one(agent, tool, a_retriever(PARIS, parent=tool))
    assert (trace.target.span_id, texts(trace)) == (agent.span_id, [PARIS])
    assert trace.evaluable


def test_tool_alone_returns_documents_and_no_answer() -> None:
    """The text that a retriever tool hands over is the context, unless a model was called in it."""
    tool = a_span(semconv.KIND_TOOL, attributes={semconv.OUTPUT_VALUE: f"1. {PARIS}", semconv.INPUT_VALUE: QUESTION})
    retriever = a_retriever(PARIS, parent=tool)
    assert read_one(tool, retriever).unevaluable_reason is UnevaluableReason.NO_RESPONSE
    call = a_model_call("It is Paris.", parent=tool)
    assert read_one(tool, retriever, call).response == f"1. {PARIS}"


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
    """The question is found in the objects that frameworks and decorators write, the user's last message in a chat."""
    assert rag(json_input(value)).question == QUESTION


def test_plain_text_that_looks_like_json_stays_as_it_is() -> None:
    """A question of mime type text is never taken apart."""
    asked = '{"query": "what is this?"}'
    assert rag({semconv.INPUT_VALUE: asked, semconv.INPUT_MIME_TYPE: "text/plain"}).question == asked


def test_question_is_the_searched_text_where_the_entry_has_none() -> None:
    """Without an input of its own the entry's question is what was searched for."""
    assert rag({semconv.INPUT_VALUE: None}).question == "a query"


def test_first_message_flattened_on_a_graph_is_not_its_question() -> None:
    """LangGraph flattens only the first message of a history; the input has them all."""
    history = {"messages": [{"role": "user", "content": "hi"}, {"role": "user", "content": QUESTION}]}
    flat = {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "hi"}
    assert rag(json_input(history) | flat).question == QUESTION


def test_question_that_an_agent_was_told() -> None:
    """An agent whose input is the repr of an event: its first model call, before any search, has the question."""
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
    """Neither an input nor a query: the trace says so."""
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
    """A stream, or the repr of an object, sends the reader to the model call that wrote the text."""
    assert rag(json_output(output), a_model_call(ANSWER)).response == ANSWER


@pytest.mark.parametrize(
    "text",
    ["<" + "stream " * 50_000, "Thought:" + "\n" * 50_000, "Document(id=1, " + "score: 1, embedding: " * 50_000 + "!"],
    ids=["placeholder", "thought", "repr"],
)
def test_long_text_that_begins_like_something_else_is_an_answer(text: str) -> None:
    """What only looks like a stream, a thought or a repr at its beginning is read as it is."""
    call = a_model_call(text)
    assert rag({semconv.OUTPUT_VALUE: None}, call).response == text
    assert rag(json_output({"documents": [text], "answer": text})).response == text


def test_thoughts_of_an_agent_are_not_its_answer() -> None:
    """Where the model call has the answer, what a ReAct agent thought before it is left out."""
    event = "StopEvent(result=AgentOutput(response=ChatMessage(role='assistant', blocks=[TextBlock(text='Par..."
    call = a_model_call(f"Thought: I can answer.\nAnswer: {ANSWER}")
    assert rag({semconv.OUTPUT_VALUE: event}, call).response == ANSWER


def test_streaming_root_without_a_model_call_is_incomplete() -> None:
    """A stream that nobody read to the end left a generator in the output and no text anywhere."""
    trace = rag(json_output({"response_gen": "<generator object>"}), a_model_call(None))
    assert (trace.response, trace.unevaluable_reason) == (None, UnevaluableReason.INCOMPLETE)


def test_abandoned_stream_is_incomplete() -> None:
    """`null` with status OK is a stream that was left: what the model wrote so far is not taken for the answer."""
    trace = rag({semconv.OUTPUT_VALUE: "null"}, a_model_call("Par"), status=StatusCode.OK)
    assert (trace.response, trace.unevaluable_reason) == (None, UnevaluableReason.INCOMPLETE)


def test_stream_abandoned_later_is_incomplete() -> None:
    """A model call that outlived the entry and wrote more than the entry has gives the abandoned stream away."""
    root = a_chain(attributes={semconv.OUTPUT_VALUE: "Par"}, end_ns=10**12)
    retriever = a_retriever(PARIS, parent=root)
    longer = a_model_call("Paris is it.", parent=root, end_ns=10**12 + 1)
    assert read_one(root, retriever, longer).unevaluable_reason is UnevaluableReason.INCOMPLETE
    same = a_model_call("Par", parent=root, end_ns=10**12 + 1)
    assert read_one(root, retriever, same).evaluable


def test_prompt_builder_of_kind_llm_writes_no_answer() -> None:
    """Haystack's PromptBuilder calls itself LLM; the prompt that it returns is not an answer."""
    prompt = {"llm.prompt_template.template": "{{q}}", semconv.OUTPUT_VALUE: f"{PARIS} Q: {QUESTION}"}
    builder = a_span(semconv.KIND_LLM, scope=HAYSTACK, attributes=prompt)
    trace = rag(json_output({"pb": {"prompt": "..."}}), builder)
    assert (trace.response, trace.unevaluable_reason) == (None, UnevaluableReason.NO_RESPONSE)


def test_model_calls_before_or_within_the_retrieval_do_not_answer() -> None:
    """A rewritten query, and the call of a reranking model, are not the answer of an entry that has none."""
    root = a_chain(attributes={semconv.OUTPUT_VALUE: None})
    rewriting = a_model_call("capital France", parent=root)
    retriever = a_retriever(PARIS, parent=root, end_ns=10**9)
    within = a_model_call("1. relevant", parent=retriever, end_ns=10**9)
    trace = read_one(root, rewriting, retriever, within)
    assert (trace.response, trace.unevaluable_reason) == (None, UnevaluableReason.NO_RESPONSE)


def test_last_model_call_answers() -> None:
    """Of several calls after the retrieval the last one that ended wrote the answer; a failed one did not."""
    calls = (a_model_call("draft"), a_model_call(ANSWER), a_model_call("broken", status=StatusCode.ERROR))
    assert rag({semconv.OUTPUT_VALUE: None}, *calls).response == ANSWER


def test_chain_that_only_returns_the_documents_has_not_answered() -> None:
    """The retrieved texts joined, with no model called, are a retrieval; an extract with a model call is an answer."""
    assert rag({semconv.OUTPUT_VALUE: f"- {PARIS}\n\n"}).unevaluable_reason is UnevaluableReason.NO_RESPONSE
    assert rag({semconv.OUTPUT_VALUE: PARIS}, a_model_call(PARIS)).response == PARIS


def test_documents_as_json_are_no_answer() -> None:
    """A chain that ends in its retriever gives documents, not an answer."""
    trace = rag(json_output([{"page_content": PARIS, "type": "Document"}]))
    assert (trace.response, trace.unevaluable_reason) == (None, UnevaluableReason.NO_RESPONSE)


# --- what forbids evaluation ------------------------------------------------------------------------------------------


def test_failed_entry_is_not_evaluated() -> None:
    """Status ERROR wins over everything, even over an answer that is there."""
    trace = rag(status=StatusCode.ERROR)
    assert trace.unevaluable_reason is UnevaluableReason.ERROR
    assert trace.question == QUESTION


@pytest.mark.parametrize("key", [semconv.INPUT_VALUE, semconv.OUTPUT_VALUE])
def test_hidden_field_is_not_replaced_by_another(key: str) -> None:
    """The query and the model call hold the text that the entry hides: they must not be read instead."""
    trace = rag({key: semconv.REDACTED}, a_model_call("Paris, from the call."))
    assert trace.unevaluable_reason is UnevaluableReason.REDACTED
    assert semconv.REDACTED not in (trace.question, trace.response)
    assert (trace.question is None) == (key == semconv.INPUT_VALUE)
    assert (trace.response is None) == (key == semconv.OUTPUT_VALUE)


@pytest.mark.parametrize("key", [semconv.INPUT_VALUE, semconv.OUTPUT_VALUE])
def test_dropped_text_is_truncated(key: str) -> None:
    """Where the limits dropped attributes and the question or the answer is gone, the limits are named."""
    root = a_chain(attributes={key: None}, dropped_attributes=3)
    retriever = a_retriever(PARIS, parent=root, attributes={semconv.INPUT_VALUE: ""})
    assert read_one(root, retriever).unevaluable_reason is UnevaluableReason.TRUNCATED


def test_dropped_attributes_that_nobody_misses_do_no_harm() -> None:
    """Question and answer are there: what else the entry lost does not matter."""
    assert rag(dropped_attributes=3).evaluable


# --- who and what -----------------------------------------------------------------------------------------------------


def test_session_and_user_from_attributes_or_metadata() -> None:
    """The attribute wins; else the `metadata` JSON of the entry or of a span below it tells."""
    assert rag({semconv.SESSION_ID: "s", semconv.USER_ID: "u"}).session_id == "s"
    below = a_span(semconv.KIND_CHAIN, attributes={semconv.METADATA: '{"user_id": 7, "thread_id": "t"}'})
    trace = rag({}, below)
    assert (trace.session_id, trace.user_id) == ("t", "7")


def test_model_of_the_answer() -> None:
    """The model is the one that answered, by attribute or by invocation parameters; `unknown` is none."""
    named = {semconv.LLM_INVOCATION_PARAMETERS: '{"model": "gpt-4"}', semconv.LLM_MODEL_NAME: "unknown"}
    call = a_model_call(ANSWER, attributes=named)
    assert rag({}, call).model == "gpt-4"
    assert rag({}, a_model_call(ANSWER, attributes={semconv.LLM_MODEL_NAME: "unknown"})).model is None


def test_service_of_the_resource() -> None:
    """The service's name comes from the resource of the entry."""
    assert rag(resource={semconv.SERVICE_NAME: "shop"}).service == "shop"


def test_owns_by_scope_or_by_kind() -> None:
    """An instrumentation's scope, or the kind on a hand-made span; our own spans are not of this dialect."""
    dialect = OpenInference()
    assert dialect.owns("openinference.instrumentation.dspy", {})
    assert dialect.owns("app", {semconv.SPAN_KIND: "CHAIN"})
    assert not dialect.owns("app", {})
    assert not dialect.owns(semconv.SCOPE, {semconv.SPAN_KIND: "CHAIN"})


def test_retrieves_retrievers_rerankers_and_dspy_contexts() -> None:
    """What a retrieval is can be told without parsing."""
    dialect = OpenInference()
    assert dialect.retrieves("app", {semconv.SPAN_KIND: "RETRIEVER"})
    assert dialect.retrieves("app", {semconv.SPAN_KIND: "RERANKER"})
    assert not dialect.retrieves("app", {semconv.SPAN_KIND: "CHAIN"})
    assert not dialect.retrieves(semconv.SCOPE, {semconv.SPAN_KIND: "RETRIEVER"})
    dspy = "openinference.instrumentation.dspy"
    assert dialect.retrieves(dspy, json_input({"context": [PARIS], "question": QUESTION}))
    assert not dialect.retrieves(dspy, json_input({"question": QUESTION}))
