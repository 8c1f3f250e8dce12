"""`rag-otel evaluate` over files of every kind, from a configuration, resumed, reported and as a gate of a build."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from rag_otel.cli.main import main
from rag_otel_evaluators.offline.dataset_rows import read_records
from testkit import word_overlap_judge
from testkit.judge_server import JudgeRequest, JudgeServer, ServerError
from testkit.warm_python import warm_python

EINSTEIN = "Albert Einstein (born 14 March 1879) was a German-born theoretical physicist."
RIGHT = {"question": "When?", "contexts": [EINSTEIN], "response": "Einstein was born on 14th March 1879."}
WRONG = {**RIGHT, "response": "Einstein was born on 20th March 1879."}


def write_jsonl(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_csv_in_and_out(tmp_path: Path) -> None:
    """Cells come back as they were, with a column for the score and one for the detail."""
    source, output = tmp_path / "in.csv", tmp_path / "out.csv"
    rows = [["id", "q", "docs", "a"], ["007", "When?", json.dumps([EINSTEIN]), RIGHT["response"]], ["008", "", "", ""]]
    with source.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    columns = "question=q,contexts=docs,response=a"
    allowed = ["--columns", columns, "--allow-bad-rows"]
    assert main(["evaluate", str(source), *allowed, "--output", str(output)]) == 0
    with output.open(newline="", encoding="utf-8") as file:
        header, first, second = csv.reader(file)
    assert header == ["id", "q", "docs", "a", "faithfulness", "faithfulness_detail"]
    assert [first[:4], second[:4]] == rows[1:]
    assert (first[4], second[4]) == ("1.0", "")
    assert json.loads(first[5])["label"] == "faithful"
    assert json.loads(second[5])["reason_code"] == "bad_row"


def test_everything_from_a_configuration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Parquet in, Parquet out, a report, a threshold; columns by path and by a name with a dot."""
    rows = [
        {"pred": {"docs": [{"body": EINSTEIN}]}, "pred.q": "When?", "a": row["response"], "n": number}
        for number, row in enumerate((RIGHT, WRONG))
    ]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "in.parquet")
    (tmp_path / "config.yaml").write_text(
        "data: in.parquet\noutput: out.parquet\nreport: report\n"
        "columns: {question: pred.q, contexts: 'pred.docs[*].body', response: a}\n"
        "fail_under: {faithfulness: 0.8}\n"
    )
    assert main(["evaluate", "--config", str(tmp_path / "config.yaml")]) == 1
    assert "faithfulness: the mean 0.5000 is below 0.8" in capsys.readouterr().err
    table = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert table["faithfulness"].to_pylist() == [1.0, 0.0]
    assert table["n"].to_pylist() == [0, 1]
    assert "Evaluation of in.parquet" in (tmp_path / "report" / "index.html").read_text(encoding="utf-8")


def test_the_command_line_wins_over_the_configuration(tmp_path: Path) -> None:
    """What is said twice counts as said last, and the rest stays."""
    source = write_jsonl(tmp_path / "in.jsonl", RIGHT)
    config = tmp_path / "config.yaml"
    config.write_text("data: nowhere.jsonl\noutput: unused.jsonl\nmetrics: [magic]\nfail_under: {faithfulness: 1}\n")
    output = tmp_path / "out.jsonl"
    arguments = [str(source), "--config", str(config), "--output", str(output), "--metrics", "faithfulness"]
    assert main(["evaluate", *arguments]) == 0
    assert len(read_records(output)) == 1
    assert not (tmp_path / "unused.jsonl").exists()


@pytest.mark.parametrize(
    ("rows", "least", "code"),
    [([RIGHT, WRONG], "0.5", 0), ([RIGHT, WRONG], "0.51", 1), ([{**RIGHT, "response": "I don't know."}], "0", 1)],
)
def test_fail_under(tmp_path: Path, rows: list[dict[str, Any]], least: str, code: int) -> None:
    """A mean that is reached passes; one that is not, or is unknown, does not."""
    source = write_jsonl(tmp_path / "in.jsonl", *rows)
    output = str(tmp_path / "out.jsonl")
    assert main(["evaluate", str(source), "--output", output, "--fail-under", f"faithfulness={least}"]) == code


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no file to evaluate"),
        (["in.jsonl", "--fail-under", "0.8"], "METRIC=MEAN"),
        (["in.jsonl", "--fail-under", "relevancy=0.8"], "relevancy is not among the metrics"),
        (["in.jsonl", "--config", "missing.yaml"], "missing.yaml"),
        (["in.jsonl", "--concurrency", "0"], "concurrency"),
    ],
)
def test_what_is_wrong_with_the_whole(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    """One line and exit code 2."""
    monkeypatch.chdir(tmp_path)
    write_jsonl(tmp_path / "in.jsonl", RIGHT)
    assert main(["evaluate", *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("content", ["", "question,contexts,answer\n"])
def test_a_file_without_rows_is_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str) -> None:
    source = tmp_path / "empty.csv"
    source.write_text(content)
    assert main(["evaluate", str(source), "--output", str(tmp_path / "out.csv")]) == 0
    assert f"warning: {source} holds no rows" in capsys.readouterr().err


def test_columns_that_are_replaced_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file may be evaluated again, but nothing of it is replaced in silence."""
    source = write_jsonl(tmp_path / "in.jsonl", {**RIGHT, "faithfulness": "a person's own judgement"})
    assert main(["evaluate", str(source)]) == 0
    assert "results replace these columns of the file: faithfulness\n" in capsys.readouterr().err


def test_a_judge_that_never_answers_fails_the_build(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong key is not a good result, whether there is a threshold or not; every row says why."""
    source = write_jsonl(tmp_path / "in.jsonl", RIGHT, WRONG)
    output = tmp_path / "out.jsonl"
    refusal = ServerError(status=401, code="invalid_api_key", message="Incorrect API key")
    with JudgeServer(fault_share=1.0, fault_kinds=[refusal]) as server:
        judge = ["--judge", "openai/judge", "--api-base", server.url]
        assert main(["evaluate", str(source), *judge, "--output", str(output)]) == 1
    assert "faithfulness failed on every row" in capsys.readouterr().err
    details = [(record.value or {})["faithfulness_detail"] for record in read_records(output)]
    assert all(detail["score"] is None and detail["error_type"] for detail in details)


def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path) -> None:
    """Killed with some answers paid for, the same command asks only for the others and writes every row."""
    rows = [{**RIGHT, "response": f"Einstein was born in {1850 + n}."} for n in range(30)]
    source, output = write_jsonl(tmp_path / "in.jsonl", *rows), tmp_path / "out.jsonl"
    reached, go_on = threading.Event(), threading.Event()

    def answer(request: JudgeRequest) -> Any:
        if len(server.requests) >= 20 and not go_on.is_set():
            reached.set()
            go_on.wait(timeout=300)
        return word_overlap_judge.answer(request)

    with JudgeServer(answer=answer) as server:
        arguments = ["evaluate", str(source), "--output", str(output)]
        arguments += ["--judge", "openai/judge", "--api-base", server.url, "--concurrency", "2"]
        command = [warm_python(with_litellm=True), "-m", "rag_otel.cli.main", *arguments]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert reached.wait(timeout=300)
        process.send_signal(signal.SIGINT)
        _, shown = process.communicate(timeout=180)
        go_on.set()
        assert process.returncode == 130, shown
        assert "interrupted after" in shown
        assert "run the same command again to continue" in shown
        asked = len(server.requests)
        assert asked >= 20
        assert main(arguments) == 0
        # Two were under way when it was interrupted.
        assert len(server.requests) - asked <= 30 - (asked - 2)
    values = [record.value or {} for record in read_records(output)]
    assert [value["response"] for value in values] == [row["response"] for row in rows]
    assert all(value["faithfulness"] is not None for value in values)
