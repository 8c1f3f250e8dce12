"""Links to the pages of projects and traces in Phoenix, built from their ids.

Phoenix redirects `/redirects/...` to the right project, so a link can be built before the span has arrived.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final
from urllib.parse import quote, urlsplit

from rag_otel.model import EvaluatedTrace
from rag_otel.safety.redaction import public_address
from rag_otel.settings import Settings

UNFAITHFUL_ANSWERS: Final = "annotations['faithfulness'].label == 'unfaithful'"
"""For the filter box of Phoenix's Spans tab. No address can set the filter."""
_OTLP_PATH = "/v1/traces"
_PHOENIX_PORT: Final = 6006
_OTLP_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


def phoenix_base_url(endpoint: str) -> str:
    """Returns the server's address without a slash or `/v1/traces` at the end."""
    return endpoint.rstrip("/").removesuffix(_OTLP_PATH).rstrip("/")


def phoenix_among_exports() -> str | None:
    """The address of the Phoenix that OpenTelemetry's own variables export to, by its port (6006) or a host that bears
    its name. None where they name something else, and for OTLP/gRPC, at whose port no page is."""
    endpoint = next((os.environ[name] for name in _OTLP_ENDPOINTS if os.environ.get(name)), "")
    try:
        parts = urlsplit(endpoint)
        port = parts.port
    except ValueError:
        return None
    named = "phoenix" in (parts.hostname or "") and port in (None, 80, 443)
    return (
        phoenix_base_url(endpoint) if parts.scheme in ("http", "https") and (port == _PHOENIX_PORT or named) else None
    )


def phoenix_page(settings: Settings) -> str | None:
    """Where people find Phoenix: the address for links, else the server's, else the one that spans are exported to."""
    return settings.alerts.phoenix_public_url or settings.phoenix_endpoint or phoenix_among_exports()


def project_link(base_url: str, project: str) -> str:
    """Link to the page of a project: its traces, and its charts over time."""
    return f"{_shown(base_url)}/redirects/projects/{quote(project, safe='')}"


def trace_link(base_url: str, trace_id: str) -> str:
    """Link to the page of a trace. `trace_id` is 32 hex digits."""
    return f"{_shown(base_url)}/redirects/traces/{trace_id}"


def links_to_traces(settings: Settings) -> Callable[[EvaluatedTrace], str | None]:
    """What gives the link to a result's trace; None where nobody knows of a Phoenix."""
    base_url = phoenix_page(settings)

    def link(result: EvaluatedTrace) -> str | None:
        return None if base_url is None else trace_link(base_url, result.trace.target.trace_id)

    return link


def _shown(base_url: str) -> str:
    return public_address(phoenix_base_url(base_url))
