"""Spans of `@observe`: every observed call is an entry. Its chunks are on its span or in the retrievals below it."""

from __future__ import annotations

from typing import Any

import pytest

from rag_otel import semconv
from rag_otel.model import Chunk, RagTrace, SpanRecord, StatusCode, UnevaluableReason
from rag_otel.observing.call_snapshot import Snapshot
from rag_otel.pipeline import Pipeline
from rag_otel.processing.trace_reading import completed
from rag_otel.protocols import Convention
from rag_otel.sampling.amount import RatioSampler
from rag_otel_collectors.conventions import default_conventions
from rag_otel_collectors.conventions.reading.retrieval import reference
from tests.collectors.conventions.spans import (
    ANSWER,
    EUROPE,
    PARIS,
    QUESTION,
    a_chain,
    a_model_call,
    a_retriever,
    a_span,
    flattened,
    read_all,
    read_one,
    texts,
)


def observed(*documents: str, parent: SpanRecord | None = None, **changes: Any) -> SpanRecord:
    """The attributes that `@observe` writes for a call that returned these documents with its answer."""
    attributes = flattened(semconv.DOCUMENTS, documents) | dict(changes.pop("attributes", {}))
    return a_chain(parent=parent, **{"scope": semconv.SCOPE, "name": "answer", **changes, "attributes": attributes})


def the_trace(traces: list[RagTrace], span: SpanRecord) -> RagTrace:
    (trace,) = (trace for trace in traces if trace.target == reference(span))
    return trace


def test_observed_call_with_its_own_documents() -> None:
    """Question, answer, chunks, session, user and tags are on one span."""
    attributes = {semconv.SESSION_ID: "s", semconv.USER_ID: "u", f"{semconv.TAG_PREFIX}tier": "gold"}
    span = observed(PARIS, EUROPE, attributes=attributes)
    trace = read_one(span)
    assert (trace.question, trace.response, texts(trace)) == (QUESTION, ANSWER, [PARIS, EUROPE])
    assert (trace.session_id, trace.user_id, trace.tags) == ("s", "u", {"tier": "gold"})
    assert trace.target == trace.chunk_span == reference(span)
    assert (trace.convention, trace.route, trace.evaluable) == ("rag_otel", "answer", True)


def test_question_and_answer_are_not_taken_apart() -> None:
    """Texts on observed spans are never parsed, also if they look like JSON or like a repr."""
    asked = {semconv.INPUT_VALUE: '{"query": "x"}', semconv.OUTPUT_VALUE: "<generator object>"}
    trace = read_one(observed(PARIS, attributes=asked))
    assert (trace.question, trace.response) == ('{"query": "x"}', "<generator object>")


def test_documents_of_nested_retriever_spans() -> None:
    """If the call recorded no documents, retrievals of other dialects below it provide its chunks."""
    call = observed()
    chain = a_chain(parent=call)
    retriever = a_retriever(PARIS, parent=chain)
    trace = read_one(call, chain, retriever, a_model_call(ANSWER, parent=chain))
    assert texts(trace) == [PARIS]
    assert (trace.chunk_span, trace.model) == (reference(retriever), "some-model")


def test_own_documents_win_over_nested_ones() -> None:
    """Documents recorded by the call take precedence over nested retrievals."""
    call = observed(PARIS)
    assert texts(read_one(call, a_retriever(PARIS, EUROPE, parent=call))) == [PARIS]


def test_observed_root_joins_siblings() -> None:
    """Spans of instrumentations that are siblings, a retriever and a model call, belong to the call around them."""
    call = observed()
    trace = read_one(call, a_retriever(PARIS, parent=call), a_model_call(ANSWER, parent=call))
    assert trace.evaluable


def test_nothing_retrieved_is_not_an_empty_retrieval() -> None:
    """Without a retrieval the call cannot be judged. With a retrieval without results it can."""
    call = observed()
    assert read_one(call).unevaluable_reason is UnevaluableReason.NO_CHUNKS
    assert read_one(call, a_retriever(parent=call)).evaluable


def test_nested_observed_calls_have_their_own_chunks() -> None:
    """The chunks of an inner call belong only to the inner call."""
    outer = observed()
    inner = observed(PARIS, parent=outer)
    traces = read_all([outer, inner])
    assert texts(the_trace(traces, inner)) == [PARIS]
    assert the_trace(traces, outer).unevaluable_reason is UnevaluableReason.NO_CHUNKS


def test_observed_call_that_only_retrieves_feeds_the_one_around_it() -> None:
    """An observed search function is the retrieval of the observed call around it, not a separate question."""
    outer = observed()
    search = observed(PARIS, parent=outer, attributes={semconv.OUTPUT_VALUE: None})
    (trace,) = read_all([outer, search])
    assert (trace.target, trace.chunk_span, trace.evaluable) == (reference(outer), reference(search), True)


def test_observed_search_inside_a_chain_is_the_chains_retrieval() -> None:
    """The framework's chain around an observed search function gets its documents."""
    root = a_chain()
    search = observed(PARIS, parent=root, attributes={semconv.OUTPUT_VALUE: None})
    (trace,) = read_all([root, search])
    assert (trace.target, texts(trace), trace.convention) == (reference(root), [PARIS], "openinference")


def test_observed_search_alone_says_that_there_is_no_answer() -> None:
    """An observed search function without a call around it is a RAG trace with a reason."""
    trace = read_one(observed(PARIS, attributes={semconv.OUTPUT_VALUE: None}))
    assert trace.unevaluable_reason is UnevaluableReason.NO_RESPONSE


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"attributes": {semconv.INCOMPLETE: True}}, UnevaluableReason.INCOMPLETE),
        ({"status": StatusCode.ERROR}, UnevaluableReason.ERROR),
        ({"attributes": {semconv.INPUT_VALUE: None}}, UnevaluableReason.NO_QUESTION),
        ({"attributes": {semconv.OUTPUT_VALUE: None}}, UnevaluableReason.NO_RESPONSE),
        ({"attributes": {semconv.OUTPUT_VALUE: "  "}}, UnevaluableReason.NO_RESPONSE),
        ({"attributes": {semconv.INPUT_VALUE: semconv.REDACTED}}, UnevaluableReason.REDACTED),
        ({"attributes": {semconv.OUTPUT_VALUE: semconv.REDACTED}}, UnevaluableReason.REDACTED),
        ({"attributes": {semconv.INPUT_VALUE: None}, "dropped_attributes": 5}, UnevaluableReason.TRUNCATED),
        ({"dropped_attributes": 5}, UnevaluableReason.TRUNCATED),
        ({"attributes": {semconv.OMITTED_DOCUMENTS: 3}}, UnevaluableReason.TRUNCATED),
    ],
)
def test_why_an_observed_call_cannot_be_judged(changes: dict[str, Any], reason: UnevaluableReason) -> None:
    """Every state of an observed span has its reason."""
    assert read_one(observed(PARIS, **changes)).unevaluable_reason is reason


def test_answer_of_an_observed_call_is_never_a_model_calls() -> None:
    """If the call has no answer, the text of a model call below it is not used."""
    call = observed(PARIS, attributes={semconv.OUTPUT_VALUE: None})
    assert read_one(call, a_model_call(ANSWER, parent=call)).response is None


def test_retrieves_only_what_did_not_answer() -> None:
    """On the request path, an observed call counts as a retrieval if it has documents and no answer."""
    own: Convention = default_conventions()[0]
    documents = flattened(semconv.DOCUMENTS, [PARIS])
    assert own.owns(semconv.SCOPE, {})
    assert not own.owns("app", documents)
    assert own.retrieves(semconv.SCOPE, documents)
    assert not own.retrieves(semconv.SCOPE, documents | {semconv.OUTPUT_VALUE: ANSWER})
    assert not own.retrieves("app", documents)


# --- together with the snapshot of the call ---------------------------------------------------------------------------


def read_with(snapshot: Snapshot, call: SpanRecord, *below: SpanRecord) -> RagTrace:
    """The RAG traces that the pipeline reads in process, with the snapshot of the call."""
    pipeline = Pipeline(conventions=default_conventions(), sampler=RatioSampler(ratio=1.0), evaluators=())
    trace = pipeline.read([*below, call], reference(call))
    assert trace is not None
    return completed(trace, snapshot)


HIDDEN = {semconv.INPUT_VALUE: semconv.REDACTED, semconv.OUTPUT_VALUE: semconv.REDACTED}
SNAPSHOT = Snapshot(question=QUESTION, response=ANSWER)


def test_snapshot_stands_in_for_hidden_and_dropped_text() -> None:
    """The texts in the snapshot are judged, although the span hides or lacks them."""
    chunks = (Chunk(id="d1", text=PARIS, position=0),)
    snapshot = Snapshot(question=QUESTION, response=ANSWER, chunks=chunks)
    for call in (observed(attributes=HIDDEN), observed(PARIS, attributes=HIDDEN, dropped_attributes=9)):
        trace = read_with(snapshot, call)
        assert (trace.question, trace.response, trace.chunks, trace.evaluable) == (QUESTION, ANSWER, chunks, True)


def test_snapshot_with_nested_retrievals() -> None:
    """With hidden question and answer and readable nested documents, the trace can be judged."""
    call = observed(attributes=HIDDEN)
    assert read_with(SNAPSHOT, call, a_retriever(PARIS, parent=call)).evaluable
    plain = observed()
    assert read_with(SNAPSHOT, plain, a_retriever(parent=plain)).evaluable


@pytest.mark.parametrize(
    ("document", "changes", "reason"),
    [
        (semconv.REDACTED, {}, UnevaluableReason.REDACTED),
        ({"id": "d1"}, {}, UnevaluableReason.NO_CHUNK_TEXT),
        (PARIS, {"dropped_attributes": 1}, UnevaluableReason.TRUNCATED),
    ],
)
def test_snapshot_does_not_mend_nested_documents(
    document: Any, changes: dict[str, Any], reason: UnevaluableReason
) -> None:
    """Problems of documents on nested spans remain."""
    call = observed()
    retriever = a_retriever(document, parent=call, **changes)
    assert read_with(SNAPSHOT, call, retriever).unevaluable_reason is reason


def test_snapshot_without_any_retrieval() -> None:
    """Neither the call nor a span below it has chunks, so faithfulness cannot be judged."""
    assert read_with(SNAPSHOT, observed()).unevaluable_reason is UnevaluableReason.NO_CHUNKS


def test_entry_of_openinference_is_found_by_the_pipeline() -> None:
    """In process the target is the entry's span, so its scores can be added to it."""
    root = a_chain()
    pipeline = Pipeline(conventions=default_conventions(), sampler=RatioSampler(ratio=1.0), evaluators=())
    assert pipeline.read([a_retriever(PARIS, parent=root), root], reference(root)) is not None
    assert pipeline.read([root], reference(root)) is None


def test_judges_span_of_our_own_scope_is_not_read() -> None:
    """Evaluation spans of rag-otel are not observed calls."""
    assert read_all([a_span(semconv.KIND_EVALUATOR, scope=semconv.SCOPE)]) == []
