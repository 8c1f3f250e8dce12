"""What Phoenix is told of the names of annotations: on a real server, and on one that does not know how."""

from __future__ import annotations

import dataclasses
import json
import logging
import secrets
from typing import Any

import pytest

from rag_otel.delivery.http import get, post, to_json
from rag_otel.evaluation.directions import declare_lower_is_better
from rag_otel.model import Evaluation
from rag_otel.writers.phoenix_annotations import PhoenixAnnotationWriter
from testkit.http_receiver import http_receiver
from testkit.polling import eventually
from testkit.shared_servers import SharedPhoenix
from tests.support.results import a_result, an_evaluation


class Server:
    """A real Phoenix with a project of the test's own."""

    def __init__(self, server: SharedPhoenix) -> None:
        self.url = server.base_url
        self.project = f"configurations-{secrets.token_hex(4)}"

    def make_project(self) -> None:
        """As the first span of a project does."""
        post(f"{self.url}/v1/projects", to_json({"name": self.project}))

    def write(self, *evaluations: Evaluation) -> None:
        """As an application does whose settings name the project."""
        PhoenixAnnotationWriter(self.url).write([dataclasses.replace(a_result(*evaluations), project=self.project)])

    def shown(self) -> dict[str, dict[str, Any]]:
        """The configurations that the project shows, by name."""
        rows = json.loads(get(f"{self.url}/v1/projects/{self.project}/annotation_configs"))["data"]
        return {row["name"]: row for row in rows}


@pytest.fixture
def server(phoenix_server: SharedPhoenix) -> Server:
    server = Server(phoenix_server)
    server.make_project()
    return server


def a_name() -> str:
    """Configurations belong to the server, so a name that no other test uses."""
    return f"metric_{secrets.token_hex(4)}"


def a_score(name: str) -> Evaluation:
    return an_evaluation(name=name, score=0.25, risk=None, label=None, claims=())


@pytest.mark.phoenix
def test_a_label_has_two_values_of_which_one_is_good(server: Server) -> None:
    """So Phoenix shows `unfaithful` in red."""
    server.write(an_evaluation())
    found = server.shown()["faithfulness"]
    assert (found["type"], found["optimization_direction"]) == ("CATEGORICAL", "MAXIMIZE")
    assert {each["label"]: each["score"] for each in found["values"]} == {"unfaithful": 0.0, "faithful": 1.0}


@pytest.mark.phoenix
def test_a_score_is_good_at_one_end(server: Server) -> None:
    """At the upper end, or at the lower one where its evaluator says so."""
    higher, lower = a_name(), a_name()
    declare_lower_is_better(lower)
    server.write(a_score(higher), a_score(lower))
    shown = server.shown()
    assert [shown[name]["optimization_direction"] for name in (higher, lower)] == ["MAXIMIZE", "MINIMIZE"]
    assert (shown[lower]["lower_bound"], shown[lower]["upper_bound"]) == (0.0, 1.0)


@pytest.mark.phoenix
def test_a_project_that_comes_later_shows_them_too(phoenix_server: SharedPhoenix) -> None:
    """A busy Phoenix takes annotations before it has stored the first span. No further result is needed."""
    server = Server(phoenix_server)
    server.write(an_evaluation())
    server.make_project()
    eventually(lambda: "faithfulness" in server.shown())


@pytest.mark.phoenix
def test_what_somebody_has_configured_stays_as_it_is(server: Server) -> None:
    """It is shown in the project, and not changed, however often results are written."""
    name = a_name()
    body = {"type": "CONTINUOUS", "name": name, "optimization_direction": "NONE", "lower_bound": -3, "upper_bound": 3}
    post(f"{server.url}/v1/annotation_configs", to_json(body))
    for _ in range(2):
        server.write(a_score(name))
    found = server.shown()[name]
    assert (found["optimization_direction"], found["lower_bound"]) == ("NONE", -3)


def test_a_server_without_configurations_costs_one_line_and_no_score(caplog: pytest.LogCaptureFixture) -> None:
    """An older Phoenix: every batch is written, and after some tries nothing more is asked for."""
    with http_receiver() as receiver, caplog.at_level(logging.WARNING):
        receiver.respond = lambda request: (404 if "annotation_configs" in request.path else 200, b"")
        writer = PhoenixAnnotationWriter(receiver.url)
        for _ in range(8):
            writer.write([a_result()])
        asked = [request.path for request in receiver.requests if "annotation_configs" in request.path]
        written = [request.path for request in receiver.requests if "span_annotations" in request.path]
    assert len(written) == 8
    assert len(asked) == 5
    (line,) = [record.getMessage() for record in caplog.records]
    assert "without colours" in line


def test_nothing_is_asked_twice() -> None:
    """One list, one creation and one assignment for each name, however many batches follow."""
    with http_receiver() as receiver:
        receiver.respond = lambda request: (200, b'{"data": []}')
        writer = PhoenixAnnotationWriter(receiver.url)
        for _ in range(3):
            writer.write([a_result()])
        asked = [request.path for request in receiver.requests if "annotation_configs" in request.path]
    assert asked == [
        "/v1/annotation_configs?limit=1000",
        "/v1/annotation_configs",
        "/v1/projects/default/annotation_configs/faithfulness",
    ]
