"""Inbox, monitors, ticker and delivery together, as the set-up composes them: in real threads, across restarts."""

from __future__ import annotations

import dataclasses
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import rag_otel
from rag_otel.alert import Alert, AlertState
from rag_otel.alerts.channels.callback import CallbackChannel
from rag_otel.alerts.inbox import NAME, VERSION, Inbox
from rag_otel.alerts.monitors.monitor import Monitor, Monitors
from rag_otel.alerts.rules import AlertRules
from rag_otel.alerts.schedule import Limits, QuietHours, parse_quiet_hours
from rag_otel.alerts.telling import AlertDelivery
from rag_otel.delivery.dispatcher import Dispatcher
from rag_otel.durable.state_folder import StateFolder
from rag_otel.errors import ConfigurationError
from rag_otel.model import EvaluatedTrace
from rag_otel.safety.guard import counters
from rag_otel.settings import resolve
from rag_otel.settings.groups import AlertSettings
from rag_otel.setup.delivering import compose_delivery
from testkit.polling import eventually
from testkit.settings import grouped
from tests.support.results import a_result, an_evaluation
from tests.support.states import put_state, text_of_state

PATIENCE_S = 20.0
FAILED = an_evaluation(score=None, risk=None, label=None, claims=(), error_type="builtins.TimeoutError")
ALWAYS = parse_quiet_hours(["00:00-24:00"])


@pytest.fixture
def told() -> list[Alert]:
    return []


@pytest.fixture
def composed(told: list[Alert]) -> Iterator[Any]:
    """`composed(setting=...)`: a delivery as the settings want it, telling `told`."""
    made: list[Dispatcher] = []

    def compose(**settings: Any) -> Dispatcher:
        made.append(
            compose_delivery(
                resolve({"alerts": AlertSettings(on_alert=told.append), **settings}, {}).settings,
            )
        )
        return made[-1]

    yield compose
    for delivery in made:
        delivery.shutdown(0.1)


def test_a_digest_goes_out_by_itself(composed: Any, told: list[Alert]) -> None:
    """Nobody flushes: the ticker's thread closes the window."""
    delivery = composed(alert_digest=0.05)
    for route in ("a", "b"):
        delivery.submit(a_result(route=route))
    eventually(lambda: sum(alert.count for alert in told) == 2)


def test_a_problem_is_resolved_by_itself(composed: Any, told: list[Alert]) -> None:
    """Bad, then nothing bad for a while."""
    delivery = composed(alert_digest=0, alert_resolve_after=0.05)
    delivery.submit(a_result())
    eventually(lambda: [alert.state for alert in told] == [AlertState.FIRING, AlertState.RESOLVED])


def test_failing_evaluators_are_raised_by_the_composed_monitors(composed: Any, told: list[Alert]) -> None:
    """Through settings, queues, ticker and inbox to the callback; and no answer of theirs is unfaithful."""
    delivery = composed(alert_digest=0, slo_target=0.95)
    for _ in range(30):
        delivery.submit(a_result(FAILED))
    assert delivery.flush(PATIENCE_S)
    assert [(alert.name, alert.metric) for alert in told] == [("evaluator_failing", "faithfulness")]


def test_the_setting_state_folder_keeps_alerts_and_problems(composed: Any, told: list[Alert], tmp_path: Path) -> None:
    """The next set-up with the same folder knows that the problem was told, and cools down."""
    for route in ("a", "a", "b"):
        delivery = composed(state_folder=str(tmp_path), alert_digest=0)
        delivery.submit(a_result(route=route))
        assert delivery.flush(PATIENCE_S)
        delivery.shutdown(PATIENCE_S)
    assert [alert.route for alert in told] == ["a", "b"]


def test_a_monitor_of_ones_own_raises_through_the_inbox(told: list[Alert]) -> None:
    """Its alerts cool down like all others; the end of a problem that there never was is not told."""

    class Watcher:
        name = "watcher"

        def raise_alerts_with(self, raise_alert: Callable[[Alert], None]) -> None:
            self._raise = raise_alert

        def write(self, batch: Sequence[EvaluatedTrace]) -> None:
            for result in batch:
                state = AlertState.RESOLVED if result.trace.route == "calm" else AlertState.FIRING
                self._raise(Alert(name="watch", fingerprint="watch", metric="", state=state))

    delivery = Dispatcher([Watcher()], AlertDelivery(Inbox([CallbackChannel(told.append)], rules=AlertRules([]))))
    for route in ("calm", "busy", "busy", "calm", "calm"):
        delivery.submit(a_result(route=route))
    assert delivery.flush(PATIENCE_S)
    assert [alert.state for alert in told] == [AlertState.FIRING, AlertState.RESOLVED]
    assert told[1].suppressed == 1
    delivery.shutdown(0)


def test_a_set_up_starts_no_thread_before_the_first_trace(composed: Any) -> None:
    """Also where the monitors have something to watch for from the start."""
    before = set(threading.enumerate())
    delivery = composed()
    assert set(threading.enumerate()) <= before  # fewer, where a thread of an earlier test has just ended
    delivery.start()
    delivery.start()
    assert {thread.name for thread in set(threading.enumerate()) - before} <= {"rag-otel-scheduler"}


def test_a_forked_child_has_a_ticker_of_its_own(told: list[Alert]) -> None:
    """And tells what it saw itself, not what its parent did."""
    reader, sender = os.pipe()
    channel = CallbackChannel(lambda alert: os.write(sender, f"{os.getpid()}:{alert.route}\n".encode()))
    delivery = AlertDelivery(Inbox([channel], limits=Limits(digest_s=0.05)))
    delivery.submit(a_result(route="parent"))
    child = os.fork()
    if child == 0:
        delivery.after_fork()
        delivery.submit(a_result(route="child"))
        deadline = time.monotonic() + PATIENCE_S
        while counters.get("delivery.alert_callback.sent") < 1 and time.monotonic() < deadline:
            threading.Event().wait(0.01)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert delivery.flush(PATIENCE_S)
    lines = os.read(reader, 4096).decode().split()
    assert sorted(lines) == sorted([f"{child}:child", f"{os.getpid()}:parent"])
    delivery.shutdown(0)


def test_what_quiet_hours_held_back_survives_a_restart(tmp_path: Path, told: list[Alert]) -> None:
    """A deployment at night loses nothing, tells nothing early, and a problem that was told is not told again."""

    folders: list[StateFolder] = []

    def inbox(quiet: QuietHours) -> Inbox:
        folders.append(StateFolder(tmp_path))
        made = Inbox(limits=Limits(quiet=quiet), state=folders[-1])
        made.connect(told.append)
        return made

    before = inbox(QuietHours())
    before.consider(a_result(route="told"))
    before.close()
    folders[-1].close()
    night = inbox(ALWAYS)
    for route in ("told", "a", "b"):
        night.consider(a_result(route=route))
    night.close()
    folders[-1].close()
    assert [alert.route for alert in told] == ["told"]
    morning = inbox(QuietHours())
    morning.tick()
    assert [(alert.count, alert.fingerprint) for alert in told[1:]] == [(2, "held")]
    folders[-1].close()


def test_without_a_state_folder_a_shutdown_tells_what_quiet_hours_held_back(told: list[Alert]) -> None:
    """Better at night than never."""
    delivery = AlertDelivery(Inbox([CallbackChannel(told.append)], limits=Limits(quiet=ALWAYS)))
    delivery.submit(a_result())
    assert delivery.flush(PATIENCE_S)
    assert not told
    delivery.shutdown(PATIENCE_S)
    assert len(told) == 1


@pytest.mark.parametrize(
    ("content", "version"), [("", VERSION), ("{", VERSION), ("{}", 99), ('{"problems": 1}', VERSION)]
)
def test_a_memory_that_cannot_be_read_is_set_aside(content: str, version: int, tmp_path: Path) -> None:
    """The inbox starts without it."""
    folder = StateFolder(tmp_path)
    put_state(tmp_path, NAME, content, version=version)
    assert Inbox(state=folder).told() == set()
    assert text_of_state(tmp_path, f"{NAME}.unreadable") == content


def test_a_monitor_that_fails_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, logged, and the next one is asked."""
    monkeypatch.delenv("RAG_OTEL_RAISE_INTERNAL_ERRORS")

    class Watcher(Monitor):
        def __init__(self, name: str, *, broken: bool = False) -> None:
            self.name, self.broken, self.calls = name, broken, 0  # type: ignore[misc]

        def _called(self) -> None:
            self.calls += 1
            if self.broken:
                raise ValueError("bug")

        def write(self, batch: Any, now: float) -> None:
            self._called()

        def look(self, now: float) -> list[Alert]:
            self._called()
            return []

        def forget(self) -> None: ...

    broken, sound = Watcher("broken", broken=True), Watcher("sound")
    monitors = Monitors([broken, sound], raise_alert=lambda alert: None)
    monitors.write([a_result()])
    monitors.tick()
    assert (broken.calls, sound.calls) == (2, 2)
    assert counters.get("internal_error.monitor.broken") == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"alert_rules": ("unfaithfull",)},
        {"alert_quiet_hours": ("22-07",)},
        {"slo_target": 1.0},
        {"slo_threshold": 2},
        {"alert_digest": -1},
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_by_instrument(wrong: dict[str, Any]) -> None:
    """At start-up, with its name; the environment says the same things as the arguments."""
    (name,) = wrong
    with pytest.raises(ConfigurationError, match=name):
        rag_otel.instrument(enabled=True, **grouped(**wrong))
    rag_otel.uninstrument()


def test_rules_and_quiet_hours_can_stand_in_the_environment() -> None:
    """Separated by commas."""
    environ = {"RAG_OTEL_ALERT_RULES": "unfaithful, faithfulness.score<0.5 until 0.7", "RAG_OTEL_SLO_TARGET": "0.95"}
    settings = resolve({}, environ).settings
    assert settings.alerts.rules == ("unfaithful", "faithfulness.score<0.5 until 0.7")
    assert dataclasses.replace(settings.alerts, quiet_hours=("22:00-07:00",)).slo_target == 0.95
