"""`rag-otel labels feedback` and `rag_otel.feedback()` with a real Phoenix: ratings that come late."""

from __future__ import annotations

import json
import secrets
import signal
import subprocess
from typing import Any

import pytest

import rag_otel
from rag_otel.cli.main import main
from rag_otel.delivery.http import post, to_json
from rag_otel_collectors.stored.labels import labels_in_phoenix
from rag_otel_collectors.stored.phoenix_client import PhoenixClient
from rag_otel_collectors.stored.project import StoredProject
from testkit.http_receiver import http_receiver
from testkit.polling import eventually
from testkit.shared_servers import SharedPhoenix
from testkit.warm_python import warm_python
from tests.collectors.backfill.stored import a_trace, send, spans_in
from tests.support.phoenix_server import PhoenixApi

pytestmark = [pytest.mark.phoenix, pytest.mark.usefixtures("uninstrumented")]


class Project:
    """A separate project on the shared server, with traces that have no result."""

    def __init__(self, server: SharedPhoenix, capsys: pytest.CaptureFixture[str]) -> None:
        self.name = f"feedback-{secrets.token_hex(4)}"
        self.api = PhoenixApi(server.base_url)
        self.client = PhoenixClient(server.base_url)
        self._capsys = capsys

    def send(self, count: int, **changes: Any) -> list[dict[str, Any]]:
        """The target spans of so many traces."""
        requests = [a_trace(number, **changes) for number in range(count)]
        send(self.api, self.name, *requests)
        return [span for request in requests for span in spans_in(request)]

    def run(self, command: str, *options: str, code: int = 0) -> str:
        """The output of a command over everything since 2025."""
        where = ["--project", self.name, "--phoenix-endpoint", self.api.base_url, "--since", "2025-01-01"]
        assert main([*command.split(), *where, *options]) == code
        return self._capsys.readouterr().out

    def scored(self) -> set[str]:
        """The spans that have a result of faithfulness."""
        ids = [span["context"]["span_id"] for span in self.api.spans(self.name)]
        return {row["span_id"] for row in self.api.annotations(self.name, *ids) if row["name"] == "faithfulness"}

    def annotate(self, span_id: str, **row: Any) -> None:
        """What a person says in Phoenix's UI."""
        said = {"span_id": span_id, "name": "thumb", "annotator_kind": "HUMAN", **row}
        post(f"{self.api.base_url}/v1/span_annotations?sync=true", to_json({"data": [said]}))


@pytest.fixture
def project(phoenix_server: SharedPhoenix, capsys: pytest.CaptureFixture[str]) -> Project:
    return Project(phoenix_server, capsys)


def test_a_rating_is_one_annotation_of_a_person(project: Project) -> None:
    """The same twice is one; the last word replaces the one before; other users are told apart. Comments are masked."""
    (span,) = project.send(1)
    trace_id = span["traceId"]
    rag_otel.instrument(phoenix_endpoint=project.api.base_url, project_name=project.name)
    assert rag_otel.feedback(trace_id, score=1) == rag_otel.FeedbackStatus.NOT_HERE
    assert rag_otel.flush(timeout=60)
    for _ in range(2):
        rag_otel.feedback(trace_id, score=0, label="thumbs_down", comment="No! ann@example.org knows better")
    rag_otel.feedback(trace_id, score=1, user_id="bob")
    assert rag_otel.flush(timeout=60)

    def said() -> dict[str, Any]:
        rows = {row["identifier"]: row for row in project.client.trace_annotations(project.name, [trace_id])}
        return rows if len(rows) == 2 and rows["rag-otel:feedback"]["result"]["score"] == 0 else {}

    found = eventually(said, within_s=120)
    own = found.pop("rag-otel:feedback")
    assert (own["name"], own["annotator_kind"]) == ("user_feedback", "HUMAN")
    assert own["metadata"] == {"trace_was": "not_here"}
    assert own["result"]["label"] == "thumbs_down"
    assert own["result"]["explanation"] == "No! <EMAIL_1> knows better"
    assert [row["result"]["score"] for row in found.values()] == [1]


def test_rated_answers_are_read_back(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those without a result are evaluated, once; the alert says that a user complained; nothing else is touched."""
    spans = project.send(4)
    by_ui, by_api, content, nobody = (span["spanId"] for span in spans)
    project.annotate(by_ui, result={"label": "thumbs_down"})
    project.annotate(content, result={"score": 1})
    rag_otel.instrument(phoenix_endpoint=project.api.base_url, project_name=project.name, drift=False)
    rag_otel.feedback(spans[1]["traceId"], score=0)
    assert rag_otel.flush(timeout=60)
    eventually(lambda: project.client.trace_annotations(project.name, [spans[1]["traceId"]]), within_s=120)
    assert "2 answers in rated traces: 2 would be evaluated" in project.run(
        "labels feedback", "--below", "0.5", "--dry-run"
    )
    with http_receiver() as receiver:
        monkeypatch.setenv("RAG_OTEL_ALERT_WEBHOOK_URL", receiver.url)
        monkeypatch.setenv("RAG_OTEL_ALERT_RULES", "risk>0.0")
        monkeypatch.setenv("RAG_OTEL_ALERT_DIGEST", "0")
        assert "2 answers in rated traces: 2 evaluated" in project.run("labels feedback", "--below", "0.5")
        (review,) = (json.loads(request.body) for request in receiver.requests)
    assert [example["rating"] for example in review["examples"]] == [0.0, 0.0]
    assert project.scored() == {by_ui, by_api}
    # Everything that was rated; those that have a result are left alone.
    assert "3 answers in rated traces: 1 evaluated, 2 had a result" in project.run("labels feedback")
    assert "0 evaluated, 3 had a result" in project.run("labels feedback")
    assert project.scored() == {by_ui, by_api, content} != {nobody}


def test_ratings_are_labels_and_no_part_of_the_sample(project: Project) -> None:
    """Every rated answer counts once against the judge; means of all traffic rest on the sampled answer alone."""
    spans = project.send(3)
    project.run("traces backfill", "--budget", "1")
    for span, score in zip(spans, (1, 0, 0), strict=True):
        project.annotate(span["spanId"], name="user_feedback", result={"score": score})
    project.run("labels feedback")
    stored = StoredProject(client=project.client, name=project.name)
    found = list(labels_in_phoenix(stored, metric="faithfulness", annotations=["label", "user_feedback"]))
    assert sorted((each.bad, each.weight) for each in found) == [(False, 1.0), (True, 1.0), (True, 1.0)]
    (report,) = json.loads(project.run("labels calibrate", "--json"))
    assert (report["overall"]["labels"], report["overall"]["bad"]) == (3, 2)
    assert f"Replay of {project.name}: 1 evaluations" in project.run("drift")


def test_results_on_the_span_count_and_failed_ones_do_not(project: Project) -> None:
    """An application without annotations writes its results on spans alone. A failed evaluation is repeated."""
    on_span = a_trace()
    (span,) = spans_in(on_span)
    span["attributes"].append({"key": "rag.evaluation.faithfulness.score", "value": {"doubleValue": 0.5}})
    send(project.api, project.name, on_span)
    (failed,) = project.send(1)
    for each in (span, failed):
        project.annotate(each["spanId"], result={"score": 0})
    metadata = {"error_type": "TimeoutError"}
    ours = {"name": "faithfulness", "annotator_kind": "CODE", "identifier": "rag-otel", "metadata": metadata}
    project.annotate(failed["spanId"], result={"label": "timeout"}, **ours)
    assert "2 answers in rated traces: 1 evaluated, 1 had a result" in project.run("labels feedback")


def test_it_goes_on_until_it_is_told_to_stop(project: Project) -> None:
    """What is rated while it runs is found at the next look; SIGTERM ends it."""
    first, second = (span["spanId"] for span in project.send(2))
    project.annotate(first, result={"score": 0})
    where = ["--project", project.name, "--phoenix-endpoint", project.api.base_url, "--since", "2025-01-01"]
    command = [warm_python(), "-m", "rag_otel.cli.main", "labels", "feedback", *where, "--every", "0.2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        try:
            eventually(lambda: project.scored() == {first}, within_s=120)
            project.annotate(second, result={"score": 0})
            eventually(lambda: project.scored() == {first, second}, within_s=120)
        finally:
            running.send_signal(signal.SIGTERM)
        assert running.wait(60) == 0
