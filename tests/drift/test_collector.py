"""`rag-otel collect` watches for drift too: what it has judged, it remembers in its data folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_otel.cli.main import main
from rag_otel.drift import memory
from rag_otel.drift.family import FamilySettings
from testkit.collector import a_backend, a_collector
from testkit.otlp_requests import ANSWER, a_rag_trace, a_request
from testkit.polling import eventually

pytestmark = pytest.mark.server


BASELINE = 20


def test_the_collector_learns_baselines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Traces in, a gauge on /metrics, and after the end a state that `rag-otel drift` shows."""
    with a_backend() as backend:
        options = ["--backend", backend.address, "--set", f"drift_baseline_count={BASELINE}"]
        with a_collector(tmp_path, *options) as collector:
            for number in range(BASELINE + 5):
                collector.export(a_request(*a_rag_trace(answer=f"{ANSWER} It is {number} metres wide.")))
            eventually(lambda: "rag_otel_drift_baseline" in collector.get("/metrics")[1], within_s=60.0)
            assert collector.stop() == 0
    (stored,) = memory.read_memories(tmp_path / "state", FamilySettings())
    assert {name for (name, _), _ in stored.memory.family} == {
        "faithfulness.score", "faithfulness.risk", "faithfulness.unscored"
    }  # fmt: skip
    assert main(["drift", "--state", str(tmp_path / "state")]) == 0
    assert "faithfulness.risk" in capsys.readouterr().out
