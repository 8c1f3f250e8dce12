"""Any language model as a judge, through litellm: `llm_model("openai/gpt-4o-mini")`, `llm_model("ollama/...")`.

The only module that imports litellm. It is heavy (seconds, well over 100 MB), so it is imported by who configures a
judge, at start-up, and never while traffic flows; `warm_up` loads what litellm leaves for its first call.

litellm is a library that the application may use too, so its global settings are left alone (but for one, that it
prints no advice when a call fails): each call says for itself that it is not logged, cached or retried there. That
calls are not traced is the caller's affair: this package knows nothing of tracing.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import json
import os
import socket
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

from rag_otel.delivery.retry import RetryPolicy, retry_after_of
from rag_otel.errors import ConfigurationError
from rag_otel.model import Usage
from rag_otel.safety.echoes import without_echoes
from rag_otel_evaluators.llm.breaker import CircuitBreaker
from rag_otel_evaluators.llm.cache import AnswerCache
from rag_otel_evaluators.llm.client import ResilientModel
from rag_otel_evaluators.llm.decisions.dialects import OPENAI, openai_text_body
from rag_otel_evaluators.llm.decisions.form import form_of
from rag_otel_evaluators.llm.decisions.providers import Price as InputPrice
from rag_otel_evaluators.llm.decisions.transport import decision_usage, reply_of
from rag_otel_evaluators.llm.direct import direct_transport, price_of
from rag_otel_evaluators.llm.egress import SECRETS_MASKED, Egress
from rag_otel_evaluators.llm.embedder import ModelEmbedder
from rag_otel_evaluators.llm.failures import CallError, FailureKind, kind_of_status
from rag_otel_evaluators.llm.limits import Limits
from rag_otel_evaluators.llm.modes import ModeLadder, OutputMode, response_format, with_schema
from rag_otel_evaluators.llm.quiet import quiet
from rag_otel_evaluators.llm.reported_usage import Price, usage_of
from rag_otel_evaluators.llm.thoughts import REASONING_TOKENS, thinks_aloud
from rag_otel_evaluators.llm.transport import ChatRequest, Reply, Transport

# The prices that litellm brings, not those it would fetch from the network while being imported.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about litellm's own classes, of no use to an application
        import aiohttp
        import httpx
        import litellm
        import openai
except ImportError as error:
    raise ConfigurationError(
        f"an LLM judge needs litellm ({error}); install it with: pip install 'rag-otel[llm]'"
    ) from None

litellm.suppress_debug_info = True  # else a judge's failed call prints advice to the application's stdout

_internal_call: contextvars.ContextVar[bool]
"""litellm's mark for calls that are not its users' own: nothing is queued for its logging worker."""
try:
    from litellm import _internal_context
except ImportError:  # private, and may go: the calls' "no-log" remains
    _internal_call = contextvars.ContextVar("rag_otel_internal_call", default=False)
else:
    _internal_call = _internal_context.is_internal_call

_MESSAGE_LENGTH: Final = 300
"""Characters kept of a provider's error message."""
_PER_CALL: Final[Mapping[str, Any]] = {
    "num_retries": 0,  # retries are ours: they honour Retry-After, the breaker and the deadline
    "max_retries": 0,
    "drop_params": True,  # a model without `temperature` is asked without it
    "no-log": True,  # no logging callback of the application's (tracing, cost) gets a judge's call
    "cache": {"no-cache": True, "no-store": True},  # nor does its litellm cache answer for the judge
}


def llm_model(
    model: str,
    *,
    api_base: str | None = None,
    api_key: str | None = None,
    temperature: float = 0.0,
    parameters: Mapping[str, Any] | None = None,
    timeout_s: float = 60.0,
    retry: RetryPolicy | None = None,
    limits: Limits | None = None,
    breaker: CircuitBreaker | None = None,
    cache: AnswerCache | None = None,
    egress: Egress = SECRETS_MASKED,
    direct: bool = True,
) -> ResilientModel:
    """A `StructuredModel` over litellm.

    `model` is litellm's name (`openai/gpt-4o-mini`, `anthropic/...`, `ollama/...`, `hosted_vllm/...`); for a local
    server that speaks OpenAI's protocol `openai/<name>` with `api_base`. `parameters` go to litellm as they are
    (`seed`, `input_cost_per_token` for a model whose price it does not know, ...). `egress`: what is masked in the
    messages, and who records them.

    `direct`: a server at `api_base` that speaks OpenAI's protocol is called over HTTP, with the parameters and prices
    that litellm knows and without its 3 to 10 ms of CPU a call; where `parameters` hold what only litellm understands,
    and for all other models, calls go through litellm.

    Raises ConfigurationError for a name of which litellm knows no provider.
    """
    asked = {"temperature": temperature, **(parameters or {})}
    transport: Transport | None = None
    provider = provider_of(model)
    if direct and api_base:
        transport = direct_transport(litellm, provider, model, api_base=api_base, api_key=api_key, parameters=asked)
    if transport is None:
        transport = LitellmTransport(model, api_base=api_base, api_key=api_key, parameters=asked)
    return ResilientModel(
        transport, timeout_s=timeout_s, retry=retry, limits=limits, breaker=breaker, cache=cache, egress=egress
    )


def llm_embedder(
    model: str,
    *,
    api_base: str | None = None,
    api_key: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    timeout_s: float = 60.0,
    retry: RetryPolicy | None = None,
    limits: Limits | None = None,
    breaker: CircuitBreaker | None = None,
    cache: AnswerCache | None = None,
    egress: Egress = SECRETS_MASKED,
) -> ModelEmbedder:
    """An `Embedder` over litellm (`openai/text-embedding-3-small`, `ollama/...`); arguments as of `llm_model`."""
    transport = LitellmEmbeddings(model, api_base=api_base, api_key=api_key, parameters=parameters or {})
    return ModelEmbedder(
        ResilientModel(
            transport, timeout_s=timeout_s, retry=retry, limits=limits, breaker=breaker, cache=cache, egress=egress
        )
    )


def token_prices(model: str) -> tuple[float, float] | None:
    """US dollars for a million tokens in and a million out, as litellm knows them; None where it does not."""
    try:
        into, out = litellm.cost_per_token(model=model, prompt_tokens=1_000_000, completion_tokens=1_000_000)
    except Exception:  # noqa: BLE001 - litellm raises bare exceptions for names that it has no price for
        return None
    return float(into), float(out)


class LitellmTransport:
    """One call through litellm."""

    def __init__(
        self, model: str, *, api_base: str | None = None, api_key: str | None = None, parameters: Mapping[str, Any]
    ) -> None:
        self.name = model
        self.identity: Mapping[str, Any] = {"api_base": api_base, "parameters": dict(parameters)}
        self._parameters = _call_parameters(model, api_base, api_key, parameters)
        self._price = price_of(litellm, model, parameters)
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
        arguments = dict(self._parameters)
        if request.max_output_tokens is not None:
            arguments["max_tokens"] = request.max_output_tokens + self._extra_output_tokens
        sent = [{"role": message.role, "content": message.content} for message in messages]
        _tell(request, self._parameters, sent)
        try:
            with _as_internal():
                response = await litellm.acompletion(
                    messages=sent,
                    response_format=response_format(mode, request.response_model, request.schema),
                    timeout=timeout_s,
                    **arguments,
                )
        except Exception as error:  # noqa: BLE001 - litellm raises anything
            failure = call_error(error, [*(each["content"] for each in sent), self._parameters["api_key"] or ""])
            if failure.kind is FailureKind.UNREADABLE:
                failure.usage = self._usage(None, sent, "")
            raise failure from None
        try:
            choice = response.choices[0]
            text = choice.message.content or ""
        except (LookupError, AttributeError, TypeError):
            usage = self._usage(response, sent, "")
            raise CallError(FailureKind.UNREADABLE, "what came back is no chat completion", usage=usage) from None
        return Reply(
            text=text,
            cut_off=choice.finish_reason == "length",
            usage=self._usage(response, sent, text),
            thought=bool(getattr(choice.message, "reasoning_content", None)),
        )

    def _usage(self, response: Any, sent: Sequence[Mapping[str, str]], answered: str) -> Usage:
        return _usage(self.name, self._price, response, [each["content"] for each in sent], answered)


class LitellmEmbeddings:
    """One embedding call through litellm: a transport whose messages are texts and whose answer is their vectors."""

    def __init__(
        self, model: str, *, api_base: str | None = None, api_key: str | None = None, parameters: Mapping[str, Any]
    ) -> None:
        self.name = model
        self.identity: Mapping[str, Any] = {"api_base": api_base, "parameters": dict(parameters)}
        self._parameters = _call_parameters(model, api_base, api_key, parameters)
        self._price = price_of(litellm, model, parameters)

    async def send(self, request: ChatRequest, *, timeout_s: float) -> Reply:
        """See `Transport.send`."""
        texts = [message.content for message in request.messages]
        _tell(request, self._parameters, [{"role": "user", "content": text} for text in texts])
        try:
            # Unlike for chats, litellm takes `max_retries: 0` for unset here and lets OpenAI's client retry twice.
            with _as_internal():
                response = await litellm.aembedding(input=texts, timeout=timeout_s, **self._parameters)
        except Exception as error:  # noqa: BLE001
            failure = call_error(error, [*texts, self._parameters["api_key"] or ""])
            if failure.kind is FailureKind.UNREADABLE:
                failure.usage = _usage(self.name, self._price, None, texts, "")
            raise failure from None
        usage = _usage(self.name, self._price, response, texts, "")
        try:
            vectors = [item["embedding"] for item in sorted(response.data, key=lambda item: item["index"])]
        except (LookupError, AttributeError, TypeError):
            raise CallError(FailureKind.UNREADABLE, "what came back are no embeddings", usage=usage) from None
        return Reply(text=json.dumps({"vectors": vectors}), cut_off=False, usage=usage)


class LitellmDecisions:
    """One call to a decision model through litellm, for providers that `llm.decisions.providers` does not hold."""

    def __init__(
        self,
        name: str,
        model: str,
        *,
        api_base: str | None,
        api_key: str | None,
        parameters: Mapping[str, Any],
        price: InputPrice | None,
    ) -> None:
        """`name`: for the record; `model`: litellm's name; `price`: None where litellm may know it."""
        self.name = name
        self.identity: Mapping[str, Any] = {"api_base": api_base, "parameters": dict(parameters)}
        self._price = price
        self._parameters = _call_parameters(model, api_base, api_key, parameters)

    async def send(self, request: ChatRequest, *, timeout_s: float) -> Reply:
        """See `Transport.send`."""
        form, texts = form_of(request), [message.content for message in request.messages]
        _tell(request, self._parameters, [{"role": "user", "content": text} for text in texts])
        try:
            with _as_internal():
                response = await litellm.adecisions(**openai_text_body(form), timeout=timeout_s, **self._parameters)
        except Exception as error:  # noqa: BLE001 - litellm raises anything
            failure = call_error(error, [*texts, self._parameters["api_key"] or ""])
            if failure.kind is FailureKind.UNREADABLE:
                failure.usage = decision_usage(None, self._price, model=self.name, sent=texts)
            raise failure from None
        answer = response.model_dump()
        usage = decision_usage(answer.get("usage"), self._price, model=self.name, sent=texts)
        if usage.cost_usd is None:
            usage = replace(usage, cost_usd=response._hidden_params.get("response_cost"))
        try:
            return reply_of(OPENAI.read(answer, form), form, usage)
        except (ValueError, LookupError, TypeError, AttributeError):
            raise CallError(FailureKind.UNREADABLE, "what came back is no decision", usage=usage) from None


def _tell(request: ChatRequest, parameters: Mapping[str, Any], messages: Sequence[Mapping[str, str]]) -> None:
    """Tell who records what leaves. litellm makes the request's body; the bytes are those of the messages as JSON."""
    if request.sent is not None:
        base, size = parameters["api_base"], len(json.dumps(messages, ensure_ascii=False).encode("utf-8", "replace"))
        request.sent(
            urlsplit(base).netloc.rpartition("@")[2] if base else provider_of(parameters["model"]), size, messages
        )


def _call_parameters(
    model: str, api_base: str | None, api_key: str | None, parameters: Mapping[str, Any]
) -> dict[str, Any]:
    """What every call of a model carries. Raises ConfigurationError for a name of which litellm knows no provider."""
    if provider_of(model) == "openai" and api_base and not (api_key or os.environ.get("OPENAI_API_KEY")):
        api_key = "none"  # OpenAI's client insists on one, local servers do not
    return {**parameters, "model": model, "api_base": api_base, "api_key": api_key, **_PER_CALL}


def provider_of(model: str) -> str:
    """litellm's name of the provider. Raises ConfigurationError for a name of which it knows none."""
    try:
        provider: str = litellm.get_llm_provider(model)[1]
    except litellm.exceptions.BadRequestError:
        raise ConfigurationError(
            f"{model!r} names no provider that litellm knows; write provider/model, for example openai/gpt-4o-mini, "
            "or openai/<name> with api_base for a server that speaks OpenAI's protocol"
        ) from None
    return provider


def _usage(model: str, price: Price, response: Any, sent: Sequence[str], answered: str) -> Usage:
    """What a call has used, and what it has cost as litellm says; both estimated where the server does not say."""
    said = getattr(response, "usage", None)
    counts = {name: getattr(said, name, None) for name in ("prompt_tokens", "completion_tokens")}
    usage = usage_of(counts, model=model, price=price, sent=sent, answered=answered)
    cost = None if not counts["prompt_tokens"] else response._hidden_params.get("response_cost")
    return usage if cost is None else replace(usage, cost_usd=float(cost))


def call_error(error: Exception, sent: Iterable[str]) -> CallError:
    """What litellm raised, as one of our kinds. `sent`: texts that it must not quote, even where the provider does."""
    said = str(error)
    message = " ".join(without_echoes(said, sent).split())[:_MESSAGE_LENGTH]
    headers = getattr(error, "litellm_response_headers", None)
    if isinstance(error, (litellm.exceptions.Timeout, TimeoutError)):
        return CallError(FailureKind.TIMEOUT, message)
    if isinstance(error, litellm.exceptions.BadRequestError):
        status: Any = 400
    else:
        status = getattr(error, "status_code", None)
    if not isinstance(status, int) or (status >= 500 and not headers):
        # litellm calls a connection that was refused or broken a 500, and an answer that it cannot read too.
        return CallError(FailureKind.UNREADABLE if _was_answered(error) else FailureKind.CONNECTION, message)
    retry_after_s = retry_after_of(headers if hasattr(headers, "get") else None)
    kind = kind_of_status(status, " ".join(said.split())[:_MESSAGE_LENGTH])
    return CallError(kind, message, retry_after_s=retry_after_s)


def _was_answered(error: BaseException) -> bool:
    """Whether litellm's error is about an answer that came and that it could not read. What it raises for a connection
    has the connection's error behind it; for what never left it raises APIConnectionError, among others."""
    if isinstance(error, openai.APIConnectionError) or not isinstance(error, openai.APIError):
        return False
    behind: BaseException | None = error
    while behind is not None:
        if isinstance(behind, (openai.APIConnectionError, httpx.TransportError, aiohttp.ClientError, OSError)):
            return False
        behind = behind.__cause__ or behind.__context__
    return True


@contextlib.contextmanager
def _as_internal() -> Iterator[None]:
    token = _internal_call.set(True)
    try:
        with quiet():
            yield
    finally:
        _internal_call.reset(token)


def warm_up(model: str) -> None:
    """Load now what litellm would import during its first call and its first failure (half a second of CPU).

    Makes no call to any provider: one answer is mocked, one connection is refused on the loopback interface. Blocks;
    works inside a running event loop. Tracing that is suppressed around it stays suppressed.
    """
    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(lambda: asyncio.run(_warm_up(model)),), name="rag-otel-warm-up")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        thread.start()
        thread.join()


async def _warm_up(model: str) -> None:
    with _as_internal(), socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # bound and not listening: whoever connects is refused
        refused = {"api_base": f"http://127.0.0.1:{nobody.getsockname()[1]}", "api_key": "none", "timeout": 5.0}
        for arguments in ({"model": model, "mock_response": "{}"}, {"model": "openai/nobody", **refused}):
            with contextlib.suppress(Exception):
                await litellm.acompletion(messages=[{"role": "user", "content": "-"}], **{**_PER_CALL, **arguments})
