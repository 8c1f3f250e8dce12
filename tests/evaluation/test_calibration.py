"""A calibration file, applied to results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import rag_otel
from rag_otel.errors import ConfigurationError
from rag_otel.evaluation.calibration import Calibration, Calibrations, read_calibrations, write_calibrations
from tests.support.results import an_evaluation

MADE = Calibration(
    metric="faithfulness", judge="embedded", slope=0.5, intercept=-1.0, threshold=0.3, labels=100, bad=20
)
ALL = Calibrations(all=(MADE,))


def test_risk_label_and_version_of_a_result() -> None:
    """sigmoid(.5 * logit(.93) - 1) = .573; the version tells that the result was calibrated."""
    found = ALL.apply(an_evaluation(risk=0.93))
    assert found.risk == pytest.approx(0.5728, abs=1e-4)
    assert (found.label, found.score) == ("unfaithful", an_evaluation().score)
    assert found.version == "1" + MADE.mark
    assert MADE.judged(found.risk or 0.0) == pytest.approx(0.93)
    assert ALL.apply(an_evaluation(risk=0.1, label="unfaithful")).label == "faithful"


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


def test_an_answer_with_unjudged_claims_is_never_faithful() -> None:
    """It had no label, and a low risk gives it none."""
    assert ALL.apply(an_evaluation(risk=0.05, label=None)).label is None
    assert ALL.apply(an_evaluation(risk=0.95, label=None)).label == "unfaithful"


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_calibrations(tmp_path / "c.json", [MADE])
    assert read_calibrations(tmp_path / "c.json") == ALL


@pytest.mark.parametrize(
    "content", ["", "[]", '{"version": 2, "calibrations": []}', '{"version": 1, "calibrations": [{}]}']
)
def test_a_file_that_is_something_else(tmp_path: Path, content: str) -> None:
    """The error names the setting, the file and the command that makes such files."""
    (tmp_path / "c.json").write_text(content)
    with pytest.raises(ConfigurationError, match=r"RAG_OTEL_CALIBRATION_FILE.*c\.json.*rag-otel calibrate"):
        read_calibrations(tmp_path / "c.json")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_calibrations(tmp_path / "none.json")


def test_the_setting_calibrates_what_is_on_the_span(tmp_path: Path, uninstrumented: None) -> None:
    """In process; a file that cannot be read stops the start, and not the first result."""
    with pytest.raises(ConfigurationError):
        rag_otel.instrument(judge=rag_otel.JudgeSettings(calibration_file=str(tmp_path / "none.json")))
    write_calibrations(tmp_path / "c.json", [MADE])
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
    assert str(span.attributes["rag.evaluation.faithfulness.version"]).endswith(MADE.mark)
    assert json.dumps(span.attributes["rag.evaluation.faithfulness.risk"]) != "null"
