"""Text out of attribute values: JSON or plain, a string or an object that carries the text somewhere inside.

Instrumentations write what a function got and gave: a bare string, `{"query": ...}`, a chat history, one object for
each component of a pipeline, or the `repr` of something that is no text at all.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rag_otel import semconv
from rag_otel_collectors.conventions.reading.messages import ASSISTANT, USER, content_text, last_text, read_messages

QUESTION_KEYS: Final = (
    "question",
    "query",
    "query_str",
    "user_query",
    "user_question",
    "user_input",
    "input",
    "str_or_query_bundle",
    "chat_input",
    "search_query",
    "message",
    "messages",
    "prompt",
    "text",
    "inputs",
)
ANSWER_KEYS: Final = (
    "answer",
    "response",
    "final_answer",
    "output",
    "result",
    "output_text",
    "generated_text",
    "completion",
    "replies",
    "reply",
    "messages",
    "message",
    "content",
    "text",
    "outputs",
    "choices",
    "generations",
)
"""Both in order of trust: the first name that is found anywhere near the top wins."""

_ASIDES: Final = frozenset({"reasoning", "rationale", "trajectory", "prompt", "context"})
"""What stands beside a question or an answer and is neither."""
_MAX_DEPTH: Final = 4
_MAX_PLACEHOLDER: Final = 300
"""Characters; also keeps the search below from crawling through a long text."""
_PLACEHOLDER: Final = re.compile(r"<[^<>\n]*(?:generator|coroutine|iterator|stream|object at 0x)[^<>\n]*>", re.I)
_REPR: Final = re.compile(r"<?[A-Z]\w*\((?:\w+=.*)?(?:\)|\.\.\.)>?", re.S)


def parse(value: Any, mime_type: Any = None) -> Any:
    """The value behind an attribute: parsed where it is JSON, by its mime type or, without one, by its looks.

    What does not parse is returned as it is; a broken JSON text is then plain text that starts with a brace.
    """
    if not isinstance(value, str):
        return value
    if mime_type not in (None, semconv.MIME_JSON):
        return value
    if mime_type is None and value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def parse_object(value: Any) -> Mapping[str, Any]:
    """A JSON object, or an empty one where `value` is anything else."""
    parsed = parse(value)
    return parsed if isinstance(parsed, Mapping) else {}


def is_cut(value: Any) -> bool:
    """True for JSON that a length limit has cut through."""
    return isinstance(value, str) and parse_whole(value) is None


def parse_whole(value: Any) -> Any:
    """The same as `parse`, but None for JSON that a length limit has cut through."""
    parsed = parse(value)
    return None if isinstance(parsed, str) and parsed.lstrip()[:1] in ("{", "[") else parsed


def all_text(value: Any) -> Iterator[str]:
    """Every text in a parsed value, however deep, in order."""
    to_visit = [value]
    while to_visit:
        item = to_visit.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            to_visit.extend(reversed(list(item.values())))
        elif isinstance(item, Sequence) and not isinstance(item, bytes):
            to_visit.extend(reversed(item))


def question_text(value: Any) -> str | None:
    """What was asked, out of the parsed input of a span.

    A text that is JSON without any text in it (LangChain's `{"input": ""}` of a stream) is no question.
    """
    text = _find(value, QUESTION_KEYS, USER)
    inner = None if text is None else parse(text.strip())
    if inner is None or isinstance(inner, str) or any(each.strip() for each in all_text(inner)):
        return text
    return None


def answer_text(value: Any) -> str | None:
    """What was answered, out of the parsed output of a span; None where it holds no text (yet)."""
    return _find(value, ANSWER_KEYS, ASSISTANT)


def is_placeholder(text: str) -> bool:
    """True for the `repr` of a stream that had not been read when the span ended."""
    return len(text) <= _MAX_PLACEHOLDER and _PLACEHOLDER.fullmatch(text.strip()) is not None


def is_repr(text: str) -> bool:
    """True for the `repr` of an object (`Document(id=..., ...)`), cut or not: it names the text, it is not the text."""
    return _REPR.fullmatch(text.strip()) is not None


def holds_placeholder(value: Any) -> bool:
    """True where a parsed output is, or carries at its top, a stream instead of a text."""
    fields = value.values() if isinstance(value, Mapping) else [value]
    return any(isinstance(field, str) and is_placeholder(field) for field in fields)


def finite(value: Any) -> float | None:
    """A score as a number; None for what is none (a NaN is none)."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _find(value: Any, keys: Sequence[str], role: str, depth: int = 0) -> str | None:
    """A text, the last message of `role` in a chat, the text of an object, or what the first of a list holds."""
    if depth > _MAX_DEPTH:
        return None
    if isinstance(value, str):
        return value if value.strip() and not is_placeholder(value) and not is_repr(value) else None
    if isinstance(value, Mapping):
        return _find_in_object(value, keys, role, depth)
    if not isinstance(value, Sequence) or isinstance(value, bytes) or not value:
        return None
    messages = read_messages(value)
    if messages:
        return last_text(messages, role)
    return content_text(value) or _find(value[0], keys, role, depth + 1)


def _find_in_object(value: Mapping[str, Any], keys: Sequence[str], role: str, depth: int) -> str | None:
    for level in _levels(value):
        for key in keys:
            for item in level:
                inner = item.get(key)
                text = None if isinstance(inner, Mapping) else _find(inner, keys, role, depth + 1)
                if text is not None:
                    return text
    others = [item for key, item in value.items() if key not in _ASIDES and isinstance(item, str)]
    return _find(others[0], keys, role, depth + 1) if len(others) == 1 else None


def _levels(value: Mapping[str, Any]) -> Iterator[list[Mapping[str, Any]]]:
    """The object itself, then the objects in it, then those in them: pipelines key their data by component."""
    level = [value]
    for _ in range(_MAX_DEPTH):
        yield level
        level = [inner for item in level for inner in item.values() if isinstance(inner, Mapping)]
