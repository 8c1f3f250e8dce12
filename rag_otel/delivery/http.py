"""One HTTP request with JSON. A failure is raised as retryable or as permanent.

The standard library's client is enough and costs nothing to import beside an OTLP exporter. Redirects are not
followed: a redirected POST would turn into a GET, and an API key would travel to another host.
"""

from __future__ import annotations

import base64
import http.client
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import IO, Any, Final

from rag_otel.delivery.retry import read_retry_after
from rag_otel.errors import PermanentError, RetryableError
from rag_otel.safety.echoes import without_echoes
from rag_otel.safety.redaction import redacted_text

RETRYABLE_STATUS: Final = frozenset({408, 425, 429})
"""Besides every 5xx."""
_EXCERPT: Final = 200
_USER_AGENT: Final = "rag-otel"


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> None:
        return None


_opener: Final = urllib.request.build_opener(_NoRedirect)


def to_json(payload: Any) -> bytes:
    """UTF-8 JSON without spaces. Raises ValueError for NaN and infinity, which are no JSON."""
    return json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")


def post(url: str, body: bytes, *, headers: Mapping[str, str] | None = None, timeout_s: float = 10.0) -> bytes:
    """POST `body` as JSON and return the answer's body.

    Raises RetryableError for no connection, a timeout, 408, 425, 429 and 5xx (with the seconds of Retry-After), and
    PermanentError for every other answer that is not 2xx; the message names host and status, never the key.
    """
    return _answer(_with_json("POST", url, body, headers), timeout_s)


def put(url: str, body: bytes, *, headers: Mapping[str, str] | None = None, timeout_s: float = 10.0) -> bytes:
    """PUT `body` as JSON and return the answer's body. Raises what `post` raises."""
    return _answer(_with_json("PUT", url, body, headers), timeout_s)


def get(url: str, *, headers: Mapping[str, str] | None = None, timeout_s: float = 10.0) -> bytes:
    """GET and return the answer's body. Raises what `post` raises."""
    request = urllib.request.Request(url, headers={"User-Agent": _USER_AGENT, **(headers or {})}, method="GET")
    return _answer(request, timeout_s)


def delete(url: str, *, headers: Mapping[str, str] | None = None, timeout_s: float = 10.0) -> bytes:
    """DELETE and return the answer's body. Raises what `post` raises."""
    request = urllib.request.Request(url, headers={"User-Agent": _USER_AGENT, **(headers or {})}, method="DELETE")
    return _answer(request, timeout_s)


def split_credentials(url: str) -> tuple[str, dict[str, str]]:
    """An address without its `user:password@`, and the header that tells them instead, where there are any."""
    parts = urllib.parse.urlsplit(url)
    credentials, _, host = parts.netloc.rpartition("@")
    if not credentials:
        return url, {}
    encoded = base64.b64encode(urllib.parse.unquote(credentials).encode()).decode()
    return parts._replace(netloc=host).geturl(), {"Authorization": f"Basic {encoded}"}


def _with_json(method: str, url: str, body: bytes, headers: Mapping[str, str] | None) -> urllib.request.Request:
    told = {"Content-Type": "application/json", "User-Agent": _USER_AGENT, **(headers or {})}
    return urllib.request.Request(url, data=body, headers=told, method=method)


def _answer(request: urllib.request.Request, timeout_s: float) -> bytes:
    url = request.full_url
    try:
        with _opener.open(request, timeout=timeout_s) as response:
            return bytes(response.read())
    except urllib.error.HTTPError as error:
        with error:
            raise _refused(request, error) from None
    except (OSError, http.client.HTTPException) as error:
        raise RetryableError(redacted_text(f"no answer from {_host(url)}: {getattr(error, 'reason', error)}")) from None


def _refused(request: urllib.request.Request, error: urllib.error.HTTPError) -> RetryableError | PermanentError:
    url = request.full_url
    message = f"HTTP {error.code} from {_host(url)}"
    if error.code in RETRYABLE_STATUS or error.code >= 500:
        return RetryableError(message, retry_after_s=read_retry_after(error.headers.get("Retry-After")))
    if 300 <= error.code < 400:
        # Without the path: a webhook's is its secret.
        there = urllib.parse.urlsplit(urllib.parse.urljoin(url, error.headers.get("Location") or ""))
        elsewhere = f"{there.scheme}://{there.netloc.rpartition('@')[2]}"
        return PermanentError(f"{message}: it points to {elsewhere}; configure that address instead")
    return PermanentError(redacted_text(f"{message}: {_excerpt(request, error)}"))


def _excerpt(request: urllib.request.Request, error: urllib.error.HTTPError) -> str:
    """The beginning of what the server said, on one line, without what it quotes of the request."""
    try:
        said = error.read(_EXCERPT * 4).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException):
        return "no reason given"
    sent = request.data if isinstance(request.data, bytes) else b""
    said = without_echoes(said, [sent.decode("utf-8", "replace")])
    return " ".join(said.split())[:_EXCERPT] or "no reason given"


def _host(url: str) -> str:
    return urllib.parse.urlsplit(url).netloc.rpartition("@")[2]
