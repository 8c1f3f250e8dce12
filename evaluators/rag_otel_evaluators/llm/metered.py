"""Adds up the tokens and the cost of a model's calls."""

from __future__ import annotations

from collections.abc import Sequence

from rag_otel.evaluation.usage_meter import add_usage
from rag_otel.model import Usage
from rag_otel_evaluators.llm.structured import Completion, Message, StructuredModel, T, complete_once


class MeteredModel:
    """A model that adds up what its calls cost, also of those whose answers could not be used."""

    def __init__(self, model: StructuredModel) -> None:
        self._model = model
        self.usage = Usage()

    @property
    def name(self) -> str:
        return self._model.name

    async def complete(
        self, messages: Sequence[Message], response_model: type[T], *, max_output_tokens: int | None = None
    ) -> Completion[T]:
        completion = await self._model.complete(messages, response_model, max_output_tokens=max_output_tokens)
        self.usage = add_usage(self.usage, completion.usage)
        return completion

    async def complete_once(
        self, messages: Sequence[Message], response_model: type[T], *, max_output_tokens: int | None = None
    ) -> Completion[T]:
        completion = await complete_once(self._model, messages, response_model, max_output_tokens=max_output_tokens)
        self.usage = add_usage(self.usage, completion.usage)
        return completion
