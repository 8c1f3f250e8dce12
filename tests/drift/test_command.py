"""`rag-otel drift`: replays files and Phoenix, shows states, writes pages and pictures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_otel.cli.main import main
from rag_otel.drift import memory
from rag_otel.drift.family import FamilySettings
from rag_otel.drift.monitor import DriftMonitor
from rag_otel.durable.state_folder import StateFolder
from testkit.drift_scores import START_S, results, scores
from tests.support.states import put_state


def a_file(path: Path, *, drop: bool = True, rows: int = 900) -> Path:
    """A score a minute; after the 500th two thirds come from a worse model."""
    good, bad = scores(0.92, 1), scores(0.62, 2)
    lines = []
    for index in range(rows):
        small = drop and index >= 500 and index % 3 != 0
        row = {"time": START_S + 60 * index, "score": next(bad if small else good), "service": "shop"}
        lines.append(json.dumps({**row, "model": "<small>" if small else "large"}))
    path.write_text("\n".join(lines))
    return path


def test_a_file_is_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Table, alarms with since when and what moved, a page without scripts, baselines; exit code 1."""
    file = a_file(tmp_path / "scores.jsonl")
    page, means = (tmp_path / name for name in ("drift.html", "means.json"))
    options = ["--baseline-count", "200", "--html", str(page), "--save-baselines", str(means)]
    assert main(["drift", str(file), *options]) == 1
    out = capsys.readouterr().out
    assert "alarm: Faithfulness fell from .9" in out
    assert "when model=<small> came in" in out
    assert "model=<small>: new -> 0.6" in out
    html = page.read_text()
    assert "&lt;small&gt;" in html
    assert "Faithfulness fell from .9" in html
    assert "when model=&lt;small&gt; came in" in html
    assert "<small>" not in html
    assert "<script" not in html
    assert "http" not in html.replace("http-equiv", "")
    assert html.count("<svg") >= 2
    assert 'class="span"' in html
    assert "normal was learned from" in html
    assert "that have nothing to do with each other" in html
    assert "less than a day was seen" in html
    assert all(said in html for said in ("95% interval", "beyond this is drift", "time (UTC)", ">faithfulness<"))
    assert "normal was learned from" in out
    stored = json.loads(means.read_text())["faithfulness.score"]["all"]
    assert 0.85 < stored["bound"] < stored["mean"] < 0.95


def test_saved_baselines_are_held_against_another_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is bad from its first row on is an alarm against the means of a good one."""
    good, means = a_file(tmp_path / "good.jsonl", drop=False), tmp_path / "means.json"
    assert main(["drift", str(good), "--save-baselines", str(means)]) == 0
    bad = tmp_path / "bad.jsonl"
    bad.write_text("\n".join(json.dumps({"score": 0.7}) for _ in range(100)))
    assert main(["drift", str(bad), "--baseline", str(means)]) == 1
    assert main(["drift", str(bad), "--baseline", "0.9"]) == 1
    assert main(["drift", str(bad)]) == 0
    capsys.readouterr()


def test_results_of_evaluate_are_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`<metric>_detail` columns: score, risk and what could not be judged, of every metric."""
    rows = [{"faithfulness_detail": {"score": 1.0, "risk": 0.1}, "context_recall_detail": {"score": None}}] * 40
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    assert main(["drift", str(file)]) == 0
    out = capsys.readouterr().out
    assert "faithfulness.risk" in out
    assert "context_recall.unscored" in out
    assert "context_recall.score" not in out
    assert "learning (40)" in out


def test_an_otlp_file_with_scores_is_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Spans as the collector forwards them: attributes of ours, service and route from the span."""
    spans = [
        {
            "traceId": f"{n:032x}",
            "spanId": f"{n:016x}",
            "name": "/ask",
            "startTimeUnixNano": str(int((START_S + n) * 1e9)),
            "endTimeUnixNano": str(int((START_S + n) * 1e9) + 5),
            "attributes": [
                {"key": "rag.evaluation.faithfulness.score", "value": {"doubleValue": 0.5}},
                {"key": "rag.evaluation.faithfulness.risk", "value": {"doubleValue": 0.25}},
                {"key": "rag.sampling.probability", "value": {"doubleValue": 0.1}},
            ],
        }
        for n in range(1, 31)
    ]
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
    request = {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": spans}]}]}
    file = tmp_path / "traces.json"
    file.write_text(json.dumps(request))
    assert main(["drift", str(file), "--all", "--baseline-count", "20"]) == 0
    out = capsys.readouterr().out
    assert "service=shop" in out
    assert "route=/ask" in out
    assert "0.250" in out


def test_states_are_shown_and_asked_to_learn_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a process has saved, with its alarm; `--relearn` leaves word for it."""
    monitor = DriftMonitor(
        FamilySettings(baseline_count=200, average_run_length=1000.0), lambda alert: None, state=StateFolder(tmp_path)
    )
    monitor.write([*results(0.92, 300), *results(0.72, 200, at=300, seed=1)])
    monitor.close()
    assert main(["drift", "--state", str(tmp_path), "--html", str(tmp_path / "page.html")]) == 1
    out = capsys.readouterr().out
    assert "alarm: Faithfulness fell from .9" in out
    assert "faithfulness score, all traffic" in (tmp_path / "page.html").read_text()
    assert main(["drift", "--state", str(tmp_path), "--relearn"]) == 0
    assert (tmp_path / "0" / memory.RELEARN).exists()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"answer": 1}', "no score"),
        ('{"score": 0.5, "time": "soon"}', "not a time"),
        ("[1]", "expected an object"),
        ("", "empty"),
    ],
)
def test_files_that_cannot_be_replayed_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, told: str
) -> None:
    """Exit code 2, and what was expected where."""
    file = tmp_path / "rows.jsonl"
    file.write_text(content)
    assert main(["drift", str(file)]) == 2
    assert told in capsys.readouterr().err


def test_nothing_to_show_says_how(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file, no project, no state; or a folder without one, or one that is broken."""
    monkeypatch.chdir(tmp_path)
    assert main(["drift"]) == 2
    assert "--state" in capsys.readouterr().err
    assert main(["drift", "--state", str(tmp_path)]) == 2
    assert "no drift state" in capsys.readouterr().err
    put_state(tmp_path, memory.NAME, "{}", version=memory.VERSION)
    assert main(["drift", "--state", str(tmp_path)]) == 2
    assert "cannot be understood" in capsys.readouterr().err


def test_every_event_is_a_line_for_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And nothing else stands on standard output, whatever else is asked for."""
    file, page = a_file(tmp_path / "scores.jsonl"), tmp_path / "drift.html"
    assert main(["drift", str(file), "--baseline-count", "200", "--json", "--html", str(page)]) == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert page.exists()
    alarm = next(line for line in lines if line["slice"] == "all")
    assert alarm["event"] == "alarm"
    assert alarm["series"] == "faithfulness.score"
    assert alarm["before"] > 0.85 > alarm["estimate"]
    assert alarm["interval"][0] <= alarm["estimate"] <= alarm["interval"][1]
    assert alarm["since"] < alarm["time"]
    assert alarm["evidence"] >= 0
    assert alarm["learned_from"]["evaluations"] >= 200
    assert alarm["learned_from"]["until"] <= alarm["since"]
    assert "less than a week was seen" in alarm["not_learned"]
    quiet = a_file(tmp_path / "quiet.jsonl", drop=False)
    assert main(["drift", str(quiet), "--baseline-count", "200", "--json"]) == 0
    assert capsys.readouterr().out == ""


def test_the_csv_that_evaluate_writes_is_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its details are JSON in a cell; an empty cell is no value."""
    details = [json.dumps({"score": 0.9, "risk": 0.1}).replace('"', '""')] * 20
    file = tmp_path / "scored.csv"
    rows = [f'q{number},,"{detail}"' for number, detail in enumerate(details)]
    file.write_text("\n".join(["question,faithfulness,faithfulness_detail", *rows]))
    assert main(["drift", str(file)]) == 0
    out = capsys.readouterr().out
    assert "20 evaluations" in out
    assert "faithfulness.risk" in out
