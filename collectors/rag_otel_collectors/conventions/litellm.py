"""LiteLLM's OpenTelemetry callback: a span for each request, or attributes on the application's span.

It records prompts. It records documents only if the LiteLLM proxy searched a vector store for the request: then they
are in `metadata.vector_store_request_metadata`, as the Python `repr` of a list.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any, Final

from rag_otel import semconv
from rag_otel.model import SpanRecord, StatusCode, UnevaluableReason
from rag_otel_collectors.conventions.genai import GenAi
from rag_otel_collectors.conventions.reading.documents import Document, documents_in
from rag_otel_collectors.conventions.reading.retrieval import Retrieval, text_problem
from rag_otel_collectors.conventions.reading.values import finite, parse

_SCOPE: Final = "litellm"
_CALL_ID: Final = "litellm.call_id"
_SEARCHES: Final = "metadata.vector_store_request_metadata"
_NONE: Final = ("", "None", "[]")
_MAX_LITERAL: Final = 1_000_000
"""Characters. Strings are nearly all of a real value, and cost nothing to speak of."""
_MAX_STRUCTURE: Final = 20_000
"""Characters outside of strings: Python's literal parser takes 1 us and a hundred times the memory for each."""
_STRING: Final = re.compile(r"""'(?:[^'\\]|\\.)*+(?:'|\Z)|"(?:[^"\\]|\\.)*+(?:"|\Z)""", re.DOTALL)
_STRUCTURE: Final = re.compile(r"(?:[\[\]{},:\s\d.+-]|None|True|False|[eE])*+")
"""What a `repr` of lists, dicts, numbers and strings has outside of strings."""


class LiteLlm(GenAi):
    """The dialect of LiteLLM's callback."""

    name = "litellm"

    def owns(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        return scope == _SCOPE or _CALL_ID in attributes

    def retrieves(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        return attributes.get(_SEARCHES, "") not in _NONE or super().retrieves(scope, attributes)

    def retrieval(self, span: SpanRecord) -> Retrieval | None:
        value = span.attributes.get(_SEARCHES, "")
        if value in _NONE or span.status is StatusCode.ERROR:
            return super().retrieval(span)
        searches = _literal(value)
        documents = tuple(document for search in searches or () for document in _documents(search))
        query = next((q for search in searches or () if isinstance(q := search.get("query"), str) and q), None)
        problem = UnevaluableReason.NO_CHUNK_TEXT if searches is None else text_problem(documents, truncated=False)
        return Retrieval(
            span=span,
            documents=documents,
            problem=UnevaluableReason.REDACTED if value == semconv.REDACTED else problem,
            query=query,
            query_attribute=_SEARCHES,
            attribute=_SEARCHES,
            in_order=False,
        )


def _literal(value: Any) -> list[Mapping[str, Any]] | None:
    parsed = parse(value)
    if isinstance(parsed, str) and len(parsed) <= _MAX_LITERAL and _is_plain(parsed):
        try:
            parsed = ast.literal_eval(parsed)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
    if not isinstance(parsed, list):
        return None
    return [item for item in parsed if isinstance(item, Mapping)]


def _is_plain(text: str) -> bool:
    """False for what is no `repr` of plain data, or so much of it that parsing it would hold others up."""
    structure = _STRING.sub("", text)
    return len(structure) <= _MAX_STRUCTURE and _STRUCTURE.fullmatch(structure) is not None


def _documents(search: Mapping[str, Any]) -> list[Document]:
    """The results of one search, in the format of OpenAI's vector stores."""
    response = search.get("vector_store_search_response")
    results = response.get("data") if isinstance(response, Mapping) else None
    found = []
    for result in results if isinstance(results, list) else []:
        if isinstance(result, Mapping):
            texts = documents_in(result.get("content")) or ()
            text = "\n".join(each.text for each in texts if each.text)
            named = result.get("file_id") or result.get("filename")
            found.append(
                Document(
                    text=text or None,
                    id=named if isinstance(named, str) else None,
                    score=finite(result.get("score")),
                    metadata=attributes if isinstance(attributes := result.get("attributes"), Mapping) else {},
                )
            )
    return found
