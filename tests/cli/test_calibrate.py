"""`rag-otel labels calibrate`: labels from files and from a real Phoenix, a fit, a check, an alert."""

from __future__ import annotations

import json
import random
import uuid
from pathlib import Path
from typing import Any

import pytest

from rag_otel.cli.main import main
from rag_otel.delivery.http import post, to_json
from rag_otel.evaluation.calibration import read_calibrations
from rag_otel.model import SpanRef
from rag_otel.writers.phoenix_annotations import PhoenixAnnotationWriter
from testkit.http_receiver import http_receiver
from testkit.polling import eventually
from testkit.shared_servers import SharedPhoenix
from tests.support.phoenix_server import PhoenixApi
from tests.support.results import a_result, an_evaluation


def rows(count: int, *, seed: int, shift: float = 0.0, version: str = "1") -> list[dict[str, Any]]:
    """Scored rows with labels; the judge says .9 for what is bad in half of the cases."""
    rng = random.Random(seed)
    made = []
    for n in range(count):
        risk = rng.choice((0.1, 0.9))
        bad = rng.random() < (0.5 if risk > 0.5 else 0.02) + shift
        detail = {"score": 1 - risk, "risk": risk, "judge": "embedded", "version": version}
        made.append({"faithfulness_detail": detail, "label": "bad" if bad else "good", "route": f"r{n % 2}"})
    return made


def written(path: Path, made: list[dict[str, Any]]) -> str:
    path.write_text("\n".join(map(json.dumps, made)))
    return str(path)


def test_a_fit_and_a_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The calibrated risk is what people found; new labels of the same kind agree with it."""
    made = str(tmp_path / "calibration.json")
    labelled = written(tmp_path / "a.jsonl", rows(600, seed=1))
    assert main(["labels", "calibrate", labelled, "--slices", "route", "--cost-miss", "3", "--output", made]) == 0
    told = capsys.readouterr().out
    assert "faithfulness by embedded" in told
    assert "route=r0" in told
    assert "log-loss on labels that the fit did not use" in told
    (found,) = read_calibrations(made).all
    assert found.risk(0.9) == pytest.approx(0.5, abs=0.07)
    assert found.risk(0.1) == pytest.approx(0.02, abs=0.03)
    assert (found.threshold, found.labels) == (0.25, 600)
    assert main(["labels", "calibrate", written(tmp_path / "b.jsonl", rows(400, seed=2)), "--check", made]) == 0
    assert "agrees with its calibration" in capsys.readouterr().out


def test_a_judge_that_has_drifted_from_people_is_an_alert(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exit code says so, and the channels are told."""
    made = str(tmp_path / "calibration.json")
    assert main(["labels", "calibrate", written(tmp_path / "a.jsonl", rows(600, seed=1)), "--output", made]) == 0
    worse = written(tmp_path / "b.jsonl", rows(400, seed=2, shift=0.2))
    with http_receiver() as receiver:
        monkeypatch.setenv("RAG_OTEL_ALERT_WEBHOOK_URL", receiver.url)
        assert main(["labels", "calibrate", worse, "--check", made, "--alert"]) == 1
        (request,) = receiver.requests
    assert b"judge_drift" in request.body
    assert b"no longer agrees with people" in request.body


def test_results_that_were_calibrated_already(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without the file they went through they are refused; with it the fit is that of the judge's own risks."""
    first = str(tmp_path / "first.json")
    plain = rows(600, seed=1)
    assert main(["labels", "calibrate", written(tmp_path / "a.jsonl", plain), "--output", first]) == 0
    (made,) = read_calibrations(first).all
    for row in plain:
        detail = row["faithfulness_detail"]
        detail |= {"risk": made.risk(detail["risk"]), "version": "1" + made.mark}
    again = written(tmp_path / "b.jsonl", plain)
    assert main(["labels", "calibrate", again, "--output", str(tmp_path / "second.json")]) == 2
    assert "name its file with --base" in capsys.readouterr().err
    assert main(["labels", "calibrate", again, "--base", first, "--output", str(tmp_path / "second.json")]) == 0
    (second,) = read_calibrations(tmp_path / "second.json").all
    assert (second.slope, second.intercept) == pytest.approx((made.slope, made.intercept), abs=1e-6)


def test_versions_of_a_judge_are_kept_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each has a calibration of its own; a few labels of the one before do not stop the fit, and are told."""
    made = tmp_path / "calibration.json"
    both = [*rows(600, seed=1, version="2+6"), *rows(500, seed=2, version="2+7")]
    assert main(["labels", "calibrate", written(tmp_path / "a.jsonl", both), "--output", str(made)]) == 0
    assert {(each.version, each.labels) for each in read_calibrations(made).all} == {("2+6", 600), ("2+7", 500)}
    assert "faithfulness by embedded, version 2+6" in capsys.readouterr().out
    few = [*rows(5, seed=1, version="2+6"), *rows(500, seed=2, version="2+7")]
    assert main(["labels", "calibrate", written(tmp_path / "b.jsonl", few), "--output", str(made)]) == 0
    assert [each.version for each in read_calibrations(made).all] == ["2+7"]
    assert "version 2+6" in capsys.readouterr().err


def test_a_check_against_a_calibration_of_another_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Is refused: the file says nothing about these results."""
    made = str(tmp_path / "calibration.json")
    old, new = rows(600, seed=1, version="2+6"), rows(400, seed=2, version="2+7")
    assert main(["labels", "calibrate", written(tmp_path / "a.jsonl", old), "--output", made]) == 0
    assert main(["labels", "calibrate", written(tmp_path / "b.jsonl", new), "--check", made]) == 2
    told = capsys.readouterr().err
    assert "holds no calibration of faithfulness by embedded, version 2+7" in told


def test_a_version_that_looks_like_a_calibration(tmp_path: Path) -> None:
    """`+classifier-3` and a hash that begins with c are parts of versions, and no mark."""
    for version in ("2+classifier-3+0f3a9c11+7", "2+checked-3+c0ffee12"):
        made = str(tmp_path / "c.json")
        labelled = written(tmp_path / "a.jsonl", rows(600, seed=1, version=version))
        assert main(["labels", "calibrate", labelled, "--output", made]) == 0
        assert [each.version for each in read_calibrations(made).all] == [version]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give either files or --project"),
        (["{file}", "--label", "human"], "no column 'human'; name the column of the labels with --label"),
        (["{file}", "--cost-miss", "0"], "costs must be numbers above 0"),
        (["{file}", "--metric", "context_recall"], "found no answer with both a label and a result"),
        (["{few}", "--output", "o.json"], "a fit needs 10 of each"),
        (["{odd}"], "'perhaps' says neither good nor bad; name the bad values with --bad"),
    ],
)
def test_wrong_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line that names what is wrong and the way out."""
    monkeypatch.chdir(tmp_path)
    files = {
        "file": written(tmp_path / "file.jsonl", rows(60, seed=1)),
        "few": written(tmp_path / "few.jsonl", rows(12, seed=1)),
        "odd": written(tmp_path / "odd.jsonl", [{"risk": 0.5, "label": "perhaps"}]),
    }
    assert main(["labels", "calibrate", *(each.format(**files) for each in arguments)]) == 2
    assert said in capsys.readouterr().err


BUNDLED = Path(__file__).parents[2] / "examples" / "data" / "ragtruth_qa_dev.jsonl"


def bundled_rows() -> list[dict[str, Any]]:
    """The bundled answers, in which a label of 1 means unfaithful, with the risks of a judge that is often right."""
    rng = random.Random(4)
    found = [json.loads(line) for line in BUNDLED.read_text(encoding="utf-8").splitlines()]
    return [{"risk": rng.betavariate(3, 2) if row["label"] else rng.betavariate(1, 5), **row} for row in found]


def test_labels_that_are_read_the_wrong_way_round(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No file is made of them unless that is asked for; the way out is named, and leads to a fit."""
    file, made = written(tmp_path / "a.jsonl", bundled_rows()), tmp_path / "c.json"
    assert main(["labels", "calibrate", file]) == 0
    assert "--bad 1" in capsys.readouterr().err
    assert main(["labels", "calibrate", file, "--output", str(made)]) == 2
    told = capsys.readouterr().err
    assert "wrong way round" in told
    assert "--bad 1" in told
    assert "--allow-inverted" in told
    assert not made.exists()
    assert main(["labels", "calibrate", file, "--output", str(made), "--bad", "1"]) == 0
    assert read_calibrations(made).all[0].slope > 0
    assert "wrong way round" not in capsys.readouterr().err
    assert main(["labels", "calibrate", file, "--output", str(made), "--allow-inverted"]) == 0
    assert read_calibrations(made).all[0].slope < 0


def test_a_calibration_that_does_harm_is_not_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a judge whose risks are exactly right every fit is a little wrong: the file would make it worse."""
    made = [{"risk": 0.2, "label": "bad" if n < 10 else "good", "judge": "right"} for n in range(50)]
    made += [{"risk": 0.3, "label": "bad" if n < 15 else "good", "judge": "right"} for n in range(50)]
    output = tmp_path / "c.json"
    assert main(["labels", "calibrate", written(tmp_path / "a.jsonl", made), "--output", str(output)]) == 1
    assert "faithfulness by right: not in" in capsys.readouterr().err
    assert not output.exists()
    both = [*made, *rows(600, seed=1)]
    assert main(["labels", "calibrate", written(tmp_path / "b.jsonl", both), "--output", str(output)]) == 1
    assert [each.judge for each in read_calibrations(output).all] == ["embedded"]


def test_labels_in_other_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Numbers are scores, `--bad` names words of one's own, CSV is read, answers without a label are passed over."""
    (tmp_path / "a.csv").write_text("risk,label\n0.9,0\n0.2,1\n0.3,\n0.4,true\n")
    assert main(["labels", "calibrate", str(tmp_path / "a.csv"), "--json"]) == 0
    (report,) = json.loads(capsys.readouterr().out)
    assert (report["overall"]["labels"], report["overall"]["bad"]) == (3, 1)
    (tmp_path / "b.csv").write_text("risk,label\n0.9,erfunden\n0.2,belegt\n")
    assert main(["labels", "calibrate", str(tmp_path / "b.csv"), "--json", "--bad", "erfunden"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["overall"]["auroc"]["value"] == 1.0


@pytest.mark.phoenix
def test_labels_that_people_gave_in_phoenix(
    phoenix_server: SharedPhoenix, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Annotations of annotator kind HUMAN are joined with rag-otel's on the same span; others are no labels."""
    project, api = f"labels-{uuid.uuid4().hex[:8]}", PhoenixApi(phoenix_server.base_url)
    targets = [SpanRef(trace_id=uuid.uuid4().hex, span_id=uuid.uuid4().hex[:16]) for _ in range(6)]
    spans = [
        {
            "name": "answer",
            "context": {"trace_id": target.trace_id, "span_id": target.span_id},
            "span_kind": "CHAIN",
            "start_time": "2026-05-01T12:00:00Z",
            "end_time": "2026-05-01T12:00:01Z",
            "status_code": "OK",
            "attributes": {"tenant": "acme"},
        }
        for target in targets
    ]
    post(f"{phoenix_server.base_url}/v1/projects", to_json({"name": project}))
    post(f"{phoenix_server.base_url}/v1/projects/{project}/spans", to_json({"data": spans}))
    eventually(lambda: len(api.spans(project)) == 6, within_s=120)
    PhoenixAnnotationWriter(phoenix_server.base_url).write(
        [a_result(an_evaluation(risk=0.9 if n < 3 else 0.2), target=target) for n, target in enumerate(targets)]
    )
    people = [
        {
            "span_id": target.span_id,
            "name": "label",
            "annotator_kind": "HUMAN" if n < 5 else "LLM",
            "identifier": "ann",
            "result": {"label": "hallucinated" if n < 2 else "correct"},
        }
        for n, target in enumerate(targets)
    ]
    post(f"{phoenix_server.base_url}/v1/span_annotations?sync=true", to_json({"data": people}))
    eventually(lambda: len(api.annotations(project, *(each.span_id for each in targets))) == 12, within_s=120)
    arguments = ["--project", project, "--phoenix-endpoint", phoenix_server.base_url, "--slices", "tenant", "--json"]
    assert main(["labels", "calibrate", *arguments]) == 0
    (report,) = json.loads(capsys.readouterr().out)
    assert (report["judge"], report["overall"]["labels"], report["overall"]["bad"]) == ("embedded", 5, 2)
    assert report["overall"]["precision"]["value"] == pytest.approx(2 / 3)
    assert report["overall"]["recall"]["value"] == 1.0
