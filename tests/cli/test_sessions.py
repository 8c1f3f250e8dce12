"""`rag-otel traces sessions` on a real Phoenix: sessions get the weighted means of their answers, and the worst one."""

from __future__ import annotations

import dataclasses
import json
import uuid
from typing import Any

import pytest

from rag_otel.cli.main import main
from rag_otel.delivery.http import get, post, to_json
from rag_otel.model import SpanRef
from rag_otel.writers.phoenix_annotations import PhoenixAnnotationWriter
from rag_otel_collectors.stored.answers import StoredAnswer
from rag_otel_collectors.stored.results import StoredResult
from rag_otel_collectors.stored.sessions import session_scores
from testkit.polling import eventually
from testkit.shared_servers import SharedPhoenix
from tests.support.phoenix_server import PhoenixApi
from tests.support.results import a_result, an_evaluation


def a_span(target: SpanRef, session: str | None, minute: int) -> dict[str, Any]:
    """An observed call with its documents, as Phoenix takes it."""
    said = {} if session is None else {"session.id": session}
    documents = {"retrieval.documents.0.document.content": "The moon orbits the earth."}
    return {
        "name": "answer",
        "context": {"trace_id": target.trace_id, "span_id": target.span_id},
        "span_kind": "CHAIN",
        "start_time": f"2026-05-01T12:{minute:02}:00Z",
        "end_time": f"2026-05-01T12:{minute:02}:01Z",
        "status_code": "OK",
        "attributes": {"input.value": "What?", "output.value": "The moon.", **documents, **said},
    }


@pytest.mark.phoenix
def test_sessions_are_scored_and_annotated(phoenix_server: SharedPhoenix, capsys: pytest.CaptureFixture[str]) -> None:
    """A second run replaces the annotations; a session that began earlier keeps its own."""
    key = uuid.uuid4().hex[:8]
    project, url, api = f"sessions-{key}", phoenix_server.base_url, PhoenixApi(phoenix_server.base_url)
    good, bad, unjudged = f"good-{key}", f"bad-{key}", f"unjudged-{key}"
    turns = [
        (good, 1.0, 1.0),
        (good, 0.5, 0.25),
        (good, None, 1.0),
        (bad, 0.0, 1.0),
        (unjudged, None, 1.0),
        (None, 0.2, 1.0),
    ]
    targets = [SpanRef(trace_id=uuid.uuid4().hex, span_id=uuid.uuid4().hex[:16]) for _ in turns]
    spans = [a_span(target, turn[0], minute) for minute, (target, turn) in enumerate(zip(targets, turns, strict=True))]
    post(f"{url}/v1/projects", to_json({"name": project}))
    post(f"{url}/v1/projects/{project}/spans", to_json({"data": spans}))
    eventually(lambda: len(api.spans(project)) == len(turns), within_s=120)
    results = [
        dataclasses.replace(result, decision=dataclasses.replace(result.decision, probability=probability))
        for target, (_, score, probability) in zip(targets, turns, strict=True)
        if score is not None
        for result in (a_result(an_evaluation(score=score, risk=1 - score), target=target),)
    ]
    PhoenixAnnotationWriter(url).write(results)
    ids = [target.span_id for target in targets]
    eventually(lambda: len(api.annotations(project, *ids)) == len(results), within_s=120)

    def scored(*more: str) -> list[dict[str, Any]]:
        assert main(["traces", "sessions", "--project", project, "--phoenix-endpoint", url, "--json", *more]) == 0
        return list(json.loads(capsys.readouterr().out))

    def annotations() -> dict[tuple[str, str], float]:
        wanted = "&".join(f"session_ids={each}" for each in (good, bad, unjudged))
        path = f"{url}/v1/projects/{project}/session_annotations?{wanted}"
        rows = json.loads(get(path, headers={}, timeout_s=60))["data"]
        return {(row["session_id"], row["name"]): round(row["result"]["score"], 6) for row in rows}

    first = scored("--dry-run")
    assert [(each["session_id"], each["evaluated"], each["answers"]) for each in first] == [
        (bad, 1, 1),
        (good, 2, 3),
        (unjudged, 0, 1),
    ]
    assert [each["worst_span_id"] for each in first] == [ids[3], ids[1], None]
    assert annotations() == {}
    scored()
    expected = {  # good: (1 + 4 * 0.5) / 5
        (good, "faithfulness"): 0.6,
        (good, "faithfulness_worst"): 0.5,
        (good, "hallucination_risk"): 0.4,
        (bad, "faithfulness"): 0.0,
        (bad, "faithfulness_worst"): 0.0,
        (bad, "hallucination_risk"): 1.0,
    }
    assert annotations() == expected
    assert scored("--since", "2026-05-01T12:01:00Z")[1]["score"] == 0.5, "only the second and third answer"
    assert annotations() == expected
    assert main(["traces", "sessions", "--project", project, "--phoenix-endpoint", url]) == 0
    out = capsys.readouterr().out
    assert "2 of 3" in out
    assert "2 of 2 sessions with a score annotated" in out


def test_a_span_counts_once() -> None:
    """Several turns of a session are several spans; one span that is read twice is one."""
    trace = a_result(session_id="s").trace
    answer = StoredAnswer(trace=trace, result=StoredResult(score=0.5), human=())
    (session,) = session_scores([answer, answer], "faithfulness")
    assert (session.answers, session.score, session.risk) == (1, 0.5, None)


def test_the_worst_score_of_a_metric_that_is_better_when_lower() -> None:
    """Noise sensitivity is worst at 1, and sessions with the highest mean stand first."""
    answers = [
        StoredAnswer(trace=a_result(session_id=name).trace, result=StoredResult(score=score), human=())
        for name, score in (("calm", 0.1), ("noisy", 0.2), ("noisy", 0.9))
    ]
    found = session_scores(answers, "noise_sensitivity")
    assert [(each.session_id, each.worst) for each in found] == [("noisy", 0.9), ("calm", 0.1)]


def test_phoenix_must_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    """One line that says what is missing."""
    assert main(["traces", "sessions", "--project", "p"]) == 2
    assert "Phoenix's address is missing" in capsys.readouterr().err
