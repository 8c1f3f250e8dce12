"""Reading rag-otel's results back from Phoenix's annotations, in both forms."""

from __future__ import annotations

import json
from typing import Any

from rag_otel.model import EvaluatedTrace
from rag_otel.writers.phoenix_annotations import PhoenixAnnotationWriter
from rag_otel_collectors.stored.results import noted_results, stored_result
from testkit.http_receiver import http_receiver
from tests.support.results import a_result, an_evaluation


def a_row(name: str, shown: float | None, *, identifier: str = "rag-otel", **metadata: Any) -> dict[str, Any]:
    result = {"score": shown, "label": "unfaithful", "explanation": "made of cheese"}
    return {"name": name, "identifier": identifier, "result": result, "metadata": metadata}


def written(result: EvaluatedTrace) -> list[dict[str, Any]]:
    """The annotations of spans that the writer sends for a result."""
    with http_receiver() as receiver:
        PhoenixAnnotationWriter(receiver.url).write([result])
        return list(json.loads(receiver.requests[0].body)["data"])


def test_what_the_writer_writes_is_read_back() -> None:
    """Score and risk, not the number that stands for the label."""
    rows = written(a_result(an_evaluation(score=0.25, risk=0.5)))
    found = stored_result({}, rows, "faithfulness")
    assert (found.score, found.risk, found.label, found.judge) == (0.25, 0.5, "unfaithful", "embedded")
    assert found.probability == 0.25


def test_an_answer_whose_label_is_open_has_no_number() -> None:
    """Not all of it could be judged: the score is in the metadata alone."""
    (row,) = written(a_result(an_evaluation(score=1.0, label=None, reason_code="incomplete")))
    assert "score" not in row["result"]
    assert row["result"]["label"] == "incomplete"
    assert stored_result({}, [row], "faithfulness").score == 1.0


def test_projects_of_the_first_release_are_read() -> None:
    """There the score was the annotation's, and the risk an annotation of its own."""
    rows = [a_row("faithfulness", 0.25, judge="embedded"), a_row("hallucination_risk", 0.75, judge="embedded")]
    found = stored_result({}, rows, "faithfulness")
    assert (found.score, found.risk, found.judge) == (0.25, 0.75, "embedded")


def test_an_old_risk_beside_a_new_result_is_ignored() -> None:
    """An answer that was judged again keeps its old annotation of the risk."""
    rows = [a_row("hallucination_risk", 0.75), a_row("faithfulness", 0.0, score=0.5, risk=0.25)]
    found = noted_results(rows)["faithfulness"]
    assert (found["score"], found["risk"]) == (0.5, 0.25)


def test_annotations_of_others_are_not_ours() -> None:
    """Another identifier is another judge."""
    assert noted_results([a_row("faithfulness", 0.25, identifier="")]) == {}
