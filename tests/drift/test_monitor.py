"""The monitor as a writer: one alert for a problem, state that survives, nothing that must stay hidden."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from rag_otel.alert import Alert, AlertState
from rag_otel.alerts.messages.examples import Examples
from rag_otel.alerts.messages.wording import alert_id
from rag_otel.delivery.dispatcher import Dispatcher
from rag_otel.drift import memory
from rag_otel.drift.family import FamilySettings
from rag_otel.drift.monitor import DriftMonitor
from rag_otel.durable.state_folder import DATABASE, StateFolder
from rag_otel.safety.guard import counters
from rag_otel.telemetry.gauges import gauges
from testkit.drift_scores import result, results
from tests.support.states import put_state, state_of, text_of_state

SETTINGS = FamilySettings(baseline_count=200, average_run_length=1000.0)


class Told(list[Alert]):
    """The alerts that were raised."""


def a_monitor(told: Told, state: StateFolder | None = None, *, capture_content: bool = True) -> DriftMonitor:
    return DriftMonitor(SETTINGS, told.append, examples=Examples(capture_content=capture_content), state=state)


def test_a_drop_is_one_alert_and_one_end() -> None:
    """It shows in all traffic, the service, the route and the model; it is told once, with facts and examples."""
    told = Told()
    monitor = a_monitor(told)
    monitor.write(results(0.92, 300))
    assert told == []
    monitor.write(results(0.72, 300, at=300, seed=1))
    (alert,) = told
    assert (alert.name, alert.state, alert.metric) == ("drift_score", AlertState.FIRING, "faithfulness.score")
    assert "Faithfulness fell from .9" in alert.headline
    assert float(alert.details["before"]) == pytest.approx(0.92, abs=0.03)
    assert alert.details["moved"] == "unknown"
    assert float(alert.details["estimate"]) < float(alert.details["alarm_beyond"]) < float(alert.details["baseline"])
    assert alert.since_ns > 0
    assert len({each.response for each in alert.examples}) == 3
    assert "bad_answers" not in alert.details  # scores of .5 and more, without a label
    assert alert.examples[0].score == 0.5
    assert alert.examples[0].response is not None
    firing = [labels["slice"] for value, labels in gauges.read("rag_otel.drift.alarm") if value]
    assert {"all", "model=large"} <= set(firing)
    monitor.write(results(0.92, 1500, at=600, seed=2))
    assert [each.state for each in told] == [AlertState.FIRING, AlertState.RESOLVED]
    assert re.search(r"is back at \.[89]\d", told[1].headline)
    assert told[1].since_ns == 0  # the end lasts from the beginning that was told
    assert told[1].fingerprint == told[0].fingerprint
    assert told[1].name == told[0].name


def test_what_is_hidden_stays_hidden() -> None:
    """Without content the alert has facts, scores and ids, and no text of any answer."""
    told = Told()
    monitor = a_monitor(told, capture_content=False)
    monitor.write([*results(0.92, 300), *results(0.72, 300, at=300, seed=1)])
    (alert,) = told
    assert all(each.response is None and each.question is None for each in alert.examples)
    assert alert.examples[0].target is not None
    assert "moon" not in repr(alert)


def test_a_rise_of_the_unjudged_share_is_told_by_its_name() -> None:
    """Answers that cannot be judged are not good ones."""
    told = Told()
    monitor = a_monitor(told)
    monitor.write(results(0.92, 300))
    monitor.write([result(index, None, reason_code="timeout") for index in range(300, 370)])
    assert [alert.name for alert in told] == ["drift_unjudged"]
    assert "without a faithfulness verdict rose from .00" in told[0].headline


def test_state_survives_a_restart(tmp_path: Path) -> None:
    """A second process goes on: no new baseline, no second alert for the same problem, its end is told."""
    told = Told()
    first_folder = StateFolder(tmp_path)
    first = a_monitor(told, first_folder)
    first.write([*results(0.92, 300), *results(0.72, 200, at=300, seed=1)])
    assert len(told) == 1
    first.close()
    first_folder.close()
    assert "moon" not in json.dumps(state_of(tmp_path, memory.NAME))
    second = a_monitor(told, StateFolder(tmp_path))
    second.write(results(0.72, 100, at=500, seed=2))
    assert len(told) == 1
    second.write(results(0.92, 1500, at=600, seed=3))
    assert [alert.state for alert in told] == [AlertState.FIRING, AlertState.RESOLVED]


@pytest.mark.parametrize(
    ("content", "version"),
    [
        ("", memory.VERSION),
        ("{", memory.VERSION),
        ("{}", 99),
        ('{"count": 0, "learned": {}, "series": [{}]}', 3),
        ('{"count": 0, "learned": {}, "series": [{}]}', memory.VERSION),
        ("[]", memory.VERSION),
    ],
)
def test_a_state_that_nobody_understands_is_set_aside(tmp_path: Path, content: str, version: int) -> None:
    """It is kept for whoever wrote it, and watching starts anew."""
    put_state(tmp_path, memory.NAME, content, version=version)
    monitor = a_monitor(Told(), StateFolder(tmp_path))
    monitor.write(results(0.9, 10))
    assert text_of_state(tmp_path, f"{memory.NAME}.unreadable") == content
    assert monitor.family[("faithfulness.score", "all")].learned == 10


def test_new_baselines_on_request(tmp_path: Path) -> None:
    """A file beside the state: the next save learns anew, and the request is gone."""
    monitor = a_monitor(Told(), StateFolder(tmp_path))
    monitor.write(results(0.92, 300))
    assert monitor.family[("faithfulness.score", "all")].baseline is not None
    (tmp_path / "0" / memory.RELEARN).touch()
    monitor.close()
    assert monitor.family[("faithfulness.score", "all")].baseline is None
    assert not (tmp_path / "0" / memory.RELEARN).exists()


def test_a_forked_child_has_series_of_its_own(tmp_path: Path) -> None:
    """The child starts empty in another part of the folder; the parent's state is not touched by it."""
    monitor = a_monitor(Told(), state := StateFolder(tmp_path))
    delivery = Dispatcher([monitor], state=state)
    monitor.write(results(0.92, 50))
    pid = os.fork()
    if pid == 0:
        delivery.after_fork()
        monitor.write(results(0.92, 7))
        monitor.close()
        os._exit(0 if monitor.family[("faithfulness.score", "all")].learned == 7 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert text_of_state(tmp_path, memory.NAME, part="1") is not None
    monitor.write(results(0.92, 50, at=50))
    assert monitor.family[("faithfulness.score", "all")].learned == 100
    delivery.shutdown(1.0)
    assert text_of_state(tmp_path, memory.NAME) is not None


def test_a_disk_that_is_full_costs_the_state_alone(tmp_path: Path) -> None:
    """Watching goes on in memory; the failure is counted."""
    folder = StateFolder(tmp_path)
    monitor = a_monitor(told := Told(), folder)
    monitor.write(results(0.92, 10))
    folder.database.close()
    (tmp_path / DATABASE).unlink()
    (tmp_path / DATABASE).mkdir()
    before = counters.get("state.write_failed")
    monitor.close()
    monitor.write([*results(0.92, 300, at=10), *results(0.72, 300, at=310, seed=1)])
    assert counters.get("state.write_failed") > before
    assert len(told) == 1


def test_an_alarm_that_was_noticed_is_told_by_the_next_process(tmp_path: Path) -> None:
    """A kill between the detection and the telling: what was noticed is on disk, and is told with the same numbers."""
    folder = StateFolder(tmp_path)

    def dies(alert: Alert) -> None:
        raise KeyboardInterrupt

    first = DriftMonitor(SETTINGS, dies, state=folder)
    with pytest.raises(KeyboardInterrupt):
        first.write([*results(0.92, 300), *results(0.72, 200, at=300, seed=1)])
    folder.close()
    told = Told()
    folder = StateFolder(tmp_path)
    a_monitor(told, folder).write(results(0.72, 1, at=500, seed=2))
    (alert,) = told
    assert (alert.name, alert.state) == ("drift_score", AlertState.FIRING)
    again = Told()
    monitor = DriftMonitor(SETTINGS, again.append)
    monitor.write([*results(0.92, 300), *results(0.72, 200, at=300, seed=1)])
    assert alert_id(again[0]) == alert_id(alert)
