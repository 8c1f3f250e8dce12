"""What leaves for a judge on another machine: masked, and recorded where that is wanted.

    request -> placeholders for keys, addresses, ... -> judge -> originals in the answer

Every model that is called over HTTP comes through here (`ResilientModel`), for judging and for embedding alike. Only
values are replaced: numbers of chunks and claims stay, and quotes are cut out of the original chunks by our own code.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import BaseModel

from rag_otel.evaluation.current_evaluation import current_evaluation
from rag_otel.safety.masking import SECRETS, MaskEngine, Placeholders
from rag_otel_evaluators.cooperative import cooperatively
from rag_otel_evaluators.llm.egress_record import EgressRecord
from rag_otel_evaluators.llm.structured import Completion, Message, T
from rag_otel_evaluators.llm.transport import ChatRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Egress:
    """What is masked, and where what leaves is recorded. Shared by judge and embedder."""

    mask: tuple[str, ...] = (SECRETS,)
    """Classes of `rag_otel.safety.masking.CLASSES`."""
    engine: MaskEngine | None = None
    """Finds more than these classes."""
    record: EgressRecord | None = None

    async def prepared(self, request: ChatRequest, *, judge: str) -> Prepared:
        """The request as it may leave. Within one evaluation a value has one placeholder, whoever asks."""
        if self.record is not None:
            request = replace(request, sent=functools.partial(self.record.write, judge))
        if not self.mask and self.engine is None:
            return Prepared(request=request, placeholders=Placeholders(()))
        placeholders = await self._placeholders()
        await self._learn(placeholders, (message.content for message in request.messages))
        if not placeholders.count:
            return Prepared(request=request, placeholders=placeholders)
        messages = tuple(
            Message(role=message.role, content=placeholders.mask(message.content)) for message in request.messages
        )
        return Prepared(request=replace(request, messages=messages), placeholders=placeholders)

    async def _placeholders(self) -> Placeholders:
        """Those of the evaluation around the call, of whose texts the values are known in whole; else fresh ones."""
        scope = current_evaluation()
        if scope is None:
            return Placeholders(self.mask)
        key = ("placeholders", self.mask, id(self.engine))
        known = scope.memo.get(key)
        if not isinstance(known, asyncio.Future):
            known = scope.memo[key] = asyncio.ensure_future(self._of_texts(scope.texts))
        found: Placeholders = await asyncio.shield(known)
        return found

    async def _of_texts(self, texts: Iterable[str]) -> Placeholders:
        placeholders = Placeholders(self.mask)
        await self._learn(placeholders, texts)
        return placeholders

    async def _learn(self, placeholders: Placeholders, texts: Iterable[str]) -> None:
        for text in texts:
            await cooperatively(placeholders.learn(text))
            if self.engine is not None:
                found = await asyncio.to_thread(lambda engine, text: list(engine.find(text)), self.engine, text)
                placeholders.learn_found(text, found)


SECRETS_MASKED: Final = Egress()
"""What holds unless something else is said: keys and tokens are masked, nothing is recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A request that may leave, and the way back."""

    request: ChatRequest
    placeholders: Placeholders

    def restored(self, completion: Completion[T]) -> Completion[T]:
        """The answer with the originals in place of placeholders."""
        if not self.placeholders.count or "_" not in completion.raw:
            return completion
        restore = self.placeholders.restore
        return replace(
            completion,
            value=None if completion.value is None else _restored(completion.value, self.placeholders),
            raw=restore(completion.raw),
            problems=tuple(map(restore, completion.problems)),
        )


def _restored(value: Any, placeholders: Placeholders) -> Any:
    """A validated answer, with every string in it restored."""
    if isinstance(value, str):
        return placeholders.restore(value)
    if isinstance(value, BaseModel):
        fields = {name: getattr(value, name) for name in type(value).model_fields}
        changed = {name: _restored(each, placeholders) for name, each in fields.items()}
        return value.model_copy(update={name: each for name, each in changed.items() if each is not fields[name]})
    if isinstance(value, list):
        return [_restored(each, placeholders) for each in value]
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(_restored(each, placeholders) for each in value)
    if isinstance(value, dict):
        return {key: _restored(each, placeholders) for key, each in value.items()}
    return value
