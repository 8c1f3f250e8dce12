"""How the shape of an answer is asked for, from the strictest way to the one that every model understands."""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from pydantic import BaseModel

from rag_otel_evaluators.llm.failures import CallError, FailureKind
from rag_otel_evaluators.llm.structured import Message
from rag_otel_evaluators.llm.transport import Reply, response_schema

_NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9_-]")


class OutputMode(enum.StrEnum):
    """A way to ask; in order, strictest first."""

    JSON_SCHEMA = "json_schema"
    """The provider holds the model to the schema."""
    JSON_OBJECT = "json_object"
    """The provider holds the model to JSON, the prompt names the schema."""
    PROMPT = "prompt"
    """The prompt alone."""


class ModeLadder:
    """Which mode to use: goes down where a mode is refused, and stays where one has worked.

    Until a mode has worked, a refused request may be the mode's fault; after that it is the request's own.
    """

    def __init__(self, *, known_to_support_schema: bool, in_words_alone: bool = False) -> None:
        """`in_words_alone`: for models that think aloud. A server that holds them to JSON forbids their thoughts."""
        self._known = known_to_support_schema
        self._settled: OutputMode | None = OutputMode.PROMPT if in_words_alone else None

    async def ask(self, send: Callable[[OutputMode], Awaitable[Reply]]) -> Reply:
        """The reply in the strictest mode that is not refused. Raises CallError: of modes all refused, the first's."""
        first_refusal: CallError | None = None
        for mode in OutputMode if self._settled is None else (self._settled,):
            try:
                reply = await send(mode)
            except CallError as failure:
                if failure.kind is not FailureKind.REQUEST:
                    raise
                first_refusal = first_refusal or failure
            else:
                # A slower request that was still trying a weaker mode does not lower it again.
                self._settled = self._settled or mode
                return reply
        assert first_refusal is not None  # there is always a mode
        raise first_refusal

    def names_schema(self, mode: OutputMode) -> bool:
        """True when the prompt must name the schema: no provider that is known to hold the model to it."""
        return mode is not OutputMode.JSON_SCHEMA or not self._known


def response_format(
    mode: OutputMode, response_model: type[BaseModel], schema: Mapping[str, Any] | None = None
) -> dict[str, Any] | None:
    """OpenAI's `response_format` for `mode`; `schema` in place of the model's own where it is given."""
    if mode is OutputMode.PROMPT:
        return None
    if mode is OutputMode.JSON_OBJECT:
        return {"type": "json_object"}
    name = _NOT_IN_A_NAME.sub("_", response_model.__name__)[:64]
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "schema": schema or response_schema(response_model), "strict": True},
    }


def with_schema(messages: tuple[Message, ...], response_model: type[BaseModel]) -> tuple[Message, ...]:
    """The messages with the schema named in the system's (which is added where there is none)."""
    instruction = _instruction(response_model)
    if messages and messages[0].role == "system":
        first = Message(role="system", content=f"{messages[0].content}\n\n{instruction}")
        return (first, *messages[1:])
    return (Message(role="system", content=instruction), *messages)


def _instruction(response_model: type[BaseModel]) -> str:
    """The schema in words, for models that cannot be held to it."""
    schema = json.dumps(response_schema(response_model), ensure_ascii=False, separators=(",", ":"))
    return f"Answer with one JSON object that conforms to this JSON schema, and with nothing else:\n{schema}"
