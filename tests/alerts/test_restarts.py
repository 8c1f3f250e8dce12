"""Across restarts and clock jumps: nothing is resolved too early, sent twice or lost."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rag_otel.alert import Alert, AlertState
from rag_otel.alerts.channels.alertmanager import AlertmanagerChannel
from rag_otel.alerts.inbox import LOOK_AGAIN_S, Inbox
from rag_otel.alerts.monitors.health import SilenceMonitor
from rag_otel.alerts.rules import AlertRules
from rag_otel.alerts.schedule import Limits
from rag_otel.alerts.telling import AlertDelivery
from rag_otel.durable.state_folder import DATABASE, StateFolder
from testkit.http_receiver import http_receiver
from testkit.polling import eventually
from testkit.programs import program
from tests.alerts.alertmanager_server import alertmanager
from tests.alerts.test_inbox import NOON
from tests.support.results import a_result
from tests.support.states import state_of


class Life:
    """One process after the other on one state folder, with a wall clock and a steady one."""

    def __init__(self, folder: Path) -> None:
        self.folder = StateFolder(folder)
        self.wall = self.steady = NOON
        self.told: list[Alert] = []
        self.inbox = self.start()

    def start(self, **options: Any) -> Inbox:
        self.inbox = Inbox(
            limits=Limits(**options), state=self.folder, clock=lambda: self.wall, steady=lambda: self.steady
        )
        self.inbox.connect(self.told.append)
        return self.inbox

    def passes(self, seconds: float) -> None:
        """Time as the ticker sees it, a minute at a time."""
        for _ in range(round(seconds / 60)):
            self.wall += 60
            self.steady += 60
            self.inbox.tick()

    def states(self) -> list[AlertState]:
        return [alert.state for alert in self.told]


FIRING, RESOLVED = AlertState.FIRING, AlertState.RESOLVED


def test_time_in_which_nobody_watched_ends_no_problem(tmp_path: Path) -> None:
    """Killed after the alarm, down for an hour: at the start nothing is known of the answers in between."""
    life = Life(tmp_path)
    life.inbox.consider(a_result())
    life.passes(300)
    life.wall += 3600  # down; the steady clock of the next process begins where the wall clock stands
    life.steady = life.wall
    life.start()
    life.passes(540)
    assert life.states() == [FIRING]
    life.passes(600)
    assert life.states() == [FIRING, RESOLVED]


@pytest.mark.parametrize("jump", [7200.0, -7200.0, 840.0])
def test_a_clock_jump_neither_resolves_nor_fires(tmp_path: Path, jump: float) -> None:
    life = Life(tmp_path)
    life.inbox.consider(a_result())
    life.passes(120)
    life.wall += jump
    life.inbox.tick()
    life.inbox.consider(a_result())  # cools down as before
    life.passes(120)
    assert life.states() == [FIRING]
    assert life.inbox.due() is not None
    life.passes(900)
    assert life.states() == [FIRING, RESOLVED]


def test_one_clock_that_jumps_ends_nothing_either() -> None:
    """Where only the wall clock is known: nobody has watched the hours that are missing."""
    now = [NOON]
    told: list[Alert] = []
    inbox = Inbox(clock=lambda: now[0])
    inbox.connect(told.append)
    inbox.consider(a_result())
    now[0] += 7200
    inbox.tick()
    now[0] -= 14400
    inbox.tick()
    assert [alert.state for alert in told] == [FIRING]


def test_silence_is_not_measured_by_a_clock_that_jumps() -> None:
    """An hour ahead while twenty traces wait is no hour of silence."""
    seen: dict[str, int] = {}
    monitor = SilenceMonitor(silence_s=900, seen=lambda: seen)
    seen["x"] = 40
    assert not monitor.look(NOON)
    assert not monitor.look(NOON + 1)
    assert monitor.look(NOON + 900)


def test_who_asks_when_something_is_due_waits_for_no_disk(tmp_path: Path) -> None:
    """A thread that looks after many parts asks: what others keep on disk must not wait for the inbox's state."""
    life = Life(tmp_path)
    life.inbox.consider(a_result())
    other = sqlite3.connect(tmp_path / DATABASE, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    saving = threading.Thread(target=life.inbox.close)
    saving.start()
    asked = eventually(lambda: [due] if (due := life.inbox.due()) == life.wall + LOOK_AGAIN_S else None)
    assert asked
    other.execute("COMMIT")
    other.close()
    saving.join()


def test_what_was_decided_before_a_kill_is_told_after_it(tmp_path: Path) -> None:
    """The process dies between the decision and the queues: the outbox is on disk, and is told once."""
    life = Life(tmp_path)

    def dies(alert: Alert) -> None:
        raise KeyboardInterrupt

    life.inbox.connect(dies)
    with pytest.raises(KeyboardInterrupt):
        life.inbox.consider(a_result())
    life.start()
    assert life.inbox.due() is not None
    life.inbox.tick()
    assert life.states() == [FIRING]
    life.start()
    life.passes(60)
    assert life.states() == [FIRING]


def test_an_alarm_of_a_monitor_is_on_disk_when_it_is_taken(tmp_path: Path) -> None:
    """A kill -9 within the digest's window: the monitor will not raise it again."""
    life = Life(tmp_path)
    life.start(digest_s=10)
    life.inbox.raise_alert(Alert(name="drift_score", fingerprint="drift/x", metric="faithfulness.score"))
    life.start(digest_s=10)  # without a close
    life.passes(60)
    assert [alert.name for alert in life.told] == ["drift_score"]


def test_nothing_is_sent_before_it_has_left_the_outbox(tmp_path: Path) -> None:
    """Else a kill after the sending would have the next process send it once more."""
    life = Life(tmp_path)
    outboxes: list[int] = []

    @contextmanager
    def hold() -> Iterator[None]:
        yield
        outboxes.append(len(state_of(tmp_path, "alerts")["outbox"]))

    life.inbox.connect(life.told.append, hold=hold)
    life.inbox.consider(a_result())
    assert life.states() == [FIRING]
    assert outboxes == [0]


def an_alarm(**changes: Any) -> Alert:
    """Of a monitor."""
    fields: dict[str, Any] = {
        "name": "drift_score", "fingerprint": "drift/x", "metric": "faithfulness.score", "time_ns": 7, "since_ns": 5
    }  # fmt: skip
    return Alert(**fields | changes)


def test_an_alarm_that_is_raised_again_after_a_kill_is_the_same(tmp_path: Path) -> None:
    """The monitor was killed before it could save that it has told."""
    life = Life(tmp_path)
    life.inbox.raise_alert(an_alarm())
    life.start()
    life.inbox.raise_alert(an_alarm())
    assert life.states() == [FIRING]
    life.passes(300)
    life.inbox.raise_alert(an_alarm(time_ns=8))
    assert life.states() == [FIRING, FIRING]


def test_a_follow_up_is_told_within_the_cooldown_and_not_after_the_end(tmp_path: Path) -> None:
    life = Life(tmp_path)
    life.inbox.raise_alert(an_alarm())
    life.inbox.raise_alert(an_alarm(time_ns=8, follow_up=True, headline="the app moved"))
    assert [alert.headline for alert in life.told] == ["", "the app moved"]
    life.inbox.raise_alert(an_alarm(time_ns=9, state=RESOLVED))
    life.inbox.raise_alert(an_alarm(time_ns=10, follow_up=True))
    assert life.states() == [FIRING, FIRING, RESOLVED]


def test_a_follow_up_takes_the_place_of_an_alarm_that_still_waits(tmp_path: Path) -> None:
    """Within the digest's window one message tells both, under the id of the alarm."""
    life = Life(tmp_path)
    life.start(digest_s=10.0)
    life.inbox.raise_alert(an_alarm())
    life.inbox.raise_alert(an_alarm(time_ns=8, follow_up=True, headline="the app moved"))
    life.passes(60)
    assert [(alert.headline, alert.time_ns, alert.follow_up) for alert in life.told] == [("the app moved", 7, False)]


def a_delivery(url: str, state: Path, *, renew_s: float) -> tuple[AlertDelivery, Inbox]:
    folder = StateFolder(state)
    channel = AlertmanagerChannel(url, renew_s=renew_s)
    inbox = Inbox([channel], rules=AlertRules([]), state=folder)
    return AlertDelivery(inbox, state=folder), inbox


@pytest.mark.server
def test_a_deployment_does_not_resolve_a_live_problem_in_alertmanager(tmp_path: Path) -> None:
    """A real Alertmanager: the next process renews the alert of the last one, under the same labels."""
    with (
        http_receiver() as hook,
        alertmanager(program("prometheus-alertmanager"), tmp_path, hook.url) as server,
    ):
        delivery, inbox = a_delivery(server.url, tmp_path / "state", renew_s=0.5)
        inbox.raise_alert(Alert(name="drift_score", fingerprint="drift/x", metric="f", service="s"))
        (before,) = eventually(server.firing)
        delivery.shutdown(5)
        delivery, inbox = a_delivery(server.url, tmp_path / "state", renew_s=0.5)
        ends = before["endsAt"]
        eventually(lambda: [each for each in server.firing() if each["endsAt"] > ends])
        until = time.time() + 4 * 0.5 + 1.0  # longer than what one message holds without a state folder
        eventually(lambda: time.time() > until and server.firing())
        told = [alert["status"] for request in hook.requests for alert in json.loads(request.body)["alerts"]]
        assert set(told) == {"firing"}
        inbox.raise_alert(Alert(name="drift_score", fingerprint="drift/x", metric="f", state=RESOLVED))
        eventually(lambda: not server.firing())
        delivery.shutdown(5)
        delivery, _ = a_delivery(server.url, tmp_path / "state", renew_s=0.05)
        delivery.shutdown(1)
        assert not server.firing()
