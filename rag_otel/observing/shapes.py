"""What bare `@observe` finds by itself: the question among the arguments, the response and the chunks in the result.

By shape and by the usual names, first match wins; the library that a result comes from is never imported. What is
not found is None, never a guess: an answer that cannot be told apart is not judged.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from rag_otel.formats import usual_names
from rag_otel.model import Chunk
from rag_otel.observing.allowance import MAX_WIDTH, Allowance
from rag_otel.observing.documents import to_chunks

QUESTION_NAMES: Final = (*usual_names.QUESTION, *usual_names.QUESTION_TOO)
RESPONSE_NAMES: Final = (*usual_names.ANSWER, *usual_names.ANSWER_TOO)
CHUNK_NAMES: Final = (*usual_names.CHUNKS, *usual_names.CHUNKS_TOO)
_SAYS_NOTHING: Final = (bytes, int, float, list)
_DEPTH: Final = 4
"""How deep a text is looked for: choices -> message -> content -> text."""

_BODIES: Final = ("body", "data", "content")
"""Where Starlette, Flask and Django keep the bytes of a response."""
_MAX_BODY_BYTES: Final = 2**19
"""A longer body is a download, not an answer, and would take the request's time to decode."""
_MAX_NESTED: Final = 50
"""Entries of a mapping that are looked into for the answer of a component."""
_MAX_PARTS: Final = 200
"""A longer list is data (an embedding, rows), not the parts of a message, and would take long to look through."""


def text_of(value: object, depth: int = _DEPTH, allowance: Allowance | None = None) -> str | None:
    """The text of a string, a message object, a list of content blocks, a completion; None where there is none.

    Raises TooLargeError, as everything here, beyond what the `allowance` (a fresh one by default) lets one look at.
    """
    if isinstance(value, str):
        return value
    if value is None or depth == 0 or isinstance(value, (bytes, int, float)):
        return None
    allowance = Allowance() if allowance is None else allowance
    allowance.look_at(1)
    if isinstance(value, Mapping):
        return _first_text(value, ("text", "content", "message"), depth, allowance)
    if isinstance(value, Sequence):
        if len(value) > _MAX_PARTS:
            return None
        allowance.look_at(len(value))
        parts = [text for item in value if (text := text_of(item, depth - 1, allowance)) is not None]
        return "".join(parts) if parts else None
    return _first_text(value, ("content", "text", "message", "response", "data", "output"), depth, allowance)


def question_in(value: object, allowance: Allowance | None = None) -> str | None:
    """The question in an argument: text, a list of chat messages (the last one of the user), or an object that has
    a field of a usual name."""
    if isinstance(value, str) or value is None:
        return value
    allowance = Allowance() if allowance is None else allowance
    if isinstance(value, (list, tuple)):
        return _last_message(value, ("user", "human"), allowance)
    for _, inner in _fields(value, QUESTION_NAMES):
        if isinstance(inner, str):
            return inner
        if (
            isinstance(inner, (list, tuple))
            and (found := _last_message(inner, ("user", "human"), allowance)) is not None
        ):
            return found
    return text_of(value, allowance=allowance)


def served(result: object) -> object:
    """What the finished response of a web framework (Starlette, Flask, Django: status, type, body of bytes) holds, so
    that the answer is found there; any other result, or a body that is neither JSON nor text, as it is."""
    # dict beside Mapping, because asking for an abstract class takes ten times as long.
    if isinstance(result, (str, dict, tuple, list, Mapping)) or _field(result, "status_code") is None:
        return result
    body = next((body for name in _BODIES if isinstance(body := _field(result, name), bytes)), None)
    if body is None or len(body) > _MAX_BODY_BYTES:
        return result
    headers = _field(result, "headers")
    kind = _field(result, "media_type") or _field(result, "mimetype") or _field(headers, "Content-Type")
    kind = kind.partition(";")[0].strip() if isinstance(kind, str) else ""
    try:
        if kind == "application/json":
            return json.loads(body)
        return body.decode() if kind == "text/plain" else result
    except (ValueError, RecursionError):
        return result


def response_in(result: object, depth: int = 2, allowance: Allowance | None = None) -> str | None:
    """The answer in a result: text, the usual field of a mapping or object, the text of an (answer, documents) pair."""
    if isinstance(result, str):
        return result
    if result is None or depth == 0 or isinstance(result, _SAYS_NOTHING):
        return None
    allowance = Allowance() if allowance is None else allowance
    allowance.look_at(1)
    if isinstance(result, tuple) and not hasattr(result, "_fields"):
        texts = (response_in(item, depth, allowance) for item in result)
        return next((text for text in texts if text is not None), None)
    for name, inner in _fields(result, RESPONSE_NAMES):
        if (text := _response_field(inner, name, allowance)) is not None:
            return text
    # A pipeline's result, keyed by component: {"llm": {"replies": [...]}, "retriever": {"documents": [...]}}
    nested = (response_in(inner, depth - 1, allowance) for inner in _nested(result))
    return next((text for text in nested if text is not None), None)


def chunks_in(result: object, depth: int = 3, allowance: Allowance | None = None) -> tuple[Chunk, ...] | None:
    """The chunks in a result, an empty tuple where it says that nothing was found, None where it says nothing."""
    if result is None or depth == 0 or isinstance(result, (str, bytes, int, float)):
        return None
    allowance = Allowance() if allowance is None else allowance
    allowance.look_at(1)
    if isinstance(result, tuple) and not hasattr(result, "_fields"):
        lists = (chunks_named("documents", item, allowance) for item in result if isinstance(item, (list, tuple)))
        found = next((chunks for chunks in lists if chunks is not None), None)
        return found if found is not None else _first_chunks(result, depth, allowance)
    if isinstance(result, list):
        # A retriever's own result: documents, but hardly a list of plain strings.
        return chunks_named("hits", result, allowance) if result else None
    for name, inner in _fields(result, CHUNK_NAMES):
        if (chunks := chunks_named(name, inner, allowance)) is not None:
            return chunks
    return _first_chunks(_nested(result), depth - 1, allowance)


def chunks_named(name: str, value: object, allowance: Allowance | None = None) -> tuple[Chunk, ...] | None:
    """The chunks in a value that stands under `name`: strings under `sources` and the like are links, not passages."""
    if value is None:
        return None
    if name in usual_names.CHUNKS_TOO and (isinstance(value, str) or _holds_strings(value)):
        return None
    return to_chunks(value, allowance=allowance)


def _holds_strings(value: object) -> bool:
    return isinstance(value, (list, tuple)) and any(isinstance(item, str) for item in islice(value, MAX_WIDTH))


def _first_chunks(values: Sequence[object], depth: int, allowance: Allowance) -> tuple[Chunk, ...] | None:
    found = (chunks_in(value, depth, allowance) for value in values if not isinstance(value, list))
    return next((chunks for chunks in found if chunks is not None), None)


def _nested(result: object) -> list[object]:
    """Mappings within a mapping, and the one answer object of a list of answers."""
    if not isinstance(result, Mapping):
        return []
    nested: list[object] = [inner for inner in islice(result.values(), _MAX_NESTED) if isinstance(inner, Mapping)]
    answers = result.get("answers")
    return nested + list(answers[:1]) if isinstance(answers, list) else nested


def _response_field(value: object, name: str, allowance: Allowance) -> str | None:
    if isinstance(value, str):
        return None if name == "messages" else value
    if name in ("replies", "answers", "choices") and isinstance(value, (list, tuple)):
        return text_of(value[0], allowance=allowance) if value else None
    if name == "messages":
        return _last_message(value, ("assistant", "ai"), allowance) if isinstance(value, (list, tuple)) else None
    if isinstance(value, Mapping) and name not in ("message", "content"):
        return None  # a structure of its own: looked into as a nested result
    return text_of(value, allowance=allowance)


def _last_message(messages: Sequence[Any], roles: tuple[str, ...], allowance: Allowance) -> str | None:
    for message in islice(reversed(messages), MAX_WIDTH):
        role = _field(message, "role") or _field(message, "type")
        if str(getattr(role, "value", role)).lower() in roles:
            return text_of(message, allowance=allowance)
    return None


def _first_text(value: object, names: tuple[str, ...], depth: int, allowance: Allowance) -> str | None:
    for _, inner in _fields(value, names):
        if (text := text_of(inner, depth - 1, allowance)) is not None:
            return text
    return None


def _fields(value: object, names: Sequence[str]) -> Iterable[tuple[str, Any]]:
    """(name, field) for each of the names, in their order; of a dict, the most usual, only those that it has."""
    if type(value) is dict:
        return [(name, value[name]) for name in names if name in value]
    return ((name, _field(value, name)) for name in names)


def _field(value: object, name: str) -> Any:
    if type(value) is dict or isinstance(value, Mapping):
        return value.get(name)
    try:
        return getattr(value, name, None)
    except Exception:  # noqa: BLE001 - somebody else's property
        return None
