"""Drift through the public entry: an instrumented application whose answers get worse."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider

import rag_otel
from rag_otel.alert import Alert
from rag_otel.cli.main import main
from rag_otel.errors import ConfigurationError
from rag_otel.model import Chunk, Evaluation


class ByWord:
    """`good` answers score 1, others .4."""

    name, judge_name, version = "faithfulness", "function", "1"

    def __init__(self) -> None:
        self.anchors = 0
        self.anchors_read = threading.Event()

    async def evaluate(
        self, *, question: str | None, chunks: Sequence[Chunk | str], response: str, reference: str | None = None
    ) -> Evaluation:
        self.anchors += not response.endswith(" answer.")
        if self.anchors == 24:
            self.anchors_read.set()
        return Evaluation(
            name=self.name, score=1.0 if "good" in response else 0.4, evaluator="ByWord", version=self.version
        )


@rag_otel.observe
def ask(question: str) -> dict[str, object]:
    """The application."""
    return {"answer": f"A {question} answer.", "contexts": ["The moon orbits the earth."]}


@pytest.fixture
def _taken_off() -> Iterator[None]:
    yield
    rag_otel.uninstrument()


@pytest.mark.usefixtures("_taken_off")
def test_answers_that_get_worse_raise_one_alert(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Baseline, drop, alert with the anchors asked; the state is there for `rag-otel drift` after the end."""
    told: list[Alert] = []
    raised = threading.Event()

    def on_alert(alert: Alert) -> None:
        if alert.name == "drift_score":
            told.append(alert)
        if alert.follow_up:
            raised.set()

    rag_otel.instrument(
        TracerProvider(),
        metrics=[],
        evaluators=[judge := ByWord()],
        alerts=rag_otel.AlertSettings(on_alert=on_alert, rules=["score<0"], digest=0),
        evaluations_per_minute=1e6,
        drift=rag_otel.DriftSettings(baseline_count=50),
        state_folder=str(tmp_path),
        spans=rag_otel.SpanSettings(annotations=False),
    )
    for _ in range(60):
        ask("good")
    assert rag_otel.flush()
    assert judge.anchors_read.wait(60)
    for _ in range(60):
        ask("bad")
        rag_otel.flush()
        if told:
            break
    assert raised.wait(60)
    alert, follow_up = told
    assert alert.examples[0].response == "A bad answer."
    assert (alert.details["moved"], follow_up.details["moved"]) == ("unknown", "app")
    assert follow_up.fingerprint == alert.fingerprint
    rag_otel.uninstrument()
    assert main(["drift", "--state", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "alarm: Faithfulness" in out
    assert "judge of faithfulness: ByWord 1" in out


@pytest.mark.usefixtures("_taken_off")
@pytest.mark.parametrize("given", [{"drift_baseline": "1.5"}, {"drift_baseline": "nowhere.json"}])
def test_a_baseline_that_cannot_be_read_fails_at_the_start(given: dict[str, str]) -> None:
    """Before any traffic, by its name."""
    with pytest.raises(ConfigurationError, match="drift_baseline"):
        rag_otel.instrument(TracerProvider(), **given)
