"""OpenInference: LangChain, LlamaIndex, Haystack, DSPy and whatever else sets `openinference.span.kind`.

An entry is the topmost span of the dialect. Its input is the question, its output the answer; where the output is a
stream, or an object without text, the last model call that ended after the retrieval has the answer. Source:
https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md, and what the instrumentations emit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rag_otel import semconv
from rag_otel.model import RagTrace, SpanRecord, StatusCode, UnevaluableReason
from rag_otel_collectors.conventions.compose import Reading, compose, missing_text
from rag_otel_collectors.conventions.dspy import context_inputs, has_context
from rag_otel_collectors.conventions.openinference_spans import (
    RETRIEVALS,
    asked_text,
    is_evaluator,
    is_model_call,
    kind,
    model_name,
    parsed_input,
    parsed_output,
    read_retrieval,
    written_text,
)
from rag_otel_collectors.conventions.rag_otel_spans import is_answered_call
from rag_otel_collectors.conventions.retrieval import Passages, Retrieval, find_retrievals, unite
from rag_otel_collectors.conventions.tree import SpanTree
from rag_otel_collectors.conventions.values import answer_text, holds_placeholder, question_text

_SCOPE: Final = "openinference.instrumentation"
_NEVER_ANSWERS: Final = (*RETRIEVALS, semconv.KIND_EMBEDDING)
_AGENTS: Final = (semconv.KIND_AGENT, semconv.KIND_TOOL)
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
        if scope == semconv.SCOPE:
            return False
        return attributes.get(semconv.SPAN_KIND) in RETRIEVALS or has_context(scope, attributes)

    def read(self, spans: Sequence[SpanRecord]) -> list[RagTrace]:
        tree = SpanTree(spans)
        traces = (self._read_entry(tree, entry) for entry in tree.spans if self._is_entry(tree, entry))
        return [trace for trace in traces if trace is not None]

    def retrieval(self, span: SpanRecord) -> Retrieval | None:
        return read_retrieval(span) if span.scope != semconv.SCOPE else None

    def _is_entry(self, tree: SpanTree, span: SpanRecord) -> bool:
        if not self.owns(span.scope, span.attributes) or is_evaluator(span):
            return False
        return not any(
            above.scope == semconv.SCOPE or self.owns(above.scope, above.attributes) for above in tree.ancestors(span)
        )

    def _read_entry(self, tree: SpanTree, entry: SpanRecord) -> RagTrace | None:
        below = tree.descendants(entry, prune=lambda span: is_evaluator(span) or is_answered_call(span))
        spans = [entry, *below]
        retrievals = find_retrievals(tree, spans, [self])
        passages = unite(retrievals)
        if not passages.seen:
            passages = context_inputs(tree, spans)
        if not passages.seen:
            return None
        calls = _answering_calls(tree, spans, retrievals)
        return compose(
            convention=self.name,
            entry=entry,
            below=below,
            question=_question(entry, spans, retrievals),
            passages=passages,
            response=_response(entry, calls, passages),
            model=model_name(calls),
        )


def _question(entry: SpanRecord, spans: Sequence[SpanRecord], retrievals: Sequence[Retrieval]) -> Reading:
    """The entry's input, else what an agent was told before it searched, else what was searched for.

    Never a later prompt, which has the passages in it. Chat messages are read on model calls only: elsewhere the
    flattened ones are not the whole history (LangGraph).
    """
    text = (asked_text(entry) if is_model_call(entry) else None) or question_text(parsed_input(entry))
    if text is None and any(kind(span) in _AGENTS for span in spans):
        searched = min((each.span.start_ns for each in retrievals), default=0)
        told = (asked_text(span) for span in spans if is_model_call(span) and span.start_ns < searched)
        text = next(told, None)
    text = text or next((each.query for each in retrievals if each.query), None)
    return Reading.of(text, missing_text(entry, UnevaluableReason.NO_QUESTION))


def _response(entry: SpanRecord, calls: Sequence[SpanRecord], passages: Passages) -> Reading:
    """The entry's output, else the text of the last model call that may have written it."""
    if entry.attributes.get(semconv.OUTPUT_VALUE) == _ABANDONED:
        return Reading(problem=UnevaluableReason.INCOMPLETE)
    output = parsed_output(entry)
    text = answer_text(output) if _may_answer(entry, calls) else None
    if text is not None and (calls or not _only_documents(text, passages)):
        if _left_early(entry, calls, text):
            return Reading(text=text, problem=UnevaluableReason.INCOMPLETE)
        return Reading.of(text, UnevaluableReason.NO_RESPONSE)
    failed = entry.status is StatusCode.ERROR
    finished = [call for call in calls if not failed and call.status is not StatusCode.ERROR]
    text = next((text for call in reversed(finished) if (text := written_text(call)) is not None), None)
    streaming = holds_placeholder(output)
    missing = UnevaluableReason.INCOMPLETE if streaming else missing_text(entry, UnevaluableReason.NO_RESPONSE)
    return Reading.of(text, missing)


def _left_early(entry: SpanRecord, calls: Sequence[SpanRecord], text: str) -> bool:
    """True for a stream that its reader left: a model call outlived the entry and wrote more than the entry has."""
    return any(
        call.end_ns > entry.end_ns and len(whole := written_text(call) or "") > len(text) and whole.startswith(text)
        for call in calls
    )


def _may_answer(entry: SpanRecord, calls: Sequence[SpanRecord]) -> bool:
    """A retrieval's output is documents; so is a tool's, unless a model was called in it."""
    return kind(entry) not in _NEVER_ANSWERS and (kind(entry) != semconv.KIND_TOOL or bool(calls))


def _only_documents(text: str, passages: Passages) -> bool:
    """True when a chain without any model call returned the retrieved texts and nothing else."""
    for chunk in sorted(passages.chunks, key=lambda each: -len(each.text)):
        text = text.replace(chunk.text, "") if chunk.text else text
    return bool(passages.chunks) and _LETTERS.search(text) is None


def _answering_calls(tree: SpanTree, spans: Sequence[SpanRecord], retrievals: Sequence[Retrieval]) -> list[SpanRecord]:
    """The calls that may have written the answer, failed ones too, by end: not in a retrieval, not over before it."""
    retrieving = {each.span.span_id for each in retrievals}
    retrieved = max((each.span.end_ns for each in retrievals), default=0)
    calls = [
        span
        for span in spans
        if is_model_call(span)
        and span.end_ns >= retrieved
        and not any(above.span_id in retrieving for above in tree.ancestors(span))
    ]
    return sorted(calls, key=lambda span: span.end_ns)
