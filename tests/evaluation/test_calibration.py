"""A calibration file, applied to results."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import rag_otel
from rag_otel.errors import ConfigurationError
from rag_otel.evaluation.calibration import Calibration, Calibrations, read_calibrations, write_calibrations
from rag_otel.model import Evaluation
from rag_otel.safety.guard import counters
from rag_otel_evaluators.metrics.faithfulness import Faithfulness
from tests.support.results import an_evaluation

MADE = Calibration(
    metric="faithfulness", judge="embedded", version="1", slope=0.5, intercept=-1.0, threshold=0.3, labels=100, bad=20
)
ALL = Calibrations(all=(MADE,))


def test_risk_and_version_of_a_result() -> None:
    """sigmoid(.5 * logit(.93) - 1) = .573; the version tells that the result was calibrated."""
    found = ALL.apply(an_evaluation(risk=0.93))
    assert found.risk == pytest.approx(0.5728, abs=1e-4)
    assert (found.label, found.score, found.claims) == (
        an_evaluation().label,
        an_evaluation().score,
        an_evaluation().claims,
    )
    assert found.version == "1" + MADE.mark
    assert MADE.judged(found.risk or 0.0) == pytest.approx(0.93)


def test_a_judge_without_risks_gets_them_from_its_score() -> None:
    """1 - score is what is calibrated."""
    assert ALL.apply(an_evaluation(score=0.07, risk=None)).risk == pytest.approx(0.5728, abs=1e-4)


@pytest.mark.parametrize(
    "changes",
    [
        {"judge": "openai/other"},
        {"name": "context_relevance"},
        {"score": None, "risk": None, "reason_code": "abstained"},
        {"score": 0.0, "risk": 1.0, "reason_code": "no_context"},
        {"error_type": "builtins.TimeoutError", "score": None, "risk": None},
    ],
)
def test_what_is_left_as_it_is(changes: dict[str, object]) -> None:
    """Other judges and metrics, results without a score, and scores by definition."""
    assert ALL.apply(an_evaluation(**changes)) == an_evaluation(**changes)


@pytest.mark.parametrize("label", ["faithful", "unfaithful", None])
@pytest.mark.parametrize("risk", [0.05, 0.95])
def test_the_label_follows_the_verdicts_and_no_risk(label: str | None, risk: float) -> None:
    """A calibrated risk gives no label and takes none away."""
    assert ALL.apply(an_evaluation(risk=risk, label=label)).label == label


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_calibrations(tmp_path / "c.json", [MADE])
    assert read_calibrations(tmp_path / "c.json") == ALL


@pytest.mark.parametrize(
    "content", ["", "[]", '{"version": 2, "calibrations": []}', '{"version": 1, "calibrations": [{}]}']
)
def test_a_file_that_is_something_else(tmp_path: Path, content: str) -> None:
    """The error names the setting, the file and the command that makes such files."""
    (tmp_path / "c.json").write_text(content)
    with pytest.raises(ConfigurationError, match=r"RAG_OTEL_CALIBRATION_FILE.*c\.json.*rag-otel labels calibrate"):
        read_calibrations(tmp_path / "c.json")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_calibrations(tmp_path / "none.json")


def test_the_setting_calibrates_what_is_on_the_span(tmp_path: Path, uninstrumented: None) -> None:
    """In process; a file that cannot be read stops the start, and not the first result."""
    with pytest.raises(ConfigurationError):
        rag_otel.instrument(judge=rag_otel.JudgeSettings(calibration_file=str(tmp_path / "none.json")))
    made = dataclasses.replace(MADE, version=Faithfulness().version)
    write_calibrations(tmp_path / "c.json", [made])
    spans, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    rag_otel.instrument(provider, judge=rag_otel.JudgeSettings(calibration_file=str(tmp_path / "c.json")))

    @rag_otel.observe
    def answer(question: str) -> dict[str, object]:
        return {"answer": "It is 300 metres high.", "documents": ["The tower is 330 metres high."]}

    answer("How high is it?")
    assert rag_otel.flush(timeout=60)
    (span,) = spans.get_finished_spans()
    assert span.attributes is not None
    assert str(span.attributes["rag.evaluation.faithfulness.version"]).endswith(made.mark)
    assert json.dumps(span.attributes["rag.evaluation.faithfulness.risk"]) != "null"


def test_a_calibration_is_of_the_version_that_answered(caplog: pytest.LogCaptureFixture) -> None:
    """An alias has none of its own: it is told once, and the next version gets no calibration that is not its own."""
    known = Calibration(
        metric="faithfulness",
        judge="decisions/typesafe/jev-1.13.0",
        version="1",
        slope=2.0,
        intercept=1.0,
        threshold=0.5,
        labels=100,
        bad=20,
    )
    alias = Evaluation(name="faithfulness", score=0.5, risk=0.5, judge="decisions/typesafe/jev-latest", version="1")
    answered = dataclasses.replace(alias, answered_by="decisions/typesafe/jev-1.13.0")
    moved = dataclasses.replace(alias, answered_by="decisions/typesafe/jev-1.14.0")
    before = counters.get("calibration.alias")
    calibrations = Calibrations(all=(known,))
    assert calibrations.apply(answered).risk == pytest.approx(known.risk(0.5))
    assert calibrations.apply(moved) == moved
    assert calibrations.apply(alias) == alias
    assert counters.get("calibration.alias") == before + 2
    if before == 0:
        assert caplog.text.count("a calibration holds for one version") == 1


@pytest.mark.parametrize("version", ["2+6", ""])
def test_what_was_fitted_to_another_version_is_not_applied(version: str, caplog: pytest.LogCaptureFixture) -> None:
    """A file for version 6 of the judge, or one that does not say its version: results stay as they are, and the log
    names both versions and the way out, once."""
    before = counters.get("calibration.version")
    stale = Calibrations(all=(dataclasses.replace(MADE, version=version),))
    result = Faithfulness().evaluate_sync(
        question=None, chunks=["The tower is 330 metres high."], response="The tower is 300 metres high."
    )
    assert result.version == "2+7"
    assert stale.apply(result) == result
    assert stale.apply(result) == result
    assert counters.get("calibration.version") == before + 2
    if before == 0:
        assert caplog.text.count("is not applied") == 1
        assert "2+7" in caplog.text
        assert "rag-otel labels calibrate" in caplog.text


def test_each_version_has_its_own(tmp_path: Path) -> None:
    """A file may hold the calibrations of two versions of one judge."""
    newer = dataclasses.replace(MADE, version="2", slope=0.7)
    write_calibrations(tmp_path / "c.json", [MADE, newer])
    both = read_calibrations(tmp_path / "c.json")
    assert both.apply(an_evaluation(version="2")).version == "2" + newer.mark
    assert both.apply(an_evaluation(version="1")).version == "1" + MADE.mark


def test_a_file_without_versions_is_read(tmp_path: Path) -> None:
    """As `rag-otel labels calibrate` wrote it before: it stops no start, and is applied to nothing."""
    write_calibrations(tmp_path / "c.json", [MADE])
    content = json.loads((tmp_path / "c.json").read_text())
    del content["calibrations"][0]["version"]
    (tmp_path / "c.json").write_text(json.dumps(content))
    assert read_calibrations(tmp_path / "c.json").apply(an_evaluation()) == an_evaluation()
