"""OpenInference: LangChain, LlamaIndex, Haystack, DSPy and all other spans with `openinference.span.kind`.

Source: https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md, and the spans that the
instrumentations emit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from rag_otel import semconv
from rag_otel.model import SpanRecord, StatusCode, UnevaluableReason
from rag_otel_collectors.conventions.dspy import context_inputs, has_context
from rag_otel_collectors.conventions.reading.dialect import Dialect, Found, RecordedAnswer, Role
from rag_otel_collectors.conventions.reading.documents import Document, documents_in, flattened_documents
from rag_otel_collectors.conventions.reading.messages import ASSISTANT, USER, ChatMessage, flattened_messages, last_text
from rag_otel_collectors.conventions.reading.retrieval import Listed, Passages, Retrieval, listed, text_problem
from rag_otel_collectors.conventions.reading.tree import SpanTree
from rag_otel_collectors.conventions.reading.values import (
    answer_text,
    first_name,
    holds_placeholder,
    parse,
    parse_object,
    question_text,
)

_SCOPE: Final = "openinference.instrumentation"
_ROLES: Final = {
    semconv.KIND_AGENT: Role.AGENT,
    semconv.KIND_TOOL: Role.TOOL,
    semconv.KIND_RETRIEVER: Role.RETRIEVAL,
    semconv.KIND_RERANKER: Role.RETRIEVAL,
    semconv.KIND_EMBEDDING: Role.EMBEDDING,
    semconv.KIND_DECISION: Role.DECISION,
    semconv.KIND_EVALUATOR: Role.EVALUATOR,
}
_DECIDERS: Final = ("typesafe",)
_PROMPT_TEMPLATE: Final = "llm.prompt_template.template"
_ABANDONED: Final = "null"
"""`output.value` of a stream that the application stopped reading. The span's status is OK."""
_THOUGHTS: Final = re.compile(r"\A\s*Thought:.*?\n[ \t]*(?:Final )?Answer:\s*", re.S)
"""The text that a ReAct agent writes before its answer."""


class OpenInference(Dialect):
    """The dialect of the OpenInference instrumentations."""

    name = "openinference"

    def owns(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        return semconv.SPAN_KIND in attributes or scope.startswith(_SCOPE)

    def retrieves(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        return attributes.get(semconv.SPAN_KIND) in RETRIEVALS or has_context(scope, attributes)

    def calls(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        return attributes.get(semconv.SPAN_KIND) == semconv.KIND_LLM and not _decides(attributes)

    def role(self, span: SpanRecord) -> Role:
        span_kind = kind(span)
        if span_kind == semconv.KIND_LLM and _decides(span.attributes):
            return Role.DECISION
        if span_kind == semconv.KIND_LLM:
            return Role.MODEL if _calls_a_model(span) else Role.CHAIN
        return _ROLES.get(span_kind, Role.CHAIN) if isinstance(span_kind, str) else Role.CHAIN

    def question(self, span: SpanRecord) -> Found | None:
        """The span's input. Chat messages are read only on model calls, because on other spans the flattened messages
        may be incomplete (LangGraph)."""
        asked = self.asked(span) if self.role(span) is Role.MODEL else None
        return asked or Found.of(question_text(parsed_input(span)), semconv.INPUT_VALUE)

    def answer(self, span: SpanRecord) -> RecordedAnswer:
        output = parsed_output(span)
        return RecordedAnswer(
            found=Found.of(answer_text(output), semconv.OUTPUT_VALUE),
            abandoned=span.attributes.get(semconv.OUTPUT_VALUE) == _ABANDONED,
            streaming=holds_placeholder(output),
        )

    def asked(self, call: SpanRecord) -> Found | None:
        return Found.of(last_text(_input_messages(call), USER), f"{semconv.LLM_INPUT_MESSAGES}.*")

    def wrote(self, call: SpanRecord) -> Found | None:
        written = last_text(flattened_messages(call.attributes, semconv.LLM_OUTPUT_MESSAGES), ASSISTANT)
        where = f"{semconv.LLM_OUTPUT_MESSAGES}.*" if written else semconv.OUTPUT_VALUE
        text = written or answer_text(parsed_output(call))
        return Found.of(None if text is None else _THOUGHTS.sub("", text), where)

    def messages(self, call: SpanRecord) -> list[ChatMessage]:
        return _input_messages(call)

    def prompt(self, call: SpanRecord) -> str:
        messages = "\n".join(message.text for message in _input_messages(call) if message.text)
        inputs = call.attributes.get(semconv.INPUT_VALUE)
        return messages or (inputs if isinstance(inputs, str) else "")

    def model(self, call: SpanRecord) -> str | None:
        parameters = parse_object(call.attributes.get(semconv.LLM_INVOCATION_PARAMETERS))
        named = call.attributes.get(semconv.LLM_MODEL_NAME)
        names = (named, parameters.get("model"), parameters.get("model_name"))
        return first_name(names)

    def retrieval(self, span: SpanRecord) -> Retrieval | None:
        return read_retrieval(span)

    def passages_given(self, tree: SpanTree, spans: Sequence[SpanRecord]) -> Passages:
        return context_inputs(tree, spans)


def _decides(attributes: Mapping[str, Any]) -> bool:
    """True for the older form of TypeSafe's instrumentations: a decision as a call of a model."""
    return any(attributes.get(key) in _DECIDERS for key in (semconv.LLM_SYSTEM, semconv.LLM_PROVIDER))


def _calls_a_model(span: SpanRecord) -> bool:
    """False for Haystack's PromptBuilder. It has the kind LLM but does not call a model."""
    return _PROMPT_TEMPLATE not in span.attributes or any(
        key in span.attributes for key in (semconv.LLM_MODEL_NAME, semconv.LLM_INVOCATION_PARAMETERS)
    )


def _input_messages(call: SpanRecord) -> list[ChatMessage]:
    return flattened_messages(call.attributes, semconv.LLM_INPUT_MESSAGES)


RETRIEVALS: Final = (semconv.KIND_RETRIEVER, semconv.KIND_RERANKER)

_HAYSTACK: Final = "openinference.instrumentation.haystack"
_LLAMA_INDEX: Final = "openinference.instrumentation.llama_index"
_POSTPROCESSING: Final = "postprocess_nodes"


def kind(span: SpanRecord) -> Any:
    """The value of `openinference.span.kind`, or None."""
    return span.attributes.get(semconv.SPAN_KIND)


def parsed_input(span: SpanRecord) -> Any:
    """The value of `input.value`: parsed JSON or text, according to its MIME type."""
    return parse(span.attributes.get(semconv.INPUT_VALUE), span.attributes.get(semconv.INPUT_MIME_TYPE))


def parsed_output(span: SpanRecord) -> Any:
    """The value of `output.value`: parsed JSON or text, according to its MIME type."""
    return parse(span.attributes.get(semconv.OUTPUT_VALUE), span.attributes.get(semconv.OUTPUT_MIME_TYPE))


def read_retrieval(span: SpanRecord) -> Retrieval | None:
    """The documents that a RETRIEVER returned, or that a RERANKER or a framework's filter selected. None for any other
    span."""
    if kind(span) == semconv.KIND_RETRIEVER:
        asked: dict[str, Any] = {"query": _query(span), "query_attribute": semconv.INPUT_VALUE}
        if span.status is StatusCode.ERROR:
            return Retrieval(span=span, **asked)
        documents, problem = _documents(span, semconv.DOCUMENTS)
        return Retrieval(span=span, documents=documents, problem=problem, attribute=_where(span), **asked)
    if span.status is StatusCode.ERROR:
        return None
    if kind(span) == semconv.KIND_RERANKER:
        documents, problem = _documents(span, semconv.RERANKER_OUTPUT_DOCUMENTS)
        fed = flattened_documents(span.attributes, semconv.RERANKER_INPUT_DOCUMENTS).documents
        where = f"{semconv.RERANKER_OUTPUT_DOCUMENTS}.*"
        return Retrieval(span=span, documents=documents, problem=problem, query=_query(span), fed=fed, attribute=where)
    return _read_filter(span)


def _read_filter(span: SpanRecord) -> Retrieval | None:
    """Reads LlamaIndex postprocessors and Haystack joiners and filters. They are CHAIN spans that contain the `repr` of
    documents."""
    if kind(span) != semconv.KIND_CHAIN:
        return None
    if span.scope.startswith(_LLAMA_INDEX) and span.name.endswith(_POSTPROCESSING):
        fed, chosen = parse_object(parsed_input(span)).get("nodes"), parsed_output(span)
    elif span.scope.startswith(_HAYSTACK):
        fed, chosen = (parse_object(value).get("documents") for value in (parsed_input(span), parsed_output(span)))
    else:
        return None
    given, documents = documents_in(_flat(fed)), documents_in(chosen)
    if not given or documents is None:
        return None
    return Retrieval(span=span, documents=documents, fed=given, by_name=True, attribute=semconv.OUTPUT_VALUE)


def _flat(value: Any) -> Any:
    """Flattens the list of lists that a joiner receives."""
    if isinstance(value, list) and value and all(isinstance(item, list) for item in value):
        return [each for item in value for each in item]
    return value


def _query(span: SpanRecord) -> str | None:
    query = span.attributes.get(semconv.RERANKER_QUERY)
    return query if isinstance(query, str) else question_text(parsed_input(span))


def _where(span: SpanRecord) -> str:
    flat = any(key.startswith(semconv.DOCUMENTS) for key in span.attributes)
    return f"{semconv.DOCUMENTS}.*" if flat else semconv.OUTPUT_VALUE


def _missing(span: SpanRecord) -> UnevaluableReason:
    return UnevaluableReason.TRUNCATED if span.dropped_attributes > 0 else UnevaluableReason.NO_CHUNK_TEXT


def _documents(span: SpanRecord, prefix: str) -> Listed:
    """The documents of a retrieval span, and the problem with them if there is one.

    The JSON of `output.value` completes the flattened attributes (LangChain's ids are only there). It is not used if a
    privacy setting hid a text, because it may still contain that text.
    """
    flat = flattened_documents(span.attributes, prefix)
    if text_problem(flat.documents, truncated=False) is UnevaluableReason.REDACTED:
        return flat.documents, UnevaluableReason.REDACTED
    truncated = flat.gap or (span.dropped_attributes > 0 and bool(flat.documents))
    if flat.documents and not truncated and all(document.id is not None for document in flat.documents):
        return flat.documents, text_problem(flat.documents, truncated=False)
    output = parsed_output(span)
    if not flat.documents:
        return listed(output, lambda: _missing(span))
    returned = documents_in(output)
    if truncated and returned is not None and _covers(returned, flat.documents):
        return returned, None
    return _with_ids(flat.documents, returned or ()), text_problem(flat.documents, truncated=truncated)


def _covers(returned: Sequence[Document], flat: Iterable[Document]) -> bool:
    texts = {document.text for document in returned}
    return None not in texts and all(document.text in texts for document in flat)


def _with_ids(documents: Sequence[Document], returned: Sequence[Document]) -> tuple[Document, ...]:
    if len(documents) != len(returned):
        return tuple(documents)
    return tuple(
        replace(document, id=other.id) if document.id is None and document.text == other.text else document
        for document, other in zip(documents, returned, strict=True)
    )
