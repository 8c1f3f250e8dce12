"""`rag-otel inspect`: one JSON object a line for each RAG trace, a clear error for what is not OTLP."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from rag_otel.cli.main import main
from testkit.shared_servers import SharedPhoenix
from testkit.warm_python import warm_python
from tests.collectors.conventions.otlp_json import a_json_span, a_request, text_attributes
from tests.collectors.conventions.spans import ANSWER, FIXTURES, PARIS, QUESTION

KEYS = [
    "trace_id",
    "span_id",
    "convention",
    "question",
    "chunks",
    "response",
    "model",
    "session_id",
    "unevaluable_reason",
]


def inspect(capsys: pytest.CaptureFixture[str], *files: object) -> tuple[int, list[dict[str, Any]], str]:
    """(exit code, rows, standard error) of one run."""
    code = main(["inspect", *map(str, files)])
    shown = capsys.readouterr()
    return code, [json.loads(line) for line in shown.out.splitlines()], shown.err


def written(path: Path, *requests: dict[str, Any]) -> Path:
    path.write_text("\n".join(json.dumps(request) for request in requests))
    return path


def test_row_of_a_trace(capsys: pytest.CaptureFixture[str]) -> None:
    """All keys are there, null where nothing could be read."""
    code, (row,), error = inspect(capsys, FIXTURES / "haystack_oi_openai.json")
    assert (code, error) == (0, "")
    assert list(row) == KEYS
    assert row == {
        "trace_id": "b11924384a94b3179da7e568c495e293",
        "span_id": "e5786651fe40df9a",
        "convention": "openinference",
        "question": QUESTION,
        "chunks": [
            {"id": "d1", "text": PARIS, "position": 0, "score": 3.682408315647122},
            {"id": "d2", "text": "France is in Europe.", "position": 1, "score": 0.8083058328619529},
        ],
        "response": "Paris is the capital.",
        "model": "stub-model",
        "session_id": None,
        "unevaluable_reason": None,
    }


def test_unevaluable_trace_has_a_row_with_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    """A retrieval without an answer is shown, not left out."""
    _, (row,), _ = inspect(capsys, FIXTURES / "llamaindex_oi_retriever_only.json")
    assert (row["response"], row["unevaluable_reason"]) == (None, "no_response")
    assert len(row["chunks"]) == 2


def test_file_without_rag_traces_gives_no_rows(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing to show is no error."""
    assert inspect(capsys, FIXTURES / "openai_oi_default.json") == (0, [], "")


def test_trace_over_several_lines_and_files_is_one(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A rotated file's trace is put together again, and spans that were exported twice count once."""
    call = a_json_span(attributes=text_attributes({"input.value": QUESTION, "output.value": ANSWER}))
    fields = {"openinference.span.kind": "RETRIEVER", "retrieval.documents.0.document.content": PARIS}
    retriever = a_json_span(span_id="d" * 16, parentSpanId=call["spanId"], attributes=text_attributes(fields))
    first = written(tmp_path / "1.json", a_request(retriever, scope="app"), a_request(retriever, scope="app"))
    second = written(tmp_path / "2.json", a_request(call))
    code, (row,), _ = inspect(capsys, first, second)
    assert (code, row["span_id"], [chunk["text"] for chunk in row["chunks"]]) == (0, call["spanId"], [PARIS])


def test_rows_come_in_the_order_of_the_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Traces are shown as they were first seen."""
    ids = [f"{number:032x}" for number in (3, 1, 2)]
    path = written(tmp_path / "t.json", *(a_request(a_json_span(trace_id)) for trace_id in ids))
    assert [row["trace_id"] for row in inspect(capsys, path)[1]] == ids


@pytest.mark.parametrize("content", ["# readme", '{"question": "q"}', "", "{"])
def test_file_that_is_not_otlp(capsys: pytest.CaptureFixture[str], tmp_path: Path, content: str) -> None:
    """Exit code 2, and an error that names the file and what was expected."""
    path = tmp_path / "other.txt"
    path.write_text(content)
    code, rows, error = inspect(capsys, path)
    assert (code, rows) == (2, [])
    assert error.startswith(f"rag-otel inspect: {path}")
    assert "expected OTLP/JSON" in error


def test_other_files_are_read_all_the_same(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """One bad file among good ones is reported and costs none of their rows."""
    good = written(tmp_path / "good.json", a_request())
    code, rows, error = inspect(capsys, tmp_path / "missing.json", good)
    assert (code, len(rows)) == (2, 1)
    assert "missing.json: cannot be read" in error


def test_text_of_any_script_is_valid_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Other scripts go through a pipe of any encoding; a lone surrogate is shown as what a collector makes of it."""
    question = "首都はどこ? \ud800"
    fields = {"input.value": question, "output.value": "x", "retrieval.documents.0.document.content": "y"}
    path = written(tmp_path / "t.json", a_request(a_json_span(attributes=text_attributes(fields))))
    code, (row,), _ = inspect(capsys, path)
    assert (code, row["question"]) == (0, question.replace("\ud800", "?"))


def test_reads_standard_input() -> None:
    """`-` is a file like any other."""
    run = subprocess.run(
        [warm_python(), "-m", "rag_otel.cli.main", "inspect", "-"],
        input=json.dumps(a_request()),
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["response"] == ANSWER


def test_phoenix_own_export_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`GET /v1/projects/.../spans/otlpv1`: `trace_id` in place of `traceId`, on lines or a page."""
    spans = [
        {
            "trace_id": "a" * 32,
            "span_id": span_id,
            "parent_span_id": parent,
            "name": name,
            "start_time_unix_nano": "1",
            "end_time_unix_nano": "2",
            "status": {"code": 1},
            "attributes": [{"key": key, "value": {"string_value": text}} for key, text in attributes.items()],
        }
        for span_id, parent, name, attributes in (
            ("1" * 16, None, "ask", {"openinference.span.kind": "CHAIN", "input.value": "q?", "output.value": "a."}),
            (
                "2" * 16,
                "1" * 16,
                "search",
                {"openinference.span.kind": "RETRIEVER", "retrieval.documents.0.document.content": "text"},
            ),
        )
    ]
    page = tmp_path / "page.json"
    page.write_text(json.dumps({"data": spans, "next_cursor": None}, indent=1))
    lines = written(tmp_path / "lines.json", *spans)
    for file in (page, lines):
        code, (row,), error = inspect(capsys, file)
        assert (code, error) == (0, "")
        assert (row["question"], row["response"], row["chunks"][0]["text"]) == ("q?", "a.", "text")


def test_files_or_a_project_and_not_both(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect"]) == 2
    assert "--project" in capsys.readouterr().err
    assert main(["inspect", "--project", "p"]) == 2
    assert "RAG_OTEL_PHOENIX_ENDPOINT" in capsys.readouterr().err


@pytest.mark.phoenix
def test_what_phoenix_holds_is_read(phoenix_server: SharedPhoenix, capsys: pytest.CaptureFixture[str]) -> None:
    """By project, and from the export of the same project."""
    project = "inspect-test"
    assert main(["doctor", "--keep", "--phoenix-endpoint", phoenix_server.base_url, "--project", project]) == 0
    capsys.readouterr()
    assert main(["inspect", "--project", project, "--phoenix-endpoint", phoenix_server.base_url]) == 0
    by_project = json.loads(capsys.readouterr().out)
    assert by_project["question"].startswith("When was the lighthouse")
    with urllib.request.urlopen(f"{phoenix_server.base_url}/v1/projects/{project}/spans/otlpv1") as answer:
        exported = json.loads(answer.read())
    file = phoenix_server.working_dir / "exported.json"
    file.write_text(json.dumps(exported))
    code, (row,), _ = inspect(capsys, file)
    assert code == 0
    assert row == by_project
