"""The GenAI conventions and the dialects based on them: messages, retrievals, tools, limits and privacy settings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rag_otel.model import SpanRecord, StatusCode, UnevaluableReason
from tests.collectors.conventions.spans import ANSWER, EUROPE, PARIS, QUESTION, a_span, read_all, read_one, texts

SCOPE = "opentelemetry.instrumentation.genai.langchain"


def operation(name: str, parent: SpanRecord | None = None, /, **changes: Any) -> SpanRecord:
    """A span of the GenAI conventions. Attributes are given without their prefix."""
    attributes = {f"gen_ai.{key}": value for key, value in changes.pop("attributes", {}).items()}
    attributes["gen_ai.operation.name"] = name
    return a_span(parent=parent, **{"scope": SCOPE, "name": name, **changes, "attributes": attributes})


def messages(*turns: tuple[str, str]) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]} for role, text in turns])


def workflow(question: str | None = QUESTION, answer: str | None = ANSWER, **changes: Any) -> SpanRecord:
    attributes = {}
    if question is not None:
        attributes["input.messages"] = messages(("user", question))
    if answer is not None:
        attributes["output.messages"] = messages(("assistant", answer))
    return operation("invoke_workflow", **{"end_ns": 10**12, "attributes": attributes, **changes})


def retrieval(parent: SpanRecord, *documents: dict[str, Any], **more: Any) -> SpanRecord:
    found = {"retrieval.query.text": "a query", "retrieval.documents": json.dumps(documents)}
    return operation("retrieval", parent, attributes=found | more)


def chat(parent: SpanRecord, told: str, wrote: str | None = ANSWER, **more: Any) -> SpanRecord:
    said = {"input.messages": messages(("system", "be brief"), ("user", told)), "response.model": "gpt"}
    if wrote is not None:
        said["output.messages"] = messages(("assistant", wrote))
    return operation("chat", parent, attributes=said | more)


def test_messages_of_the_root() -> None:
    """Question and answer are the last user message and the last assistant message of the workflow span."""
    history = messages(("user", "before"), ("assistant", "yes"), ("user", QUESTION))
    root = operation(
        "invoke_agent", attributes={"input.messages": history, "output.messages": messages(("assistant", ANSWER))}
    )
    trace = read_one(root, retrieval(root, {"id": "a", "content": PARIS}))
    assert (trace.question, trace.response, texts(trace), trace.evaluable) == (QUESTION, ANSWER, [PARIS], True)


def test_the_providers_id_of_the_answer() -> None:
    """The id is that of the call that generated the response, not of a call that rewrote the question."""
    root = workflow(answer=None)
    rewritten = chat(root, QUESTION, "another question", **{"response.id": "chatcmpl-1"})
    found = retrieval(root, {"id": "a", "content": PARIS})
    wrote = chat(root, QUESTION, **{"response.id": "chatcmpl-2"})
    trace = read_one(root, rewritten, found, wrote)
    assert (trace.response, trace.response_id) == (ANSWER, "chatcmpl-2")


def test_messages_that_are_no_json() -> None:
    """An attribute may hold the list itself, or (OpenLIT) a plain text."""
    root = operation("invoke_workflow", attributes={"input.messages": [{"role": "user", "content": QUESTION}]})
    root.attributes["gen_ai.output.messages"] = ANSWER  # type: ignore[index]
    trace = read_one(root, retrieval(root, {"id": "a", "content": PARIS}))
    assert (trace.question, trace.response) == (QUESTION, ANSWER)


def test_messages_of_2024() -> None:
    """Messages flattened by number are read too."""
    root = operation("invoke_workflow")
    old = {"prompt.0.role": "user", "prompt.0.content": f"{PARIS} {QUESTION}", "completion.0.content": ANSWER}
    trace = read_one(root, retrieval(root, {"id": "a", "content": PARIS}), operation("chat", root, attributes=old))
    assert (trace.question, trace.response) == ("a query", ANSWER)


def test_question_is_never_a_prompt_with_the_passages_in_it() -> None:
    """If only the model call has a user message, it is the question unless it contains a passage or wraps the query."""
    root = workflow(None, None)
    found = retrieval(root, {"id": "a", "content": PARIS})
    assert read_one(root, found, chat(root, QUESTION)).question == QUESTION
    assert read_one(root, found, chat(root, f"Context: {PARIS} Question: {QUESTION}")).question == "a query"
    assert read_one(root, found, chat(root, "Say it in French: a query")).question == "a query"


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("get_page", json.dumps([{"id": "a", "text": PARIS}, {"id": "b", "text": EUROPE}])),
        ("search_docs", json.dumps([PARIS, EUROPE])),
        ("search_docs", json.dumps({"results": [{"content": PARIS}, {"content": EUROPE}]})),
    ],
)
def test_tool_that_returns_documents(name: str, result: str) -> None:
    """Objects with a text are documents for any tool. Texts are documents if the tool's name says that it searches."""
    root = workflow()
    tool = operation("execute_tool", root, attributes={"tool.name": name, "tool.call.result": result})
    assert texts(read_one(root, tool)) == [PARIS, EUROPE]


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("get_weather", "It rains."),
        ("list_files", json.dumps(["a.txt", "b.txt"])),
        ("get_user", json.dumps({"text": "hi"})),
        ("search_docs", ""),
    ],
)
def test_tool_that_does_something_else(name: str, result: str) -> None:
    """Results of other tools are not evidence: without a retrieval there is no RAG trace."""
    root = workflow()
    tool = operation("execute_tool", root, attributes={"tool.name": name, "tool.call.result": result})
    assert read_all([root, tool]) == []


def test_retrieval_in_a_tool_knows_better_than_its_result() -> None:
    """The documents of the nested retriever, with ids and scores, take precedence over the tool's text."""
    root = workflow()
    tool = operation("execute_tool", root, attributes={"tool.name": "search", "tool.call.result": f"1. {PARIS}"})
    found = retrieval(tool, {"id": "a", "content": PARIS, "score": 0.5})
    (chunk,) = read_one(root, tool, found).chunks
    assert (chunk.id, chunk.text, chunk.score) == ("a", PARIS, 0.5)


def test_failed_retrieval_and_failed_tool_count_for_nothing() -> None:
    """The application continued without them."""
    root = workflow()
    failed = operation("retrieval", root, status=StatusCode.ERROR)
    tool = operation(
        "execute_tool", root, status=StatusCode.ERROR, attributes={"tool.name": "search", "tool.call.result": PARIS}
    )
    assert texts(read_one(root, failed, tool, retrieval(root, {"content": PARIS}))) == [PARIS]


def memory(parent: SpanRecord, *records: dict[str, Any]) -> SpanRecord:
    found = {"memory.query.text": "a query", "memory.records": json.dumps(records)}
    return operation("search_memory", parent, attributes=found)


def test_records_of_a_memory_are_chunks() -> None:
    """The content of a record may be any JSON value. A retrieval beside the search is joined with it."""
    root = workflow(question=None)
    found = memory(root, {"id": "m1", "content": PARIS, "score": 0.5}, {"content": {"city": "Paris"}})
    trace = read_one(root, found)
    assert [(chunk.text, chunk.score) for chunk in trace.chunks] == [(PARIS, 0.5), ('{"city": "Paris"}', None)]
    assert (trace.chunks[0].id, trace.question, trace.chunk_span) == ("m1", "a query", None)
    assert texts(read_one(root, memory(root, {"content": PARIS}), retrieval(root, {"content": EUROPE}))) == [
        PARIS,
        EUROPE,
    ]


def test_memory_without_records_is_not_evaluable() -> None:
    """Instrumentations leave the records out unless content is captured; an empty search found nothing."""
    root = workflow()
    hidden = operation("search_memory", root, attributes={"memory.record.count": 2})
    assert read_one(root, hidden).unevaluable_reason is UnevaluableReason.NO_CHUNK_TEXT
    assert read_one(root, memory(root)).evaluable


def test_other_memory_operations_and_plans_retrieve_nothing() -> None:
    """What is written to a memory, and an agent's plan, are not evidence."""
    root = workflow()
    written = operation("create_memory", root, attributes={"memory.records": json.dumps([{"content": EUROPE}])})
    plan = operation("plan", root, attributes={"output.messages": messages(("assistant", "first search"))})
    trace = read_one(root, written, plan, retrieval(root, {"content": PARIS}))
    assert (texts(trace), trace.response) == ([PARIS], ANSWER)


def test_values_that_a_length_limit_has_cut() -> None:
    """JSON that was cut has no text, and the trace is `truncated`."""
    root = workflow()
    cut = operation("retrieval", root, attributes={"retrieval.documents": json.dumps([{"content": PARIS}])[:-9]})
    assert read_one(root, cut).unevaluable_reason is UnevaluableReason.TRUNCATED
    found = retrieval(root, {"content": PARIS})
    root.attributes["gen_ai.output.messages"] = messages(("assistant", ANSWER))[:-9]  # type: ignore[index]
    assert read_one(root, found).unevaluable_reason is UnevaluableReason.TRUNCATED


@pytest.mark.parametrize("key", ["input.messages", "output.messages"])
def test_redacted_messages(key: str) -> None:
    """Hidden text is not read from another field."""
    root = workflow()
    root.attributes[f"gen_ai.{key}"] = "__REDACTED__"  # type: ignore[index]
    trace = read_one(root, retrieval(root, {"content": PARIS}), chat(root, QUESTION))
    assert trace.unevaluable_reason is UnevaluableReason.REDACTED


def test_stream_that_was_closed_early() -> None:
    """A streamed call without a finish reason is incomplete."""
    root = workflow(answer=None)
    found = retrieval(root, {"content": PARIS})
    finished = {"request.stream": True, "response.finish_reasons": ["stop"]}
    assert read_one(root, found, chat(root, QUESTION, **finished)).evaluable
    trace = read_one(root, found, chat(root, QUESTION, "Par", **{"request.stream": True}))
    assert (trace.response, trace.unevaluable_reason) == ("Par", UnevaluableReason.INCOMPLETE)


def test_openlit_keeps_three_documents() -> None:
    """The span has only three of the documents, so the trace is `truncated` and not judged with incomplete evidence."""
    root = a_span(scope="openlit.otel", attributes={"gen_ai.workflow.input": json.dumps({"query": QUESTION})})
    found = {"retrieval.documents": json.dumps([{"content": PARIS}] * 3), "retrieval.document_count": 5}
    trace = read_one(root, operation("retrieval", root, scope="openlit.otel", attributes=found))
    assert trace.unevaluable_reason is UnevaluableReason.TRUNCATED
    none = operation("retrieval", root, scope="openlit.otel", attributes={"retrieval.document_count": 0})
    assert read_one(root, none).chunks == ()
    assert read_one(root, none).unevaluable_reason is UnevaluableReason.NO_RESPONSE


def test_litellm_searched_a_vector_store() -> None:
    """The proxy's documents are in the metadata, as a Python `repr`."""
    results = [{"score": 0.5, "content": [{"type": "text", "text": PARIS}], "file_id": "f1", "attributes": None}]
    search = [{"vector_store_id": "v", "query": QUESTION, "vector_store_search_response": {"data": results}}]
    said = {"input.messages": messages(("user", QUESTION)), "output.messages": messages(("assistant", ANSWER))}
    span = operation("chat", scope="litellm", name="litellm_request", attributes=said)
    span.attributes["metadata.vector_store_request_metadata"] = str(search)  # type: ignore[index]
    trace = read_one(span)
    assert [(chunk.id, chunk.text, chunk.score) for chunk in trace.chunks] == [("f1", PARIS, 0.5)]
    assert (trace.question, trace.response, trace.convention, trace.evaluable) == (QUESTION, ANSWER, "litellm", True)
    span.attributes["metadata.vector_store_request_metadata"] = "[broken("  # type: ignore[index]
    assert read_one(span).unevaluable_reason is UnevaluableReason.NO_CHUNK_TEXT


def test_litellm_on_the_applications_own_span() -> None:
    """Without its own span, the callback writes on the current span, which may also have the retrieval."""
    said = {"input.messages": messages(("user", QUESTION)), "output.messages": messages(("assistant", ANSWER))}
    root = operation("chat", scope="app", name="rag", end_ns=10**12, attributes=said)
    root.attributes["litellm.call_id"] = "c"  # type: ignore[index]
    trace = read_one(root, retrieval(root, {"id": "a", "content": PARIS}))
    assert (trace.convention, trace.question, trace.response, texts(trace)) == ("litellm", QUESTION, ANSWER, [PARIS])
