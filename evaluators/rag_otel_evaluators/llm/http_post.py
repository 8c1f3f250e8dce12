"""One POST of JSON to a judge's server: connections that are kept, certificates, and failures by their kind."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import ssl
import sys
import urllib.request
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp

from rag_otel.delivery.retry import retry_after_of
from rag_otel.safety.echoes import without_echoes
from rag_otel_evaluators.llm.failures import CallError, FailureKind, kind_of_status
from rag_otel_evaluators.llm.transport import Sent

_LONGEST_PAYLOAD: Final = 8 * 2**20
"""Bytes of an answer; more is no answer of a judge, and is not read."""
_MESSAGE_LENGTH: Final = 300
"""Characters kept of a provider's error message."""


def host_of(address: str) -> str:
    """Host and port of an address, without user and password."""
    return urlsplit(address).netloc.rpartition("@")[2]


class JsonServer:
    """One address that takes JSON and answers with JSON."""

    def __init__(self, address: str, headers: Mapping[str, str]) -> None:
        self._address = address
        self._headers = {"Content-Type": "application/json", **headers}
        self._sessions = _Sessions()

    async def post(
        self,
        body: Mapping[str, Any],
        texts: Iterable[str],
        *,
        timeout_s: float,
        told: Sent | None = None,
        messages: Sequence[Mapping[str, str]] = (),
    ) -> bytes:
        """The answer's bytes. `told` gets the `messages` right before the request leaves.

        Raises CallError, and nothing else, which quotes neither `texts` nor the key.
        """
        payload = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")  # half a surrogate pair is "?"
        status = 0
        try:
            session = await self._sessions.of_this_loop()
            if told is not None:
                told(host_of(self._address), len(payload), messages)
            async with session.post(
                self._address,
                data=payload,
                headers=self._headers,
                timeout=aiohttp.ClientTimeout(total=timeout_s),
                allow_redirects=False,
            ) as response:
                status = response.status
                payload = await _body(response)
        except TimeoutError:
            raise CallError(FailureKind.TIMEOUT, f"no answer within {timeout_s:g} s") from None
        except aiohttp.ClientConnectorError as error:  # its own text names a TLS context, for plain HTTP too
            reason = error.os_error.strerror or str(error.os_error) or type(error.os_error).__name__
            raise CallError(
                FailureKind.CONNECTION, _shortened(f"no connection to {error.host}:{error.port}: {reason}")
            ) from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # An answer that breaks off, or is far too long, was made all the same: it is on the bill.
            kind = FailureKind.UNREADABLE if status == 200 else FailureKind.CONNECTION
            raise CallError(kind, _shortened(str(error) or type(error).__name__)) from error
        if status != 200:
            raise _refusal(status, response.headers, payload, self._secret(texts))
        return payload

    def shape_of(self, payload: bytes, texts: Iterable[str]) -> str:
        """What came back in place of the expected answer, in words for an error."""
        return _shortened(without_echoes(_shape(payload), self._secret(texts)))

    def _secret(self, texts: Iterable[str]) -> list[str]:
        """What no error may quote: what was sent, and the headers with the key."""
        return [*texts, *self._headers.values()]


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

    Closed with its loop. Where it cannot be closed any more, because its loop was closed without that or the process
    ends, it is dropped without a warning (`_Connector`).
    """

    def __init__(self) -> None:
        self._open: dict[asyncio.AbstractEventLoop, tuple[AsyncIterator[aiohttp.ClientSession], aiohttp.ClientSession]]
        self._open = {}

    async def of_this_loop(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        kept = self._open.get(loop)
        if kept is not None:
            return kept[1]
        for past in [each for each in self._open if each.is_closed()]:
            del self._open[past]
        # A loop that shuts down finishes its asynchronous generators: this one then closes the session.
        opening = _session()
        session = await anext(opening)
        self._open[loop] = opening, session
        return session


class _Connector(aiohttp.TCPConnector):
    """Without aiohttp's warnings in the application's log: see `_Sessions`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._process_ends = sys.is_finalizing
        """Kept here, because modules are gone when the last objects are deleted."""

    @property
    def closed(self) -> bool:
        """Also where nothing can close it: its loop is closed, or the interpreter ends.

        Not when exit handlers run: evaluations go on meanwhile.
        """
        return super().closed or self._loop.is_closed() or self._process_ends()

    def __del__(self, *_unused: object) -> None:
        pass


async def _session() -> AsyncIterator[aiohttp.ClientSession]:
    connector = _Connector(limit=0, ssl=_certificates())  # the limiter bounds the connections
    async with aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=bool(urllib.request.getproxies()),  # looked up for every call where it is on
    ) as session:
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
    said = _said(text) or text[: 4 * _MESSAGE_LENGTH] or "without a word"
    message = _shortened(f"HTTP {status}: {without_echoes(said, sent)}")
    if 300 <= status < 400:
        return CallError(FailureKind.ENDPOINT, f"{message} (redirected to {headers.get('location')})")
    kind = kind_of_status(status, _shortened(said))
    return CallError(kind, message, retry_after_s=retry_after_of(headers))


def _said(text: str) -> str | None:
    """The words of an error body: OpenAI's `error`, or the `detail` of TypeSafe and of FastAPI; None for another."""
    try:
        found = json.loads(text)
        if "error" in found:
            error = found["error"]
            return f"{error.get('message')} ({error['code']})" if error.get("code") else str(error.get("message"))
        detail = found["detail"]
        if isinstance(detail, list):
            return "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in detail)
        return f"{detail['message']} ({detail['error_type']})" if isinstance(detail, dict) else str(detail)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def _shape(payload: bytes) -> str:
    """The beginning of what is no completion; of JSON only the names of its fields: its values may be an answer."""
    text = payload.decode("utf-8", "replace")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text[: 4 * _MESSAGE_LENGTH]
    return f"JSON with {', '.join(map(str, found)) or 'nothing'}" if isinstance(found, dict) else "JSON of another form"


def _shortened(message: str) -> str:
    return " ".join(message.split())[:_MESSAGE_LENGTH]
