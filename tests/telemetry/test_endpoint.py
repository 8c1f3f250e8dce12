"""The `/metrics` endpoint, as Prometheus scrapes it."""

from __future__ import annotations

import os
import signal
import socket
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as plain_text

import rag_otel
from rag_otel.errors import ConfigurationError
from rag_otel.safety.guard import counters
from rag_otel.telemetry.metrics_page import PrometheusMetrics
from rag_otel.telemetry.names import SCORE_EDGES
from tests.telemetry.kit import ANSWER, a_provider, answer, ids

OPEN_METRICS = "application/openmetrics-text; version=1.0.0"


@pytest.fixture
def address() -> Iterator[str]:
    """A free port on loopback."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        found = f"127.0.0.1:{taken.getsockname()[1]}"
    yield found
    rag_otel.uninstrument()


def _scrape(address: str, accept: str = "text/plain") -> tuple[str, str]:
    """Returns (body, content type)."""
    request = urllib.request.Request(f"http://{address}/metrics", headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=10) as response:
        return response.read().decode(), response.headers["Content-Type"]


def _samples(text: str, name: str) -> list[Any]:
    return [sample for family in plain_text(text) for sample in family.samples if sample.name == name]


def test_a_scraper_finds_scores_counts_and_readings(address: str) -> None:
    """Names and labels are those that rules and dashboards query."""
    provider, _ = a_provider(**{"service.name": "observatory"})
    rag_otel.instrument(provider, telemetry=rag_otel.TelemetrySettings(exporter="prometheus", address=address))
    with rag_otel.using(tags={"tenant": "acme"}):
        answer()
    assert rag_otel.flush(timeout=60)
    text, content_type = _scrape(address)
    assert content_type.startswith("text/plain; version=0.0.4")
    names = {family.name for family in plain_text(text)}
    assert {name for name in names if not name.startswith("rag_otel_")} <= {"target"}  # Prometheus' own target_info
    buckets = _samples(text, "rag_otel_evaluation_score_bucket")
    assert [sample.labels["le"] for sample in buckets] == [*map(str, SCORE_EDGES), "+Inf"]
    assert [sample.value for sample in buckets] == [0, 0, *[1] * 7]
    assert {key: value for key, value in buckets[0].labels.items() if key != "le"} == {
        "metric": "faithfulness",
        "judge": buckets[0].labels["judge"],
        "service": "observatory",
        "route": "answer",
        "tenant": "acme",
    }
    (evaluations,) = _samples(text, "rag_otel_evaluations_total")
    assert (evaluations.labels["outcome"], evaluations.value) == ("scored", 1)
    assert {sample.labels["verdict"]: sample.value for sample in _samples(text, "rag_otel_claims_total")} == {
        "supported": 1,
        "not_enough_info": 1,
    }
    for name in ("queue_age_seconds", "queue_items", "held_spans", "judge_breaker_open"):
        assert len(_samples(text, f"rag_otel_{name}")) == 1, name
    assert _samples(text, "rag_otel_judge_duration_seconds_count")[0].value == 1
    assert any(sample.labels["status"] == "evaluated" for sample in _samples(text, "rag_otel_traces_total"))


def test_open_metrics_carries_exemplars(address: str) -> None:
    """The bucket of the score has an exemplar with the trace id."""
    provider, exporter = a_provider()
    rag_otel.instrument(provider, telemetry=rag_otel.TelemetrySettings(exporter="prometheus", address=address))
    answer()
    assert rag_otel.flush(timeout=60)
    text, content_type = _scrape(address, OPEN_METRICS)
    assert content_type.startswith("application/openmetrics-text")
    found = {
        sample.labels["le"]: sample.exemplar
        for family in open_metrics(text)
        for sample in family.samples
        if sample.name == "rag_otel_evaluation_score_bucket" and sample.exemplar
    }
    (span,) = exporter.get_finished_spans()
    assert {edge: exemplar.labels for edge, exemplar in found.items()} == {
        "0.5": dict(zip(("trace_id", "span_id"), ids(span), strict=True))
    }


def test_the_address_is_free_again_when_the_set_up_is_taken_down(address: str) -> None:
    """Also when a second `instrument()` replaces the first on the same address."""
    for _ in range(2):
        rag_otel.instrument(
            TracerProvider(), telemetry=rag_otel.TelemetrySettings(exporter="prometheus", address=address)
        )
        assert _scrape(address)[0]
    rag_otel.uninstrument()
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        host, _, port = address.rpartition(":")
        again.bind((host, int(port)))


def test_an_address_that_is_taken_does_not_stop_the_application(address: str) -> None:
    """The error is counted and logged, and answers are still evaluated."""
    host, _, port = address.rpartition(":")
    before = counters.get("telemetry.endpoint_unavailable")
    with socket.socket() as taken:
        taken.bind((host, int(port)))
        taken.listen()
        rag_otel.instrument(
            TracerProvider(), telemetry=rag_otel.TelemetrySettings(exporter="prometheus", address=address)
        )
        assert answer() == ANSWER
        assert rag_otel.flush(timeout=60)
    assert counters.get("telemetry.endpoint_unavailable") == before + 1


def test_a_forked_child_lets_go_of_the_address(address: str) -> None:
    """After the parent stops listening, the address is free, although the child is alive."""
    rag_otel.instrument(TracerProvider(), telemetry=rag_otel.TelemetrySettings(exporter="prometheus", address=address))
    reading, writing = os.pipe()
    born, birth = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(50)
        os.close(writing)
        os.write(birth, b"!")
        os.read(reading, 1)  # until the parent closes its end
        os._exit(0)
    os.close(reading)
    assert os.read(born, 1) == b"!"
    rag_otel.uninstrument()
    host, _, port = address.rpartition(":")
    with pytest.raises(ConnectionRefusedError), socket.create_connection((host, int(port)), timeout=5):
        pass
    for end in (writing, born, birth):
        os.close(end)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_an_address_must_be_one() -> None:
    """A port without a host is an error."""
    with pytest.raises(ConfigurationError, match="host:port"):
        PrometheusMetrics("9464", resource=Resource.get_empty)
