"""References to values on a span: the key of an attribute, and a path into the JSON that the attribute holds.

acme.question                    the attribute itself
acme.result$.answer.text         a path into its JSON: .name, ['any name'], [0], [-1], [*] for every item
acme.hits.*.text                 numbered attributes: acme.hits.0.text, acme.hits.1.text, ...
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from rag_otel_collectors.conventions.reading.values import parse

Step: TypeAlias = str | int | None
"""A name, an index, or None for `[*]`."""

_STEP: Final = re.compile(r"\.([A-Za-z_][\w-]*)|\[(\*|-?\d{1,9})\]|\['([^']+)'\]")
_MAX_NUMBER: Final = 9
"""Maximum digits of a number in a key."""


def parse_path(path: str) -> tuple[Step, ...]:
    """Parses `$.name[0][*]['any name']` into steps. Raises ValueError that names the invalid part."""
    steps: list[Step] = []
    position = 1
    while position < len(path):
        match = _STEP.match(path, position)
        if match is None:
            raise ValueError(f"cannot read {path[position:]!r}; write .name, ['any name'], [0], [-1] or [*]")
        name, index, quoted = match.groups()
        steps.append(name or quoted or (None if index == "*" else int(index)))
        position = match.end()
    return tuple(steps)


def follow(value: Any, steps: Sequence[Step]) -> list[Any]:
    """Returns every value at the end of the steps in a parsed JSON value. JSON texts inside it are parsed too."""
    found = [value]
    for step in steps:
        found = [inner for item in found for inner in _step(parse(item), step)]
    return found


def _step(value: Any, step: Step) -> Iterator[Any]:
    if isinstance(step, str):
        if isinstance(value, Mapping) and step in value:
            yield value[step]
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        if step is None:
            yield from value
        elif -len(value) <= step < len(value):
            yield value[step]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A key with an optional path."""

    text: str
    """The reference as it was written."""
    key: str
    steps: tuple[Step, ...] = ()

    @classmethod
    def of(cls, text: str) -> Reference:
        """Parses a reference. Raises ValueError that says what is wrong."""
        start = min((at for at in (text.find("$."), text.find("$[")) if at >= 0), default=len(text))
        key = text[:start].strip()
        if not key:
            raise ValueError("has no attribute before its path")
        if key.count("*") > 1:
            raise ValueError("has more than one * in its key")
        return cls(text=text, key=key, steps=parse_path(text[start:]) if start < len(text) else ())

    @property
    def numbered(self) -> bool:
        return "*" in self.key

    def is_on(self, attributes: Mapping[str, Any]) -> bool:
        """True if the attribute, or the first of the numbered attributes, is present. One look-up."""
        return (self.key.replace("*", "0") if self.numbered else self.key) in attributes

    def values(self, attributes: Mapping[str, Any]) -> dict[int, Any]:
        """Returns the referenced values by number: the number of the attribute, or of the item in a list."""
        if not self.numbered:
            found = follow(attributes.get(self.key), self.steps)
            return {number: value for number, value in enumerate(found) if value is not None}
        before, _, after = self.key.partition("*")
        values = {}
        for key, value in attributes.items():
            number = key[len(before) : len(key) - len(after)] if key.startswith(before) and key.endswith(after) else ""
            if number.isdecimal() and number.isascii() and len(number) <= _MAX_NUMBER:
                inner = follow(value, self.steps)
                if inner:
                    values[int(number)] = inner[0]
        return dict(sorted(values.items()))
