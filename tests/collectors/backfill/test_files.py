"""`rag-otel traces backfill FILE... --output OUT`: writes an enriched copy, and does nothing in a second run."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from rag_otel import semconv
from rag_otel.budgets.run import RunBudget
from rag_otel.cli.main import main
from rag_otel.settings import Settings
from rag_otel.setup.judging import compose_pipeline
from rag_otel_collectors.backfill.engine import Backfill, Tally
from rag_otel_collectors.backfill.file_source import FileStore
from tests.collectors.backfill.stored import a_trace, spans_in, written

SCORE = semconv.metric_key("faithfulness", "score")
VERSION = semconv.metric_key("faithfulness", "version")


def backfill(capsys: pytest.CaptureFixture[str], output: Path, *files: Path | str, code: int = 0) -> str:
    """The output of one run. Options may come between the files."""
    assert main(["traces", "backfill", *map(str, files), "--output", str(output)]) == code
    shown = capsys.readouterr()
    return shown.out + shown.err


def lines(path: Path) -> list[dict[str, Any]]:
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    return [json.loads(line) for line in text.splitlines()]


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    """Key -> the typed value."""
    return {pair["key"]: pair["value"] for pair in span["attributes"]}


def evaluated(report: str) -> int:
    found = re.search(r"  evaluated\s+([\d,]+)", report)
    assert found, report
    return int(found[1])


def test_scores_are_added_and_all_else_stays(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Unknown fields at every level are kept. The span keeps its attributes and gets those of the evaluation."""
    request = a_trace(futureField={"a": [1]}) | {"topLevel": "kept"}
    request["resourceSpans"][0]["schemaUrl"] = "https://example.com"
    output = tmp_path / "out.jsonl"
    assert evaluated(backfill(capsys, output, written(tmp_path / "in.jsonl", request))) == 1
    (enriched,) = lines(output)
    before, after = spans_in(request)[0], spans_in(enriched)[0]
    added = {key: value for key, value in attributes(after).items() if key not in attributes(before)}
    assert added.keys() >= {SCORE, VERSION, semconv.STATUS}
    assert all(key.startswith("rag.") for key in added)
    assert added[semconv.metric_key("faithfulness", "claim_count")] == {"intValue": "1"}
    after["attributes"] = after["attributes"][: len(before["attributes"])]
    assert enriched == request


def test_the_same_run_again_writes_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The scores in the output count as done, and the file is not written again."""
    source, output = written(tmp_path / "in.jsonl", a_trace(0), a_trace(1)), tmp_path / "out.jsonl"
    backfill(capsys, output, source)
    first = output.stat()
    report = backfill(capsys, output, source)
    assert evaluated(report) == 0
    assert "nothing to change" in report
    assert (output.stat().st_mtime_ns, output.stat().st_ino) == (first.st_mtime_ns, first.st_ino)


def test_an_enriched_file_as_input_has_nothing_left_to_do(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Scores on the input's spans count as done."""
    output = tmp_path / "out.jsonl"
    backfill(capsys, output, written(tmp_path / "in.jsonl", a_trace()))
    again = tmp_path / "again.jsonl"
    assert evaluated(backfill(capsys, again, output)) == 0
    assert spans_in(lines(again)[0]) == spans_in(lines(output)[0])


def test_a_score_of_another_version_is_replaced(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Nothing of the old result is left."""
    request = a_trace()
    stale = {VERSION: "0", SCORE: "0.5", semconv.metric_key("faithfulness", "claims.7.text"): "x", semconv.STATUS: "x"}
    spans_in(request)[0]["attributes"] += [
        {"key": key, "value": {"stringValue": value}} for key, value in stale.items()
    ]
    output = tmp_path / "out.jsonl"
    assert evaluated(backfill(capsys, output, written(tmp_path / "in.jsonl", request))) == 1
    after = spans_in(lines(output)[0])[0]
    keys = [pair["key"] for pair in after["attributes"]]
    assert len(keys) == len(set(keys))
    assert semconv.metric_key("faithfulness", "claims.7.text") not in keys
    assert attributes(after)[VERSION] != {"stringValue": "0"}


def test_a_budget_stops_and_the_next_run_goes_on(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """After each run the output has all results so far."""
    source = written(tmp_path / "in.jsonl", *(a_trace(number) for number in range(5)))
    output = tmp_path / "out.jsonl"
    reports = [backfill(capsys, output, source, "--budget", "2") for _ in range(4)]
    assert [evaluated(report) for report in reports] == [2, 2, 1, 0]
    assert all(SCORE in attributes(span) for request in lines(output) for span in spans_in(request))


def test_an_interrupted_run_goes_on_from_its_journal(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Evaluations before the interruption are not repeated, although the output was not written."""
    source = written(tmp_path / "in.jsonl", *(a_trace(number) for number in range(5)))
    output = tmp_path / "out.jsonl"
    settings = Settings()
    pipeline = compose_pipeline(settings)
    store = FileStore([str(source)], output, pipeline.evaluators, capture_content=True)
    asyncio.run(Backfill(store=store, pipeline=pipeline, budget=RunBudget(evaluations=3)).run(Tally()))
    store.close()  # and never `finish`
    assert not output.exists()
    assert evaluated(backfill(capsys, output, source)) == 2
    assert sorted(tmp_path.iterdir()) == [source, output]
    assert all(SCORE in attributes(span) for request in lines(output) for span in spans_in(request))


def test_a_broken_file_leaves_no_output(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The error names file and line, and no partial output is left."""
    source = written(tmp_path / "in.jsonl", a_trace())
    source.write_text(source.read_text() + "{no json\n")
    assert "in.jsonl, line 2: not JSON" in backfill(capsys, tmp_path / "out.jsonl", source, code=2)
    assert not (tmp_path / "out.jsonl").exists()


def test_what_cannot_be_evaluated_says_why(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A failed call is marked as skipped, with its reason, and is not evaluated."""
    output = tmp_path / "out.jsonl"
    report = backfill(capsys, output, written(tmp_path / "in.jsonl", a_trace(status={"code": 2})))
    assert evaluated(report) == 0
    after = attributes(spans_in(lines(output)[0])[0])
    assert after[semconv.STATUS] == {"stringValue": "skipped"}
    assert after[semconv.STATUS_REASON] == {"stringValue": "error"}
    assert SCORE not in after


def test_a_trace_over_several_files_and_gzip(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The spans of a trace may be in several files. An output that ends with .gz is compressed."""
    whole = a_trace()
    span = spans_in(whole)[0]
    child = a_trace(name="child", traceId=span["traceId"], parentSpanId=span["spanId"])
    first, second = written(tmp_path / "1.jsonl", child), written(tmp_path / "2.jsonl", whole)
    output = tmp_path / "out.jsonl.gz"
    backfill(capsys, output, first, second)
    assert [spans_in(request)[0]["name"] for request in lines(output)] == ["child", "answer"]
    assert SCORE in attributes(spans_in(lines(output)[1])[0])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["x.jsonl"], "--output FILE"),
        ([], "neither FILEs nor Phoenix"),
        (["--output", "x"], "--output is for files"),
        (["x.jsonl", "--output", "y", "--project", "p"], "--project is for traces in Phoenix"),
        (["x.jsonl", "--output", "y", "--budget", "0"], "--budget must be above 0"),
        (["-", "--output", "y"], "standard input"),
        (["--phoenix-endpoint", "http://127.0.0.1:9", "--project", "p"], "no answer from 127.0.0.1:9"),
    ],
)
def test_what_makes_no_sense_is_said(
    arguments: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Wrong combinations of options are reported before anything is read or written."""
    monkeypatch.chdir(tmp_path)
    assert main(["traces", "backfill", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
