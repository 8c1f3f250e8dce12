"""Beside other evaluators in a real Phoenix: nothing collides, nothing is mistaken, and they can be compared."""

from __future__ import annotations

import json
import secrets
from typing import Any

import pytest

from rag_otel import semconv
from rag_otel.cli.main import main
from rag_otel.delivery.http import post, to_json
from rag_otel.model import SpanRef
from rag_otel.writers.phoenix_annotations import PhoenixAnnotationWriter
from rag_otel_collectors.stored.phoenix_client import PhoenixClient
from testkit.polling import eventually
from testkit.shared_servers import SharedPhoenix
from tests.collectors.backfill.stored import a_trace, send, spans_in
from tests.collectors.conventions.otlp_json import a_json_span, a_request, text_attributes
from tests.support.phoenix_server import PhoenixApi
from tests.support.results import a_result, an_evaluation

pytestmark = pytest.mark.phoenix


class Project:
    """A separate project on the shared server."""

    def __init__(self, server: SharedPhoenix, capsys: pytest.CaptureFixture[str]) -> None:
        self.name = f"judges-{secrets.token_hex(4)}"
        self.api = PhoenixApi(server.base_url)
        self.client = PhoenixClient(server.base_url)
        self._capsys = capsys

    def send(self, count: int) -> list[SpanRef]:
        """The target spans of so many traces."""
        requests = [a_trace(number) for number in range(count)]
        send(self.api, self.name, *requests)
        spans = (span for request in requests for span in spans_in(request))
        return [SpanRef(trace_id=span["traceId"], span_id=span["spanId"]) for span in spans]

    def ours(self, targets: list[SpanRef], risks: list[float]) -> None:
        """Results of rag-otel with these risks."""
        results = [
            a_result(an_evaluation(risk=risk, score=1 - risk), target=target)
            for target, risk in zip(targets, risks, strict=True)
        ]
        PhoenixAnnotationWriter(self.api.base_url).write(results)
        ids = [target.span_id for target in targets]
        eventually(
            lambda: len(self.client.annotations(self.name, ids, names=["faithfulness"])) >= len(ids), within_s=120
        )

    def annotate(self, kind: str, name: str, rows: list[dict[str, Any]], **more: str) -> None:
        """Annotations as somebody else writes them: a span's or a trace's id, and a result."""
        for place in ("span", "trace"):
            said = [
                {f"{place}_id": row[place], "name": name, "annotator_kind": kind, "result": row["result"], **more}
                for row in rows
                if place in row
            ]
            if said:
                post(f"{self.api.base_url}/v1/{place}_annotations?sync=true", to_json({"data": said}))

    def run(self, command: str, *options: str, code: int = 0) -> str:
        """The output of a command over everything since 2025."""
        where = ["--project", self.name, "--phoenix-endpoint", self.api.base_url, "--since", "2025-01-01"]
        assert main([*command.split(), *where, *options]) == code
        return self._capsys.readouterr().out


@pytest.fixture
def project(phoenix_server: SharedPhoenix, capsys: pytest.CaptureFixture[str]) -> Project:
    return Project(phoenix_server, capsys)


def test_annotations_of_the_same_name_leave_each_other_alone(project: Project) -> None:
    """Theirs before and after ours, and ours written twice: two annotations, each with its own result. What they say
    is no result of ours."""
    (target,) = project.send(1)

    def theirs(score: float) -> None:
        project.annotate("LLM", "faithfulness", [{"span": target.span_id, "result": {"score": score}}])

    theirs(0.25)
    assert "evaluated            1" in project.run("traces backfill")
    assert "already have scores  1" in project.run("traces backfill")
    theirs(0.5)
    rows = project.client.annotations(project.name, [target.span_id], names=["faithfulness"])
    found = {row["identifier"]: (row["annotator_kind"], row["result"]["score"]) for row in rows}
    assert found == {"": ("LLM", 0.5), "rag-otel": ("CODE", 1.0)}
    assert "1 evaluations" in project.run("drift")


def test_spans_of_other_evaluators_are_not_evaluated(project: Project) -> None:
    """Phoenix's own evaluator: a root of kind EVALUATOR, below it chains, a prompt and a model call, in its own trace.
    One that retrieves for itself is no answer either."""
    trace_id = secrets.token_hex(16)
    root = a_json_span(trace_id, secrets.token_hex(8), name="Evaluator: faithfulness")
    spans = [root]
    for kind in ("CHAIN", "PROMPT", "RETRIEVER", "LLM"):
        span = a_json_span(trace_id, secrets.token_hex(8), name=kind, parentSpanId=root["spanId"])
        span["attributes"] += text_attributes({semconv.SPAN_KIND: kind})
        spans.append(span)
    root["attributes"] += text_attributes({semconv.SPAN_KIND: semconv.KIND_EVALUATOR})
    send(project.api, project.name, a_request(*spans))
    assert "RAG traces found       0" in project.run("traces backfill")


def test_another_judge_is_compared_with_ours_and_with_people(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its labels say which end of its scale is bad; half of its annotations are of the trace."""
    targets = project.send(24)
    risks = [0.9 if number % 3 == 0 else 0.1 for number in range(24)]
    project.ours(targets, risks)
    calls_bad = [{"label": "hallucinated", "score": 1.0}, {"label": "factual", "score": 0.0}]
    places = [{"span": each.span_id} if number % 2 else {"trace": each.trace_id} for number, each in enumerate(targets)]
    project.annotate(
        "LLM",
        "hallucination",
        [{**place, "result": calls_bad[risk < 0.5]} for place, risk in zip(places, risks, strict=True)],
        identifier="v2",
    )
    (report,) = json.loads(project.run("labels calibrate", "--against", "hallucination", "--json"))
    assert report["judge"] == "embedded, against hallucination (LLM, v2)"
    assert (report["overall"]["labels"], report["overall"]["bad"]) == (24, 8)
    assert (report["overall"]["kappa"]["value"], report["overall"]["auroc"]["value"]) == (1.0, 1.0)
    assert "agreement with hallucination, another judge" in project.run(
        "labels calibrate", "--against", "hallucination"
    )
    # People disagree with it on every answer: of an answer that it calls bad they say good.
    project.annotate(
        "HUMAN",
        "label",
        [
            {"span": target.span_id, "result": {"label": "good" if risk > 0.5 else "bad"}}
            for target, risk in zip(targets, risks, strict=True)
        ],
    )
    (report,) = json.loads(project.run("labels calibrate", "--other-judge", "hallucination", "--json"))
    assert (report["metric"], report["judge"]) == ("hallucination", "hallucination (LLM, v2)")
    assert (report["overall"]["labels"], report["overall"]["auroc"]["value"]) == (24, 0.0)
    project.run("labels calibrate", "--against", "hallucination", "--output", "nowhere.json", code=2)
    told = project.run("drift", "--annotation", "hallucination", "--all")
    assert "24 evaluations" in told
    assert "hallucination.score" in told
    assert "judge=hallucination (LLM, v2)" in told
    assert "faithfulness" not in told
