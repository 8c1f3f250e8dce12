"""OpenLIT: the GenAI conventions. A LangChain retrieval has the texts of the first three documents.

The instrumentations of LlamaIndex and Haystack do not record the passages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rag_otel.model import SpanRecord, UnevaluableReason
from rag_otel_collectors.conventions.genai import GenAi
from rag_otel_collectors.conventions.reading.dialect import Found, RecordedAnswer, Role
from rag_otel_collectors.conventions.reading.retrieval import Listed
from rag_otel_collectors.conventions.reading.values import answer_text, parse, question_text

_SCOPE: Final = "openlit"
_ENDPOINT: Final = "gen_ai.operation.endpoint"
_COUNT: Final = "gen_ai.retrieval.document_count"
_INPUTS: Final = ("gen_ai.workflow.input", "gen_ai.framework.pipeline.input_data")
_OUTPUT: Final = "gen_ai.workflow.output"
_MESSAGE_REPR: Final = "content="


class OpenLit(GenAi):
    """The dialect of OpenLIT's instrumentations."""

    name = "openlit"

    def owns(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        return scope.startswith(_SCOPE)

    def role(self, span: SpanRecord) -> Role:
        """Corrects the role of a whole LlamaIndex query, which OpenLIT marks as a retrieval."""
        endpoint = span.attributes.get(_ENDPOINT)
        if isinstance(endpoint, str) and endpoint.startswith("query_engine"):
            return Role.CHAIN
        return super().role(span)

    def question(self, span: SpanRecord) -> Found | None:
        for key in _INPUTS:
            found = Found.of(question_text(parse(span.attributes.get(key))), key)
            if found is not None:
                return found
        return super().question(span)

    def answer(self, span: SpanRecord) -> RecordedAnswer:
        output = parse(span.attributes.get(_OUTPUT))
        found = None if _is_repr_of_messages(output) else Found.of(answer_text(output), _OUTPUT)
        return super().answer(span) if found is None else RecordedAnswer(found=found)

    def documents(self, span: SpanRecord, key: str) -> Listed:
        documents, problem = super().documents(span, key)
        count = span.attributes.get(_COUNT)
        if count == 0:
            return (), None
        if documents and isinstance(count, int) and count > len(documents):
            return documents, UnevaluableReason.TRUNCATED
        return documents, problem


def _is_repr_of_messages(output: Any) -> bool:
    """True for `{"messages": ["content='...' ...", ...]}`, the `repr` of a chat. The answer is then on the span of the
    model call."""
    messages = output.get("messages") if isinstance(output, Mapping) else None
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        return False
    return any(isinstance(message, str) and message.startswith(_MESSAGE_REPR) for message in messages)
