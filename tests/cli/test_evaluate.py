"""`rag-otel evaluate`: the rows come back in order with score, detail and reasons."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from rag_otel.cli.main import main
from testkit.judge_server import JudgeServer, ServerError
from testkit.word_overlap_judge import answer as oracle

EINSTEIN = "Albert Einstein (born 14 March 1879) was a German-born theoretical physicist."
HIGH = {"id": 1, "question": "When?", "contexts": [EINSTEIN], "response": "Einstein was born on 14th March 1879."}
LOW = {"id": 2, "question": "When?", "contexts": [EINSTEIN], "response": "Einstein was born on 20th March 1879."}


def evaluate(folder: Path, *lines: object, options: tuple[str, ...] = ()) -> tuple[int, list[dict[str, Any]]]:
    """(exit code, rows written) of one run over these lines."""
    source, output = folder / "in.jsonl", folder / "out.jsonl"
    source.write_text(
        "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), encoding="utf-8"
    )
    code = main(["evaluate", str(source), "--metrics", "faithfulness", "--output", str(output), *options])
    written = output.read_text(encoding="utf-8").splitlines() if output.exists() else []
    return code, [json.loads(line) for line in written]


def test_rows_come_back_in_order(tmp_path: Path) -> None:
    """Every row keeps its columns and gains a score and a detail."""
    code, rows = evaluate(tmp_path, *[{**(HIGH if n % 3 else LOW), "id": n} for n in range(25)])
    assert code == 0
    assert [row["id"] for row in rows] == list(range(25))
    assert [row["faithfulness"] for row in rows] == [1.0 if n % 3 else 0.0 for n in range(25)]
    assert rows[1]["contexts"] == [EINSTEIN]


def test_detail(tmp_path: Path) -> None:
    """The detail holds score, risk, label and each claim with verdict, support, chunk ids and verbatim quotes."""
    _, (row,) = evaluate(tmp_path, LOW)
    detail = row["faithfulness_detail"]
    assert (detail["score"], detail["label"], detail["reason_code"]) == (0.0, "unfaithful", None)
    assert 0.3 <= detail["risk"] <= 1.0
    (claim,) = detail["claims"]
    assert claim["verdict"] == "contradicted"
    assert 0.0 <= claim["support_probability"] <= 0.5
    assert claim["chunk_ids"] == ["0"]
    assert all(EINSTEIN[quote["start"] : quote["end"]] == quote["text"] for quote in claim["quotes"])


def test_rows_without_a_score(tmp_path: Path) -> None:
    """Bad rows, abstentions and answers without claims get null, a reason, and no label; the rest goes on."""
    bad: list[object] = ["{broken", {**HIGH, "response": None}, {**HIGH, "response": "I don't know."}]
    code, rows = evaluate(tmp_path, HIGH, *bad, {**HIGH, "response": "Hello!"}, LOW)
    assert code == 1
    reasons = [row["faithfulness_detail"]["reason_code"] for row in rows]
    assert reasons == [None, "bad_row", "bad_row", "abstained", "no_claims", None]
    for row in rows[1:5]:
        assert row["faithfulness"] is None
        assert "label" not in row["faithfulness_detail"]
        assert row["faithfulness_detail"]["explanation"]
    assert rows[5]["faithfulness"] == 0.0


def test_a_broken_row_fails_a_build_unless_it_is_allowed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first one is named; the others are scored either way."""
    code, rows = evaluate(tmp_path, HIGH, "{broken", {**HIGH, "response": None}, LOW)
    assert (code, [row["faithfulness"] for row in rows]) == (1, [1.0, None, None, 0.0])
    assert "2 of 4 rows cannot be evaluated, the first is row 2" in capsys.readouterr().err
    code, rows = evaluate(tmp_path, HIGH, "{broken", LOW, options=("--allow-bad-rows",))
    assert (code, len(rows)) == (0, 3)


def test_abstentions_are_no_lost_rows(tmp_path: Path) -> None:
    """Most answers make no claim: that is what they are, and no failure of the judge."""
    unknown = {**HIGH, "response": "I don't know."}
    assert evaluate(tmp_path, HIGH, unknown, unknown, options=("--fail-under", "faithfulness=1"))[0] == 0


def test_rows_that_the_judge_lost_fail_a_build(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Half of the calls fail, and the mean of the others would pass: only with `--max-lost` that is accepted."""
    with JudgeServer(answer=oracle) as server:
        judge = {"model": "openai/judge", "api_base": server.url}
        config = tmp_path / "config.json"
        config.write_text(json.dumps({"judge": judge, "concurrency": 1, "fail_under": {"faithfulness": 0.9}}))
        options = ("--config", str(config), "--no-cache")
        rows = [{**HIGH, "response": EINSTEIN, "id": n} for n in range(4)]
        server.fail_next(None, None, ServerError(400), ServerError(400))
        assert evaluate(tmp_path, *rows, options=options)[0] == 1
        told = capsys.readouterr().err
        assert "faithfulness: 2 of 4 rows were lost (2 judge_error), more than 10%" in told
        server.fail_next(None, None, ServerError(400), ServerError(400))
        assert evaluate(tmp_path, *rows, options=(*options, "--max-lost", "0.5"))[0] == 0


def test_empty_retrieval_scores_zero(tmp_path: Path) -> None:
    """Claims with nothing retrieved score 0 and say so."""
    _, (row,) = evaluate(tmp_path, {**HIGH, "contexts": []})
    assert (row["faithfulness"], row["faithfulness_detail"]["reason_code"]) == (0.0, "no_context")


def test_columns(tmp_path: Path) -> None:
    """Columns of other names are named on the command line."""
    row = {"q": "When?", "docs": [EINSTEIN], "answer": HIGH["response"]}
    code, rows = evaluate(tmp_path, row, options=("--columns", "question=q,contexts=docs,response=answer"))
    assert (code, rows[0]["faithfulness"]) == (0, 1.0)


def test_unicode_and_not_a_number_survive(tmp_path: Path) -> None:
    """Texts come back as they were, even half a surrogate pair; NaN, which is no JSON, becomes null."""
    _, (row,) = evaluate(tmp_path, '{"contexts": ["é"], "response": "\\ud83d 爱", "x": NaN, "y": "ñ"}')
    assert (row["response"], row["x"], row["y"]) == ("\ud83d 爱", None, "ñ")


@pytest.mark.parametrize(("encoding", "response"), [("utf-8", "\\ud83d 爱"), ("ascii", "é 爱")])
def test_a_row_that_standard_output_cannot_encode_is_escaped(
    tmp_path: Path, encoding: str, response: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a surrogate pair, or another script in a pipe of ASCII: the rows after it come too."""
    source, shown = tmp_path / "in.jsonl", io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    line = f'{{"contexts": ["c"], "response": "{response}"}}'
    source.write_text(f"{line}\n{line}\n", encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", shown)
    assert main(["evaluate", str(source)]) == 0
    shown.seek(0)
    assert [json.loads(row)["response"] for row in shown] == [json.loads(line)["response"]] * 2


def test_standard_output_and_summary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without an output file rows go to standard output; the summary goes beside them, with its nulls."""
    source = tmp_path / "in.jsonl"
    source.write_text("\n".join(json.dumps(row) for row in (HIGH, LOW, {**HIGH, "response": "I don't know."})))
    assert main(["evaluate", str(source)]) == 0
    shown = capsys.readouterr()
    assert [json.loads(line)["faithfulness"] for line in shown.out.splitlines()] == [1.0, 0.0, None]
    figures = ["faithfulness", "3", "2", "0.500", "-", "0.500", "0.707", "0.000", "1.000", "1", "abstained"]
    assert shown.err.split()[-len(figures) :] == figures


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--metrics", "magic"), "magic"),
        (("--metrics", ","), "at least one"),
        (("--columns", "question=zz"), "'zz'"),
        (("--columns", "nonsense"), "FIELD=COLUMN"),
        (("--output", "no/such/folder/out.jsonl"), "cannot be written"),
    ],
)
def test_configuration_errors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], named: str
) -> None:
    """What is wrong with the whole is said in one line, with exit code 2."""
    code, rows = evaluate(tmp_path, HIGH, options=options)
    assert (code, rows) == (2, [])
    error = capsys.readouterr().err
    assert named in error
    assert "Traceback" not in error


def test_the_input_is_never_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Writing to the file that is read would lose it: refused."""
    source = tmp_path / "in.jsonl"
    source.write_text(json.dumps(HIGH))
    assert main(["evaluate", str(source), "--output", str(source)]) == 2
    assert json.loads(source.read_text()) == HIGH
    assert "name another file" in capsys.readouterr().err


def test_a_missing_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is not there is named, with exit code 2."""
    assert main(["evaluate", str(tmp_path / "missing.jsonl")]) == 2
    assert "missing.jsonl" in capsys.readouterr().err
