"""The mapping of custom attribute names: a setting that names the attributes of question, chunks and response.

    {"question": "acme.question", "response": "acme.result$.answer", "chunks": "acme.hits$.results[*]",
     "chunk_text": "$.body", "chunk_id": "$.doc"}

The attributes may be on one span or on several spans of a trace. The topmost span that has one of them is the entry.
A reference is the key of an attribute, and a path into the JSON that the attribute holds:

    acme.question                    the attribute itself
    acme.result$.answer.text         a path into its JSON: .name, ['any name'], [0], [-1], [*] for every item
    acme.hits.*.text                 numbered attributes: acme.hits.0.text, acme.hits.1.text, ...
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from rag_otel.errors import ConfigurationError
from rag_otel.formats.json_text import object_of
from rag_otel.formats.paths import Step, steps_in
from rag_otel_collectors.conventions.reading.values import parse

_MAX_NUMBER: Final = 9
"""Maximum digits of a number in a key."""


def parse_path(path: str) -> tuple[Step, ...]:
    """Parses `$.name[0][*]['any name']` into steps. Raises ValueError that names the invalid part."""
    steps, end = steps_in(path, 1)
    if end < len(path):
        raise ValueError(f"cannot read {path[end:]!r}; write .name, ['any name'], [0], [-1] or [*]")
    return steps


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


_REQUIRED: Final = ("question", "response", "chunks")
_DETAILS: Final = ("chunk_text", "chunk_id", "chunk_score")


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeMapping:
    """A validated mapping."""

    question: Reference
    response: Reference
    chunks: Reference
    """A list of texts or objects, or numbered attributes with texts."""
    chunk_text: tuple[Step, ...] | Reference | None = None
    """A path within each chunk, or numbered attributes. None: a common name (`text`, `content`, ...) is used."""
    chunk_id: tuple[Step, ...] | Reference | None = None
    chunk_score: tuple[Step, ...] | Reference | None = None
    session_id: Reference | None = None
    user_id: Reference | None = None
    model: Reference | None = None
    name: str = "custom"
    """The dialect's name in output and counters."""

    @classmethod
    def load(cls, given: str | Mapping[str, Any]) -> AttributeMapping:
        """Loads a mapping from an object, JSON text, or the path of a JSON or TOML file. Raises ConfigurationError."""
        place, written = object_of(given, "attribute_mapping")
        return cls.of(written, place)

    @classmethod
    def of(cls, written: Any, place: str) -> AttributeMapping:
        """Validates a mapping that was written at `place`. Raises ConfigurationError that names the wrong field and the
        remedy."""
        known = [field.name for field in fields(cls)]
        if not isinstance(written, Mapping):
            raise ConfigurationError(f"{place}: expected an object with {', '.join(_REQUIRED)}, not {written!r:.60}")
        for key in written:
            if key not in known:
                near = difflib.get_close_matches(str(key), known, 1)
                hint = f"; did you mean {near[0]!r}?" if near else f"; there are: {', '.join(known)}"
                raise ConfigurationError(f"{place}: unknown field {key!r}{hint}")
        missing = [key for key in _REQUIRED if not written.get(key)]
        if missing:
            raise ConfigurationError(f"{place}: {', '.join(missing)} missing: name the attribute that holds it")
        return cls(**{key: _field(key, value, place) for key, value in written.items() if value is not None})


def _field(key: str, value: Any, place: str) -> Any:
    if not isinstance(value, str) or not value.strip():
        raise ConfigurationError(f"{place}: {key} must be the key of an attribute, not {value!r:.60}")
    if key == "name":
        return value.strip()
    try:
        if key not in _DETAILS:
            return Reference.of(value)
        if value.startswith("$"):
            return parse_path(value)
        reference = Reference.of(value)
    except ValueError as error:
        raise ConfigurationError(f"{place}: {key} = {value!r} {error}") from None
    if not reference.numbered and not reference.steps:
        return (value,)  # a bare name: that field of each chunk
    return reference
