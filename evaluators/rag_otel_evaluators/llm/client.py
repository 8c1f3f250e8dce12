"""Makes a `StructuredModel` of a transport: cache, breaker, limits, retries, parsing, in this order.

complete -> stored? -> [breaker -> limiter -> transport -> read]* with retries -> once more if unreadable -> cache

What costs money is bounded: an answered call and one that timed out count, two of them are the most for one `complete`
and one for `complete_once`. Calls that are refused (a limit, an overload, a broken connection) cost nothing and are
retried as `RetryPolicy` says.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypedDict

from rag_otel.delivery.retry import RetryPolicy
from rag_otel.errors import PermanentError, RetryableError
from rag_otel.evaluation.current_evaluation import add_usage, seconds_left, spend
from rag_otel.model import Usage
from rag_otel_evaluators.llm.cache import AnswerCache
from rag_otel_evaluators.llm.circuit_breaker import CircuitBreaker
from rag_otel_evaluators.llm.egress import SECRETS_MASKED, Egress
from rag_otel_evaluators.llm.failures import CallError, CallTimeoutError, FailureKind
from rag_otel_evaluators.llm.parsing import ParsedAnswer, read_answer
from rag_otel_evaluators.llm.rate_limits import RateLimiter, RateLimits
from rag_otel_evaluators.llm.reported_usage import estimated_tokens
from rag_otel_evaluators.llm.stored_answers import StoredAnswers, key_of
from rag_otel_evaluators.llm.structured import CALLS_A_STEP, Completion, Message, T
from rag_otel_evaluators.llm.thoughts import REASONING_TOKENS, thinks
from rag_otel_evaluators.llm.transport import ChatRequest, Reply, Transport

_ASSUMED_OUTPUT_TOKENS: Final = 500
"""Reserved for an answer without a budget."""
_QUOTED_ANSWER: Final = 2_000
"""Characters of an unreadable answer that are shown to the model again."""
_QUOTED_PROBLEMS: Final = 200
_NOT_WAITED_FOR: Final = frozenset({FailureKind.TIMEOUT, FailureKind.UNREADABLE, FailureKind.CAP})
"""Failures that no wait within one evaluation mends, and that may have been paid for."""
_MOST_ROOM: Final = 16_000
"""Tokens for thoughts on top of an answer's budget, at most."""
_SHARE: Final = 0.9
"""Of the time left, what a call gets: the rest is for saying why there is no score."""
_LEAST_S: Final = 0.05
"""Seconds below which no call is worth its price."""


class CallOptions(TypedDict, total=False):
    """Arguments of `llm_model`, `openai_model`, `decision_model` and `llm_embedder`, as of `ResilientModel`."""

    timeout_s: float
    """Seconds for one call."""
    retry: RetryPolicy | None
    limits: RateLimits | None
    breaker: CircuitBreaker | None
    cache: AnswerCache | None
    egress: Egress | None
    """What is masked in the messages, and who records them. Without it secrets are masked; None: nothing is."""


class ResilientModel:
    """A language model that answers in a given shape or with the reason why not, in bounded time."""

    def __init__(
        self,
        transport: Transport,
        *,
        timeout_s: float = 60.0,
        retry: RetryPolicy | None = None,
        limits: RateLimits | None = None,
        breaker: CircuitBreaker | None = None,
        cache: AnswerCache | None = None,
        egress: Egress | None = SECRETS_MASKED,
    ) -> None:
        """`timeout_s` bounds one call, which also ends before the evaluation around it; `retry` bounds all
        calls and waits of one answer. What may be on the bill is never more than `CALLS_A_STEP` calls. `egress`: what
        is masked before it leaves; None for a model in this process."""
        self._transport = transport
        self._timeout_s = timeout_s
        self._retry = retry or RetryPolicy()
        self._limiter = RateLimiter(limits or RateLimits())
        self.breaker = breaker or CircuitBreaker(transport.name)
        self._egress = egress
        longest_s = CALLS_A_STEP * timeout_s + self._retry.deadline_s
        self._stored = None if cache is None else StoredAnswers(cache, longest_s=longest_s)
        self._room_for_thoughts = 0

    @property
    def name(self) -> str:
        return self._transport.name

    async def complete(
        self, messages: Sequence[Message], response_model: type[T], *, max_output_tokens: int | None = None
    ) -> Completion[T]:
        """See `StructuredModel.complete`. A call without an answer that can be read is repeated once."""
        request = ChatRequest(
            messages=tuple(messages), response_model=response_model, max_output_tokens=max_output_tokens
        )
        return await self._masked(request, response_model, calls=CALLS_A_STEP)

    async def complete_once(
        self,
        messages: Sequence[Message],
        response_model: type[T],
        *,
        max_output_tokens: int | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Completion[T]:
        """See `AnswersOnce.complete_once`. Calls that the provider refuses, and does not bill, are retried all the
        same."""
        request = ChatRequest(
            messages=tuple(messages), response_model=response_model, max_output_tokens=max_output_tokens, schema=schema
        )
        return await self._masked(request, response_model, calls=1)

    async def _masked(self, request: ChatRequest, response_model: type[T], *, calls: int) -> Completion[T]:
        """What the cache, the breaker and the provider see is masked; the answer has the original texts."""
        if self._egress is None:
            return await self._complete(request, response_model, calls=calls)
        prepared = await self._egress.prepared(request, judge=self.name)
        return prepared.restored(await self._complete(prepared.request, response_model, calls=calls))

    async def _complete(self, request: ChatRequest, response_model: type[T], *, calls: int) -> Completion[T]:
        """`calls`: how many may be on the bill, answered or timed out."""
        if self._stored is None:
            return (await self._paid_for(request, response_model, calls=calls))[0]
        key = key_of(self._transport, request)
        if (known := await self._stored.get(key)) is None:
            async with self._stored.asking(key):
                if (known := await self._stored.get(key)) is None:
                    completion, reply = await self._paid_for(request, response_model, calls=calls)
                    if completion.value is not None and reply.keep:
                        await self._stored.put(key, reply)
                    return completion
        return _completion(known, read_answer(known.text, response_model), known.usage)

    async def _paid_for(
        self, request: ChatRequest, response_model: type[T], *, calls: int
    ) -> tuple[Completion[T], Reply]:
        """An answer that is in no cache, and the reply that it was read from."""
        answered: tuple[Reply, ParsedAnswer[T]] | None = None
        usage = Usage()
        for last in (number == calls - 1 for number in range(calls)):
            asked = request if answered is None else _asked_again(request, *answered)
            try:
                answered = await self._ask(asked, response_model)
            except (RetryableError, PermanentError) as error:
                if answered is not None:
                    break  # the first answer stays: it was paid for, and says why there is no value
                if last or not (isinstance(error, CallTimeoutError) and error.worth_repeating):
                    raise
                continue
            usage = add_usage(usage, answered[0].usage)
            if answered[1].value is not None:
                break
        assert answered is not None  # else the last error was raised
        return _completion(*answered, usage), answered[0]

    async def _ask(self, request: ChatRequest, response_model: type[T]) -> tuple[Reply, ParsedAnswer[T]]:
        """One reply and what it says, with retries of calls that cost nothing.

        The waits are those of `RetryPolicy`. The loop is not `call_with_retries`: no wait outlasts the evaluation, time
        in the limiter's queue does not count, and what one call is told to wait holds for all of the model.

        Raises RetryableError or PermanentError; CallTimeoutError at once, because such a call may have been paid for.
        """
        started, queued_s, attempt = time.monotonic(), 0.0, 0
        while True:
            attempt += 1
            try:
                self.breaker.refuse()  # before queueing for a call that will not be made
                wanted = self._with_room(request)
                async with self._limiter.slot(
                    estimated_tokens=_estimated_tokens(wanted), longest_wait_s=seconds_left()
                ) as reservation:
                    queued_s += reservation.queued_s
                    reservation.used_tokens = 0.0  # a call that fails is not billed
                    reply, reading = await self._call(wanted, response_model)
                    reservation.used_tokens = reply.usage.input_tokens + reply.usage.output_tokens
                    spend(reply.usage)
                    return reply, reading
            except CallError as failure:
                if not failure.kind.retryable or failure.kind in _NOT_WAITED_FOR:
                    raise self._final(failure) from None
                spent_s = time.monotonic() - started - queued_s
                wait_s = self._retry.wait_s(attempt, failure.retry_after_s, spent_s)
                left_s = seconds_left()
                if wait_s is None or (left_s is not None and wait_s >= left_s):
                    raise failure.as_error() from None
                if failure.kind is FailureKind.RATE_LIMIT and failure.retry_after_s:
                    self._limiter.pause(failure.retry_after_s)
            await asyncio.sleep(wait_s)

    def _final(self, failure: CallError) -> RetryableError | PermanentError:
        error = failure.as_error()
        if isinstance(error, CallTimeoutError):
            is_called = self.breaker.opened_by is None
            error.worth_repeating = is_called and _time_for_another(self._timeout_s)
        return error

    async def _call(self, request: ChatRequest, response_model: type[T]) -> tuple[Reply, ParsedAnswer[T]]:
        """One call; reports its outcome to the breaker. Raises CallError. It ends before the evaluation around it."""
        timeout_s = _call_timeout_s(self._timeout_s)
        self.breaker.admit()
        try:
            async with asyncio.timeout(timeout_s):
                reply = await self._transport.send(request, timeout_s=timeout_s)
            reading = read_answer(reply.text, response_model)
        except (CallError, TimeoutError) as error:
            failure = error if isinstance(error, CallError) else self._timed_out(timeout_s)
            if failure.kind is not FailureKind.UNREADABLE:
                self.breaker.failed(failure)
                raise failure from None
            # It was paid for: an answer that says nothing, not a call that cost nothing.
            reply = Reply(text="", cut_off=False, usage=failure.usage or Usage(calls=1))
            reading = ParsedAnswer(value=None, problems=(failure.message,), mostly_unreadable=True)
        except BaseException:
            self.breaker.abandoned()
            raise
        self._learn_room(reply, reading)
        if reading.mostly_unreadable or reply.unreadable:
            self.breaker.failed(CallError(FailureKind.UNREADABLE, "; ".join(reading.problems)[:_QUOTED_PROBLEMS]))
        else:
            self.breaker.succeeded()
        return reply, reading

    def _with_room(self, request: ChatRequest) -> ChatRequest:
        """With room for thoughts on top of the answer's budget, once the model has been seen to need it."""
        if request.max_output_tokens is None or not self._room_for_thoughts:
            return request
        return replace(request, max_output_tokens=request.max_output_tokens + self._room_for_thoughts)

    def _learn_room(self, reply: Reply, reading: ParsedAnswer[T]) -> None:
        """Thoughts count as output: what was cut off while the model thought gets more room, now and later."""
        if reply.cut_off and reading.value is None and (reply.thought or thinks(reply.text)):
            self._room_for_thoughts = min(_MOST_ROOM, max(REASONING_TOKENS, 2 * self._room_for_thoughts))

    def _timed_out(self, timeout_s: float) -> CallError:
        return CallError(FailureKind.TIMEOUT, f"{self.name} gave no answer within {timeout_s:.3g} s")


def _call_timeout_s(timeout_s: float) -> float:
    """Seconds for a call that is sent now. Raises CallError where so little time is left that it would be wasted."""
    left_s = seconds_left()
    if left_s is None:
        return timeout_s
    if left_s < _LEAST_S:
        raise CallError(FailureKind.TIMEOUT, "there is no time left for a call")
    return min(timeout_s, _SHARE * left_s)


def _time_for_another(timeout_s: float) -> bool:
    """Whether a call that timed out may be repeated: only with at least half the time that a call is given."""
    left_s = seconds_left()
    return left_s is None or _SHARE * left_s >= timeout_s / 2


def _estimated_tokens(request: ChatRequest) -> float:
    sent = estimated_tokens(message.content for message in request.messages)
    return sent + (request.max_output_tokens or _ASSUMED_OUTPUT_TOKENS)


def _asked_again(request: ChatRequest, reply: Reply, reading: ParsedAnswer[T]) -> ChatRequest:
    """The request after an unreadable answer: with twice the output budget if it was cut off, else with the errors."""
    if reply.cut_off or reading.truncated or not reply.text.strip():
        budget = request.max_output_tokens
        return replace(request, max_output_tokens=None if budget is None else budget * 2)
    complaint = f"That could not be read ({'; '.join(reading.problems)}). Answer again, with the JSON object alone."
    said = Message(role="assistant", content=reply.text[:_QUOTED_ANSWER])
    return replace(request, messages=(*request.messages, said, Message(role="user", content=complaint)))


def _completion(reply: Reply, reading: ParsedAnswer[T], usage: Usage) -> Completion[T]:
    return Completion(
        value=reading.value,
        raw=reply.text,
        usage=usage,
        truncated=reading.truncated or (reply.cut_off and reading.value is None),
        problems=reading.problems,
        dropped=reading.dropped,
    )
