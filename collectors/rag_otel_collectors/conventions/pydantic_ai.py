"""Pydantic-AI: the agent's span has the whole conversation and the final result. Its tools return the documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rag_otel import semconv
from rag_otel.model import SpanRecord
from rag_otel_collectors.conventions.genai import GenAi
from rag_otel_collectors.conventions.reading.dialect import Found, RecordedAnswer, Role
from rag_otel_collectors.conventions.reading.messages import USER, read_messages
from rag_otel_collectors.conventions.reading.retrieval import looks_like_documents
from rag_otel_collectors.conventions.reading.values import answer_text, parse

_SCOPE: Final = "pydantic-ai"
_MESSAGES: Final = ("pydantic_ai.all_messages", "all_messages_events")
_FIRST_NEW: Final = "pydantic_ai.new_message_index"
"""How many of the messages are history. Absent if there is no history."""
_RESULT: Final = "final_result"


class PydanticAi(GenAi):
    """The dialect of the instrumentation that is part of Pydantic-AI."""

    name = "pydantic_ai"

    def owns(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        return scope == _SCOPE or _MESSAGES[0] in attributes

    def retrieves(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        tool = semconv.GEN_AI_TOOL_NAME in attributes and looks_like_documents(attributes)
        return tool or super().retrieves(scope, attributes)

    def role(self, span: SpanRecord) -> Role:
        role = super().role(span)
        if role is not Role.CHAIN:
            return role
        if semconv.GEN_AI_TOOL_NAME in span.attributes:  # `running tool`, before version 3 of its instrumentation
            return Role.TOOL
        return Role.AGENT if any(key in span.attributes for key in _MESSAGES) else role

    def question(self, span: SpanRecord) -> Found | None:
        """The user's question in this run: the first new user message. Later ones may be retries by the agent."""
        for key in _MESSAGES:
            messages = parse(span.attributes.get(key))
            if isinstance(messages, Sequence) and not isinstance(messages, str):
                first = span.attributes.get(_FIRST_NEW, 0)
                new = messages[first:] if isinstance(first, int) and first >= 0 else messages
                text = next((m.text for m in read_messages(new) if m.role == USER and m.text), None)
                return Found.of(text, key)
        return self.asked(span)

    def answer(self, span: SpanRecord) -> RecordedAnswer:
        """The final result. A structured result without a recognised text field is returned as JSON text."""
        result = span.attributes.get(_RESULT)
        if isinstance(result, str) and result.strip():
            text = answer_text(parse(result)) or result
            return RecordedAnswer(found=Found(text=text, attribute=_RESULT))
        return super().answer(span)
