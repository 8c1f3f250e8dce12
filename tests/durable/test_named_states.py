"""States of processes in one database: kept over kills, written by the process that has the part, never raised."""

from __future__ import annotations

import logging
import os
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rag_otel.budgets.sqlite_ledger import SqliteLedger
from rag_otel.durable.database import Database
from rag_otel.durable.named_states import NamedState, states_in
from rag_otel.durable.state_folder import DATABASE, StateFolder
from rag_otel.errors import InputError
from rag_otel.safety.guard import counters
from rag_otel.sharing.leadership import SharedFolder
from testkit.polling import eventually
from testkit.warm_python import kill_9, warm_python
from tests.collectors.otlp.test_full_disk import no_file_beyond
from tests.support.states import put_state, state_of, text_of_state

ROOT = Path(__file__).parents[2]
WRITER = """
import sys
from rag_otel.durable.named_states import NamedState
from rag_otel.durable.state_folder import StateFolder
from rag_otel.sharing.leadership import SharedFolder

folder = (SharedFolder if sys.argv[2] == "shared" else StateFolder)(sys.argv[1])
if sys.argv[2] == "shared":
    assert folder.lead()
state = NamedState(folder, "numbers", 1)
first = state.load(lambda found: found["last"]) or 0
print(folder.path.name, first, flush=True)
for number in range(first + 1, 1_000_000):
    assert state.save({"last": number, "filling": [number] * 1000})
    print(number, flush=True)
"""


@contextmanager
def a_writer(folder: Path, part: str = "own") -> Iterator[subprocess.Popen[str]]:
    """Writes a state again and again, and says each number that it has written; killed at the end."""
    child = subprocess.Popen(
        [warm_python(), "-c", WRITER, str(folder), part], stdout=subprocess.PIPE, cwd=ROOT, text=True
    )
    try:
        yield child
    finally:
        kill_9(child)
        child.wait()
        assert child.stdout is not None
        child.stdout.close()


def lines(child: subprocess.Popen[str], count: int) -> list[str]:
    assert child.stdout is not None
    return [child.stdout.readline().strip() for _ in range(count)]


def load(state: NamedState) -> Any:
    return state.load(lambda found: found)


def test_a_state_comes_back(tmp_path: Path) -> None:
    folder = StateFolder(tmp_path)
    state = NamedState(folder, "drift", 1)
    assert load(state) is None
    assert state.save({"mean": 0.5, "text": "\ud800"})
    assert state.save({"mean": 0.7})
    folder.close()
    assert load(NamedState(StateFolder(tmp_path), "drift", 1)) == {"mean": 0.7}


def test_a_kill_between_two_writes_leaves_the_last_one(tmp_path: Path) -> None:
    """Wherever it comes, the state is whole, and none that was written before it."""
    written = 0
    for _ in range(2):
        with a_writer(tmp_path) as child:
            (begins,) = lines(child, 1)
            part, first = begins.split()
            assert part == "0"
            assert int(first) >= written
            written = int(lines(child, 20)[-1])
    state = state_of(tmp_path, "numbers")
    assert state["filling"] == [state["last"]] * 1000
    assert state["last"] >= written


def test_two_processes_write_their_own_parts_of_one_file(tmp_path: Path) -> None:
    with a_writer(tmp_path) as one, a_writer(tmp_path) as other:
        assert {lines(each, 1)[0] for each in (one, other)} == {"0 0", "1 0"}
        for each in (one, other):
            assert lines(each, 50) == [str(number) for number in range(1, 51)]
    assert {part.name for part in states_in(tmp_path, "numbers", 1)} == {"0", "1"}


def test_only_the_process_that_leads_writes_the_shared_state(tmp_path: Path) -> None:
    """Until it is dead; another one goes on with what it has written last."""
    folder = SharedFolder(str(tmp_path))
    state = NamedState(folder, "numbers", 1)
    with a_writer(tmp_path, "shared") as child:
        assert lines(child, 20)[-1] == "19"
        assert not folder.lead()
        assert not state.save({"last": -1})
    eventually(folder.lead)
    assert load(state)["last"] >= 19
    assert state.save({"last": -1})


def test_who_has_left_writes_nothing_over_the_next_one_s_state(tmp_path: Path) -> None:
    first, second = SharedFolder(str(tmp_path)), SharedFolder(str(tmp_path))
    assert first.lead()
    late = NamedState(first, "numbers", 1)
    assert late.save("first")
    first.close()
    assert second.lead()
    assert NamedState(second, "numbers", 1).save("second")
    before = counters.get("state.write_failed")
    assert not late.save("late")
    assert counters.get("state.write_failed") == before
    assert state_of(tmp_path, "numbers", part="shared") == "second"


def test_the_part_is_not_released_while_a_state_is_written(tmp_path: Path) -> None:
    """Who leads next reads what this one is about to write."""
    first, second = SharedFolder(str(tmp_path)), SharedFolder(str(tmp_path))
    assert first.lead()
    other = sqlite3.connect(tmp_path / DATABASE, isolation_level=None, check_same_thread=False)
    assert NamedState(first, "numbers", 1).save("before")
    other.execute("BEGIN IMMEDIATE")
    saving = threading.Thread(target=NamedState(first, "numbers", 1).save, args=("after",))
    saving.start()
    closing = threading.Thread(target=first.close)
    eventually(lambda: not first._lock.acquire(blocking=False) or first._lock.release())
    closing.start()
    assert not second.lead()
    other.execute("COMMIT")
    other.close()
    saving.join()
    closing.join()
    assert second.lead()
    assert load(NamedState(second, "numbers", 1)) == "after"


@pytest.mark.parametrize(("content", "version"), [("{", 1), ("1", 2), ('{"other": 1}', 1)])
def test_a_state_that_cannot_be_read_is_set_aside(
    tmp_path: Path, content: str, version: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Damaged, of another version, or none that we wrote: told and counted once, and kept."""
    put_state(tmp_path, "drift", content, version=version)
    before = counters.get("state.unreadable")
    state = NamedState(StateFolder(tmp_path), "drift", 1)
    for _ in range(2):
        assert state.load(lambda found: found["mean"]) is None
    assert counters.get("state.unreadable") == before + 1
    assert text_of_state(tmp_path, "drift.unreadable") == content
    assert sum("set aside" in each.message for each in caplog.records) == 1


def damaged(path: Path, *, at: int) -> None:
    """The file, with rubbish from there on."""
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(at)
        file.write(b"\xa5" * (size - at))


@pytest.mark.parametrize("at", [0, 4096])
def test_a_damaged_file_is_set_aside_and_begun_anew(tmp_path: Path, at: int, caplog: pytest.LogCaptureFixture) -> None:
    """At the start of a process: by its states, and by the budgets. What it held is kept for whoever wants it."""
    folder = StateFolder(tmp_path)
    assert NamedState(folder, "drift", 1).save("before")
    folder.close()
    damaged(tmp_path / DATABASE, at=at)
    before = counters.get("state.unreadable")
    folder = StateFolder(tmp_path)
    state = NamedState(folder, "drift", 1)
    with caplog.at_level(logging.WARNING):
        assert load(state) is None
    assert state.save("after")
    assert load(state) == "after"
    assert counters.get("state.unreadable") == before + 1
    assert "set aside as state.sqlite.unreadable" in caplog.text
    assert (tmp_path / "state.sqlite.unreadable").read_bytes()[at : at + 4096] == b"\xa5" * 4096
    ledger = SqliteLedger(tmp_path / DATABASE)
    assert ledger.agree("a", "1", 60) == "1"
    ledger.close()
    assert load(state) == "after"


def test_a_file_that_is_damaged_while_processes_use_it(tmp_path: Path) -> None:
    """One sets it aside; the others find the new one, and put nothing into the old one."""
    one, other = StateFolder(tmp_path), StateFolder(tmp_path)
    states = [NamedState(each, "drift", 1) for each in (one, other)]
    for each in states:
        assert each.save("before")
    one.database.close()
    with sqlite3.connect(tmp_path / DATABASE) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    damaged(tmp_path / DATABASE, at=0)
    before = counters.get("state.unreadable")
    assert states[0].save("one")
    assert states[1].save("other")
    assert counters.get("state.unreadable") == before + 1
    assert {part.name: text for part, text in states_in(tmp_path, "drift", 1).items()} == {"0": "one", "1": "other"}


def test_a_damaged_file_of_the_user_s_own_stays(tmp_path: Path) -> None:
    """It may be named by mistake, and is none of ours then."""
    (tmp_path / "thesis.doc").write_bytes(b"text " * 1000)
    database = Database(tmp_path / "thesis.doc")
    with pytest.raises(OSError, match="not a database"), database.use():
        pass
    assert (tmp_path / "thesis.doc").read_bytes() == b"text " * 1000
    assert [each.name for each in tmp_path.iterdir()] == ["thesis.doc"]


def test_a_full_disk_costs_the_state_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Counted, told once; when there is space again it is written."""
    state = NamedState(StateFolder(tmp_path), "drift", 1)
    assert state.save("before")
    before, told = counters.get("state.write_failed"), len(caplog.records)
    with no_file_beyond(2**13):
        assert not state.save("x" * 2**16)
        assert not state.save("x" * 2**16)
    assert counters.get("state.write_failed") == before + 2
    assert len(caplog.records) - told <= 1
    assert load(state) == "before"
    assert state.save("after")
    assert load(state) == "after"


def test_a_file_that_another_process_locks_costs_the_state_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_otel.durable.state_folder._BUSY_S", 0.05)
    state = NamedState(StateFolder(tmp_path), "drift", 1)
    assert state.save("before")
    other = sqlite3.connect(tmp_path / DATABASE, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    before = counters.get("state.write_failed")
    assert not state.save("locked")
    assert load(state) == "before"
    other.execute("ROLLBACK")
    other.close()
    assert counters.get("state.write_failed") == before + 1
    assert state.save("after")


def test_a_forked_child_writes_a_part_of_its_own(tmp_path: Path) -> None:
    """While another thread of the parent writes: neither waits for ever, and both states are whole."""
    folder = StateFolder(tmp_path)
    state, stop = NamedState(folder, "drift", 1), threading.Event()

    def write() -> None:
        while not stop.is_set():
            assert state.save(["parent"] * 1000)

    assert state.save([])  # the parent has its part
    writing = threading.Thread(target=write)
    writing.start()
    for _ in range(5):
        if (child := os.fork()) == 0:
            folder.after_fork()
            saved = state.save(["child"] * 1000) and load(state) == ["child"] * 1000
            os._exit(0 if saved else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    stop.set()
    writing.join()
    assert state_of(tmp_path, "drift") == ["parent"] * 1000
    assert state_of(tmp_path, "drift", part="1") == ["child"] * 1000


def test_states_are_shown_of_a_folder_and_of_one_part(tmp_path: Path) -> None:
    """Nothing is changed, and what cannot be understood is named."""
    assert states_in(tmp_path, "drift", 1) == {}
    for part in ("0", "shared"):
        put_state(tmp_path, "drift", f'"{part}"', version=1, part=part)
    assert states_in(tmp_path, "drift", 1) == {tmp_path / "0": "0", tmp_path / "shared": "shared"}
    assert states_in(tmp_path / "shared", "drift", 1) == {tmp_path / "shared": "shared"}
    with pytest.raises(InputError, match=r"state\.sqlite: cannot be understood: .* version 1, not 2"):
        states_in(tmp_path, "drift", 2)
    (tmp_path / DATABASE).write_bytes(b"rubbish " * 1000)
    before = (tmp_path / DATABASE).read_bytes()
    with pytest.raises(InputError, match="not a database"):
        states_in(tmp_path, "drift", 1)
    assert (tmp_path / DATABASE).read_bytes() == before
