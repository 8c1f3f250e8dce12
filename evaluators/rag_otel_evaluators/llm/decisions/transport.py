"""One call to a decision model, over HTTP."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rag_otel.model import Usage
from rag_otel_evaluators.llm.decisions.dialects import DecisionDialect
from rag_otel_evaluators.llm.decisions.form import REFUSED, Form, FormAnswers, form_of
from rag_otel_evaluators.llm.decisions.providers import PublishedPrice
from rag_otel_evaluators.llm.failures import CallError, FailureKind
from rag_otel_evaluators.llm.http_post import JsonServer
from rag_otel_evaluators.llm.reported_usage import usage_in, usage_of
from rag_otel_evaluators.llm.transport import ChatRequest, Reply


class DecisionTransport:
    """A `Transport` whose requests are forms (`form_of`) and whose answer is `FormAnswers` as JSON."""

    def __init__(
        self,
        *,
        name: str,
        identity: Mapping[str, Any],
        model: str,
        server: JsonServer,
        dialect: DecisionDialect,
        price: PublishedPrice | None,
        refuses_whole: bool = False,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        """`name` and `identity` are those of `Transport`; `model` is what the server calls it; `parameters` go into the
        request as they are. `refuses_whole`: the server fails a request of which the model refuses one question."""
        self.name = name
        self.identity = identity
        self._model = model
        self._server = server
        self._dialect = dialect
        self._price = price
        self._refuses_whole = refuses_whole
        self._parameters = dict(parameters or {})

    async def send(self, request: ChatRequest, *, timeout_s: float) -> Reply:
        """See `Transport.send`."""
        form, texts = form_of(request), [message.content for message in request.messages]
        body = {**self._dialect.body(self._model, form), **self._parameters}
        asked = [*texts, json.dumps(request.schema)]  # the options are tokens too
        sent = [{"role": message.role, "content": message.content} for message in request.messages]
        try:
            payload = await self._server.post(body, texts, timeout_s=timeout_s, told=request.sent, messages=sent)
        except CallError as failure:
            if self._refuses_whole and failure.kind is FailureKind.OVERLOAD and "refus" in str(failure).lower():
                return refused_whole()
            if failure.kind is FailureKind.UNREADABLE:
                failure.usage = decision_usage(None, self._price, model=self.name, sent=asked)
            raise
        usage = decision_usage(usage_in(payload), self._price, model=self.name, sent=asked)
        try:
            return reply_of(self._dialect.read(json.loads(payload), form), form, usage)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            said = self._server.shape_of(payload, texts)
            raise CallError(FailureKind.UNREADABLE, f"what came back is no decision: {said}", usage=usage) from None


def reply_of(answers: FormAnswers, form: Form, usage: Usage) -> Reply:
    """The answers as a reply; it is worth keeping where every question has one, and the known ones are right."""
    odd = [answer for answer in answers.answers if answer.problem not in (None, REFUSED)]
    whole = all(answer.problem is None for answer in answers.answers) and not missed(form.questions, answers)
    return Reply(
        text=answers.model_dump_json(),
        cut_off=False,
        usage=usage,
        keep=whole,
        unreadable=2 * len(odd) >= len(answers.answers),
    )


def refused_whole() -> Reply:
    """A request that failed because of one question's refusal. It is not billed, and not worth a repeat."""
    refusal = FormAnswers(refused=True)
    return Reply(text=refusal.model_dump_json(), cut_off=False, usage=Usage(cost_usd=0.0, calls=1), keep=False)


def missed(questions: Sequence[Any], answers: FormAnswers) -> bool:
    """Whether an option that is known to be right got less than half of the probability."""
    given = answers.by_name()
    return any(
        question.known is not None and given[question.name].probabilities.get(question.known, 0.0) < 0.5
        for question in questions
    )


def decision_usage(said: object, price: PublishedPrice | None, *, model: str, sent: Sequence[str]) -> Usage:
    """What a call used; its cost is what the server says (`cost`), else the price of its tokens. Tokens that it does
    not say are estimated, as for chat models."""
    counts = said if isinstance(said, Mapping) else {}
    usage = usage_of(
        {
            "prompt_tokens": counts.get("input_tokens"),
            "completion_tokens": counts.get("output_tokens"),
            "prompt_tokens_details": counts.get("input_tokens_details"),
        },
        model=model,
        price=lambda read, written, cached: None if price is None else _cost(price, read, cached),
        sent=sent,
        answered="",
    )
    cost = counts.get("cost")
    if isinstance(cost, (int, float)) and 0 <= cost < math.inf:
        return replace(usage, cost_usd=float(cost))
    return usage


def _cost(price: PublishedPrice, read: int, cached: int) -> float:
    cached_usd = price.usd if price.cached_usd is None else price.cached_usd
    return ((read - cached) * price.usd + cached * cached_usd) / 1e6
