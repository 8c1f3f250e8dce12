"""One verb, `complete`: messages in, a validated pydantic object out, with what it cost.

Metrics that ask a model are written against `StructuredModel` and know nothing of providers, retries, limits or
caches. `judges/llm.py` implements it over litellm; another implementation needs this one method.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel

from rag_otel.model import Usage

T = TypeVar("T", bound=BaseModel)
CALLS_A_STEP: Final = 2
"""One step (one question to a model) is one call and at most one repeat, whatever comes back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of the conversation that the model sees."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion(Generic[T]):
    """What came back, whole or in part. An answer that cannot be read is a completion too: it was paid for."""

    value: T | None
    """The validated answer; with `problems`, what could be kept of it; None where nothing could be read."""
    raw: str
    """The model's text as it came, for partial recovery and for the record."""
    usage: Usage
    """Tokens, cost and calls, over every attempt that was answered; 0 calls where the answer came from the cache."""
    truncated: bool = False
    """The text ended before its JSON did: the output budget or the connection ran out."""
    problems: tuple[str, ...] = ()
    """What was dropped or could not be read, each with its place (`verdicts.3: ...`); empty for a clean answer."""
    dropped: tuple[Any, ...] = ()
    """The items that were dropped, as they came."""


@runtime_checkable
class AnswersOnce(Protocol):
    """A model that can also be asked for one answer and no second one, however the first may read."""

    async def complete_once(
        self,
        messages: Sequence[Message],
        response_model: type[T],
        *,
        max_output_tokens: int | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Completion[T]:
        """As `StructuredModel.complete`, with one call at most that may be on the bill.

        `schema`: a narrower form of the response model's, for providers that are held to one.
        """
        ...


@runtime_checkable
class StructuredModel(Protocol):
    """A language model that answers in a given shape."""

    @property
    def name(self) -> str:
        """Who answers, for the record: `openai/gpt-4o-mini`, ..."""
        ...

    async def complete(
        self, messages: Sequence[Message], response_model: type[T], *, max_output_tokens: int | None = None
    ) -> Completion[T]:
        """Ask, at most twice (`CALLS_A_STEP`; retries of calls that cost nothing are the implementation's affair), and
        read the answer as `response_model`.

        Items of the model's top-level lists that do not validate are dropped one by one and recorded, so that one bad
        item costs itself alone. `max_output_tokens` is a budget for the answer; None leaves it to the provider.

        Raises RetryableError (limits, overload, timeouts, after its retries) or PermanentError (key, billing,
        endpoint, a request that the provider refuses). Never raises for an answer that cannot be read.
        """
        ...


async def complete_once(
    model: StructuredModel,
    messages: Sequence[Message],
    response_model: type[T],
    *,
    max_output_tokens: int | None,
    schema: Mapping[str, Any] | None = None,
) -> Completion[T]:
    """One answer, for who counts tries. A model that asks again by itself and cannot do without is asked as it can."""
    if not isinstance(model, AnswersOnce):
        return await model.complete(messages, response_model, max_output_tokens=max_output_tokens)
    return await model.complete_once(messages, response_model, max_output_tokens=max_output_tokens, schema=schema)
