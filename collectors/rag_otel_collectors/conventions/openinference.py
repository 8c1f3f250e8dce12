"""OpenInference: LangChain, LlamaIndex, Haystack, DSPy and all other spans with `openinference.span.kind`.

Source: https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md, and the spans that the
instrumentations emit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rag_otel import semconv
from rag_otel.model import SpanRecord
from rag_otel_collectors.conventions.dspy import context_inputs, has_context
from rag_otel_collectors.conventions.openinference_spans import (
    RETRIEVALS,
    kind,
    parsed_input,
    parsed_output,
    read_retrieval,
)
from rag_otel_collectors.conventions.reading.dialect import Answer, Dialect, Found, Role
from rag_otel_collectors.conventions.reading.messages import ASSISTANT, USER, Message, flattened_messages, last_text
from rag_otel_collectors.conventions.reading.retrieval import Passages, Retrieval
from rag_otel_collectors.conventions.reading.tree import SpanTree
from rag_otel_collectors.conventions.reading.values import answer_text, holds_placeholder, parse_object, question_text

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
        return asked or _found(question_text(parsed_input(span)), semconv.INPUT_VALUE)

    def answer(self, span: SpanRecord) -> Answer:
        output = parsed_output(span)
        return Answer(
            found=_found(answer_text(output), semconv.OUTPUT_VALUE),
            abandoned=span.attributes.get(semconv.OUTPUT_VALUE) == _ABANDONED,
            streaming=holds_placeholder(output),
        )

    def asked(self, call: SpanRecord) -> Found | None:
        return _found(last_text(_input_messages(call), USER), f"{semconv.LLM_INPUT_MESSAGES}.*")

    def wrote(self, call: SpanRecord) -> Found | None:
        written = last_text(flattened_messages(call.attributes, semconv.LLM_OUTPUT_MESSAGES), ASSISTANT)
        where = f"{semconv.LLM_OUTPUT_MESSAGES}.*" if written else semconv.OUTPUT_VALUE
        text = written or answer_text(parsed_output(call))
        return _found(None if text is None else _THOUGHTS.sub("", text), where)

    def messages(self, call: SpanRecord) -> list[Message]:
        return _input_messages(call)

    def prompt(self, call: SpanRecord) -> str:
        messages = "\n".join(message.text for message in _input_messages(call) if message.text)
        inputs = call.attributes.get(semconv.INPUT_VALUE)
        return messages or (inputs if isinstance(inputs, str) else "")

    def model(self, call: SpanRecord) -> str | None:
        parameters = parse_object(call.attributes.get(semconv.LLM_INVOCATION_PARAMETERS))
        named = call.attributes.get(semconv.LLM_MODEL_NAME)
        names = (named, parameters.get("model"), parameters.get("model_name"))
        return next((name for name in names if isinstance(name, str) and name not in ("", "unknown")), None)

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


def _input_messages(call: SpanRecord) -> list[Message]:
    return flattened_messages(call.attributes, semconv.LLM_INPUT_MESSAGES)


def _found(text: str | None, attribute: str) -> Found | None:
    return Found(text=text, attribute=attribute) if text else None
