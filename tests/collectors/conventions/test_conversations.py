"""One question in several spans, and several questions in one trace: joined or split only if it is safe."""

from __future__ import annotations

from typing import Any

import pytest

from rag_otel import semconv
from rag_otel.model import RagTrace, SpanRecord, UnevaluableReason
from tests.collectors.conventions.spans import (
    ANSWER,
    EUROPE,
    PARIS,
    QUESTION,
    a_chain,
    a_model_call,
    a_retriever,
    a_span,
    read_all,
    read_one,
    texts,
)

MISSING = "0" * 15 + "f"


def told(text: str) -> dict[str, Any]:
    return {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": text}


def call(parent: SpanRecord | None, prompt: str, wrote: str | None = ANSWER, **changes: Any) -> SpanRecord:
    return a_model_call(wrote, parent=parent, attributes=told(prompt), **changes)


def server() -> SpanRecord:
    return a_span(scope="fastapi", name="POST /ask", end_ns=10**12)


def by_target(traces: list[RagTrace]) -> dict[str, list[str]]:
    return {trace.target.span_id: texts(trace) for trace in traces}


# --- side by side -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prompt", [f"{PARIS} {QUESTION}", "Answer this: a query"])
def test_retrieval_and_call_side_by_side(prompt: str) -> None:
    """The prompt contains a document or the query: they are one question, and the model call gets the scores."""
    root = server()
    found, answered = a_retriever(PARIS, parent=root), call(root, prompt)
    trace = read_one(root, found, answered)
    assert (trace.target.span_id, texts(trace), trace.response) == (answered.span_id, [PARIS], ANSWER)
    assert trace.chunk_span is not None
    assert trace.chunk_span.span_id == found.span_id
    assert trace.question == "a query"


def test_two_retrievals_and_several_calls() -> None:
    """Both retrievals count. The answer is from the last call that received them, not from a grading call before it."""
    root = server()
    first, second = a_retriever(PARIS, parent=root), a_retriever(EUROPE, parent=root)
    grade, answered = call(root, f"Relevant? {PARIS}", "yes"), call(root, f"{EUROPE} {QUESTION}")
    assert by_target(read_all([root, first, second, grade, answered])) == {answered.span_id: [PARIS, EUROPE]}


def test_turns_of_a_worker() -> None:
    """Each retrieval begins the next question."""
    root = server()
    spans = []
    for text in (PARIS, EUROPE):
        spans += [a_retriever(text, parent=root), call(root, f"{text} {QUESTION}")]
    assert by_target(read_all([root, *spans])) == {spans[1].span_id: [PARIS], spans[3].span_id: [EUROPE]}


def test_missing_root() -> None:
    """Spans whose parents were not exported belong together by their trace id."""
    found = a_retriever(PARIS, parent_id=MISSING)
    answered = call(None, f"{PARIS} {QUESTION}", parent_id="0" * 15 + "e")
    assert by_target(read_all([found, answered])) == {answered.span_id: [PARIS]}


def test_calls_that_were_told_nothing_of_it() -> None:
    """With another prompt, an earlier call, or a call elsewhere, the retrieval is not joined and has no answer."""
    root, other = server(), server()
    before = call(root, f"{PARIS} {QUESTION}")
    found = a_retriever(PARIS, parent=root)
    poem, elsewhere = call(root, "Write a poem."), call(other, f"{PARIS} {QUESTION}")
    (trace,) = read_all([root, other, before, found, poem, elsewhere])
    assert (trace.target.span_id, trace.unevaluable_reason) == (found.span_id, UnevaluableReason.NO_RESPONSE)


def test_call_whose_prompt_is_not_on_the_span() -> None:
    """The first call after the retrieval is taken as its answer."""
    root = server()
    found, answered, other = a_retriever(PARIS, parent=root), a_model_call(ANSWER, parent=root), call(root, "A poem.")
    assert by_target(read_all([root, found, answered, other])) == {answered.span_id: [PARIS]}


def test_chain_beside_a_retrieval() -> None:
    """A chain with a model call that received the retrieved text is joined like the model call itself."""
    root = server()
    found = a_retriever(PARIS, parent=root)
    chain = a_chain(parent=root, start_ns=10**11)
    inner = call(chain, f"{PARIS} {QUESTION}", start_ns=10**11, end_ns=10**11 + 1)
    trace = read_one(root, found, chain, inner)
    assert (trace.target.span_id, texts(trace), trace.response) == (chain.span_id, [PARIS], ANSWER)


# --- several in one ---------------------------------------------------------------------------------------------------


def session(**changes: Any) -> SpanRecord:
    silent = {semconv.INPUT_VALUE: None, semconv.OUTPUT_VALUE: None}
    return a_chain(name="session", **{"attributes": silent, "start_ns": 0, **changes})


def question(parent: SpanRecord, asked: str, text: str, **changes: Any) -> list[SpanRecord]:
    """A chain with its retrieval."""
    chain = a_chain(parent=parent, attributes={semconv.INPUT_VALUE: asked}, end_ns=10**9, **changes)
    return [chain, a_retriever(text, parent=chain)]


def test_session_of_several_questions() -> None:
    """The root has no question and no answer: each question is a RAG trace with its own target."""
    root = session()
    first, second = question(root, "one?", PARIS), question(root, "two?", EUROPE)
    traces = read_all([root, *first, *second])
    assert [(trace.question, texts(trace)) for trace in traces] == [("one?", [PARIS]), ("two?", [EUROPE])]
    assert by_target(traces).keys() == {first[0].span_id, second[0].span_id}


def test_questions_below_steps_without_text() -> None:
    """Steps without text between the session and its questions make no difference."""
    root = session()
    step = session(parent=root)
    spans = [*question(step, "one?", PARIS), *question(step, "two?", EUROPE)]
    assert [trace.question for trace in read_all([root, step, *spans])] == ["one?", "two?"]


def test_root_that_answers_is_one_question() -> None:
    """A query that was split into sub-queries, or an agent that searched twice: the root's answer is judged with all
    chunks."""
    root = a_chain(start_ns=0)
    traces = read_all([root, *question(root, "one?", PARIS), *question(root, "two?", EUROPE)])
    assert by_target(traces) == {root.span_id: [PARIS, EUROPE]}


def test_root_without_text_that_sums_up() -> None:
    """A model call after all parts combines them into the answer to one question."""
    root = session()
    parts = [*question(root, "one?", PARIS), *question(root, "two?", EUROPE)]
    summary = call(root, "Sum it up.", "Both.", start_ns=10**10, end_ns=10**10 + 1)
    (trace,) = read_all([root, *parts, summary])
    assert (trace.target.span_id, trace.response) == (root.span_id, "Both.")


def test_same_question_twice_is_one() -> None:
    """A retry within one answer is not a second question."""
    root = session()
    traces = read_all([root, *question(root, QUESTION, PARIS), *question(root, QUESTION, EUROPE)])
    assert by_target(traces) == {root.span_id: [PARIS, EUROPE]}


def test_one_question_in_a_session_goes_to_the_root() -> None:
    """With a single question nothing is split."""
    root = session()
    assert by_target(read_all([root, *question(root, QUESTION, PARIS)])) == {root.span_id: [PARIS]}
