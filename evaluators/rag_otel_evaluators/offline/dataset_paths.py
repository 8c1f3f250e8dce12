"""Paths to values in a row: the name of a column, or a path (`rag_otel.formats.paths`) that begins with one.

question            the column of that name
pred.contexts       the column `pred.contexts` if there is one, else `contexts` in the object in column `pred`
docs[*].text        the `text` of every item of the list `docs`
messages[-1].content
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from rag_otel.formats.json_text import json_in
from rag_otel.formats.paths import Step, steps_in

MISSING: Final = object()
"""What `look_up` returns if the path does not exist. None is a value."""


def look_up(row: Mapping[str, Any], path: str) -> Any:
    """Returns the value at `path`, or `MISSING`. A path may lead into an object that a cell contains as JSON text.
    Column names may hold dots and brackets: the longest one that fits counts."""
    for name, steps in _beginnings(row, path):
        if (found := _follow(row[name], steps)) is not MISSING:
            return found
    return MISSING


def begins_in(names: Iterable[str], path: str) -> bool:
    """True if one of the columns `names` is the beginning of the path, so that `look_up` may find something."""
    return any(_beginnings(names, path))


def _beginnings(names: Iterable[str], path: str) -> Iterator[tuple[str, tuple[Step, ...]]]:
    """(column, steps from there) for every column that the path may begin with, the longest name first."""
    for name in sorted((name for name in names if path.startswith(name)), key=len, reverse=True):
        steps, end = steps_in(path, len(name))
        if end == len(path):
            yield name, steps


def _follow(value: Any, steps: Sequence[Step]) -> Any:
    if not steps:
        return value
    step, *rest = steps
    if isinstance(value, str):
        value = json_in(value)
    elif hasattr(value, "tolist"):  # a numpy array: pandas reads lists from Parquet as such
        value = value.tolist()
    if isinstance(step, str):
        return _follow(value[step], rest) if isinstance(value, Mapping) and step in value else MISSING
    if not isinstance(value, (list, tuple)):
        return MISSING
    if step is not None:
        return _follow(value[step], rest) if -len(value) <= step < len(value) else MISSING
    found = [_follow(item, rest) for item in value]
    if found and all(each is MISSING for each in found):
        return MISSING
    return [None if each is MISSING else each for each in found]  # so that positions stay valid
