"""A language model by its name: through litellm where that is installed, else straight over HTTP.

litellm takes seconds to import. `DeferredModel` stands in for a model while that goes on in the background.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rag_otel.errors import ConfigurationError, PermanentError
from rag_otel.safety.extras import installed, require_extra
from rag_otel_evaluators.judges.openai_model import openai_model, speaks_openai
from rag_otel_evaluators.llm.client import ResilientModel
from rag_otel_evaluators.llm.quiet import quiet
from rag_otel_evaluators.llm.structured import Completion, Message, StructuredModel, T


def language_model(model: str, *, warm: bool = False, **settings: Any) -> ResilientModel:
    """The model of this name; `settings` are those of `llm_model`. Imports litellm where it is installed.

    `warm`: load now what litellm would load with its first call. Raises ConfigurationError, which names the missing
    extra where nothing that is installed can call the model.
    """
    if not installed("litellm") and speaks_openai(model):
        return openai_model(model, **settings)
    require_extra("llm", "litellm", "aiohttp", needed_by=f"judge {model!r}")
    with quiet():
        from rag_otel_evaluators.judges.litellm_library import warm_up
        from rag_otel_evaluators.judges.llm import llm_model

        made = llm_model(model, **settings)
        if warm:
            warm_up(model)
    return made


def deferred_model(model: str, **settings: Any) -> StructuredModel:
    """The same, at once: what is slow to import is left to `prepare()`, or to the first question.

    Raises ConfigurationError for a missing extra now; what only litellm can tell (a provider that it does not know)
    is the first question's failure.
    """
    if not installed("litellm"):
        return language_model(model, **settings)
    require_extra("llm", "aiohttp", needed_by=f"judge {model!r}")
    return DeferredModel(model, lambda: language_model(model, warm=True, **settings))


def known_price(model: str) -> tuple[float, float] | None:
    """US dollars for a million tokens in and out; None where litellm does not know them, or is not installed.

    Imports litellm. Raises ConfigurationError for a name that is no model of litellm's.
    """
    if not installed("litellm"):
        return None
    with quiet():
        from rag_otel_evaluators.judges.litellm_library import provider_of, token_prices

        provider_of(model)
        return token_prices(model)


class DeferredModel:
    """A `StructuredModel` that is made when it is first needed. Thread-safe; made once."""

    def __init__(self, name: str, make: Callable[[], ResilientModel]) -> None:
        self._name = name
        self._make = make
        self._making = threading.Lock()
        self._made: ResilientModel | None = None

    @property
    def name(self) -> str:
        return self._name

    def prepare(self) -> None:
        """Make the model, now. Raises ConfigurationError."""
        self._model()

    async def complete(
        self, messages: Sequence[Message], response_model: type[T], *, max_output_tokens: int | None = None
    ) -> Completion[T]:
        """See `StructuredModel.complete`."""
        model = await self._ready()
        return await model.complete(messages, response_model, max_output_tokens=max_output_tokens)

    async def complete_once(
        self,
        messages: Sequence[Message],
        response_model: type[T],
        *,
        max_output_tokens: int | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Completion[T]:
        """See `AnswersOnce.complete_once`."""
        model = await self._ready()
        return await model.complete_once(messages, response_model, max_output_tokens=max_output_tokens, schema=schema)

    async def _ready(self) -> ResilientModel:
        made = self._made
        try:
            return await asyncio.to_thread(self._model) if made is None else made
        except ConfigurationError as error:
            raise PermanentError(str(error)) from error

    def _model(self) -> ResilientModel:
        with self._making:
            if self._made is None:
                self._made = self._make()
            return self._made
