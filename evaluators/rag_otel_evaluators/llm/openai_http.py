"""One call to a server that speaks OpenAI's protocol, straight over HTTP.

A provider's library costs 3 to 10 ms of CPU a call, which limits a judge that is asked a hundred times a second; a POST
costs a tenth of it or less. The request's parameters and the price still come from the library, as
two functions. Source: OpenAI's API reference, "Create chat completion".
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from pydantic import BaseModel

from rag_otel_evaluators.llm.failures import CallError, FailureKind
from rag_otel_evaluators.llm.http_post import JsonServer
from rag_otel_evaluators.llm.modes import ModeLadder, OutputMode, response_format, with_schema
from rag_otel_evaluators.llm.reported_usage import Price, usage_in, usage_of
from rag_otel_evaluators.llm.transport import ChatRequest, Reply

Parameters: TypeAlias = Callable[[OutputMode, type[BaseModel], int | None], Mapping[str, Any]]
"""(mode, shape of the answer, output budget) -> the request's fields besides model and messages."""


class OpenAiTransport:
    """A `Transport` to one model behind one address."""

    def __init__(
        self,
        *,
        name: str,
        identity: Mapping[str, Any],
        model: str,
        address: str,
        headers: Mapping[str, str],
        parameters: Parameters,
        price: Price,
        ladder: ModeLadder,
    ) -> None:
        """`name` and `identity` are those of `Transport`; `model` is what the server calls it; `address` ends before
        `/chat/completions`."""
        self.name = name
        self.identity = identity
        self._model = model
        self._server = JsonServer(f"{address.rstrip('/')}/chat/completions", headers)
        self._parameters = functools.lru_cache(maxsize=256)(parameters)
        self._price = price
        self._ladder = ladder

    async def send(self, request: ChatRequest, *, timeout_s: float) -> Reply:
        """See `Transport.send`."""
        return await self._ladder.ask(functools.partial(self._send, request, timeout_s))

    async def _send(self, request: ChatRequest, timeout_s: float, mode: OutputMode) -> Reply:
        messages = request.messages
        if self._ladder.names_schema(mode):
            messages = with_schema(messages, request.response_model)
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            **self._parameters(mode, request.response_model, request.max_output_tokens),
        }
        if request.schema is not None and "json_schema" in body.get("response_format", ()):
            body["response_format"] = response_format(mode, request.response_model, request.schema)
        texts = [message.content for message in messages]
        spent = functools.partial(usage_of, model=self.name, price=self._price, sent=texts)
        try:
            payload = await self._server.post(
                body, texts, timeout_s=timeout_s, told=request.sent, messages=body["messages"]
            )
        except CallError as failure:
            if failure.kind is FailureKind.UNREADABLE:
                failure.usage = spent(None, answered="")
            raise
        try:
            answer = json.loads(payload)
            choice, said = answer["choices"][0], answer.get("usage")
            message = choice["message"]
            text, cut_off = message.get("content") or "", choice.get("finish_reason") == "length"
            thought = bool(message.get("reasoning_content") or message.get("reasoning"))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise CallError(
                FailureKind.UNREADABLE,
                f"what came back is no chat completion: {self._server.shape_of(payload, texts)}",
                usage=spent(usage_in(payload), answered=""),
            ) from None
        text = text if isinstance(text, str) else _joined(text)
        return Reply(text=text, cut_off=cut_off, thought=thought, usage=spent(said, answered=text))


def _joined(content: Any) -> str:
    """Content in parts (some servers' form): the texts, without what is marked as thinking."""
    if not isinstance(content, list):
        return json.dumps(content)
    parts = [part for part in content if isinstance(part, dict) and part.get("type", "text") == "text"]
    return "".join(str(part.get("text", "")) for part in parts)
