"""Links to Phoenix's pages, and Phoenix's address derived from configured endpoints."""

from __future__ import annotations

import pytest

from rag_otel.writers.phoenix_links import phoenix_base_url, session_link, span_link, trace_link


@pytest.mark.parametrize(
    "endpoint", ["http://p:6006", "http://p:6006/", "http://p:6006/v1/traces", "http://p:6006/v1/traces/"]
)
def test_the_collectors_endpoint_is_phoenixs_address_too(endpoint: str) -> None:
    """The exporter's endpoint is accepted as Phoenix's address."""
    assert phoenix_base_url(endpoint) == "http://p:6006"


def test_a_path_prefix_is_kept() -> None:
    """The path of a proxy, or of a space of Phoenix Cloud, is kept."""
    assert phoenix_base_url("https://app.example.com/s/team/v1/traces") == "https://app.example.com/s/team"
    assert trace_link("https://e.com/s/team", "ab") == "https://e.com/s/team/redirects/traces/ab"


def test_ids_of_the_applications_own_are_quoted() -> None:
    """A session id may contain any characters."""
    assert session_link("http://p", "a/b c?") == "http://p/redirects/sessions/a%2Fb%20c%3F"
    assert span_link("http://p/", "cd") == "http://p/redirects/spans/cd"
