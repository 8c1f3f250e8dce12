"""`rag-otel labels review` on a real Phoenix: the queue is annotations, and labels from it carry their weight."""

from __future__ import annotations

import json
import uuid

import pytest

from rag_otel.cli.main import main
from rag_otel.delivery.http import post, to_json
from rag_otel.model import SpanRef
from rag_otel.writers.phoenix_annotations import PhoenixAnnotationWriter
from rag_otel_collectors.stored.labels import labels_in_phoenix
from rag_otel_collectors.stored.phoenix_client import PhoenixClient
from rag_otel_collectors.stored.project import StoredProject
from testkit.polling import eventually
from testkit.shared_servers import SharedPhoenix
from tests.support.phoenix_server import PhoenixApi
from tests.support.results import a_result, an_evaluation


@pytest.mark.phoenix
def test_a_queue_is_made_labelled_and_weighted(
    phoenix_server: SharedPhoenix, capsys: pytest.CaptureFixture[str]
) -> None:
    """Answers that are queued or labelled are not picked again; a dry run changes nothing."""
    project, api = f"review-{uuid.uuid4().hex[:8]}", PhoenixApi(phoenix_server.base_url)
    targets = [SpanRef(trace_id=uuid.uuid4().hex, span_id=uuid.uuid4().hex[:16]) for _ in range(8)]
    ids = [each.span_id for each in targets]
    spans = [
        {
            "name": "answer",
            "context": {"trace_id": target.trace_id, "span_id": target.span_id},
            "span_kind": "CHAIN",
            "start_time": "2026-05-01T12:00:00Z",
            "end_time": "2026-05-01T12:00:01Z",
            "status_code": "OK",
            "attributes": {},
        }
        for target in targets
    ]
    post(f"{phoenix_server.base_url}/v1/projects", to_json({"name": project}))
    post(f"{phoenix_server.base_url}/v1/projects/{project}/spans", to_json({"data": spans}))
    eventually(lambda: len(api.spans(project)) == 8, within_s=120)
    PhoenixAnnotationWriter(phoenix_server.base_url).write(
        [a_result(an_evaluation(risk=0.5 if n < 4 else 0.02), target=target) for n, target in enumerate(targets)]
    )
    eventually(lambda: len(api.annotations(project, *ids)) == 8, within_s=120)

    def reviewed(*more: str) -> list[dict[str, object]]:
        arguments = ["--project", project, "--phoenix-endpoint", phoenix_server.base_url, "--json", *more]
        assert main(["labels", "review", *arguments]) == 0
        return list(json.loads(capsys.readouterr().out))

    assert len(reviewed("--count", "8", "--dry-run")) == 8
    first = reviewed("--count", "4", "--coin", "0.2")
    queued = [each for each in api.annotations(project, *ids) if each["name"] == "review"]
    assert {each["span_id"] for each in queued} == {each["span_id"] for each in first} != set()
    assert {each["result"]["label"] for each in queued} == {"queued"}
    people = [
        {
            "span_id": each["span_id"],
            "name": "label",
            "annotator_kind": "HUMAN",
            "result": {"label": "faithful"},
        }
        for each in first
    ]
    post(f"{phoenix_server.base_url}/v1/span_annotations?sync=true", to_json({"data": people}))
    again = reviewed("--count", "8")
    assert {each["span_id"] for each in again} == set(ids) - {each["span_id"] for each in first}
    reviewed_project = StoredProject(client=PhoenixClient(phoenix_server.base_url), name=project)
    labels = labels_in_phoenix(reviewed_project, metric="faithfulness", annotations=["label"])
    expected = sorted(4.0 / float(str(each["probability"])) for each in first)
    assert sorted(each.weight for each in labels) == pytest.approx(expected)
    assert main(["labels", "review", "--project", project, "--phoenix-endpoint", phoenix_server.base_url]) == 0
    assert "labels so far" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--count", "0"], "--count must be above 0"),
        (["--coin", "0"], "--coin must be above 0"),
        ([], "Phoenix's address is missing"),
    ],
)
def test_wrong_input(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    """One line that names the option and the way out."""
    assert main(["labels", "review", "--project", "p", *arguments]) == 2
    assert said in capsys.readouterr().err
