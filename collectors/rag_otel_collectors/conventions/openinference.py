"""OpenInference: LangChain, LlamaIndex, Haystack, DSPy and whatever else sets `openinference.span.kind`.

An entry is the topmost span of the dialect. Its input is the question, its output the answer; where the output is a
stream, or an object without text, the last model call that ended after the retrieval has the answer. Source:
https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md, and what the instrumentations emit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from rag_otel import semconv
from rag_otel.model import RagTrace, SpanRecord, StatusCode, UnevaluableReason
from rag_otel_collectors.conventions.compose import Reading, compose, missing_text
from rag_otel_collectors.conventions.documents import Document, documents_in, flattened_documents
from rag_otel_collectors.conventions.dspy import context_inputs
from rag_otel_collectors.conventions.messages import ASSISTANT, USER, flattened_messages, last_text
from rag_otel_collectors.conventions.retrieval import Passages, Retrieval, find_retrievals, text_problem, unite
from rag_otel_collectors.conventions.tree import SpanTree
from rag_otel_collectors.conventions.values import (
    answer_text,
    holds_placeholder,
    parse,
    parse_object,
    question_text,
)

_SCOPE: Final = "openinference.instrumentation"
_RETRIEVALS: Final = frozenset({semconv.KIND_RETRIEVER, semconv.KIND_RERANKER})
_NEVER_ANSWERS: Final = _RETRIEVALS | {semconv.KIND_EMBEDDING}
_ABANDONED: Final = "null"
"""`output.value` of a stream that its reader left before the end; the status is OK all the same."""
_LETTERS: Final = re.compile(r"\w")


class OpenInference:
    """The dialect of the OpenInference instrumentations."""

    @property
    def name(self) -> str:
        return "openinference"

    def owns(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        return scope != semconv.SCOPE and (scope.startswith(_SCOPE) or semconv.SPAN_KIND in attributes)

    def retrieves(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        return scope != semconv.SCOPE and attributes.get(semconv.SPAN_KIND) in _RETRIEVALS

    def read(self, spans: Sequence[SpanRecord]) -> list[RagTrace]:
        tree = SpanTree(spans)
        traces = (self._read_entry(tree, entry) for entry in tree.spans if self._is_entry(tree, entry))
        return [trace for trace in traces if trace is not None]

    def retrieval(self, span: SpanRecord) -> Retrieval | None:
        """What a RETRIEVER or RERANKER span returned; see `RetrievalReader`."""
        reranks = _kind(span) == semconv.KIND_RERANKER
        if span.status is StatusCode.ERROR:
            return None if reranks else Retrieval(span=span, query=_query(span))
        prefix = semconv.RERANKER_OUTPUT_DOCUMENTS if reranks else semconv.DOCUMENTS
        documents, problem = _documents(span, prefix)
        fed_by = flattened_documents(span.attributes, semconv.RERANKER_INPUT_DOCUMENTS).documents
        return Retrieval(
            span=span,
            documents=documents,
            problem=problem,
            query=_query(span),
            fed_by=frozenset(each.text for each in fed_by if each.text is not None) if reranks else None,
        )

    def _is_entry(self, tree: SpanTree, span: SpanRecord) -> bool:
        if not self.owns(span.scope, span.attributes) or is_evaluator(span):
            return False
        return not any(
            above.scope == semconv.SCOPE or self.owns(above.scope, above.attributes) for above in tree.ancestors(span)
        )

    def _read_entry(self, tree: SpanTree, entry: SpanRecord) -> RagTrace | None:
        below = tree.descendants(entry, prune=is_evaluator)
        retrievals = find_retrievals(tree, [entry, *below], [self])
        passages = unite(retrievals) if retrievals else context_inputs(tree, [entry, *below])
        if not passages.seen:
            return None
        calls = _answering_calls(tree, [entry, *below], retrievals)
        return compose(
            convention=self.name,
            entry=entry,
            below=below,
            question=_question(entry, retrievals),
            passages=passages,
            response=_response(entry, calls, passages),
            model=model_name(calls),
        )


def is_evaluator(span: SpanRecord) -> bool:
    """True for a judge's own span: what hangs below it is no application traffic."""
    return bool(_kind(span) == semconv.KIND_EVALUATOR)


def model_name(calls: Sequence[SpanRecord]) -> str | None:
    """The model of the last of these calls that names one."""
    for call in reversed(calls):
        parameters = parse_object(call.attributes.get(semconv.LLM_INVOCATION_PARAMETERS))
        for name in (
            call.attributes.get(semconv.LLM_MODEL_NAME),
            parameters.get("model"),
            parameters.get("model_name"),
        ):
            if isinstance(name, str) and name not in ("", "unknown"):
                return name
    return None


def _kind(span: SpanRecord) -> Any:
    return span.attributes.get(semconv.SPAN_KIND)


def _input(span: SpanRecord) -> Any:
    return parse(span.attributes.get(semconv.INPUT_VALUE), span.attributes.get(semconv.INPUT_MIME_TYPE))


def _output(span: SpanRecord) -> Any:
    return parse(span.attributes.get(semconv.OUTPUT_VALUE), span.attributes.get(semconv.OUTPUT_MIME_TYPE))


def _query(span: SpanRecord) -> str | None:
    query = span.attributes.get(semconv.RERANKER_QUERY)
    return query if isinstance(query, str) else question_text(_input(span))


def _documents(span: SpanRecord, prefix: str) -> tuple[tuple[Document, ...], UnevaluableReason | None]:
    """The documents of a retrieval span and what is wrong with them.

    The JSON of `output.value` fills in what the flattened attributes lack (LangChain's ids stand only there), but
    never where a privacy switch hid something: it may still hold the very text.
    """
    flat = flattened_documents(span.attributes, prefix)
    hidden = text_problem(flat.documents, truncated=False) is UnevaluableReason.REDACTED
    output = None if hidden else _output(span)
    if output == semconv.REDACTED:
        return flat.documents, UnevaluableReason.REDACTED
    listed = documents_in(output)
    truncated = flat.gap or (span.dropped_attributes > 0 and bool(flat.documents))
    if listed is not None and (truncated or not flat.documents) and len(listed) >= len(flat.documents):
        complete = all(document.text is not None for document in listed)
        if complete or not flat.documents:
            return listed, text_problem(listed, truncated=False)
    if not flat.documents:
        return (), missing_text(span, UnevaluableReason.NO_CHUNK_TEXT)
    return _with_ids(flat.documents, listed or ()), text_problem(flat.documents, truncated=truncated)


def _with_ids(documents: Sequence[Document], listed: Sequence[Document]) -> tuple[Document, ...]:
    if len(documents) != len(listed):
        return tuple(documents)
    return tuple(
        replace(document, id=other.id) if document.id is None and document.text == other.text else document
        for document, other in zip(documents, listed, strict=True)
    )


def _question(entry: SpanRecord, retrievals: Sequence[Retrieval]) -> Reading:
    text = last_text(flattened_messages(entry.attributes, semconv.LLM_INPUT_MESSAGES), USER)
    text = text or question_text(_input(entry))
    text = text or next((each.query for each in retrievals if each.query), None)
    return Reading.of(text, missing_text(entry, UnevaluableReason.NO_QUESTION))


def _response(entry: SpanRecord, calls: Sequence[SpanRecord], passages: Passages) -> Reading:
    if entry.attributes.get(semconv.OUTPUT_VALUE) == _ABANDONED:
        return Reading(problem=UnevaluableReason.INCOMPLETE)
    output = _output(entry)
    if _may_answer(entry, calls):
        text = answer_text(output)
        if text is not None and (calls or not _only_documents(text, passages)):
            return Reading.of(text, UnevaluableReason.NO_RESPONSE)
    text = next((text for call in reversed(calls) if (text := _call_text(call)) is not None), None)
    streaming = holds_placeholder(output)
    missing = UnevaluableReason.INCOMPLETE if streaming else missing_text(entry, UnevaluableReason.NO_RESPONSE)
    return Reading.of(text, missing)


def _may_answer(entry: SpanRecord, calls: Sequence[SpanRecord]) -> bool:
    """A retrieval's output is documents; so is a tool's, unless a model was called in it."""
    kind = _kind(entry)
    return kind not in _NEVER_ANSWERS and (kind != semconv.KIND_TOOL or bool(calls))


def _only_documents(text: str, passages: Passages) -> bool:
    """True when a chain without any model call returned the retrieved texts and nothing else."""
    for chunk in sorted(passages.chunks, key=lambda each: -len(each.text)):
        text = text.replace(chunk.text, "") if chunk.text else text
    return bool(passages.chunks) and _LETTERS.search(text) is None


def _answering_calls(tree: SpanTree, spans: Sequence[SpanRecord], retrievals: Sequence[Retrieval]) -> list[SpanRecord]:
    """The model calls that may have written the answer, by end: not within a retrieval, and not over before it was."""
    retrieving = {each.span.span_id for each in retrievals}
    retrieved = max((each.span.end_ns for each in retrievals), default=0)
    calls = [
        span
        for span in spans
        if _kind(span) == semconv.KIND_LLM
        and span.status is not StatusCode.ERROR
        and span.end_ns >= retrieved
        and not any(above.span_id in retrieving for above in tree.ancestors(span))
    ]
    return sorted(calls, key=lambda span: span.end_ns)


def _call_text(call: SpanRecord) -> str | None:
    messages = flattened_messages(call.attributes, semconv.LLM_OUTPUT_MESSAGES)
    return last_text(messages, ASSISTANT) or answer_text(_output(call))
