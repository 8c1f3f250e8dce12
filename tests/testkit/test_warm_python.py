"""Forked programs behave as started ones: what tests of the product rely on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from testkit.polling import eventually
from testkit.size import FULL_SIZE
from testkit.warm_python import kill_9, pid_of, warm_python

pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(FULL_SIZE, reason="at full size every program is a process of its own"),
]


def ran(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [warm_python(), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload, no-any-return]


def test_arguments_streams_and_folder_are_its_own(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(
        "import os, sys\nprint(__name__, __file__, sys.argv[1:], os.getcwd(), os.environ['SAID'], sys.stdin.read())"
    )
    done = ran("app.py", "a", "b", cwd=tmp_path, env={**os.environ, "SAID": "yes"}, input="typed")
    assert done.stdout == f"__main__ app.py ['a', 'b'] {tmp_path} yes typed\n"


@pytest.mark.parametrize(
    ("code", "status", "error"),
    [
        ("pass", 0, ""),
        ("raise SystemExit(3)", 3, ""),
        ("import sys; sys.exit('no')", 1, "no"),
        ("1 / 0", 1, "ZeroDivision"),
    ],
)
def test_its_end_is_told(code: str, status: int, error: str) -> None:
    done = ran("-c", code)
    assert done.returncode == status
    assert error in done.stderr


def test_what_runs_at_the_end_of_a_program_runs() -> None:
    """Threads are waited for, then `atexit`, then what is written so far."""
    code = """
import atexit, threading
go_on = threading.Event()
atexit.register(print, "registered")
threading.Thread(target=lambda: (go_on.wait(), print("thread"))).start()
go_on.set()
"""
    assert ran("-c", code).stdout == "thread\nregistered\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_signals_end_it(number: signal.Signals) -> None:
    """The program, not only the command that stands for it; and the status says which signal it was."""
    code = "import os, sys; print(os.getpid(), flush=True); sys.stdin.read()"
    pipe, none = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen([warm_python(), "-c", code], stdin=pipe, stdout=pipe, stderr=none, text=True) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        assert pid_of(process) == pid != process.pid
        if number is signal.SIGKILL:
            kill_9(process)
        else:
            process.send_signal(number)
        assert process.wait(60) == -number
    assert not os.path.exists(f"/proc/{pid}")


def test_a_killed_command_leaves_no_program_behind() -> None:
    command = [warm_python(), "-c", "import os, time; print(os.getpid(), flush=True); time.sleep(600)"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.kill()
    eventually(lambda: not os.path.exists(f"/proc/{pid}"))


def test_a_program_that_was_forked_forks_its_own() -> None:
    """As the collector starts its evaluation processes: by `sys.executable`."""
    code = (
        "import subprocess, sys; print(subprocess.check_output([sys.executable, '-c', 'print(7)'], text=True), end='')"
    )
    assert ran("-c", code).stdout == "7\n"


@pytest.mark.parametrize("option", [("-P", "-c"), ("-W", "error", "-c")])
def test_what_cannot_be_forked_is_started(option: tuple[str, ...]) -> None:
    """Options of the interpreter."""
    assert ran(*option, "import sys; print(sys.executable)").stdout.strip() == sys.executable
