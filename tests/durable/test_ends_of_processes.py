"""An admitted trace survives the end of its process, and is exported and evaluated by the next one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.durable.kit import Program, a_program, doubles, questions, scored
from tests.support.http_receiver import Receiver, http_receiver
from tests.support.polling import eventually

SLOW = ("--delay-ms", "600000")
"""The exporter exports only when it is flushed."""


@pytest.fixture
def backend() -> Iterator[Receiver]:
    with http_receiver() as receiver:
        yield receiver


def kept(program: Program, count: int) -> bool:
    program.do("counters")
    return program.counters.get("spool.kept", 0) >= count


def nothing_left(program: Program) -> bool:
    """True when the folder is open, and all traces in it are done."""
    program.do("left")
    return program.left == 0


def end(program: Program, how: str) -> None:
    if how == "os._exit":
        program.say("os._exit")
    else:
        program.process.send_signal(getattr(signal, how))
    program.process.wait(30)


@pytest.mark.parametrize("how", ["SIGKILL", "SIGTERM", "os._exit"])
def test_held_traces_survive(tmp_path: Path, backend: Receiver, how: str) -> None:
    """Held when the process ends: neither evaluated nor exported. Their children survive too."""
    expected = {f"Question {number}?" for number in range(20)}
    with a_program(tmp_path / "spool", backend.url, "--gate", str(tmp_path / "gate"), *SLOW) as program:
        program.do("answer 20")
        eventually(lambda: kept(program, 20))
        end(program, how)
    assert not backend.requests
    with a_program(tmp_path / "spool", backend.url):
        eventually(lambda: questions(backend, "evaluated").keys() == expected)
        eventually(lambda: scored(backend) == expected)
    assert doubles(backend) == []


def test_a_clean_run_doubles_nothing(tmp_path: Path, backend: Receiver) -> None:
    """What was exported is acknowledged: the next process finds nothing to do."""
    with a_program(tmp_path / "spool", backend.url) as program:
        program.do("answer 50")
        program.exit()
    assert len(questions(backend, "evaluated")) == 50
    with a_program(tmp_path / "spool", backend.url) as program:
        program.do("answer 1")
        program.do("flush")
        assert "spool.recovered" not in program.counters
        program.exit()
    assert doubles(backend) == []


def test_late_results_survive(tmp_path: Path, backend: Receiver) -> None:
    """The span has gone as late; the next process sends its result, and not the span again."""
    with a_program(tmp_path / "spool", backend.url, "--gate", str(tmp_path / "gate"), "--hold", "0") as program:
        program.do("answer 5")
        eventually(lambda: len(questions(backend, "late")) == 5)
        eventually(lambda: kept(program, 5))
        # The mark follows the answer of the backend.
        program.do("answer 1")
        eventually(lambda: len(questions(backend, "late")) == 6)
        program.do("flush 1")
        program.kill()
    assert scored(backend) == set()
    (tmp_path / "gate").touch()
    with a_program(tmp_path / "spool", backend.url):
        eventually(lambda: len(scored(backend)) == 6)
    assert doubles(backend) == []


@pytest.mark.parametrize("how", ["SIGKILL", "SIGTERM"])
def test_only_the_last_moment_is_lost_under_load(tmp_path: Path, backend: Receiver, how: str) -> None:
    """A program is ended in the midst of its work. What was not handed over in time are its last traces; all before
    arrive with their scores. How long that moment is: benchmarks/spool.py."""
    with a_program(tmp_path / "spool", backend.url) as program:
        program.say("flood")
        while program.line() != "flooded 200\n":
            pass
        end(program, how)
    with a_program(tmp_path / "spool", backend.url) as program:
        eventually(lambda: nothing_left(program))
        program.do("flush")
    arrived = {int(question.split()[1].rstrip("?")) for question in scored(backend)}
    assert len(arrived) >= 150
    assert arrived == set(range(len(arrived)))


def test_a_forked_child_has_a_part_of_its_own(tmp_path: Path, backend: Receiver) -> None:
    """The parent's traces are the parent's; each arrives once, with its scores."""
    with a_program(tmp_path / "spool", backend.url) as program:
        program.do("answer 5")
        program.do("fork 5")
        program.do("answer 5")
        program.exit()
    assert questions(backend, "evaluated") == {f"Question {number}?": 1 for number in range(15)}
    with a_program(tmp_path / "spool", backend.url) as program:
        eventually(lambda: nothing_left(program))
        program.exit()
    assert doubles(backend) == []


def test_without_a_folder_nothing_of_it_is_imported() -> None:
    code = "import sys, rag_otel; rag_otel.instrument(); print('rag_otel.durable.spool' in sys.modules)"
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
