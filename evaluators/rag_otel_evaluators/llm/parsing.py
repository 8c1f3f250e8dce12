"""Reads what a model said as the object it was asked for, and keeps what can be kept when it cannot be read whole.

Three steps: find the JSON in the text (thinking, prose and code fences around it are common), decode it (cut off or
slightly wrong JSON is mended only in ways that cannot change a value), validate it (a bad list item costs itself).
Nothing is guessed: an item that was cut off is dropped, never completed.
"""

from __future__ import annotations

import ast
import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Generic

from pydantic import BaseModel, ValidationError

from rag_otel_evaluators.llm.structured import T
from rag_otel_evaluators.llm.thoughts import without_thoughts

_OPENING: Final = re.compile(r"[{\[]")
_TRAILING_COMMA: Final = re.compile(r",(?=\s*[}\]])")
_LONGEST_TEXT: Final = 200_000
"""Characters of an answer that are looked through for JSON; none of ours is a tenth as long."""
_PROBLEM_LENGTH: Final = 200
"""Characters kept of a problem: they go into logs and results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedAnswer(Generic[T]):
    """What was made of a text; the fields are those of `Completion`."""

    value: T | None
    truncated: bool = False
    problems: tuple[str, ...] = ()
    dropped: tuple[Any, ...] = ()
    """The items that were dropped, as they came."""
    mostly_unreadable: bool = False
    """No value, or at least half of its items were dropped."""


def read_answer(text: str, response_model: type[T]) -> ParsedAnswer[T]:
    """Read `text` as `response_model`. Never raises; what went wrong is in `problems`."""
    decoded, truncated = decode(text)
    if decoded is None:
        return ParsedAnswer(value=None, truncated=truncated, problems=(_no_json(text),), mostly_unreadable=True)
    value, problems, dropped, share = _validate(_shaped(decoded, response_model), response_model)
    if truncated:
        problems = ("the answer was cut off", *problems)
    return ParsedAnswer(
        value=value, truncated=truncated, problems=problems, dropped=dropped, mostly_unreadable=share >= 0.5
    )


def decode(text: str) -> tuple[Any | None, bool]:
    """The JSON in `text` and whether it was cut off; (None, ...) where there is none.

    Of several candidates (prose may hold `[1]` or a brace) an object wins over a list, a longer over a shorter one.
    """
    with contextlib.suppress(ValueError, RecursionError):  # most answers are one object and nothing else
        if isinstance(whole := json.loads(text, strict=False), dict):
            return whole, False
    text = without_thoughts(text)[:_LONGEST_TEXT]
    best: tuple[tuple[bool, int], Any, bool] | None = None
    truncated = False
    for start, end in _containers(text):
        truncated = end is None
        value = _whole(_closed_items(text[start:]) if end is None else text[start:end])
        rank = (isinstance(value, dict), (len(text) if end is None else end) - start)
        if isinstance(value, (dict, list)) and (value or not truncated) and (best is None or rank > best[0]):
            best = rank, value, truncated
    return (None, truncated) if best is None else best[1:]


def _containers(text: str) -> Iterator[tuple[int, int | None]]:
    """(start, end) of each outermost bracket pair; end is None for one that is never closed."""
    position: int | None = 0
    while position is not None and (match := _OPENING.search(text, position)):
        position = _end_of_container(text, match.start())
        yield match.start(), position


def _end_of_container(text: str, start: int) -> int | None:
    """Offset after the bracket that closes the one at `start`, None if it is never closed."""
    depth = 0
    for position, character in json_structure(text, start):
        depth += 1 if character in "{[" else -1 if character in "}]" else 0
        if depth == 0:
            return position + 1
    return None


def json_structure(text: str, start: int = 0) -> Iterator[tuple[int, str]]:
    """(offset, character) of every bracket and comma outside strings, from `start` on."""
    in_string = escaped = False
    for position in range(start, len(text)):
        character = text[position]
        if in_string:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                in_string = False
        elif character == '"':
            in_string = True
        elif character in "{[]},":
            yield position, character


def _whole(text: str) -> Any | None:
    """`text` decoded; None where even a mended form is no JSON."""
    for candidate in (text, _TRAILING_COMMA.sub("", text)):
        try:
            return json.loads(candidate, strict=False)  # small models put raw line breaks into strings
        except (ValueError, RecursionError):
            continue
    try:
        return ast.literal_eval(text)  # Python's own notation: single quotes, True, None
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def _closed_items(text: str) -> str:
    """`text` up to the last item that is complete, with the open brackets closed.

    An item is complete when a comma or a bracket follows it. Inside an object that is itself a list's item nothing is
    complete, because a verdict without its evidence would be another verdict.
    """
    open_brackets: list[str] = []
    cut, closing = 0, ""
    for position, character in json_structure(text):
        if character in "{[":
            open_brackets.append(character)
            continue
        if character in "}]" and open_brackets:
            open_brackets.pop()
        if not _inside_item(open_brackets):
            cut = position if character == "," else position + 1
            closing = "".join("}" if bracket == "{" else "]" for bracket in reversed(open_brackets))
    return text[:cut] + closing


def _inside_item(open_brackets: list[str]) -> bool:
    return "[{" in "".join(open_brackets)


def _shaped(decoded: Any, response_model: type[BaseModel]) -> Any:
    """Undo two habits of models: a bare list in place of the object with one list, an object wrapped in another."""
    names = {name: field.alias or name for name, field in response_model.model_fields.items()}
    if isinstance(decoded, list):
        return {next(iter(names.values())): decoded} if len(names) == 1 else decoded
    known = set(names) | set(names.values())
    if len(decoded) == 1 and not known & set(decoded):
        (inner,) = decoded.values()
        return inner if isinstance(inner, dict) else decoded
    return decoded


def _validate(data: Any, response_model: type[T]) -> tuple[T | None, tuple[str, ...], tuple[Any, ...], float]:
    """Validate; drop items of top-level lists that fail and validate again. Returns value, problems, the items that
    were dropped and their share."""
    try:
        return response_model.model_validate(data), (), (), 0.0
    except ValidationError as error:
        problems = tuple(_problem(detail) for detail in error.errors(include_url=False, include_context=False))
        bad = {tuple(detail["loc"][:2]) for detail in error.errors(include_url=False, include_context=False)}
    items = {location for location in bad if _is_item(data, location)}
    if not items or items != bad:
        return None, problems, (), 1.0
    kept = {
        key: [item for index, item in enumerate(value) if (key, index) not in items]
        if isinstance(value, list)
        else value
        for key, value in data.items()
    }
    listed = sum(len(value) for value in data.values() if isinstance(value, list))
    try:
        value = response_model.model_validate(kept)
    except ValidationError:
        return None, problems, (), 1.0
    return value, problems, tuple(data[key][index] for key, index in items), len(items) / listed


def _is_item(data: Any, location: tuple[int | str, ...]) -> bool:
    if not (isinstance(data, dict) and len(location) == 2):
        return False
    key, index = location
    return isinstance(data.get(key), list) and isinstance(index, int)


def _problem(detail: Any) -> str:
    place = ".".join(str(part) for part in detail["loc"])
    return f"{place}: {detail['msg']}"[:_PROBLEM_LENGTH]


def _no_json(text: str) -> str:
    if not text.strip():
        return "the answer was empty"
    return f"no JSON in the answer: {text.strip()[:80]!r}"
