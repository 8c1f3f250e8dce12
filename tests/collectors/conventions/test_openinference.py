"""OpenInference: which span is the entry, its attributes, and the reasons why it cannot be evaluated."""

from __future__ import annotations

import pytest

from rag_otel import semconv
from rag_otel.model import StatusCode, UnevaluableReason
from rag_otel.protocols import Convention
from rag_otel_collectors.conventions import default_conventions
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
    read_all,
    read_one,
    texts,
)

# --- entries ----------------------------------------------------------------------------------------------------------


def test_entry_is_the_topmost_span_of_the_dialect() -> None:
    """Below a web server's span the outer chain is the target, not the server span and not the inner chain."""
    server = a_span(scope="fastapi", name="GET /ask")
    outer = a_chain(parent=server, name="outer")
    inner = a_chain(parent=outer)
    trace = read_one(server, outer, inner, a_retriever(PARIS, parent=inner))
    assert trace.target.span_id == outer.span_id
    assert trace.route == "outer"


def test_two_entries_in_one_trace_give_two_rag_traces() -> None:
    """Two chains below one server span are two questions with separate chunks."""
    server = a_span(scope="fastapi")
    first, second = a_chain(parent=server), a_chain(parent=server)
    traces = read_all([server, first, second, a_retriever("one", parent=first), a_retriever("two", parent=second)])
    assert [texts(trace) for trace in traces] == [["one"], ["two"]]


def test_foreign_span_in_between_does_not_make_a_second_entry() -> None:
    """A chain below an unknown span below a chain still belongs to the topmost chain."""
    outer = a_chain()
    foreign = a_span(parent=outer, scope="app")
    inner = a_chain(parent=foreign)
    trace = read_one(outer, foreign, inner, a_retriever(PARIS, parent=inner))
    assert trace.target.span_id == outer.span_id


def test_observed_call_within_a_chain_keeps_its_retrieval() -> None:
    """The question gives one RAG trace, of the observed call, and none of the chain around it."""
    chain = a_chain()
    call = a_chain(parent=chain, scope=semconv.SCOPE)
    trace = read_one(chain, call, a_retriever(PARIS, parent=call))
    assert (trace.target.span_id, trace.convention) == (call.span_id, "rag_otel")


def test_missing_root_leaves_the_next_span_as_entry() -> None:
    """Without its root, a trace is read from the topmost span that exists."""
    lost = a_chain()
    entry = a_chain(parent=lost)
    trace = read_one(entry, a_retriever(PARIS, parent=entry))
    assert trace.target.span_id == entry.span_id


def test_model_call_without_retrieval_is_no_rag_trace() -> None:
    """Without a retrieval, faithfulness cannot be judged."""
    root = a_chain()
    assert read_all([root, a_model_call(ANSWER, parent=root)]) == []


def test_judges_own_spans_are_never_read() -> None:
    """Spans below an EVALUATOR span, including retrievals, are not application traffic."""
    evaluator = a_span(semconv.KIND_EVALUATOR)
    chain = a_chain(parent=evaluator)
    assert read_all([evaluator, chain, a_retriever(PARIS, parent=chain)]) == []
    root = a_chain()
    judge = a_span(semconv.KIND_EVALUATOR, parent=root)
    assert read_all([root, judge, a_retriever(PARIS, parent=judge)]) == []


def test_retriever_alone_is_a_trace_without_an_answer() -> None:
    """The retriever is the target. Its documents are not an answer."""
    retriever = a_retriever(PARIS, attributes=json_output([{"page_content": PARIS}]))
    trace = read_one(retriever)
    assert trace.target.span_id == retriever.span_id
    assert (trace.question, trace.response) == ("a query", None)
    assert trace.unevaluable_reason is UnevaluableReason.NO_RESPONSE


def test_retriever_as_a_tool() -> None:
    """A RETRIEVER below a TOOL below an AGENT provides the agent's chunks."""
    agent = a_chain(attributes={semconv.SPAN_KIND: semconv.KIND_AGENT})
    tool = a_span(semconv.KIND_TOOL, parent=agent, attributes={semconv.OUTPUT_VALUE: PARIS})
    trace = read_one(agent, tool, a_retriever(PARIS, parent=tool))
    assert (trace.target.span_id, texts(trace)) == (agent.span_id, [PARIS])
    assert trace.evaluable


def test_tool_alone_returns_documents_and_no_answer() -> None:
    """The text of a retriever tool is context, not an answer, unless a model was called in the tool."""
    tool = a_span(semconv.KIND_TOOL, attributes={semconv.OUTPUT_VALUE: f"1. {PARIS}", semconv.INPUT_VALUE: QUESTION})
    retriever = a_retriever(PARIS, parent=tool)
    assert read_one(tool, retriever).unevaluable_reason is UnevaluableReason.NO_RESPONSE
    call = a_model_call("It is Paris.", parent=tool)
    assert read_one(tool, retriever, call).response == f"1. {PARIS}"


# --- what forbids evaluation ------------------------------------------------------------------------------------------


def test_failed_entry_is_not_evaluated() -> None:
    """Status ERROR takes precedence, even if there is an answer."""
    trace = rag(status=StatusCode.ERROR)
    assert trace.unevaluable_reason is UnevaluableReason.ERROR
    assert trace.question == QUESTION


@pytest.mark.parametrize("key", [semconv.INPUT_VALUE, semconv.OUTPUT_VALUE])
def test_hidden_field_is_not_replaced_by_another(key: str) -> None:
    """The query and the model call contain the hidden text. It is not read from there."""
    trace = rag({key: semconv.REDACTED}, a_model_call("Paris, from the call."))
    assert trace.unevaluable_reason is UnevaluableReason.REDACTED
    assert semconv.REDACTED not in (trace.question, trace.response)
    assert (trace.question is None) == (key == semconv.INPUT_VALUE)
    assert (trace.response is None) == (key == semconv.OUTPUT_VALUE)


@pytest.mark.parametrize("key", [semconv.INPUT_VALUE, semconv.OUTPUT_VALUE])
def test_dropped_text_is_truncated(key: str) -> None:
    """If limits dropped attributes and the question or the answer is missing, the reason is `truncated`."""
    root = a_chain(attributes={key: None}, dropped_attributes=3)
    retriever = a_retriever(PARIS, parent=root, attributes={semconv.INPUT_VALUE: ""})
    assert read_one(root, retriever).unevaluable_reason is UnevaluableReason.TRUNCATED


def test_dropped_attributes_that_nobody_misses_do_no_harm() -> None:
    """If question and answer exist, other dropped attributes do not matter."""
    assert rag(dropped_attributes=3).evaluable


# --- who and what -----------------------------------------------------------------------------------------------------


def test_session_and_user_from_attributes_or_metadata() -> None:
    """The attribute takes precedence over the `metadata` JSON of the entry or of a span below it."""
    assert rag({semconv.SESSION_ID: "s", semconv.USER_ID: "u"}).session_id == "s"
    below = a_span(semconv.KIND_CHAIN, attributes={semconv.METADATA: '{"user_id": 7, "thread_id": "t"}'})
    trace = rag({}, below)
    assert (trace.session_id, trace.user_id) == ("t", "7")


def test_model_of_the_answer() -> None:
    """The model of the answering call, from its attribute or its invocation parameters. `unknown` is ignored."""
    named = {semconv.LLM_INVOCATION_PARAMETERS: '{"model": "gpt-4"}', semconv.LLM_MODEL_NAME: "unknown"}
    call = a_model_call(ANSWER, attributes=named)
    assert rag({}, call).model == "gpt-4"
    assert rag({}, a_model_call(ANSWER, attributes={semconv.LLM_MODEL_NAME: "unknown"})).model is None


def test_service_of_the_resource() -> None:
    """The service's name comes from the resource of the entry."""
    assert rag(resource={semconv.SERVICE_NAME: "shop"}).service == "shop"


def the_convention() -> Convention:
    return next(each for each in default_conventions() if each.name == "openinference")


def test_owns_by_scope_or_by_kind() -> None:
    """The scope of an instrumentation, or the kind on a manual span. Spans of `@observe` do not belong to this
    dialect."""
    dialect = the_convention()
    assert dialect.owns("openinference.instrumentation.dspy", {})
    assert dialect.owns("app", {semconv.SPAN_KIND: "CHAIN"})
    assert not dialect.owns("app", {})
    assert not dialect.owns(semconv.SCOPE, {semconv.SPAN_KIND: "CHAIN"})


def test_retrieves_retrievers_rerankers_and_dspy_contexts() -> None:
    """Retrievals are recognised without parsing."""
    dialect = the_convention()
    assert dialect.retrieves("app", {semconv.SPAN_KIND: "RETRIEVER"})
    assert dialect.retrieves("app", {semconv.SPAN_KIND: "RERANKER"})
    assert not dialect.retrieves("app", {semconv.SPAN_KIND: "CHAIN"})
    assert not dialect.retrieves(semconv.SCOPE, {semconv.SPAN_KIND: "RETRIEVER"})
    dspy = "openinference.instrumentation.dspy"
    assert dialect.retrieves(dspy, json_input({"context": [PARIS], "question": QUESTION}))
    assert not dialect.retrieves(dspy, json_input({"question": QUESTION}))
