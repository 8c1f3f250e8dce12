"""A prompt: an instruction and worked examples with name, version and hash. It converts inputs to messages.

Inputs are named fields. Each is written between tags with its name. The items of lists are numbered, so that an answer
can refer to them:

    <question>                 <claims>              <chunks>
    When was it built?         [0] It is old.        [c0.s0] Built in 1889.
    </question>                [1] It is tall.       [c0.s1] 330 metres high.
                               </claims>             </chunks>

The examples contain fields too. They are rendered in the same way, as earlier messages of the conversation.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, field_validator

from rag_otel_evaluators.llm.structured import Message

InputField: TypeAlias = str | int | Sequence[str] | Sequence[Sequence[str]]
"""A text, a number, a list of texts (`[0]`, `[1]`, ...) or texts split into sentences (`[c0.s0]`, ...)."""

NAME_PATTERN: Final = r"^[a-z][a-z0-9_]*$"
LANGUAGE_PATTERN: Final = r"^[a-z]{2,3}(-[a-z0-9]{2,8})*$"


class Example(BaseModel):
    """One worked example: the fields of an input and the expected answer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Mapping[str, Any] = Field(min_length=1)
    output: Mapping[str, Any] = Field(min_length=1)


class Prompt(BaseModel):
    """The instruction and examples for a judge. Prompts with equal texts have the same hash, whatever their names."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=NAME_PATTERN)
    version: str = Field(default="1", min_length=1)
    """Increased by the author for an intended change. The hash shows every change of the text."""
    language: str = Field(default="en", pattern=LANGUAGE_PATTERN)
    """BCP 47 in lower case: `en`, `es`, `pt-br`."""
    instruction: str = Field(min_length=1)
    examples: tuple[Example, ...] = ()

    @field_validator("instruction", mode="before")
    @classmethod
    def _join_lines(cls, value: object) -> object:
        """Joins the lines of an instruction. Files have a list of lines, because it is easier to read and to
        compare."""
        return "\n".join(value) if isinstance(value, list) and all(isinstance(line, str) for line in value) else value

    @functools.cached_property
    def hash(self) -> str:
        """The first 12 hexadecimal digits of SHA-256 over instruction and examples."""
        content = {"instruction": self.instruction, "examples": [example.model_dump() for example in self.examples]}
        canonical = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:12]

    @property
    def reference(self) -> str:
        """`name/language@version:hash`. It is recorded with every score."""
        return f"{self.name}/{self.language}@{self.version}:{self.hash}"

    def messages(self, fields: Mapping[str, InputField | None]) -> list[Message]:
        """Returns the messages for `fields`. A field that is None is left out."""
        return [*self._opening, Message(role="user", content=render_fields(fields))]

    @functools.cached_property
    def _opening(self) -> tuple[Message, ...]:
        """The messages at the beginning of every conversation: the instruction and the examples."""
        turns = [Message(role="system", content=self.instruction)]
        for example in self.examples:
            turns.append(Message(role="user", content=render_fields(example.input)))
            turns.append(Message(role="assistant", content=compact_json(example.output)))
        return tuple(turns)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Like pydantic's `model_copy`, but drops the cached hash and messages of the original text."""
        copied = super().model_copy(update=update, deep=deep)
        for name in ("hash", "_opening"):
            copied.__dict__.pop(name, None)
        return copied


def render_fields(fields: Mapping[str, InputField | None]) -> str:
    """Renders the fields between their tags, in order. Tags inside a text are changed, so they cannot end its block."""
    blocks = []
    any_tag = _any_tag(tuple(fields))
    for name, value in fields.items():
        if value is not None:
            body = any_tag.sub("‹", _render(value))
            blocks.append(f"<{name}>\n{body}\n</{name}>")
    return "\n".join(blocks)


def compact_json(value: Mapping[str, Any]) -> str:
    """JSON without spaces, to save tokens: the examples are sent with every call."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _render(value: InputField) -> str:
    if isinstance(value, str | int):
        return str(value)
    lines = []
    for index, item in enumerate(value):
        if isinstance(item, str):
            lines.append(f"[{index}] {item}")
        else:
            lines.extend(f"[c{index}.s{position}] {sentence}" for position, sentence in enumerate(item))
    return "\n".join(lines) or "-"


@functools.lru_cache(maxsize=256)
def _any_tag(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"<(?=\s*/?\s*(?:{'|'.join(map(re.escape, names))})\s*>)", re.IGNORECASE)
