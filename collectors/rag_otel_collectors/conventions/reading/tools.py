"""Recognises tool calls that are retrievals.

A tool may return anything, so its result counts as a retrieval only if it looks like documents (objects with a text),
or if it is text and the name of the tool says that it searches.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from rag_otel import semconv
from rag_otel.model import SpanRecord, StatusCode, UnevaluableReason
from rag_otel_collectors.conventions.reading.documents import Document, documents_in
from rag_otel_collectors.conventions.reading.retrieval import Retrieval, text_problem
from rag_otel_collectors.conventions.reading.values import is_cut, parse, question_text

_OLD_NAME: Final = "tool_response"
_OLD_ARGUMENTS: Final = "tool_arguments"
"""Names of result and arguments in early versions of Pydantic-AI."""
_SEARCHES: Final = re.compile(
    r"(?:^|[^a-z])(?:retriev\w*|search\w*|lookup|look_up|find_\w*(?:doc|passage|context)\w*|\w*knowledge\w*|rag|"
    r"(?:get|fetch|query|read)_?(?:docs?|documents?|context|passages?|index|vectors?\w*|kb))",
    re.I,
)
_TEXT_KEYS: Final = ('"content"', '"text"', '"page_content"', "'content'", "'text'", "'page_content'")


def looks_like_documents(attributes: Mapping[str, Any]) -> bool:
    """True if the result of a tool may be documents. Searches its text for key names, without parsing."""
    result = _result(attributes)
    if not isinstance(result, str) or not result:
        return result is not None
    return any(key in result for key in _TEXT_KEYS) or _searches(attributes)


def read_tool(span: SpanRecord) -> Retrieval | None:
    """The documents that a tool returned. None if the tool failed or returned something else."""
    attributes = span.attributes
    result = _result(attributes)
    if span.status is StatusCode.ERROR or result is None:
        return None
    documents, problem = _documents(result, searches=_searches(attributes))
    if documents is None:
        return None
    arguments = semconv.GEN_AI_TOOL_ARGUMENTS if semconv.GEN_AI_TOOL_ARGUMENTS in attributes else _OLD_ARGUMENTS
    return Retrieval(
        span=span,
        documents=documents,
        problem=problem,
        query=question_text(parse(attributes.get(arguments))),
        query_attribute=arguments,
        attribute=semconv.GEN_AI_TOOL_RESULT if semconv.GEN_AI_TOOL_RESULT in attributes else _OLD_NAME,
        guessed=True,
        in_order=False,
    )


def _documents(result: Any, *, searches: bool) -> tuple[tuple[Document, ...] | None, UnevaluableReason | None]:
    if result == semconv.REDACTED:
        return ((), UnevaluableReason.REDACTED) if searches else (None, None)
    if is_cut(result):
        return ((), UnevaluableReason.TRUNCATED) if searches else (None, None)
    value = parse(result)
    documents = documents_in(value)
    if documents is not None and _are_documents(value, documents, searches=searches):
        return documents, text_problem(documents, truncated=False)
    if searches and isinstance(value, str) and value.strip():
        return (Document(text=value),), None
    return None, None


def _are_documents(value: Any, documents: tuple[Document, ...], *, searches: bool) -> bool:
    if not documents:
        return searches
    bare = isinstance(value, list) and any(isinstance(item, str) for item in value)
    return all(document.text for document in documents) and (searches or not bare)


def _result(attributes: Mapping[str, Any]) -> Any:
    return attributes.get(semconv.GEN_AI_TOOL_RESULT, attributes.get(_OLD_NAME))


def _searches(attributes: Mapping[str, Any]) -> bool:
    name = attributes.get(semconv.GEN_AI_TOOL_NAME)
    return isinstance(name, str) and _SEARCHES.search(name) is not None
