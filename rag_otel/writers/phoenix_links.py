"""Links to the pages of traces, spans and sessions in Phoenix, built from their ids.

Phoenix redirects `/redirects/...` to the right project, so a link can be built before the span has arrived.
"""

from __future__ import annotations

from urllib.parse import quote

from rag_otel.safety.redaction import public_address

_OTLP_PATH = "/v1/traces"


def phoenix_base_url(endpoint: str) -> str:
    """Returns the server's address without a slash or `/v1/traces` at the end."""
    return endpoint.rstrip("/").removesuffix(_OTLP_PATH).rstrip("/")


def trace_link(base_url: str, trace_id: str) -> str:
    """Link to the page of a trace. `trace_id` is 32 hex digits."""
    return f"{_shown(base_url)}/redirects/traces/{trace_id}"


def span_link(base_url: str, span_id: str) -> str:
    """Link to the page of a trace with this span selected. `span_id` is 16 hex digits."""
    return f"{_shown(base_url)}/redirects/spans/{span_id}"


def session_link(base_url: str, session_id: str) -> str:
    """Link to the page of a session. `session_id` is the application's session id."""
    return f"{_shown(base_url)}/redirects/sessions/{quote(session_id, safe='')}"


def _shown(base_url: str) -> str:
    return public_address(phoenix_base_url(base_url))
