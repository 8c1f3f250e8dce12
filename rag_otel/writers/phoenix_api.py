"""Requests to Phoenix's REST API: lists page by page, and annotations of spans, traces, documents and sessions.

An annotation with the same span, name and identifier replaces the earlier one, so writing it twice stores it once.
"""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from rag_otel.delivery.http import get, post, to_json
from rag_otel.errors import PermanentError
from rag_otel.writers.phoenix_links import phoenix_base_url

Annotated: TypeAlias = Literal["span", "trace", "document", "session"]
_PAGE: Final = 1000


class PhoenixApi:
    """One Phoenix server. Every request may raise RetryableError or PermanentError, see `rag_otel.delivery.http`."""

    def __init__(
        self,
        endpoint: str,
        *,
        api_key: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = 10.0,
    ) -> None:
        """`endpoint` is Phoenix's address (`http://host:6006`); a `/v1/traces` at its end is removed.

        `api_key` is sent as a bearer token. `headers` are added to every request. `timeout_s` bounds one request.
        """
        self.base_url = phoenix_base_url(endpoint)
        authorization = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self.options: dict[str, Any] = {"headers": {**authorization, **(headers or {})}, "timeout_s": timeout_s}
        """Headers and timeout of every request."""

    def annotate(self, what: Annotated, rows: Sequence[Mapping[str, Any]], *, wait: bool = False) -> None:
        """Writes rows as `Annotation.row` builds them, in one request; without any, no request is made.

        With `wait` Phoenix stores them before it answers, and refuses them all if what one is about does not exist.
        Without, it accepts an annotation before its span and attaches it later.
        """
        if rows:
            self.post(f"/v1/{what}_annotations?sync={str(wait).lower()}", {"data": list(rows)})

    def post(self, path: str, payload: Any, *, content_type: str = "application/json") -> bytes:
        """`payload`: JSON values, or bytes, which are sent as they are."""
        body = payload if isinstance(payload, bytes) else to_json(payload)
        headers = {**self.options["headers"], "Content-Type": content_type}
        return post(self.base_url + path, body, headers=headers, timeout_s=self.options["timeout_s"])

    def rows(self, path: str, query: Mapping[str, Sequence[str]] | None = None) -> Iterator[dict[str, Any]]:
        """Yields the rows of all pages of one list. Pages are read when they are needed."""
        cursor: str | None = None
        while True:
            page = {**(query or {}), "limit": [str(_PAGE)], **({"cursor": [cursor]} if cursor else {})}
            answer = self.read_json(f"{path}?{urllib.parse.urlencode(page, doseq=True)}")
            yield from answer["data"]
            cursor = answer.get("next_cursor")
            if not cursor:
                return

    def read_json(self, path: str) -> dict[str, Any]:
        try:
            answer = json.loads(self.read(path))
        except ValueError:
            answer = None
        if not isinstance(answer, dict) or "data" not in answer:
            raise PermanentError(f"the server at {self.base_url} is not Phoenix's REST API")
        return answer

    def read(self, path: str) -> bytes:
        return get(self.base_url + path, **self.options)
