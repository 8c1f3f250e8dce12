"""A backend that speaks OTLP over HTTP, in protobuf: the standard library's client on a thread of its own. A Phoenix is
recognised by its answers, and can be asked which spans it has stored.

Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp-response.
"""

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
import ssl
import urllib.parse
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from rag_otel.delivery.retry import read_retry_after
from rag_otel.errors import PermanentError, RetryableError
from rag_otel_collectors.otlp.exporters.connection import (
    BackendAwayError,
    BackendRefusalError,
    BackendSettings,
    Connection,
    Rejected,
    rejected_in,
)

_PATH: Final = "/v1/traces"
_GZIP_LEVEL: Final = 1
_CLOSED: Final = (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError)
"""How a connection fails that the backend has closed."""
_REFUSALS: Final = frozenset({400, 413, 415, 422})
"""Sending the same again is no use. Every other failure may pass, also a wrong key or address."""
_EXCERPT_BYTES: Final = 200
"""Of a failed answer."""
_VERSION_HEADER: Final = "x-phoenix-server-version"
"""Every answer of a Phoenix has it."""
_QUERY_PATH: Final = "/graphql"


class HttpConnection(Connection):
    """A connection that is kept open to one backend."""

    def __init__(self, settings: BackendSettings) -> None:
        """Raises OSError where a certificate cannot be read. Connects with the first `send`."""
        address = urllib.parse.urlsplit(settings.endpoint)
        base = address.path.rstrip("/").removesuffix(_PATH)
        self._path = f"{base}{_PATH}?{address.query}" if address.query else f"{base}{_PATH}"
        self._query_path = base + _QUERY_PATH
        host, port = address.hostname or "", address.port
        if settings.tls:
            context = ssl.create_default_context(cafile=settings.ca_file)
            if settings.cert_file:
                context.load_cert_chain(settings.cert_file, settings.key_file)
            self._connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                host, port, timeout=settings.timeout_s, context=context
            )
        else:
            self._connection = http.client.HTTPConnection(host, port, timeout=settings.timeout_s)
        self._gzip = settings.compression == "gzip"
        self._headers = {
            "Content-Type": "application/x-protobuf",
            "User-Agent": "rag-otel",
            **({"Content-Encoding": "gzip"} if self._gzip else {}),
            **settings.headers,
        }
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"rag-otel-{settings.name}")

    async def send(self, request: bytes) -> Rejected:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._send, request)

    async def stored(self, span_ids: Sequence[bytes]) -> set[bytes]:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._stored, span_ids)

    async def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._connection.close()

    def _send(self, request: bytes) -> Rejected:
        body = gzip.compress(request, _GZIP_LEVEL) if self._gzip else request
        return _rejected(*self._post(self._path, body, self._headers))

    def _stored(self, span_ids: Sequence[bytes]) -> set[bytes]:
        headers = {**self._headers, "Content-Type": "application/json", "Content-Encoding": "identity"}
        status, _, answer = self._post(self._query_path, _question(span_ids), headers)
        if status == 429 or status >= 500:
            raise RetryableError(f"HTTP {status}")
        if status != 200:
            raise PermanentError(f"HTTP {status}")
        return _found(span_ids, answer)

    def _post(self, path: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, str | None, bytes]:
        """Status, Retry-After and body of the answer. Raises RetryableError where there is none."""
        reused = self._connection.sock is not None
        try:
            return self._exchange(path, body, headers)
        except BackendAwayError as error:
            if not reused or not isinstance(error.__cause__, _CLOSED):
                raise
        return self._exchange(path, body, headers)  # it had been closed because nothing came for a while

    def _exchange(self, path: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, str | None, bytes]:
        try:
            self._connection.request("POST", path, body, dict(headers))
            with self._connection.getresponse() as response:
                self.tells_what_is_stored |= response.getheader(_VERSION_HEADER) is not None
                return response.status, response.getheader("Retry-After"), response.read()
        except TimeoutError:
            self._connection.close()
            raise RetryableError("no answer in time") from None
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise BackendAwayError(f"no answer: {error}") from error


def _rejected(status: int, retry_after: str | None, answer: bytes) -> Rejected:
    """What an answer rejects. Raises RetryableError and BackendRefusalError."""
    if 200 <= status < 300:
        return rejected_in(answer)
    said = f"HTTP {status}: {' '.join(answer[:_EXCERPT_BYTES].decode('utf-8', 'replace').split())}"
    if status in _REFUSALS:
        raise BackendRefusalError(said)
    # Also what only the operator can mend (a wrong key, a wrong address): what waits is safe in the meantime.
    raise RetryableError(said, retry_after_s=read_retry_after(retry_after))


def _question(span_ids: Sequence[bytes]) -> bytes:
    """What Phoenix is asked about spans: does it have them? An id that it lacks is answered with null."""
    fields = " ".join(f's{n}: getSpanByOtelId(spanId: "{each.hex()}") {{ id }}' for n, each in enumerate(span_ids))
    return json.dumps({"query": f"{{ {fields} }}"}).encode()


def _found(span_ids: Sequence[bytes], answer: bytes) -> set[bytes]:
    """Those of the spans that Phoenix has. Raises RetryableError when its database could not be asked, PermanentError
    when it does not understand the question."""
    try:
        content: Any = json.loads(answer)
        # What failed while it was answered says where; what was wrong with the question does not.
        if any("path" in each for each in content.get("errors") or ()):
            raise RetryableError("Phoenix could not look for spans")
        return {each for n, each in enumerate(span_ids) if content["data"][f"s{n}"] is not None}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise PermanentError("Phoenix does not say which spans it has stored") from None
