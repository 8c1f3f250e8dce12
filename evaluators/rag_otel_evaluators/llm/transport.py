"""One call to a model: what goes out, in which shape the answer is to come, and what comes back.

`Transport` is the only part that a provider's library fills in.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias

from pydantic import BaseModel

from rag_otel.model import Usage
from rag_otel_evaluators.llm.structured import Message

Sent: TypeAlias = Callable[[str, int, Sequence[Mapping[str, str]]], None]
"""(host, bytes, messages) of one request, told right before it leaves. Must not raise."""
_LEFT_OUT: Final = frozenset({"default", "title"})
_NAMED: Final = frozenset({"properties", "$defs"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One question to a model."""

    messages: tuple[Message, ...]
    response_model: type[BaseModel]
    max_output_tokens: int | None = None
    schema: Mapping[str, Any] | None = None
    """A narrower form of `response_model`'s schema, for this call alone (the ids that exist); None: the model's own.
    Providers that take schemas are held to it; prompts name the model's own."""
    sent: Sent | None = field(default=None, compare=False, repr=False)
    """To be called by transports to another machine or process, for every request."""

    @property
    def strict_schema(self) -> Mapping[str, Any]:
        """What a provider is held to."""
        return response_schema(self.response_model) if self.schema is None else self.schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer: text as it came."""

    text: str
    cut_off: bool
    """True when the provider says that the output budget was used up."""
    usage: Usage
    thought: bool = False
    """True when the model says that it thought before it answered (what it thought is not in `text`)."""
    keep: bool = True
    """False for an answer that a cache must not repeat: a part of it is missing or cannot be believed."""
    unreadable: bool = False
    """True when at least half of a well-formed answer is of no use; the breaker hears of it."""


class Transport(Protocol):
    """Carries one call."""

    @property
    def name(self) -> str:
        """The model's name, for the record."""
        ...

    @property
    def identity(self) -> Mapping[str, Any]:
        """What decides the answer beside name and request (address, parameters), as JSON: part of the cache's key."""
        ...

    async def send(self, request: ChatRequest, *, timeout_s: float) -> Reply:
        """Send once and ask for the shape of `request.response_model` as strictly as the model can be held to it.

        Raises CallError, and nothing else.
        """
        ...


@functools.cache
def response_schema(response_model: type[BaseModel]) -> dict[str, Any]:
    """A pydantic model as the JSON schema that providers of structured output accept.

    It is in the strict form: no property but the named ones, all of them required, no defaults. Do not change it.

    Source: the rules of OpenAI's structured outputs, which vLLM, llama.cpp and others follow.
    """
    schema: dict[str, Any] = _strict(response_model.model_json_schema())
    return schema


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:  # siblings of a reference are refused, but a model that holds itself is a reference at the root
        node = {key: value for key, value in node.items() if key in ("$ref", "$defs")}
    # Titles repeat the names and cost tokens.
    strict = {key: _strict(value) for key, value in node.items() if key not in _LEFT_OUT}
    for names in _NAMED & set(node):  # here the keys are names, not keywords
        strict[names] = {name: _strict(value) for name, value in node[names].items()}
    if node.get("type") == "object" and "properties" in node:
        strict["additionalProperties"] = False
        strict["required"] = list(node["properties"])
    return strict
