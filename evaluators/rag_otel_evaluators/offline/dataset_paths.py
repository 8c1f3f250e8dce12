"""Paths to values in a row: the name of a column, or a path into nested objects.

    question            the column of that name
    pred.contexts       the column `pred.contexts` if there is one, else `contexts` in the object in column `pred`
    docs[*].text        the `text` of every item of the list `docs`
    messages[-1].content

Names may contain dots: at every step the longest existing name is used.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

MISSING: Final = object()
"""What `look_up` returns if the path does not exist. None is a value."""

_BRACKETS: Final = re.compile(r"\[(\*|-?\d+)\]")
_INDEX: Final = re.compile(r"-?\d+")


def look_up(row: Mapping[str, Any], path: str) -> Any:
    """Returns the value at `path`, or `MISSING`. A path may lead into an object that a cell contains as JSON text."""
    if path in row:
        return row[path]
    return _descend(row, _BRACKETS.sub(r".\1", path))


def begins_in(names: Iterable[str], path: str) -> bool:
    """True if one of the columns `names` is the beginning of the path, so that `look_up` may find something."""
    plain = _BRACKETS.sub(r".\1", path)
    return any(path == name or plain == name or plain.startswith(f"{name}.") for name in names)


def _descend(value: Any, path: str) -> Any:
    if isinstance(value, str):
        value = _parsed(value)
    elif hasattr(value, "tolist"):  # a numpy array: pandas reads lists from Parquet as such
        value = value.tolist()
    if isinstance(value, Mapping):
        return _in_mapping(value, path)
    if isinstance(value, (list, tuple)):
        return _in_list(value, path)
    return MISSING


def _in_mapping(values: Mapping[str, Any], path: str) -> Any:
    """Tries the longest name first: `a.b.c`, then `c` in `a.b`, then `b.c` in `a`."""
    if path in values:
        return values[path]
    end = path.rfind(".")
    while end > 0:
        if path[:end] in values:
            found = _descend(values[path[:end]], path[end + 1 :])
            if found is not MISSING:
                return found
        end = path.rfind(".", 0, end)
    return MISSING


def _in_list(items: list[Any] | tuple[Any, ...], path: str) -> Any:
    head, _, rest = path.partition(".")
    if head == "*":
        found = [_descend(item, rest) if rest else item for item in items]
        return MISSING if found and all(each is MISSING for each in found) else _without_missing(found)
    if not _INDEX.fullmatch(head) or not -len(items) <= int(head) < len(items):
        return MISSING
    return _descend(items[int(head)], rest) if rest else items[int(head)]


def _without_missing(found: list[Any]) -> list[Any]:
    """Replaces missing values with None, so that positions stay valid."""
    return [None if each is MISSING else each for each in found]


def _parsed(text: str) -> Any:
    """Returns the object or list that a CSV cell contains as JSON. Otherwise returns the text."""
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
