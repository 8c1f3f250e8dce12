"""Calls through litellm: a chat, an embedding, a decision. Each is a `Transport`."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from rag_otel.model import Usage
from rag_otel_evaluators.judges.litellm_library import (
    as_internal,
    call_error,
    call_parameters,
    litellm,
    price_of,
    provider_of,
)
from rag_otel_evaluators.llm.decisions.dialects import OPENAI, openai_text_body
from rag_otel_evaluators.llm.decisions.form import form_of
from rag_otel_evaluators.llm.decisions.providers import PublishedPrice as InputPrice
from rag_otel_evaluators.llm.decisions.transport import decision_usage, reply_of
from rag_otel_evaluators.llm.failures import CallError, FailureKind
from rag_otel_evaluators.llm.modes import ModeLadder, OutputMode, response_format, with_schema
from rag_otel_evaluators.llm.reported_usage import usage_of
from rag_otel_evaluators.llm.thoughts import REASONING_TOKENS, thinks_aloud
from rag_otel_evaluators.llm.transport import ChatRequest, Reply

_UNREADABLE = (LookupError, AttributeError, TypeError, ValueError)
"""What reading an answer of another form raises."""


class _LitellmCalls:
    """What the calls of one model share."""

    def __init__(
        self,
        name: str,
        model: str,
        *,
        api_base: str | None = None,
        api_key: str | None = None,
        parameters: Mapping[str, Any],
    ) -> None:
        """`name`: for the record; `model`: litellm's name. Raises ConfigurationError where litellm knows no provider of
        that name."""
        self.name = name
        self.identity: Mapping[str, Any] = {"api_base": api_base, "parameters": dict(parameters)}
        self._parameters = call_parameters(model, api_base, api_key, parameters)
        self._price = price_of(model, parameters)

    async def _call(
        self,
        call: Callable[..., Awaitable[Any]],
        request: ChatRequest,
        told: Sequence[Mapping[str, str]],
        **arguments: Any,
    ) -> Any:
        """What litellm's function returns. Tells who records what leaves the messages `told`; litellm makes the
        request's body, so the bytes are those of the messages as JSON. Raises CallError."""
        if request.sent is not None:
            base, size = self._parameters["api_base"], len(_as_json(told))
            host = urlsplit(base).netloc.rpartition("@")[2] if base else provider_of(self._parameters["model"])
            request.sent(host, size, told)
        texts = [each["content"] for each in told]
        try:
            with as_internal():
                return await call(**arguments, **self._parameters)
        except Exception as error:  # noqa: BLE001 - litellm raises anything
            failure = call_error(error, [*texts, self._parameters["api_key"] or ""])
            if failure.kind is FailureKind.UNREADABLE:
                failure.usage = self._usage(None, texts)
            raise failure from None

    def _usage(self, response: Any, sent: Sequence[str], answered: str = "") -> Usage:
        """What a call has used, and what it has cost as litellm says; both estimated where the server does not say."""
        said = getattr(response, "usage", None)
        counts = {name: getattr(said, name, None) for name in ("prompt_tokens", "completion_tokens")}
        usage = usage_of(counts, model=self.name, price=self._price, sent=sent, answered=answered)
        cost = None if not counts["prompt_tokens"] else response._hidden_params.get("response_cost")
        return usage if cost is None else replace(usage, cost_usd=float(cost))


class LitellmTransport(_LitellmCalls):
    """A chat."""

    def __init__(
        self, model: str, *, api_base: str | None = None, api_key: str | None = None, parameters: Mapping[str, Any]
    ) -> None:
        super().__init__(model, model, api_base=api_base, api_key=api_key, parameters=parameters)
        aloud = thinks_aloud(model)
        schemas = bool(litellm.supports_response_schema(model))
        self._ladder = ModeLadder(known_to_support_schema=schemas, in_words_alone=aloud)
        self._extra_output_tokens = REASONING_TOKENS if aloud or litellm.supports_reasoning(model) else 0

    async def send(self, request: ChatRequest, *, timeout_s: float) -> Reply:
        """See `Transport.send`."""
        return await self._ladder.ask(partial(self._send, request, timeout_s))

    async def _send(self, request: ChatRequest, timeout_s: float, mode: OutputMode) -> Reply:
        messages = request.messages
        if self._ladder.names_schema(mode):
            messages = with_schema(messages, request.response_model)
        sent = [{"role": message.role, "content": message.content} for message in messages]
        budget = request.max_output_tokens
        response = await self._call(
            litellm.acompletion,
            request,
            sent,
            messages=sent,
            response_format=response_format(mode, request.response_model, request.schema),
            timeout=timeout_s,
            **({} if budget is None else {"max_tokens": budget + self._extra_output_tokens}),
        )
        texts = [each["content"] for each in sent]
        try:
            choice = response.choices[0]
            text = choice.message.content or ""
        except _UNREADABLE:
            usage = self._usage(response, texts)
            raise CallError(FailureKind.UNREADABLE, "what came back is no chat completion", usage=usage) from None
        return Reply(
            text=text,
            cut_off=choice.finish_reason == "length",
            usage=self._usage(response, texts, text),
            thought=bool(getattr(choice.message, "reasoning_content", None)),
        )


class LitellmEmbeddings(_LitellmCalls):
    """An embedding: the messages are texts, and the answer is their vectors."""

    async def send(self, request: ChatRequest, *, timeout_s: float) -> Reply:
        """See `Transport.send`."""
        texts = [message.content for message in request.messages]
        # Unlike for chats, litellm takes `max_retries: 0` for unset here and lets OpenAI's client retry twice.
        response = await self._call(litellm.aembedding, request, _as_messages(texts), input=texts, timeout=timeout_s)
        usage = self._usage(response, texts)
        try:
            vectors = [item["embedding"] for item in sorted(response.data, key=lambda item: item["index"])]
        except _UNREADABLE:
            raise CallError(FailureKind.UNREADABLE, "what came back are no embeddings", usage=usage) from None
        return Reply(text=json.dumps({"vectors": vectors}), cut_off=False, usage=usage)


class LitellmDecisions(_LitellmCalls):
    """A question to a decision model, for providers that `llm.decisions.providers` does not hold."""

    def __init__(self, name: str, model: str, *, price: InputPrice | None, **settings: Any) -> None:
        """`price`: None where litellm may know it. The others as of the base."""
        super().__init__(name, model, **settings)
        self._input_price = price

    async def send(self, request: ChatRequest, *, timeout_s: float) -> Reply:
        """See `Transport.send`."""
        form, texts = form_of(request), [message.content for message in request.messages]
        body = openai_text_body(form)
        response = await self._call(litellm.adecisions, request, _as_messages(texts), **body, timeout=timeout_s)
        usage = self._usage(response, texts)
        try:
            return reply_of(OPENAI.read(response.model_dump(), form), form, usage)
        except _UNREADABLE:
            raise CallError(FailureKind.UNREADABLE, "what came back is no decision", usage=usage) from None

    def _usage(self, response: Any, sent: Sequence[str], answered: str = "") -> Usage:
        said = None if response is None else response.model_dump().get("usage")
        usage = decision_usage(said, self._input_price, model=self.name, sent=sent)
        if response is None or usage.cost_usd is not None:
            return usage
        return replace(usage, cost_usd=response._hidden_params.get("response_cost"))


def _as_messages(texts: Sequence[str]) -> list[dict[str, str]]:
    return [{"role": "user", "content": text} for text in texts]


def _as_json(messages: Sequence[Mapping[str, str]]) -> bytes:
    return json.dumps(messages, ensure_ascii=False).encode("utf-8", "replace")
