"""Makes a `StructuredModel` of a transport: cache, breaker, limits, retries, parsing, in this order.

complete -> cached? -> [breaker -> limiter -> transport]* with retries -> read -> once more if unreadable -> cache
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rag_otel.delivery.retry import RetryPolicy
from rag_otel.errors import PermanentError, RetryableError
from rag_otel.evaluation.usage_meter import add_usage, spend
from rag_otel.model import Usage
from rag_otel_evaluators.llm.breaker import BreakerState, CircuitBreaker
from rag_otel_evaluators.llm.cache import DiskCache, content_key
from rag_otel_evaluators.llm.failures import CallError, FailureKind
from rag_otel_evaluators.llm.limits import Limits, RateLimiter
from rag_otel_evaluators.llm.parsing import Reading, read_answer
from rag_otel_evaluators.llm.schema import response_schema
from rag_otel_evaluators.llm.structured import Completion, Message, T
from rag_otel_evaluators.llm.transport import ChatRequest, Reply, Transport

_CACHE_FORMAT: Final = 1
"""Increase it when the meaning of stored answers or of their keys changes."""
_CHARACTERS_PER_TOKEN: Final = 3.0
"""For reservations only. Low, so that limits also hold for languages with short tokens."""
_ASSUMED_OUTPUT_TOKENS: Final = 500
"""Reserved for an answer without a budget."""
_QUOTED_ANSWER: Final = 2_000
"""Characters of an unreadable answer that are shown to the model again."""


class ResilientModel:
    """A language model that answers in a given shape or with the reason why not, in bounded time."""

    def __init__(
        self,
        transport: Transport,
        *,
        timeout_s: float = 60.0,
        retry: RetryPolicy | None = None,
        limits: Limits | None = None,
        breaker: CircuitBreaker | None = None,
        cache: DiskCache | None = None,
    ) -> None:
        """`timeout_s` bounds one call; `retry` bounds all calls and waits of one answer."""
        self._transport = transport
        self._timeout_s = timeout_s
        self._retry = retry or RetryPolicy()
        self._limiter = RateLimiter(limits or Limits())
        self._breaker = breaker or CircuitBreaker(transport.name)
        self._cache = cache

    @property
    def name(self) -> str:
        return self._transport.name

    @property
    def state(self) -> BreakerState:
        """Whether the model is being called, and if not, why and until when."""
        return self._breaker.state

    async def complete(
        self, messages: Sequence[Message], response_model: type[T], *, max_output_tokens: int | None = None
    ) -> Completion[T]:
        """See `StructuredModel.complete`. An answer of which nothing can be read is asked for once more."""
        return await self._complete(messages, response_model, max_output_tokens, ask_again=True)

    async def complete_once(
        self, messages: Sequence[Message], response_model: type[T], *, max_output_tokens: int | None = None
    ) -> Completion[T]:
        """See `AnswersOnce.complete_once`. Calls that give no answer are retried all the same."""
        return await self._complete(messages, response_model, max_output_tokens, ask_again=False)

    async def _complete(
        self, messages: Sequence[Message], response_model: type[T], max_output_tokens: int | None, *, ask_again: bool
    ) -> Completion[T]:
        request = ChatRequest(
            messages=tuple(messages), response_model=response_model, max_output_tokens=max_output_tokens
        )
        key = self._key(request)
        stored = await self._stored(key)
        if stored is not None:
            return _completion(stored, read_answer(stored.text, response_model), stored.usage)
        reply = await self._ask(request)
        reading, usage = read_answer(reply.text, response_model), reply.usage
        if reading.value is None and ask_again:
            # If even asking fails, the first answer stays: it was paid for, and says why there is no value.
            with contextlib.suppress(RetryableError, PermanentError):
                reply = await self._ask(_asked_again(request, reply, reading))
                reading, usage = read_answer(reply.text, response_model), add_usage(usage, reply.usage)
        if reading.value is not None:
            await self._store(key, reply)
        return _completion(reply, reading, usage)

    async def _ask(self, request: ChatRequest) -> Reply:
        """One reply, with retries. Raises RetryableError or PermanentError."""
        started, queued_s, attempt = time.monotonic(), 0.0, 0
        while True:
            attempt += 1
            try:
                self._breaker.refuse()  # before queueing for a call that will not be made
                async with self._limiter.slot(estimated_tokens=_estimated_tokens(request)) as reservation:
                    queued_s += reservation.queued_s
                    reservation.used_tokens = 0.0  # a call that fails is not billed
                    reply = await self._call(request)
                    reservation.used_tokens = reply.usage.input_tokens + reply.usage.output_tokens
                    spend(reply.usage)
                    return reply
            except CallError as failure:
                if not failure.kind.retryable:
                    raise failure.as_error() from None
                spent_s = time.monotonic() - started - queued_s
                wait_s = self._retry.wait_s(attempt, failure.retry_after_s, spent_s)
                if wait_s is None:
                    raise failure.as_error() from None
                if failure.kind is FailureKind.RATE_LIMIT and failure.retry_after_s:
                    self._limiter.pause(failure.retry_after_s)
            await asyncio.sleep(wait_s)

    async def _call(self, request: ChatRequest) -> Reply:
        """One call; reports its outcome to the breaker. Raises CallError."""
        self._breaker.admit()
        try:
            async with asyncio.timeout(self._timeout_s):
                reply = await self._transport.send(request, timeout_s=self._timeout_s)
        except (CallError, TimeoutError) as error:
            failure = error if isinstance(error, CallError) else self._timed_out()
            self._breaker.failed(failure)
            raise failure from None
        except BaseException:
            self._breaker.abandoned()
            raise
        self._breaker.succeeded()
        return reply

    def _timed_out(self) -> CallError:
        return CallError(FailureKind.TIMEOUT, f"{self.name} gave no answer within {self._timeout_s:g} s")

    def _key(self, request: ChatRequest) -> str:
        if self._cache is None:
            return ""
        return content_key(
            {
                "format": _CACHE_FORMAT,
                "model": self.name,
                "identity": self._transport.identity,
                "messages": [[message.role, message.content] for message in request.messages],
                "schema": response_schema(request.response_model),
                "max_output_tokens": request.max_output_tokens,
            }
        )

    async def _stored(self, key: str) -> Reply | None:
        """The answer in the cache; without usage, since it costs nothing now."""
        stored = None if self._cache is None else await asyncio.to_thread(self._cache.get, key)
        if stored is None:
            return None
        return Reply(text=str(stored["text"]), cut_off=bool(stored["cut_off"]), usage=Usage(cost_usd=0.0))

    async def _store(self, key: str, reply: Reply) -> None:
        if self._cache is not None:
            usage = {"input_tokens": reply.usage.input_tokens, "output_tokens": reply.usage.output_tokens}
            await asyncio.to_thread(self._cache.put, key, {"text": reply.text, "cut_off": reply.cut_off, **usage})


def _estimated_tokens(request: ChatRequest) -> float:
    sent = sum(len(message.content) for message in request.messages) / _CHARACTERS_PER_TOKEN
    return sent + (request.max_output_tokens or _ASSUMED_OUTPUT_TOKENS)


def _asked_again(request: ChatRequest, reply: Reply, reading: Reading[T]) -> ChatRequest:
    """The request after an unreadable answer: with twice the output budget if it was cut off, else with the errors."""
    if reply.cut_off or reading.truncated or not reply.text.strip():
        budget = request.max_output_tokens
        return replace(request, max_output_tokens=None if budget is None else budget * 2)
    complaint = f"That could not be read ({'; '.join(reading.problems)}). Answer again, with the JSON object alone."
    said = Message(role="assistant", content=reply.text[:_QUOTED_ANSWER])
    return replace(request, messages=(*request.messages, said, Message(role="user", content=complaint)))


def _completion(reply: Reply, reading: Reading[T], usage: Usage) -> Completion[T]:
    return Completion(
        value=reading.value,
        raw=reply.text,
        usage=usage,
        truncated=reading.truncated or (reply.cut_off and reading.value is None),
        problems=reading.problems,
    )
