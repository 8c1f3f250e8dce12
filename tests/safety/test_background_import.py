"""Imports in the background: begun at once, waited for by a fork and by the first evaluation."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from rag_otel.safety.background_import import background_import, until_imported, wait_until_imported
from rag_otel.safety.guard import counters
from testkit.polling import eventually


def test_a_module_is_imported_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "small_library.py").write_text("import threading\nthread = threading.current_thread().name\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    background_import("small_library")

    assert wait_until_imported(30)
    assert sys.modules["small_library"].thread == "rag-otel-imports"


def test_it_returns_at_once_and_is_waited_for() -> None:
    go_on, loaded = threading.Event(), list[int]()

    def slow() -> None:
        if go_on.wait(30):
            loaded.append(1)

    background_import(slow, lambda: loaded.append(2))

    assert loaded == []
    assert not wait_until_imported(0.01)
    threading.Timer(0.05, go_on.set).start()
    asyncio.run(until_imported())
    assert loaded == [1, 2], "in their order"


def test_the_thread_ends_with_its_work() -> None:
    background_import("json")
    assert wait_until_imported(30)
    eventually(lambda: not any(each.name == "rag-otel-imports" for each in threading.enumerate()))


def test_a_failing_import_is_counted_and_the_next_one_is_done(caplog: pytest.LogCaptureFixture) -> None:
    before, loaded = counters.get("import_failed.no_such_library"), []

    background_import("no_such_library", lambda: sys.exit(3), lambda: loaded.append(1))

    assert wait_until_imported(30)
    assert counters.get("import_failed.no_such_library") == before + 1
    assert loaded == [1]
    assert "no_such_library cannot be loaded" in caplog.text


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_fork_waits_so_that_the_child_can_import_the_same_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow_library.py").write_text("import time\ntime.sleep(0.5)\nready = True\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    background_import("slow_library")
    eventually(lambda: "slow_library" in sys.modules)  # its import is under way

    child = os.fork()
    if child == 0:
        # A fork in its midst would leave the module locked here, by a thread that does not exist: no end.
        watchdog = threading.Timer(20, os._exit, [1])
        watchdog.daemon = True
        watchdog.start()
        import slow_library  # type: ignore[import-not-found]

        os._exit(0 if slow_library.ready else 2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_an_import_that_forks_does_not_wait_for_itself() -> None:
    codes = []

    def forks() -> None:
        child = os.fork()
        if child == 0:
            os._exit(7)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    background_import(forks)

    assert wait_until_imported(30)
    assert codes == [7]


def test_the_end_of_the_process_waits_for_the_import_under_way(tmp_path: Path) -> None:
    """A thread that stopped inside an import would keep the import lock: the interpreter could not end."""
    (tmp_path / "slow_library.py").write_text("import time\ntime.sleep(0.3)\nprint('whole')\n")
    code = (
        "from rag_otel.safety.background_import import background_import\n"
        "background_import('slow_library', 'never_begun')"
    )
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    ended = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "whole\n", "")
