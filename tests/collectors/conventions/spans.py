"""Builders of span records and span trees. Tests specify only the relevant fields."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rag_otel import semconv
from rag_otel.model import RagTrace, SpanRecord
from rag_otel_collectors.conventions import default_conventions
from rag_otel_collectors.stored.assembly import TraceAssembler
from rag_otel_collectors.stored.otlp_files import read_spans

FIXTURES = Path(__file__).parents[2] / "fixtures" / "spans"
TRACE_ID = "a" * 32
OI_SCOPE = "openinference.instrumentation.langchain"
QUESTION = "What is the capital of France?"
ANSWER = "Paris."
PARIS = "Paris is the capital of France."
EUROPE = "France is in Europe."
TOWER = "The Eiffel tower is in Paris."

_ids = itertools.count(1)


def a_span(kind: str | None = None, *, parent: SpanRecord | None = None, **changes: Any) -> SpanRecord:
    """A span with a fresh id, an OpenInference kind, and a time within its parent's."""
    number = next(_ids)
    attributes = {} if kind is None else {semconv.SPAN_KIND: kind}
    fields: dict[str, Any] = {
        "trace_id": TRACE_ID,
        "span_id": f"{number:016x}",
        "parent_id": parent.span_id if parent else None,
        "name": (kind or "app").lower(),
        "scope": OI_SCOPE,
        "start_ns": number * 1_000,
        "end_ns": number * 1_000 + 500,
    }
    return SpanRecord(**fields | changes | {"attributes": attributes | dict(changes.get("attributes", {}))})


def a_chain(*, parent: SpanRecord | None = None, **changes: Any) -> SpanRecord:
    """A CHAIN with question and answer that ends after all spans below it."""
    attributes = {semconv.INPUT_VALUE: QUESTION, semconv.OUTPUT_VALUE: ANSWER} | dict(changes.pop("attributes", {}))
    present = {key: value for key, value in attributes.items() if value is not None}
    return a_span(semconv.KIND_CHAIN, parent=parent, **{"end_ns": 10**12, **changes, "attributes": present})


def a_retriever(*documents: str | Mapping[str, Any], parent: SpanRecord | None = None, **changes: Any) -> SpanRecord:
    """A RETRIEVER that returned these texts, or documents with these fields."""
    attributes = flattened(semconv.DOCUMENTS, documents) | {semconv.INPUT_VALUE: "a query"}
    if not documents:
        attributes |= json_output([])
    return a_span(
        semconv.KIND_RETRIEVER, parent=parent, **{**changes, "attributes": attributes | changes.get("attributes", {})}
    )


def a_reranker(given: Sequence[str], *chosen: str, parent: SpanRecord | None = None, **changes: Any) -> SpanRecord:
    """A RERANKER that received some texts and selected some of them."""
    attributes = flattened(semconv.RERANKER_INPUT_DOCUMENTS, given)
    attributes |= flattened(semconv.RERANKER_OUTPUT_DOCUMENTS, chosen)
    return a_span(semconv.KIND_RERANKER, parent=parent, attributes=attributes, **changes)


def a_model_call(text: str | None, *, parent: SpanRecord | None = None, **changes: Any) -> SpanRecord:
    """An LLM span that wrote this text."""
    attributes: dict[str, Any] = {semconv.LLM_MODEL_NAME: "some-model"}
    if text is not None:
        attributes["llm.output_messages.0.message.role"] = "assistant"
        attributes["llm.output_messages.0.message.content"] = text
    return a_span(
        semconv.KIND_LLM, parent=parent, **{**changes, "attributes": attributes | changes.get("attributes", {})}
    )


def flattened(prefix: str, documents: Sequence[str | Mapping[str, Any]]) -> dict[str, Any]:
    """Documents as flattened OpenInference attributes. A text stands for a document with only this content."""
    return {
        f"{prefix}.{index}.document.{name}": value
        for index, document in enumerate(documents)
        for name, value in ({"content": document} if isinstance(document, str) else document).items()
    }


def json_input(value: Any) -> dict[str, Any]:
    return {semconv.INPUT_VALUE: json.dumps(value), semconv.INPUT_MIME_TYPE: semconv.MIME_JSON}


def json_output(value: Any) -> dict[str, Any]:
    return {semconv.OUTPUT_VALUE: json.dumps(value), semconv.OUTPUT_MIME_TYPE: semconv.MIME_JSON}


def read_all(spans: Sequence[SpanRecord]) -> list[RagTrace]:
    """The RAG traces that all dialects read in the spans of one trace."""
    return [trace for convention in default_conventions() for trace in convention.read(spans)]


def read_one(*spans: SpanRecord) -> RagTrace:
    """The only RAG trace in these spans."""
    (trace,) = read_all(spans)
    return trace


def rag(attributes: dict[str, Any] | None = None, *below: SpanRecord, **changes: Any) -> RagTrace:
    """A trace with a chain, a retriever and then the given further spans below the chain."""
    root = a_chain(attributes=attributes or {}, start_ns=0, **changes)
    retriever = a_retriever(PARIS, parent=root, start_ns=1, end_ns=2)
    return read_one(root, retriever, *(replace(span, parent_id=root.span_id) for span in below))


def texts(trace: RagTrace) -> list[str]:
    return [chunk.text for chunk in trace.chunks]


def traces_in(name: str) -> Iterator[list[SpanRecord]]:
    """The spans of each trace in a fixture."""
    assembler = TraceAssembler()
    for span in read_spans(str(FIXTURES / f"{name}.json")):
        assembler.add(span)
    return (list(trace.spans) for trace in assembler.flush())
