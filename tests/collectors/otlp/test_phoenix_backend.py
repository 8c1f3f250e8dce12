"""Phoenix as the backend: the span with scores, and the annotations, configured only with Phoenix's address."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from rag_otel import semconv
from rag_otel.cli.serving import with_phoenix
from rag_otel_collectors.otlp.settings import configure
from testkit.collector import SCORE, a_collector
from testkit.http_receiver import http_receiver
from testkit.otlp_requests import a_rag_trace, a_request
from testkit.polling import eventually
from testkit.shared_servers import SharedPhoenix
from tests.support.phoenix_server import PhoenixApi

pytestmark = pytest.mark.phoenix


def test_a_phoenix_that_is_named_as_a_backend_gets_annotations(tmp_path: Path, phoenix_server: SharedPhoenix) -> None:
    """As the tutorial writes it: its address is given once."""
    project = f"collector-{uuid.uuid4().hex[:8]}"
    request = a_request(*a_rag_trace())
    request.resource_spans[0].resource.attributes.add(key=semconv.PROJECT_NAME).value.string_value = project
    api = PhoenixApi(phoenix_server.base_url)
    with a_collector(tmp_path, "--backend", phoenix_server.base_url) as collector:
        collector.export(request)
        (span,) = eventually(lambda: [span for span in api.spans(project) if span["name"] == "answer"])
        wanted = {"faithfulness"}
        eventually(lambda: {each["name"] for each in api.annotations(project, span["context"]["span_id"])} == wanted)
        assert collector.stop() == 0


@pytest.mark.parametrize(
    ("answer", "recognised"),
    [
        ((200, b"20.20.1\n"), True),
        ((200, b"<html>version 20.1</html>"), False),
        ((404, b""), False),
        ((503, b""), False),
    ],
)
def test_only_a_phoenix_is_taken_for_one(answer: tuple[int, bytes], recognised: bool) -> None:
    """By what it says of itself, once; its key is the backend's."""
    with http_receiver() as backend:
        backend.respond = lambda received: answer
        given = {"backend": backend.url, "headers": "authorization=Bearer k"}
        found = with_phoenix(configure(given, environ={})).evaluation.settings
        assert [each.path for each in backend.requests] == ["/arize_phoenix_version"]
        assert (found.phoenix_endpoint, found.phoenix_api_key) == ((backend.url, "k") if recognised else (None, None))
        with_phoenix(configure({**given, "annotations": False}, environ={}))
        with_phoenix(configure({**given, "phoenix_endpoint": "http://p:6006"}, environ={}))
        assert len(backend.requests) == 1


def test_scores_and_annotations_arrive_in_phoenix(tmp_path: Path, phoenix_server: SharedPhoenix) -> None:
    """Once each, in the application's project. A restart of the collector writes nothing twice."""
    project = f"collector-{uuid.uuid4().hex[:8]}"
    request = a_request(*a_rag_trace())
    request.resource_spans[0].resource.attributes.add(key=semconv.PROJECT_NAME).value.string_value = project
    api = PhoenixApi(phoenix_server.base_url)
    env = {"RAG_OTEL_PHOENIX_ENDPOINT": phoenix_server.base_url}
    with a_collector(tmp_path, env=env) as collector:
        collector.export(request)
        spans = eventually(lambda: [span for span in api.spans(project) if span["name"] == "answer"])
        assert spans[0]["attributes"][SCORE] == 1.0
        span_id = spans[0]["context"]["span_id"]
        assert collector.stop() == 0
    # Draining delivered the annotations too.
    eventually(lambda: [each["name"] for each in api.annotations(project, span_id)] == ["faithfulness"])
    with a_collector(tmp_path, env=env) as collector:
        collector.export(request)  # an exporter that did not get the answer sends again
        eventually(lambda: collector.metric("sent_requests_total") >= 1)  # one or more, by what came within 50 ms
        assert collector.stop() == 0
    names = ["answer", "evaluation faithfulness", "retrieve"]
    eventually(lambda: sorted(span["name"] for span in api.spans(project)) == names)
    assert len(api.annotations(project, span_id)) == 1
