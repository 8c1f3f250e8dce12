"""Baselines that were learned from results of an older judge: learned anew, and it is said."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from rag_otel.drift import memory
from rag_otel.drift.anchors import AnchorReading, Readings
from rag_otel.drift.baseline import Baseline
from rag_otel.drift.family import FamilySettings
from rag_otel.drift.judge_watch import JudgeWatch
from rag_otel.drift.monitor import DriftMonitor
from rag_otel.durable.state_folder import StateFolder
from rag_otel.model import EvaluatedTrace, Evaluation
from testkit.drift_scores import results
from tests.support.states import state_of

SETTINGS = FamilySettings(baseline_count=200, average_run_length=1000.0)
SERIES = ("faithfulness.score", "all")


def saved(folder: Path, *versions: str) -> Baseline:
    """What a process leaves that has seen 300 results of each version."""
    state = StateFolder(folder)
    monitor = DriftMonitor(SETTINGS, lambda alert: None, state=state)
    for number, version in enumerate(versions):
        monitor.write(results(0.92, 300, at=300 * number, seed=number, version=version))
    found = monitor.family[SERIES].baseline
    assert found is not None
    monitor.close()
    state.close()
    return found


def a_monitor(folder: Path, judge: JudgeWatch | None = None) -> DriftMonitor:
    return DriftMonitor(SETTINGS, lambda alert: None, state=StateFolder(folder), judge=judge)


@pytest.mark.parametrize("version", ["2+7", "2+6+c0ffee1"])
def test_a_new_version_learns_its_own_baseline(tmp_path: Path, version: str, caplog: pytest.LogCaptureFixture) -> None:
    """After a restart with another version of the judge, or with a calibration; the log names both."""
    saved(tmp_path, "2+6")
    monitor = a_monitor(tmp_path)
    monitor.write(results(0.7, 10, at=300, version=version))
    assert monitor.family[SERIES].baseline is None
    assert monitor.family[SERIES].learned == 10
    assert caplog.text.count("learned anew") == 1
    assert f"Faithfulness {version} embedded" in caplog.text
    assert "Faithfulness 2+6 embedded" in caplog.text
    monitor.write(results(0.7, 300, at=310, version=version))
    monitor.close()
    baseline = monitor.family[SERIES].baseline
    assert baseline is not None
    assert baseline.mean == pytest.approx(0.7, abs=0.03)


def test_the_same_version_keeps_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Also where two versions gave the results that it was learned from, whichever comes first."""
    before = saved(tmp_path, "2+6", "2+7")
    monitor = a_monitor(tmp_path)
    monitor.write(results(0.92, 1, at=600, version="2+7"))
    monitor.write(results(0.92, 1, at=601, version="2+6"))
    found = monitor.family[SERIES].baseline
    assert found is not None
    assert found.same_numbers(before)
    assert "learned anew" not in caplog.text


def test_another_metric_keeps_its_own(tmp_path: Path) -> None:
    """Only what the new version has judged is learned anew."""

    def both(count: int, at: int, version: str) -> list[EvaluatedTrace]:
        made = results(0.92, count, at=at, version=version)
        own = Evaluation(name="relevance", score=0.9, evaluator="Relevance", version="1")
        return [dataclasses.replace(each, evaluations=(*each.evaluations, own)) for each in made]

    state = StateFolder(tmp_path)
    first = DriftMonitor(SETTINGS, lambda alert: None, state=state)
    first.write(both(300, 0, "2+6"))
    first.close()
    state.close()
    monitor = a_monitor(tmp_path)
    monitor.write(both(1, 300, "2+7"))
    assert monitor.family[SERIES].baseline is None
    assert monitor.family[("relevance.score", "all")].baseline is not None


def test_an_alarm_of_the_old_version_is_over(tmp_path: Path) -> None:
    """What fell by the old version's scores says nothing of the new one's."""
    state = StateFolder(tmp_path)
    first = DriftMonitor(SETTINGS, lambda alert: None, state=state)
    first.write([*results(0.92, 300, version="2+6"), *results(0.72, 200, at=300, seed=1, version="2+6")])
    first.close()
    state.close()
    assert '"faithfulness"' in json.dumps(state_of(tmp_path, memory.NAME)["problems"])
    monitor = a_monitor(tmp_path)
    monitor.write(results(0.72, 10, at=500, version="2+7"))
    monitor.close()
    assert '"faithfulness"' not in json.dumps(state_of(tmp_path, memory.NAME)["problems"])
    assert not any(series.firing for _, series in monitor.family)


def test_the_reference_of_the_anchors_goes_with_it(tmp_path: Path) -> None:
    """It belonged to the baselines: the next reading is the new one, and no shift of the judge is told."""
    state = StateFolder(tmp_path)
    watch = JudgeWatch([], [], lambda job: False)
    reading = AnchorReading(identity="Faithfulness 2+6 embedded", time_s=1.0, scores={"a": 1.0, "b": 1.0}, risks={})
    watch.readings = Readings().with_reading("faithfulness", reading)
    first = DriftMonitor(SETTINGS, lambda alert: None, state=state, judge=watch)
    first.write(results(0.92, 300, version="2+6"))
    first.close()
    state.close()
    again = JudgeWatch([], [], lambda job: False)
    monitor = a_monitor(tmp_path, again)
    monitor.write(results(0.92, 1, at=300, version="2+6"))
    assert "faithfulness" in again.readings.references
    monitor.write(results(0.92, 1, at=301, version="2+7"))
    assert again.readings == Readings()
