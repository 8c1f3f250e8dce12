"""The official OpenTelemetry GenAI conventions: message lists, retrieval spans, tool calls.

Spans have content only with `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY` (or `SPAN_AND_EVENT`). A
retrieval lists its documents with id and score, but without text. Source:
https://opentelemetry.io/docs/specs/semconv/gen-ai/, and the spans that the instrumentations emit.

Several other instrumentations write the same attributes with deviations. Each has a module that builds on this one.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rag_otel import semconv
from rag_otel.model import SpanRecord, StatusCode, UnevaluableReason
from rag_otel_collectors.conventions.reading.dialect import Dialect, Found, RecordedAnswer, Role
from rag_otel_collectors.conventions.reading.messages import (
    ASSISTANT,
    USER,
    ChatMessage,
    last_text,
    numbered_messages,
    read_messages,
)
from rag_otel_collectors.conventions.reading.retrieval import Listed, Retrieval, listed, looks_like_documents, read_tool
from rag_otel_collectors.conventions.reading.values import (
    QUESTION_KEYS,
    all_text,
    answer_text,
    first_name,
    is_cut,
    parse,
    parse_object,
    parse_whole,
    question_text,
)

_SCOPES: Final = ("opentelemetry.instrumentation.genai.", "opentelemetry.instrumentation.openai_v2")
_MEMORY: Final = "search_memory"
_ROLES: Final = {
    "chat": Role.MODEL,
    "text_completion": Role.MODEL,
    "completion": Role.MODEL,
    "acompletion": Role.MODEL,
    "generate_content": Role.MODEL,
    "responses": Role.MODEL,
    "retrieval": Role.RETRIEVAL,
    _MEMORY: Role.RETRIEVAL,
    "embeddings": Role.EMBEDDING,
    "execute_tool": Role.TOOL,
    "invoke_agent": Role.AGENT,
    "create_agent": Role.AGENT,
}
_PROMPTS: Final = "gen_ai.prompt"
_COMPLETIONS: Final = "gen_ai.completion"
"""Prefixes of `<prefix>.<n>.{role,content}`, the form of messages before they became JSON lists."""
_STREAM: Final = "gen_ai.request.stream"
_FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
_TEXTS: Final = (
    semconv.GEN_AI_INPUT_MESSAGES,
    semconv.GEN_AI_OUTPUT_MESSAGES,
    semconv.GEN_AI_RETRIEVAL_DOCUMENTS,
    semconv.GEN_AI_MEMORY_RECORDS,
)
_CONTEXT: Final = re.compile(
    r"(?:.*_)?(?:context|document|doc|passage|source|chunk|evidence)s?(?:_(?:str|text))?", re.I
)
"""Names of prompt variables that hold retrieved texts."""


class GenAi(Dialect):
    """The dialect of the official instrumentations, and of all spans with `gen_ai.operation.name`."""

    name = "genai"

    def owns(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        return semconv.GEN_AI_OPERATION_NAME in attributes or scope.startswith(_SCOPES)

    def retrieves(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        operation = attributes.get(semconv.GEN_AI_OPERATION_NAME)
        return operation in ("retrieval", _MEMORY) or (operation == "execute_tool" and looks_like_documents(attributes))

    def calls(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        operation = attributes.get(semconv.GEN_AI_OPERATION_NAME)
        return isinstance(operation, str) and _ROLES.get(operation) is Role.MODEL

    def role(self, span: SpanRecord) -> Role:
        operation = span.attributes.get(semconv.GEN_AI_OPERATION_NAME)
        return _ROLES.get(operation, Role.CHAIN) if isinstance(operation, str) else Role.CHAIN

    def question(self, span: SpanRecord) -> Found | None:
        """The last user message. A workflow of LangChain with several inputs writes them as one message, a JSON object;
        then it is the input that has the name of a question."""
        asked = self.asked(span)
        inputs = parse_object(asked.text.strip()) if asked is not None and self.role(span) is Role.CHAIN else {}
        named = (inputs.get(key) for key in QUESTION_KEYS)
        text = next((each for each in named if isinstance(each, str) and each.strip()), None)
        return asked if text is None or asked is None else dataclasses.replace(asked, text=text)

    def answer(self, span: SpanRecord) -> RecordedAnswer:
        return RecordedAnswer(found=self.wrote(span))

    def asked(self, call: SpanRecord) -> Found | None:
        flat = _last_of(numbered_messages(call.attributes, _PROMPTS), USER, f"{_PROMPTS}.*")
        return self._last(call, semconv.GEN_AI_INPUT_MESSAGES, USER) or flat

    def wrote(self, call: SpanRecord) -> Found | None:
        flat = _last_of(numbered_messages(call.attributes, _COMPLETIONS), ASSISTANT, f"{_COMPLETIONS}.*")
        return self._last(call, semconv.GEN_AI_OUTPUT_MESSAGES, ASSISTANT) or flat

    def messages(self, call: SpanRecord) -> list[ChatMessage]:
        value = parse_whole(call.attributes.get(semconv.GEN_AI_INPUT_MESSAGES))
        given = read_messages(value) if isinstance(value, Sequence) and not isinstance(value, str) else []
        return given or numbered_messages(call.attributes, _PROMPTS)

    def prompt(self, call: SpanRecord) -> str:
        inputs = (parse(call.attributes.get(key)) for key in (semconv.GEN_AI_SYSTEM_INSTRUCTIONS, _TEXTS[0]))
        flat = (message.text for message in numbered_messages(call.attributes, _PROMPTS))
        return "\n".join([*(text for value in inputs for text in all_text(value)), *(text for text in flat if text)])

    def model(self, call: SpanRecord) -> str | None:
        keys = (semconv.GEN_AI_RESPONSE_MODEL, semconv.GEN_AI_REQUEST_MODEL)
        return first_name(call.attributes.get(key) for key in keys)

    def cut_short(self, call: SpanRecord) -> bool:
        """True for a stream without a finish reason: it was closed before its end."""
        attributes = call.attributes
        streamed = attributes.get(_STREAM) is True or attributes.get(_STREAM) == "true"
        return streamed and not attributes.get(_FINISH_REASONS)

    def retrieval(self, span: SpanRecord) -> Retrieval | None:
        role = self.role(span)
        if role is Role.TOOL:
            return read_tool(span)
        if role is not Role.RETRIEVAL:
            return None
        of_memory = span.attributes.get(semconv.GEN_AI_OPERATION_NAME) == _MEMORY
        query_key = semconv.GEN_AI_MEMORY_QUERY if of_memory else semconv.GEN_AI_RETRIEVAL_QUERY
        asked = span.attributes.get(query_key)
        query = question_text(asked) if isinstance(asked, str) else None
        key = semconv.GEN_AI_MEMORY_RECORDS if of_memory else semconv.GEN_AI_RETRIEVAL_DOCUMENTS
        documents, problem = ((), None) if span.status is StatusCode.ERROR else self.documents(span, key)
        return Retrieval(
            span=span,
            documents=documents,
            problem=problem,
            query=query,
            query_attribute=query_key,
            attribute=key if documents else "",
            # Phoenix creates documents only from retrieved entries with a score, and rejects annotations of others.
            in_order=not of_memory and all(document.score is not None for document in documents),
        )

    def documents(self, span: SpanRecord, key: str) -> Listed:
        """The documents or memory records in one attribute of a span, and the problem with them if there is one."""
        value = parse(span.attributes.get(key))
        of_memory = key == semconv.GEN_AI_MEMORY_RECORDS
        return listed(
            _with_text(value) if of_memory else value,
            lambda: self.missing(span) or UnevaluableReason.NO_CHUNK_TEXT,
        )

    def contexts(self, span: SpanRecord) -> Iterator[Found]:
        for key, value in span.attributes.items():
            variable = key.removeprefix(semconv.GEN_AI_PROMPT_VARIABLE)
            if variable != key and _CONTEXT.fullmatch(variable) and isinstance(value, str):
                yield Found(text=value, attribute=key)
        result = span.attributes.get(semconv.GEN_AI_TOOL_RESULT)
        if self.role(span) is Role.TOOL and isinstance(result, str):
            yield Found(text=result, attribute=semconv.GEN_AI_TOOL_RESULT)

    def missing(self, span: SpanRecord) -> UnevaluableReason | None:
        cut = any(is_cut(span.attributes.get(key)) for key in _TEXTS)
        return UnevaluableReason.TRUNCATED if cut else super().missing(span)

    def _last(self, span: SpanRecord, key: str, role: str) -> Found | None:
        """The text of the last message of that role, or the attribute's text if it is not a list of messages."""
        value = parse_whole(span.attributes.get(key))
        text = answer_text(value) if role == ASSISTANT else question_text(value)
        return Found.of(text, key)


def _with_text(records: Any) -> Any:
    """Memory records, whose content may be any JSON value, with text as content."""
    if not isinstance(records, list):
        return records
    return [
        {**record, "content": json.dumps(record["content"], ensure_ascii=False)}
        if isinstance(record, dict) and isinstance(record.get("content"), dict | list)
        else record
        for record in records
    ]


def _last_of(messages: Sequence[ChatMessage], role: str, attribute: str) -> Found | None:
    text = last_text(messages, role)
    return Found(text=text, attribute=attribute) if text else None
