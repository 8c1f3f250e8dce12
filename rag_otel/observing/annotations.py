"""What a function's annotations tell about the fields of its arguments and its result, for checking selectors.

Only what is certain counts: a dataclass, a NamedTuple, a TypedDict or a pydantic model that takes no other fields.
Anything else (Any, a protocol, a plain class, an annotation that cannot be resolved) passes unchecked.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import types
import typing
from collections.abc import Callable, Sequence
from typing import Any, Final

from rag_otel.lazy_dataclass import dataclass

_WRAPPERS: Final = (collections.abc.Awaitable, collections.abc.Coroutine)
_LISTS: Final = (list, tuple, collections.abc.Sequence, collections.abc.Iterable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """A step that cannot match: `owner` has the fields `names`, and `missing` is none of them."""

    owner: str
    missing: str
    names: tuple[str, ...]


def annotations_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Parameter name, or `return`, -> annotation; empty where they cannot be resolved."""
    try:
        return typing.get_type_hints(function)
    except Exception:  # noqa: BLE001 - names that only a type checker can resolve
        return {}


def fields_along(function: Callable[..., Any], root: str, steps: Sequence[str | int | None]) -> Fields | None:
    """Follow a path along the annotations: the first step that cannot match, None where all may.

    `root` is a parameter's name or `return`; a step is a field's name, an index, or None for every item.
    """
    annotation = annotations_of(function).get(root)
    for step in steps:
        annotation = _unwrapped(annotation)
        if isinstance(step, str):
            fields = fields_of(annotation)
            if fields is None:
                return None
            if step not in fields and not hasattr(annotation, step):
                return Fields(owner=annotation.__name__, missing=step, names=tuple(fields))
            annotation = fields.get(step)
        else:
            annotation = _item(annotation)
    return None


def _unwrapped(annotation: Any) -> Any:
    """Without Optional and without the coroutine around a result; a union of several says nothing certain."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        real = [argument for argument in arguments if argument is not type(None)]
        return _unwrapped(real[0]) if len(real) == 1 else None
    if origin in _WRAPPERS:
        return _unwrapped(arguments[-1])
    return annotation


def fields_of(annotation: Any) -> dict[str, Any] | None:
    """Field name -> annotation, None where the fields are not certain."""
    if not isinstance(annotation, type):
        return None
    model_fields = getattr(annotation, "model_fields", None)
    if isinstance(model_fields, dict):  # pydantic
        config = getattr(annotation, "model_config", {})
        if config.get("extra") == "allow" or "__getattr__" in vars(annotation):
            return None
        return {name: field.annotation for name, field in model_fields.items()}
    is_record = dataclasses.is_dataclass(annotation) or hasattr(annotation, "_fields")
    if (is_record and not hasattr(annotation, "__getattr__")) or typing.is_typeddict(annotation):
        hints = typing.get_type_hints(annotation)
        return {name: hint for name, hint in hints.items() if typing.get_origin(hint) is not typing.ClassVar}
    return None


def _item(annotation: Any) -> Any:
    if typing.get_origin(annotation) in _LISTS:
        arguments = typing.get_args(annotation)
        return arguments[0] if arguments and len(set(arguments) - {Ellipsis}) == 1 else None
    return None
