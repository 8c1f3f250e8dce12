"""Finds the question or the answer in attribute values, which are text, or JSON that contains the text.

Instrumentations record the input and output of functions: a string, `{"query": ...}`, a chat history, one object for
each component of a pipeline, or the `repr` of an object that is not a text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from rag_otel import semconv
from rag_otel.formats import usual_names
from rag_otel.formats.json_text import json_in
from rag_otel_collectors.conventions.reading.messages import ASSISTANT, USER, content_text, last_text, read_messages

QUESTION_KEYS: Final = (*usual_names.QUESTION, *usual_names.QUESTION_TOO)
ANSWER_KEYS: Final = (*usual_names.ANSWER, *usual_names.ANSWER_TOO)
"""Both in order of precedence: the first name that exists in the upper levels of the object is used."""

_OTHER_KEYS: Final = frozenset({"reasoning", "rationale", "trajectory", "prompt", "context"})
"""Names of fields that are neither a question nor an answer."""
_MAX_DEPTH: Final = 4
_MAX_PLACEHOLDER: Final = 300
"""Characters. The limit also keeps the regular expression fast on long texts."""
_PLACEHOLDER: Final = re.compile(r"<[^<>\n]*(?:generator|coroutine|iterator|stream|object at 0x)[^<>\n]*>", re.I)
_REPR: Final = re.compile(r"<?[A-Z]\w*\((?:\w+=.*)?(?:\)|\.\.\.)>?", re.S)


def parse(value: Any, mime_type: Any = None) -> Any:
    """Returns the value of an attribute, parsed if it is JSON. The MIME type decides whether it is; without one, the
    first character does.

    A text that cannot be parsed is returned unchanged.
    """
    if not isinstance(value, str):
        return value
    if mime_type is None:
        return json_in(value)
    if mime_type != semconv.MIME_JSON:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def parse_object(value: Any) -> Mapping[str, Any]:
    """Returns the JSON object in `value`, or an empty mapping if `value` is anything else."""
    parsed = parse(value)
    return parsed if isinstance(parsed, Mapping) else {}


def is_cut(value: Any) -> bool:
    """True for JSON that a length limit has cut."""
    return isinstance(value, str) and parse_whole(value) is None


def parse_whole(value: Any) -> Any:
    """Like `parse`, but returns None for JSON that a length limit has cut."""
    parsed = parse(value)
    return None if isinstance(parsed, str) and parsed.lstrip()[:1] in ("{", "[") else parsed


def all_text(value: Any) -> Iterator[str]:
    """Yields every text in a parsed value, at any depth, in order."""
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
    """Returns the question in the parsed input of a span. None if there is none.

    A text that is JSON without any text in it (LangChain's `{"input": ""}` of a stream) is no question.
    """
    text = _find(value, QUESTION_KEYS, USER)
    inner = None if text is None else parse(text.strip())
    if inner is None or isinstance(inner, str) or any(each.strip() for each in all_text(inner)):
        return text
    return None


def answer_text(value: Any) -> str | None:
    """Returns the answer in the parsed output of a span. None if there is no text."""
    return _find(value, ANSWER_KEYS, ASSISTANT)


def is_placeholder(text: str) -> bool:
    """True for the `repr` of a stream object, which is recorded if the stream was not read before the span ended."""
    return len(text) <= _MAX_PLACEHOLDER and _PLACEHOLDER.fullmatch(text.strip()) is not None


def is_repr(text: str) -> bool:
    """True for the `repr` of an object (`Document(id=..., ...)`), also if a length limit cut it."""
    return _REPR.fullmatch(text.strip()) is not None


def holds_placeholder(value: Any) -> bool:
    """True if a parsed output is the `repr` of a stream, or has it as a field."""
    fields = value.values() if isinstance(value, Mapping) else [value]
    return any(isinstance(field, str) and is_placeholder(field) for field in fields)


def finite(value: Any) -> float | None:
    """Returns a score as a number. None if it is not a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def as_id(value: Any) -> str | None:
    """Returns an id as text: a text or an integer. None for anything else, and for an empty text."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) and value != "" else None


def first_name(values: Iterable[Any]) -> str | None:
    """Returns the first of these values that is the name of a model."""
    return next((name for name in values if isinstance(name, str) and name not in ("", "unknown")), None)


def _find(value: Any, keys: Sequence[str], role: str, depth: int = 0) -> str | None:
    """Finds a text: the value itself, the last message of `role` in a chat, a field of an object, or the text in the
    first item of a list."""
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
    others = [item for key, item in value.items() if key not in _OTHER_KEYS and isinstance(item, str)]
    return _find(others[0], keys, role, depth + 1) if len(others) == 1 else None


def _levels(value: Mapping[str, Any]) -> Iterator[list[Mapping[str, Any]]]:
    """Yields the objects of each level, beginning with the object itself. Pipelines nest their data by component."""
    level = [value]
    for _ in range(_MAX_DEPTH):
        yield level
        level = [inner for item in level for inner in item.values() if isinstance(inner, Mapping)]
