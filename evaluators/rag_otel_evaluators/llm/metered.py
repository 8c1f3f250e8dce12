"""Adds up the tokens and the cost of a model's calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rag_otel.errors import PermanentError
from rag_otel.evaluation.current_evaluation import add_usage
from rag_otel.model import Usage
from rag_otel_evaluators.llm.structured import (
    CALLS_A_STEP,
    Completion,
    Message,
    StructuredModel,
    T,
    complete_once,
)


class MeteredModel:
    """A model that adds up what its calls cost, also of those whose answers could not be used, and makes no more of
    them than it may: what one answer can cost at most is kept here, whatever the code around it does."""

    def __init__(self, model: StructuredModel, *, most_calls: int | None = None) -> None:
        """`most_calls`: calls that may be on the bill; None: no bound."""
        self._model = model
        self._calls_left = most_calls
        self.usage = Usage()

    @property
    def name(self) -> str:
        return self._model.name

    async def complete(
        self, messages: Sequence[Message], response_model: type[T], *, max_output_tokens: int | None = None
    ) -> Completion[T]:
        self._take(CALLS_A_STEP)
        completion = await self._model.complete(messages, response_model, max_output_tokens=max_output_tokens)
        self.usage = add_usage(self.usage, completion.usage)
        return completion

    async def complete_once(
        self,
        messages: Sequence[Message],
        response_model: type[T],
        *,
        max_output_tokens: int | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Completion[T]:
        self._take(1)
        completion = await complete_once(
            self._model, messages, response_model, max_output_tokens=max_output_tokens, schema=schema
        )
        self.usage = add_usage(self.usage, completion.usage)
        return completion

    def _take(self, calls: int) -> None:
        if self._calls_left is None:
            return
        if self._calls_left < calls:
            raise PermanentError("the calls that this answer may cost are used up")
        self._calls_left -= calls
