"""A prompt: an instruction and worked examples with name, version and hash. It converts inputs to messages.

Inputs are named fields. Each is written between tags with its name. The items of lists are numbered, so that an answer
can refer to them:

    <question>                 <claims>              <chunks>
    When was it built?         [0] It is old.        [c0.s0] Built in 1889.
    </question>                [1] It is tall.       [c0.s1] 330 metres high.
                               </claims>             </chunks>

The examples hold raw fields and go through the same rendering, as earlier turns of the conversation.

Texts are data, and may be hostile: what in them looks like a tag of a field, like the number of an item or like a
special token of a chat template is written so that it is none (`neutral`).
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
_INDENT: Final = "\n    "
_NUMBER: Final = re.compile(r"^(\s*)\[(\d{1,9})\]")
_EVIDENCE_ID: Final = re.compile(r"\[(c\d{1,9}(?:\.s\d{1,9})?)\]", re.IGNORECASE)
_SPECIAL_TOKEN: Final = re.compile(
    r"<(?=[|｜][^<>\n]{1,60}[|｜]>"  # <|im_start|>, <|eot_id|>, <｜User｜>
    r"|/?(?:s|bos|eos|pad|unk|mask|cls|sep|start_of_turn|end_of_turn|start_of_image|image_soft_token)>"
    r"|<(?:/?SYS)>>|/?(?:tool_call|tool_response|think|endoftext)>|extra_id_\d{1,4}>|unused\d{1,4}>"
    r"|[|｜](?:im|start|end|eot|eom|begin|system|user|assistant|message|channel|return|call))",
    re.IGNORECASE,
)
"""Tokens with which chat templates mark turns: ChatML, Llama, Gemma, Mistral, DeepSeek, Phi, Qwen, gpt-oss, T5."""
_INSTRUCTION_MARK: Final = re.compile(r"\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|THINK)\])")


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
    vary_examples: bool = False
    """Whether the order of the examples differs from case to case, so that the last example is not always the same. The
    same case always has the same order."""

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

    def messages(self, fields: Mapping[str, InputField | None], *, order: int = 0) -> list[Message]:
        """Returns the messages for `fields`. A field that is None is left out.

        Where examples vary, their order depends on the fields and on `order`.
        """
        asked = render_fields(fields)
        number = 0
        if self.vary_examples and len(self.examples) > 1:
            digest = hashlib.sha256(f"{order}\n{asked}".encode("utf-8", "replace")).digest()
            number = int.from_bytes(digest[:4], "big") % (2 * len(self.examples))
        return [*self._opening_in(number), Message(role="user", content=asked)]

    def _opening_in(self, number: int) -> tuple[Message, ...]:
        """The instruction and the examples, in the order `number`: one of the rotations, forwards or backwards."""
        kept = self._openings.get(number)
        if kept is None:
            start, backwards = divmod(number, 2)
            examples = [*self.examples[start:], *self.examples[:start]]
            kept = self._openings[number] = self._opening(examples[::-1] if backwards else examples)
        return kept

    @functools.cached_property
    def _openings(self) -> dict[int, tuple[Message, ...]]:
        return {}

    def _opening(self, examples: Sequence[Example]) -> tuple[Message, ...]:
        turns = [Message(role="system", content=self.instruction)]
        for example in examples:
            turns.append(Message(role="user", content=render_fields(example.input)))
            turns.append(Message(role="assistant", content=compact_json(example.output)))
        return tuple(turns)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Like pydantic's `model_copy`, but drops the cached hash and messages of the original text."""
        copied = super().model_copy(update=update, deep=deep)
        for name in ("hash", "_openings"):
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
        return neutral(str(value))
    lines = []
    for index, item in enumerate(value):
        if isinstance(item, str):
            lines.append(f"[{index}] {_as_item(item)}")
        else:
            lines.extend(f"[c{index}.s{position}] {_as_item(sentence)}" for position, sentence in enumerate(item))
    return "\n".join(lines) or "-"


def _as_item(text: str) -> str:
    """A text that cannot be taken for several items: no line of it stands where numbers stand, or begins with one."""
    lines = neutral(text).splitlines() or [""]
    return _INDENT.join(_NUMBER.sub(r"\1［\2］", line) for line in lines)


def neutral(text: str) -> str:
    """`text` without special tokens of chat templates, and without ids of evidence that is not its own.

    A server that makes tokens of a prompt may take `<|im_start|>` in a retrieved page for the start of a turn. The
    signs are replaced by ones that look alike, so that a reader still sees what was there.
    """
    text = _EVIDENCE_ID.sub(r"［\1］", text)
    text = _SPECIAL_TOKEN.sub(lambda match: "‹" + match[0][1:], text)
    return _INSTRUCTION_MARK.sub(lambda match: "［" + match[0][1:], text)


@functools.lru_cache(maxsize=256)
def _any_tag(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"<(?=\s*/?\s*(?:{'|'.join(map(re.escape, names))})\s*>)", re.IGNORECASE)
