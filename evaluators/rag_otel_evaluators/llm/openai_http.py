"""One call to a server that speaks OpenAI's protocol, straight over HTTP.

A provider's library costs 3 to 10 ms of CPU a call, which limits a judge that is asked a hundred times a second; a POST
costs a tenth of it or less. The request's parameters and the price still come from the library, as
two functions. Source: OpenAI's API reference, "Create chat completion".
"""

from __future__ import annotations

import asyncio
import atexit
import functools
import json
import os
import ssl
import urllib.request
import weakref
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

import aiohttp
from pydantic import BaseModel

from rag_otel.delivery.retry import retry_after_of
from rag_otel.model import Usage
from rag_otel.safety.echoes import without_echoes
from rag_otel_evaluators.llm.failures import CallError, FailureKind, kind_of_status
from rag_otel_evaluators.llm.modes import ModeLadder, OutputMode, response_format, with_schema
from rag_otel_evaluators.llm.structured import Message
from rag_otel_evaluators.llm.transport import ChatRequest, Reply

_LONGEST_PAYLOAD: Final = 8 * 2**20
"""Bytes of an answer; more is no answer of a judge, and is not read."""
_MESSAGE_LENGTH: Final = 300
"""Characters kept of a provider's error message."""

Parameters: TypeAlias = Callable[[OutputMode, type[BaseModel], int | None], Mapping[str, Any]]
"""(mode, shape of the answer, output budget) -> the request's fields besides model and messages."""
Price: TypeAlias = Callable[[int, int, int], float | None]
"""(input tokens, output tokens, input tokens that the provider had cached) -> US dollars; None where unknown."""


def host_of(address: str) -> str:
    """Host and port of an address, without user and password."""
    return urlsplit(address).netloc.rpartition("@")[2]


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
        self._address = f"{address.rstrip('/')}/chat/completions"
        self._headers = {"Content-Type": "application/json", **headers}
        self._parameters = functools.lru_cache(maxsize=256)(parameters)
        self._price = price
        self._ladder = ladder
        self._sessions = _Sessions()

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
        payload = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")  # half a surrogate pair is "?"
        try:
            session = await self._sessions.of_this_loop()
            if request.sent is not None:
                request.sent(host_of(self._address), len(payload), body["messages"])
            async with session.post(
                self._address,
                data=payload,
                headers=self._headers,
                timeout=aiohttp.ClientTimeout(total=timeout_s),
                allow_redirects=False,
            ) as response:
                payload = await _body(response)
        except TimeoutError:
            raise CallError(FailureKind.TIMEOUT, f"no answer within {timeout_s:g} s") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise CallError(FailureKind.CONNECTION, _shortened(str(error) or type(error).__name__)) from error
        if response.status != 200:
            raise _refusal(response.status, response.headers, payload, self._sent(messages))
        return self._reply(payload, messages)

    def _sent(self, messages: Sequence[Message]) -> list[str]:
        """What no error may quote: the messages, and the headers with the key."""
        return [*(message.content for message in messages), *self._headers.values()]

    def _reply(self, payload: bytes, messages: Sequence[Message]) -> Reply:
        try:
            answer = json.loads(payload)
            choice, usage = answer["choices"][0], answer.get("usage") or {}
            read, written = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
            cached = int((usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0)
            message = choice["message"]
            text, cut_off = message.get("content") or "", choice.get("finish_reason") == "length"
            thought = bool(message.get("reasoning_content") or message.get("reasoning"))
        except (ValueError, LookupError, TypeError, AttributeError):
            said = _shortened(without_echoes(_shape(payload), self._sent(messages)))
            raise CallError(FailureKind.CONNECTION, f"what came back is no chat completion: {said}") from None
        cost = self._price(read, written, cached)
        return Reply(
            text=text if isinstance(text, str) else _joined(text),
            cut_off=cut_off,
            thought=thought,
            usage=Usage(input_tokens=read, output_tokens=written, cost_usd=cost, calls=1),
        )


def _joined(content: Any) -> str:
    """Content in parts (some servers' form): the texts, without what is marked as thinking."""
    if not isinstance(content, list):
        return json.dumps(content)
    parts = [part for part in content if isinstance(part, dict) and part.get("type", "text") == "text"]
    return "".join(str(part.get("text", "")) for part in parts)


async def _body(response: aiohttp.ClientResponse) -> bytes:
    """What came back, no more of it than an answer can be long."""
    parts, size = [], 0
    async for part in response.content.iter_any():
        parts.append(part)
        size += len(part)
        if size > _LONGEST_PAYLOAD:
            raise aiohttp.ClientPayloadError(f"an answer of more than {_LONGEST_PAYLOAD} bytes")
    return b"".join(parts)


class _Sessions:
    """One session, with its open connections, for each event loop.

    Closed with its loop, or when the model is deleted. Connections of a loop that never ends are dropped without a
    warning when the process ends: nothing can close them then.
    """

    def __init__(self) -> None:
        self._open: dict[asyncio.AbstractEventLoop, tuple[AsyncIterator[aiohttp.ClientSession], aiohttp.ClientSession]]
        self._open = {}

    async def of_this_loop(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        kept = self._open.get(loop)
        if kept is not None:
            return kept[1]
        self._forget_what_is_past()
        # A loop that shuts down finishes its asynchronous generators: this one then closes the session.
        opening = _session()
        session = await anext(opening)
        self._open[loop] = opening, session
        return session

    def _forget_what_is_past(self) -> None:
        """Drop the sessions of loops in which they cannot be closed any more."""
        for loop in [each for each in self._open if each.is_closed()]:
            self._open.pop(loop)[1].detach()

    def __del__(self) -> None:
        self._forget_what_is_past()


_opened: weakref.WeakSet[aiohttp.ClientSession] = weakref.WeakSet()


@atexit.register
def _forget_all() -> None:
    for session in list(_opened):
        session.detach()


class _Connector(aiohttp.TCPConnector):
    def __del__(self, *_unused: object) -> None:
        """Without aiohttp's warning in the application's log: see `_Sessions`."""


async def _session() -> AsyncIterator[aiohttp.ClientSession]:
    connector = _Connector(limit=0, ssl=_certificates())  # the limiter bounds the connections
    async with aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=bool(urllib.request.getproxies()),  # looked up for every call where it is on
    ) as session:
        _opened.add(session)
        yield session


@functools.cache
def _certificates() -> ssl.SSLContext:
    """The environment's certificates where it names some, else those that come with Python's HTTP clients."""
    if os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR"):
        return ssl.create_default_context()
    import certifi

    return ssl.create_default_context(cafile=certifi.where())


def _refusal(status: int, headers: Mapping[str, str], payload: bytes, sent: Iterable[str]) -> CallError:
    """`sent`: texts that the error must not quote, even where the server does."""
    text = payload.decode("utf-8", "replace")
    try:
        error = json.loads(text)["error"]
        said = f"{error.get('message')} ({error['code']})" if error.get("code") else str(error.get("message"))
    except (ValueError, LookupError, TypeError, AttributeError):
        said = text[: 4 * _MESSAGE_LENGTH] or "without a word"
    message = _shortened(f"HTTP {status}: {without_echoes(said, sent)}")
    if 300 <= status < 400:
        return CallError(FailureKind.ENDPOINT, f"{message} (redirected to {headers.get('location')})")
    kind = kind_of_status(status, _shortened(said))
    return CallError(kind, message, retry_after_s=retry_after_of(headers))


def _shape(payload: bytes) -> str:
    """The beginning of what is no completion; of JSON only the names of its fields: its values may be an answer."""
    text = payload.decode("utf-8", "replace")
    try:
        found = json.loads(text)
    except ValueError:
        return text[: 4 * _MESSAGE_LENGTH]
    return f"JSON with {', '.join(map(str, found)) or 'nothing'}" if isinstance(found, dict) else "JSON of another form"


def _shortened(message: str) -> str:
    return " ".join(message.split())[:_MESSAGE_LENGTH]
