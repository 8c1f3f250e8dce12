"""Links to Phoenix's pages, and Phoenix's address derived from configured endpoints."""

from __future__ import annotations

import pytest

from rag_otel.writers.phoenix_links import (
    phoenix_among_exports,
    phoenix_base_url,
    project_link,
    trace_link,
)


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


def test_a_projects_name_is_quoted() -> None:
    """A name may contain any characters."""
    assert project_link("http://p/", "a/b c?") == "http://p/redirects/projects/a%2Fb%20c%3F"


@pytest.mark.parametrize(
    ("endpoint", "page"),
    [
        ("http://localhost:6006/v1/traces", "http://localhost:6006"),
        ("http://collector:6006", "http://collector:6006"),
        ("https://phoenix.example.com/v1/traces", "https://phoenix.example.com"),
        ("https://app.phoenix.arize.com/s/team/v1/traces", "https://app.phoenix.arize.com/s/team"),
        ("http://phoenix:4317", None),
        ("http://localhost:4318", None),
        ("https://otlp.example.com", None),
        ("phoenix:6006", None),
        ("http://phoenix:port", None),
        ("", None),
    ],
)
def test_a_phoenix_is_recognized_among_exports(
    endpoint: str, page: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its links need no setting of their own; another backend gets none."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
    assert phoenix_among_exports() == page


def test_the_address_for_traces_is_asked_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://localhost:6006/v1/traces")
    assert phoenix_among_exports() == "http://localhost:6006"
    assert project_link("http://localhost:6006/", "my app") == "http://localhost:6006/redirects/projects/my%20app"
