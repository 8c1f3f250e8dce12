"""Another text put into the result of a function, where its answer stands."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any, Final

from rag_otel.observing.shapes import CHUNK_NAMES, QUESTION_NAMES, RESPONSE_NAMES

_NOT_ANSWERS: Final = frozenset((*CHUNK_NAMES, *QUESTION_NAMES)) - frozenset(RESPONSE_NAMES)
_DEPTH: Final = 5
_WIDTH: Final = 200
_PLAIN: Final = (bytes, int, float, type(None))


class NotWritableError(Exception):
    """The answer was not found in the result as it is."""


def with_text(result: Any, answer: str, text: str, write: Callable[[Any, str], Any] | None) -> Any:
    """A copy of `result` in which `text` stands wherever `answer` stood: mappings, lists, tuples, pydantic models,
    dataclasses and plain objects are looked through, but not under the names of questions and chunks. `write` does it
    where it is given.

    Raises NotWritableError, and whatever `write` raises.
    """
    if write is not None:
        return write(result, text)
    changed = _changed(result, answer, text, _DEPTH)
    if changed is result:
        raise NotWritableError(f"the answer does not stand in {type(result).__name__} as it is")
    return changed


def _changed(value: Any, answer: str, text: str, depth: int) -> Any:
    """The value with the text; the very same object where the answer was not found."""
    if isinstance(value, str):
        return text if value == answer else value
    if depth == 0 or isinstance(value, _PLAIN):
        return value
    for name, inner in list(islice(_fields(value).items(), _WIDTH)):
        if name not in _NOT_ANSWERS and (changed := _changed(inner, answer, text, depth - 1)) is not inner:
            value = _with(value, name, changed)
    return value


def _fields(value: Any) -> Mapping[Any, Any]:
    if isinstance(value, Mapping):
        return value
    if isinstance(value, list | tuple):
        return dict(enumerate(value))
    fields = getattr(value, "__dict__", None)
    if isinstance(fields, dict):
        return fields
    if dataclasses.is_dataclass(value):
        return {each.name: getattr(value, each.name, None) for each in dataclasses.fields(value)}
    return {}


def _with(value: Any, name: Any, changed: Any) -> Any:
    """A copy of the value with another field."""
    if isinstance(value, tuple):
        items = [*value[:name], changed, *value[name + 1 :]]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, Mapping | list):
        copied: Any = copy.copy(value)
        copied[name] = changed
        return copied
    if hasattr(value, "model_copy"):
        return value.model_copy(update={name: changed})
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.replace(value, **{name: changed})
    copied = copy.copy(value)
    setattr(copied, name, changed)
    return copied
