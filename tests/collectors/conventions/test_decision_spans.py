"""Spans of decision models in an application: inner steps of their chain, never an answer, a model call or a retrieval.

Form: OpenInference, spec/decision_spans.md; the older one is that of TypeSafe's own instrumentations.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from rag_otel import semconv
from rag_otel.model import SpanRecord
from rag_otel_collectors.conventions.openinference import OpenInference
from tests.collectors.conventions.spans import (
    ANSWER,
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

ASKED = {"model": "jev-1.13.0", "state": {"text": PARIS}, "questions": {"safe": {"type": "noul"}}}
SAID = {"model": "jev-1.13.0", "answers": {"safe": {"type": "noul", "noul": 0.97}}}
FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    "decision": (
        semconv.KIND_DECISION,
        {
            "decision.system": "typesafe",
            "decision.model_name": "jev-1.13.0",
            "decision.token_count.input": 120,
            "decision.token_count.output": 2,
        },
    ),
    "older": (semconv.KIND_LLM, {semconv.LLM_SYSTEM: "typesafe", semconv.LLM_MODEL_NAME: "jev-1.13.0"}),
    "older_provider": (semconv.KIND_LLM, {semconv.LLM_PROVIDER: "typesafe", semconv.LLM_MODEL_NAME: "jev-1.13.0"}),
}


def a_decision(form: str, **changes: Any) -> SpanRecord:
    kind, attributes = FORMS[form]
    body = {semconv.INPUT_VALUE: json.dumps(ASKED), semconv.OUTPUT_VALUE: json.dumps(SAID)}
    mime = {semconv.INPUT_MIME_TYPE: semconv.MIME_JSON, semconv.OUTPUT_MIME_TYPE: semconv.MIME_JSON}
    return a_span(kind, attributes={**attributes, **body, **mime}, **changes)


@pytest.mark.parametrize("form", FORMS)
def test_a_guard_behind_the_answer_is_not_the_answer(form: str) -> None:
    """Of a chain without an output the model's text is the answer, though the guard ended last; its model is told."""
    chain = a_chain(attributes={semconv.OUTPUT_VALUE: None})
    retrieval = a_retriever(PARIS, parent=chain)
    call = a_model_call(ANSWER, parent=chain)
    trace = read_one(chain, retrieval, call, a_decision(form, parent=chain))
    assert trace.target.span_id == chain.span_id
    assert trace.response == ANSWER
    assert trace.question == QUESTION
    assert texts(trace) == [PARIS]
    assert trace.model != "jev-1.13.0"


@pytest.mark.parametrize("form", FORMS)
def test_a_router_before_the_retrieval_is_no_retrieval(form: str) -> None:
    """Its options are no passages, its state no question."""
    chain = a_chain()
    trace = read_one(chain, a_decision(form, parent=chain), a_retriever(PARIS, parent=chain))
    assert (trace.question, trace.response, texts(trace)) == (QUESTION, ANSWER, [PARIS])


@pytest.mark.parametrize("form", FORMS)
def test_a_decision_alone_is_no_answer(form: str) -> None:
    """Nor one that a retrieval stands beside; and the collector does not take it for a model call."""
    assert not [trace for trace in read_all([a_decision(form)]) if trace.unevaluable_reason is None]
    kind, attributes = FORMS[form]
    assert not OpenInference().calls("", {semconv.SPAN_KIND: kind, **attributes})
