"""`rag-otel traces export`, against a real Phoenix."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any

import pytest

from rag_otel.cli.main import main
from rag_otel.delivery.http import get, post, to_json
from rag_otel.model import EvaluatedTrace, EvaluationStatus, RagTrace, SamplingDecision, SpanRef
from rag_otel.writers.phoenix_annotations import PhoenixAnnotationWriter
from rag_otel_evaluators import evaluate
from testkit.polling import eventually
from testkit.shared_servers import SharedPhoenix
from tests.collectors.backfill.stored import a_trace, send, spans_in
from tests.support.phoenix_server import PhoenixApi
from tests.support.results import an_evaluation

pytestmark = pytest.mark.phoenix

SCORES = [(1.0, 0.05), (0.5, 0.45), (0.0, 0.98), (0.25, 0.9)]
"""Score and risk of each answer."""
CORRECTED = 1


class Project:
    """Four answers with scores, one of them corrected by a person."""

    def __init__(self, server: SharedPhoenix) -> None:
        self.api = PhoenixApi(server.base_url)
        self.name = f"export-{secrets.token_hex(4)}"
        requests = [a_trace(number) for number in range(len(SCORES))]
        self.ids = [spans_in(request)[0]["spanId"] for request in requests]
        send(self.api, self.name, *requests)
        PhoenixAnnotationWriter(self.api.base_url).write(
            [_result(spans_in(request)[0], *scores) for request, scores in zip(requests, SCORES, strict=True)]
        )
        notes = [("judged", "unfaithful", 0.0, "It is wrong."), ("correction", None, None, "It opens at 9.")]
        self._annotate(self.ids[CORRECTED], notes)
        eventually(lambda: len(self.api.annotations(self.name, *self.ids)) == len(SCORES) + 2, within_s=120)

    def _annotate(self, span_id: str, notes: list[tuple[str, str | None, float | None, str]]) -> None:
        rows = [
            {
                "span_id": span_id,
                "name": name,
                "annotator_kind": "HUMAN",
                "identifier": "someone",
                "result": {"label": label, "score": score, "explanation": explanation},
            }
            for name, label, score, explanation in notes
        ]
        post(f"{self.api.base_url}/v1/span_annotations?sync=true", to_json({"data": rows}))

    def export(self, *options: str) -> int:
        return main(["traces", "export", "--project", self.name, "--phoenix-endpoint", self.api.base_url, *options])

    def examples(self, dataset: str) -> list[dict[str, Any]]:
        """The examples of a dataset, as Phoenix returns them."""
        found = json.loads(get(f"{self.api.base_url}/v1/datasets?name={dataset}"))["data"]
        answer = json.loads(get(f"{self.api.base_url}/v1/datasets/{found[0]['id']}/examples"))
        examples: list[dict[str, Any]] = answer["data"]["examples"]
        return examples


def _result(span: dict[str, Any], score: float, risk: float) -> EvaluatedTrace:
    return EvaluatedTrace(
        trace=RagTrace(target=SpanRef(trace_id=span["traceId"], span_id=span["spanId"])),
        decision=SamplingDecision(sampled=True, reason="always", probability=1.0),
        evaluations=(an_evaluation(score=score, risk=risk, claims=()),),
        status=EvaluationStatus.EVALUATED,
    )


@pytest.fixture(scope="module")
def project(phoenix_server: SharedPhoenix) -> Project:
    return Project(phoenix_server)


def rows_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize(
    ("selection", "numbers"),
    [(["--worst", "2"], [2, 3]), (["--uncertain", "2"], [1, 3]), (["--corrected", "5"], [CORRECTED])],
)
def test_the_chosen_answers(
    project: Project, capsys: pytest.CaptureFixture[str], selection: list[str], numbers: list[int]
) -> None:
    """The lowest scores; the risks nearest to 0.5; those with a human annotation."""
    assert project.export(*selection) == 0
    rows = rows_of(capsys.readouterr().out)
    assert [row["id"] for row in rows] == [project.ids[number] for number in numbers]
    assert [(row["score"], row["risk"]) for row in rows] == [SCORES[number] for number in numbers]


def test_a_row_has_all_that_an_evaluation_needs(project: Project, tmp_path: Path) -> None:
    """Question, contexts, response and what people said; `evaluate` reads the file."""
    file = tmp_path / "corrected.jsonl"
    assert project.export("--corrected", "1", "--output", str(file)) == 0
    (row,) = rows_of(file.read_text(encoding="utf-8"))
    assert row["reference"] == "It opens at 9."
    assert {"name": "judged", "label": "unfaithful", "score": 0.0, "explanation": "It is wrong."} in row["human"]
    assert row["question"]
    assert row["contexts"][0]["text"]
    assert evaluate(file).scores("faithfulness")[0] is not None


def test_a_dataset_in_phoenix(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Linked with the spans; a second export adds what is new and doubles nothing."""
    name = f"dataset-{secrets.token_hex(4)}"
    assert project.export("--worst", "2", "--dataset", name) == 0
    said = capsys.readouterr().out
    assert f"2 answers are in the dataset {name}: {project.api.base_url}/datasets/" in said
    examples = project.examples(name)
    assert {example["metadata"]["id"] for example in examples} == {project.ids[2], project.ids[3]}
    assert examples[0]["input"].keys() == {"question", "contexts"}
    assert examples[0]["output"].keys() == {"response", "reference"}
    assert project.export("--worst", "3", "--dataset", name) == 2
    assert f"there is a dataset '{name}' already: --append adds to it" in capsys.readouterr().err
    assert project.export("--worst", "3", "--dataset", name, "--append") == 0
    assert len(project.examples(name)) == 3


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--worst", "0"], 2, "--worst: must be at least 1"),
        (["--worst", "1", "--append"], 2, "name it with --dataset"),
        (["--worst", "1", "--dataset", "a", "--output", "b"], 2, "not both"),
        (["--worst", "1", "--metric", "context_recall"], 1, "none has a score of context_recall"),
        (["--corrected", "1", "--until", "2026-01-01T00:00:30"], 1, "nobody has annotated one"),
        (["--worst", "1", "--project", "nowhere"], 2, "has no project 'nowhere'"),
    ],
)
def test_what_cannot_be_exported(
    project: Project, capsys: pytest.CaptureFixture[str], options: list[str], code: int, message: str
) -> None:
    """Says why, and what to do."""
    assert project.export(*options) == code
    assert message in capsys.readouterr().err


def test_a_phoenix_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 1 and its address."""
    assert main(["traces", "export", "--worst", "1", "--project", "p", "--phoenix-endpoint", "http://127.0.0.1:9"]) == 2
    assert "127.0.0.1:9" in capsys.readouterr().err
