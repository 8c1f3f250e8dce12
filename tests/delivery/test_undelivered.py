"""What a channel has not taken survives kill -9, a restart and the death of a neighbour, and never comes half."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rag_otel.alert import Alert, AlertExample, AlertState
from rag_otel.alerts.inbox import Inbox
from rag_otel.alerts.telling import AlertDelivery
from rag_otel.delivery.export_queue import ExportPolicy
from rag_otel.delivery.undelivered import Undelivered
from rag_otel.durable.named_states import NamedState
from rag_otel.durable.record_format import pieces
from rag_otel.durable.state_folder import StateFolder
from rag_otel.errors import ConfigurationError, RetryableError
from rag_otel.model import EvaluatedTrace, SpanRef
from rag_otel.safety.guard import counters
from testkit.polling import eventually
from tests.support.results import CLAIMS, a_result

QUICK = ExportPolicy(backoff_s=0.005, max_backoff_s=0.02)
PATIENCE_S = 20.0
ROOT = Path(__file__).parents[2]
CHILD = """
import sys, threading
from rag_otel.alerts.inbox import Inbox
from rag_otel.errors import RetryableError
from rag_otel.durable.state_folder import StateFolder
from rag_otel.alerts.telling import AlertDelivery
from tests.support.results import a_result

class Down:
    name = "pager"
    def send(self, alert):
        raise RetryableError("down")

delivery = AlertDelivery(Inbox([Down()]), state=StateFolder(sys.argv[1]))
for n in range(5):
    delivery.submit(a_result(route=f"answer-{n}"))
print("submitted", flush=True)
threading.Event().wait()
"""


class Pager:
    """A channel in memory; while `down`, it asks to be called again."""

    name = "pager"

    def __init__(self, *, down: bool = False) -> None:
        self.down = down
        self.told: list[Alert] = []

    def send(self, alert: Alert) -> None:
        if self.down:
            raise RetryableError("down")
        self.told.append(alert)


def a_delivery(pager: Pager, folder: Path) -> AlertDelivery:
    """As a process starts: it takes up what the last one left."""
    return AlertDelivery(Inbox([pager]), policy=QUICK, state=StateFolder(folder))


def on_disk(folder: Path, name: str = "alert_pager") -> list[str]:
    """The parts of the folder with alerts of a channel in them, once for each."""
    found = []
    for log in sorted(folder.glob(f"*/{name}/*.log")):
        found += [log.parts[-3]] * log.read_bytes().count(b'"fingerprint"')
    return found


def test_alerts_survive_kill_9(tmp_path: Path) -> None:
    """A process whose pager was down is killed; the next one tells everything, in order, once."""
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path)], stdout=subprocess.PIPE, cwd=ROOT)
    assert child.stdout is not None
    assert child.stdout.readline() == b"submitted\n"
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert on_disk(tmp_path) == ["0"] * 5
    pager = Pager()
    delivery = a_delivery(pager, tmp_path)
    assert delivery.flush(PATIENCE_S)
    assert [alert.route for alert in pager.told] == [f"answer-{n}" for n in range(5)]
    assert on_disk(tmp_path) == []
    delivery.shutdown(0)


def test_channels_of_one_name_keep_their_alerts_apart(tmp_path: Path) -> None:
    """And one that is added before them takes nothing of theirs."""
    both = AlertDelivery(Inbox([Pager(down=True), Pager(down=True)]), policy=QUICK, state=StateFolder(tmp_path))
    both.submit(a_result())
    both.shutdown(0)
    assert on_disk(tmp_path, "alert_pager") == on_disk(tmp_path, "alert_pager-2") == ["0"]
    other, first, second = Pager(), Pager(), Pager()
    other.name = "other"
    after = AlertDelivery(Inbox([other, first, second]), policy=QUICK, state=StateFolder(tmp_path))
    assert after.flush(PATIENCE_S)
    assert [len(pager.told) for pager in (other, first, second)] == [0, 1, 1]
    after.shutdown(0)


def test_what_is_left_at_shutdown_is_kept_and_counted_as_kept(tmp_path: Path) -> None:
    """Not lost, not abandoned: the next process has it; new alerts come behind the old ones."""
    kept = counters.get("delivery.alert_pager.kept")
    first = a_delivery(Pager(down=True), tmp_path)
    first.submit(a_result(route="old"))
    first.shutdown(PATIENCE_S)
    assert counters.get("delivery.alert_pager.kept") == kept + 1
    pager = Pager(down=True)
    second = a_delivery(pager, tmp_path)
    second.submit(a_result(route="new"))
    pager.down = False
    assert second.flush(PATIENCE_S)
    assert [alert.route for alert in pager.told] == ["old", "new"]
    second.shutdown(0)


def test_the_alerts_of_a_neighbour_that_is_gone_are_taken_over(tmp_path: Path) -> None:
    """Two workers ran, one comes back: it tells what both left. A living neighbour's alerts are its own."""
    gone, alive = a_delivery(Pager(down=True), tmp_path), a_delivery(Pager(down=True), tmp_path)
    gone.submit(a_result(route="of the gone"))
    alive.submit(a_result(route="of the living"))
    gone.shutdown(0)
    (tmp_path / "1").rename(tmp_path / "7")  # the living one's lock goes with its folder
    pager = Pager()
    heir = a_delivery(pager, tmp_path)
    eventually(lambda: len(pager.told) == 1)
    assert pager.told[0].route == "of the gone"
    alive.shutdown(0)
    heir.shutdown(0)
    last = a_delivery(pager, tmp_path)
    assert last.flush(PATIENCE_S)
    assert [alert.route for alert in pager.told] == ["of the gone", "of the living"]
    last.shutdown(0)


def test_a_forked_child_has_a_part_of_its_own(tmp_path: Path) -> None:
    """Parent and child both keep alerts; neither tells the other's."""
    delivery = a_delivery(Pager(down=True), tmp_path)
    delivery.submit(a_result(route="parent"))
    child = os.fork()
    if child == 0:
        delivery.after_fork()
        delivery.submit(a_result(route="child"))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert on_disk(tmp_path) == ["0", "1"]
    delivery.shutdown(0)


@pytest.mark.parametrize("content", [b'{"na', b"{}", b"[]", b"\xff"])
def test_an_item_that_nobody_understands_is_set_aside(content: bytes, tmp_path: Path) -> None:
    """Damaged, or none that we wrote: the others are told, it is counted, and it is not tried again."""
    folder = StateFolder(tmp_path)
    log = Undelivered(folder, "alert_pager", Alert)
    assert log.keep(an_alert()) is not None
    log.close()
    path = max((folder.path / "alert_pager").glob("*.log"))
    before = counters.get("alert_pager.damaged")
    for bad in (b"H" + bytes(16) + content, b"H"):
        path.write_bytes(b"".join(pieces(bad)) + path.read_bytes())
    again = Undelivered(folder, "alert_pager", Alert)
    ((key, item),) = again.load()
    assert item == an_alert()
    assert counters.get("alert_pager.damaged") == before + 2
    assert len(list((folder.path / "alert_pager-damaged").iterdir())) == 2
    again.forget([key])
    assert on_disk(tmp_path) == []


def an_alert() -> Alert:
    """One with something in every field that is not plain text."""
    example = AlertExample(question="why? \ud800", claims=CLAIMS, target=SpanRef(trace_id="1" * 32, span_id="2" * 16))
    return Alert(
        name="drift",
        fingerprint="service/drift",
        metric="faithfulness",
        state=AlertState.RESOLVED,
        examples=(example, AlertExample()),
        details={"baseline": 0.9, "slice": "tenant=a"},
    )


@pytest.mark.parametrize("item", [an_alert(), a_result()])
def test_what_was_kept_comes_back_equal(item: Alert | EvaluatedTrace, tmp_path: Path) -> None:
    """Claims with their quotes, examples, facts, odd characters; results too, for the collector's annotations."""
    folder = StateFolder(tmp_path)
    log = Undelivered(folder, "queue", type(item))
    key = log.keep(item)
    assert key is not None
    log.close()
    log = Undelivered(folder, "queue", type(item))
    assert list(log.load()) == [(key, item)]
    log.forget([key])
    log.forget([key])
    log.close()
    assert not list(Undelivered(folder, "queue", type(item)).load())


def test_a_disk_that_takes_nothing_leaves_the_alert_in_memory(tmp_path: Path) -> None:
    """It is told all the same; only a crash would lose it."""
    pager = Pager()
    delivery = a_delivery(pager, tmp_path)
    shutil.rmtree(tmp_path / "0" / "alert_pager")
    (tmp_path / "0" / "alert_pager").write_text("a file where the folder should be")
    failed = counters.get("state.write_failed")
    delivery.submit(a_result())
    assert delivery.flush(PATIENCE_S)
    assert len(pager.told) == 1
    assert counters.get("state.write_failed") == failed + 1
    delivery.shutdown(0)


def test_a_folder_that_cannot_be_is_said_at_start_up(tmp_path: Path) -> None:
    """Not at the first alert."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match="state_folder"):
        StateFolder(tmp_path / "file")


def test_nobody_else_may_read_what_is_kept(tmp_path: Path) -> None:
    """Alerts hold questions and answers."""
    assert StateFolder(tmp_path).path.stat().st_mode & 0o077 == 0


def test_what_is_kept_is_for_this_user_alone(tmp_path: Path) -> None:
    """Folders 0700 and files 0600, whatever the umask lets: answers stand in them."""
    before = os.umask(0)
    try:
        state = StateFolder(tmp_path / "a" / "state")
        log = Undelivered(state, "alert_pager", Alert)
        assert log.keep(Alert(name="unfaithful_answer", fingerprint="f", metric="faithfulness")) is not None
        assert NamedState(state, "drift", 1).save({})
    finally:
        os.umask(before)
    found = {each.relative_to(tmp_path): each.stat().st_mode & 0o777 for each in (tmp_path / "a").rglob("*")}
    assert len(found) >= 6
    wrong = {
        each: oct(mode)
        for each, mode in found.items()
        if mode not in ((0o700,) if (tmp_path / each).is_dir() else (0o600,))
    }
    assert wrong == {}
