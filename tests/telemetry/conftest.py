"""Every test starts and ends without an active `instrument()`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import rag_otel
from testkit.http_receiver import Receiver, http_receiver


@pytest.fixture(autouse=True)
def _uninstrumented(uninstrumented: None) -> None:
    pass


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    """Where OpenTelemetry's variables send metrics and events. It also receives what `uninstrument()` exports."""
    with http_receiver() as running:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", f"{running.url}/v1/metrics")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", f"{running.url}/v1/logs")
        yield running
        rag_otel.uninstrument()
