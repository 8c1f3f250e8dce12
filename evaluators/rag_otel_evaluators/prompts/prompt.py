"""A prompt: instruction and worked examples, named, versioned and hashed; turns inputs into messages.

Inputs are named fields. Each goes between tags of its name, lists with numbered items, so that an answer can point
at them:

    <question>                 <claims>              <chunks>
    When was it built?         [0] It is old.        [c0.s0] Built in 1889.
    </question>                [1] It is tall.       [c0.s1] 330 metres high.
                               </claims>             </chunks>

The examples hold raw fields and go through the same rendering, as earlier turns of the conversation.
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
"""A text, a number, a list of texts (`[0]`, `[1]`, ...) or texts cut into sentences (`[c0.s0]`, ...)."""

NAME_PATTERN: Final = r"^[a-z][a-z0-9_]*$"
LANGUAGE_PATTERN: Final = r"^[a-z]{2,3}(-[a-z0-9]{2,8})*$"


class Example(BaseModel):
    """One worked example: the fields of an input and the answer that it should get."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Mapping[str, Any] = Field(min_length=1)
    output: Mapping[str, Any] = Field(min_length=1)


class Prompt(BaseModel):
    """What a judge is told. Two prompts that say the same have the same hash, whatever they are called."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=NAME_PATTERN)
    version: str = Field(default="1", min_length=1)
    """Raised by whoever changes the text on purpose; the hash tells what was changed without."""
    language: str = Field(default="en", pattern=LANGUAGE_PATTERN)
    """BCP 47 in lower case: `en`, `es`, `pt-br`."""
    instruction: str = Field(min_length=1)
    examples: tuple[Example, ...] = ()

    @field_validator("instruction", mode="before")
    @classmethod
    def _join_lines(cls, value: object) -> object:
        """Files hold the instruction as a list of lines, which reads and compares better than one long string."""
        return "\n".join(value) if isinstance(value, list) and all(isinstance(line, str) for line in value) else value

    @functools.cached_property
    def hash(self) -> str:
        """The first 12 hexadecimal digits of SHA-256 over instruction and examples."""
        content = {"instruction": self.instruction, "examples": [example.model_dump() for example in self.examples]}
        canonical = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:12]

    @property
    def reference(self) -> str:
        """`name/language@version:hash`, as it travels with every score."""
        return f"{self.name}/{self.language}@{self.version}:{self.hash}"

    def messages(self, fields: Mapping[str, InputField | None]) -> list[Message]:
        """The conversation that asks about `fields`; a field that is None is left out."""
        return [*self._opening, Message(role="user", content=render_fields(fields))]

    @functools.cached_property
    def _opening(self) -> tuple[Message, ...]:
        """What every conversation begins with."""
        turns = [Message(role="system", content=self.instruction)]
        for example in self.examples:
            turns.append(Message(role="user", content=render_fields(example.input)))
            turns.append(Message(role="assistant", content=compact_json(example.output)))
        return tuple(turns)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """As pydantic's, without what was worked out from the text before it was changed."""
        copied = super().model_copy(update=update, deep=deep)
        for name in ("hash", "_opening"):
            copied.__dict__.pop(name, None)
        return copied


def render_fields(fields: Mapping[str, InputField | None]) -> str:
    """The fields between their tags, in the order given. A closing tag inside a text cannot end its block."""
    blocks = []
    any_tag = _any_tag(tuple(fields))
    for name, value in fields.items():
        if value is not None:
            body = any_tag.sub("‹", _render(value))
            blocks.append(f"<{name}>\n{body}\n</{name}>")
    return "\n".join(blocks)


def compact_json(value: Mapping[str, Any]) -> str:
    """JSON without spaces: examples are paid for with every call."""
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
