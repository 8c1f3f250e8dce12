"""Phoenix as the backend: the span with scores, and the annotations, configured only with Phoenix's address."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from rag_otel import semconv
from rag_otel.cli.demo.phoenix_server import PhoenixServer
from testkit.collector import SCORE, a_collector
from testkit.otlp_requests import a_rag_trace, a_request
from testkit.polling import eventually
from tests.support.phoenix_server import PhoenixApi

pytestmark = pytest.mark.phoenix


def test_scores_and_annotations_arrive_in_phoenix(tmp_path: Path, phoenix_server: PhoenixServer) -> None:
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
    wanted = {"faithfulness", "hallucination_risk"}
    eventually(lambda: {each["name"] for each in api.annotations(project, span_id)} == wanted)
    with a_collector(tmp_path, env=env) as collector:
        collector.export(request)  # an exporter that did not get the answer sends again
        eventually(lambda: collector.metric("sent_requests_total") == 1)
        assert collector.stop() == 0
    names = ["answer", "evaluation faithfulness", "retrieve"]
    eventually(lambda: sorted(span["name"] for span in api.spans(project)) == names)
    assert len(api.annotations(project, span_id)) == 2
