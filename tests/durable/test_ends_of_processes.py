"""An admitted trace survives the end of its process, and is exported and evaluated by the next one."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_otel import semconv
from rag_otel.durable.journal import Journal
from rag_otel.durable.trace_records import KEY_BYTES, KeptTrace, is_value, trace_of
from testkit.http_receiver import Receiver, http_receiver
from testkit.polling import eventually
from tests.durable.kit import Program, a_program, attribute, doubles, questions, scored, spans, written

pytestmark = pytest.mark.server

SLOW = ("--delay-ms", "600000")
"""The exporter exports only when it is flushed."""


@pytest.fixture
def backend() -> Iterator[Receiver]:
    with http_receiver() as receiver:
        yield receiver


def kept(program: Program, count: int) -> bool:
    program.do("counters")
    return program.counters.get("traces.kept", 0) >= count


def nothing_left(program: Program) -> bool:
    """True when the folder is open, and all traces in it are done."""
    program.do("left")
    return program.left == 0


def on_disk(folder: Path) -> list[KeptTrace]:
    """The traces in the folder of a program that runs; none where it was writing at that moment."""
    with contextlib.suppress(OSError), tempfile.TemporaryDirectory(dir=folder) as copy:
        shutil.copytree(folder / "state" / "traces", copy, dirs_exist_ok=True)
        journal = Journal(Path(copy) / "0" / "traces", readable=is_value, key_bytes=KEY_BYTES)
        try:
            return [trace_of(key, journal.read(key)) for key in journal.keys]
        finally:
            journal.close()
    return []


def handed_over(folder: Path, results: Path, count: int) -> bool:
    """True when the first answers are on disk or written. They come there in order."""
    last = f"Question {count - 1}?"
    on_their_way = {attribute(each.target, semconv.INPUT_VALUE) for each in on_disk(folder)}
    return last in on_their_way or last in written(results)


def end(program: Program, how: str) -> None:
    if how == "os._exit":
        program.say("os._exit")
    else:
        os.kill(program.pid, getattr(signal, how))
    program.process.wait(30)


@pytest.mark.parametrize("how", ["SIGKILL", "SIGTERM", "os._exit"])
def test_held_traces_survive(tmp_path: Path, backend: Receiver, how: str) -> None:
    """Held when the process ends: neither evaluated nor exported. Spans in the SDK's own queue are lost with it."""
    expected = {f"Question {number}?" for number in range(20)}
    with a_program(tmp_path / "state", backend.url, "--gate", str(tmp_path / "gate"), *SLOW) as program:
        program.do("answer 20")
        eventually(lambda: kept(program, 20))
        end(program, how)
    assert not backend.requests
    with a_program(tmp_path / "state", backend.url):
        eventually(lambda: questions(backend, "evaluated").keys() == expected)
        eventually(lambda: scored(backend) == expected)
    assert doubles(backend) == []


def test_a_clean_run_doubles_nothing(tmp_path: Path, backend: Receiver) -> None:
    """What was exported is acknowledged: the next process finds nothing to do."""
    with a_program(tmp_path / "state", backend.url) as program:
        program.do("answer 50")
        program.exit()
    assert len(questions(backend, "evaluated")) == 50
    with a_program(tmp_path / "state", backend.url) as program:
        program.do("answer 1")
        program.do("flush")
        assert "traces.taken_up" not in program.counters
        program.exit()
    assert doubles(backend) == []


def texts_in(folder: Path) -> int:
    """How often a question stands in the files of a state folder."""
    return sum(path.read_bytes().count(b"Question ") for path in folder.rglob("*") if path.is_file())


def test_no_text_is_left_after_a_normal_end(tmp_path: Path, backend: Receiver) -> None:
    """Nor in the folder of a process that goes on, once all it had is done."""
    with a_program(tmp_path / "state", backend.url) as program:
        program.do("answer 20")
        eventually(lambda: nothing_left(program) and not texts_in(tmp_path / "state"))
        program.do("answer 20")
        program.exit()
    assert len(questions(backend, "evaluated")) == 40
    assert texts_in(tmp_path / "state") == 0


def test_late_results_survive(tmp_path: Path, backend: Receiver) -> None:
    """The span has gone as late; the next process sends its result, and not the span again."""
    with a_program(tmp_path / "state", backend.url, "--gate", str(tmp_path / "gate"), "--hold", "0") as program:
        program.do("answer 5")
        eventually(lambda: len(questions(backend, "late")) == 5)
        eventually(lambda: [each.released for each in on_disk(tmp_path)] == [True] * 5)
        program.kill()
    assert scored(backend) == set()
    (tmp_path / "gate").touch()
    with a_program(tmp_path / "state", backend.url):
        eventually(lambda: len(scored(backend)) == 5)
    assert doubles(backend) == []


def test_a_span_that_left_with_its_scores_gets_no_evaluation_span(tmp_path: Path, backend: Receiver) -> None:
    """The process is killed before the results are written everywhere. The next one evaluates the traces again, for the
    writers; on the backend an answer has one score all the same."""
    with a_program(tmp_path / "state", backend.url, "--unwritten") as program:
        program.do("answer 3")
        eventually(lambda: len(questions(backend, "evaluated")) == 3)
        program.kill()
    with a_program(tmp_path / "state", backend.url) as program:
        eventually(lambda: nothing_left(program))
        program.do("flush")
        assert program.counters["traces.taken_up"] == 3
        program.exit()
    assert {span.name for span in spans(backend)} == {"answer", "retrieve"}


def test_a_trace_is_taken_up_where_nothing_is_held(tmp_path: Path, backend: Receiver) -> None:
    """Its span goes out at once, as late, and its scores follow."""
    with a_program(tmp_path / "state", backend.url, "--gate", str(tmp_path / "gate")) as program:
        program.do("answer 3")
        eventually(lambda: kept(program, 3))
        program.kill()
    (tmp_path / "gate").touch()
    with a_program(tmp_path / "state", backend.url, "--hold", "0") as program:
        eventually(lambda: nothing_left(program))
        program.exit()
    assert questions(backend, "late") == {f"Question {number}?": 1 for number in range(3)}
    assert len(scored(backend)) == 3


@pytest.mark.parametrize("how", ["SIGKILL", "SIGTERM"])
def test_only_the_last_moment_is_lost_under_load(tmp_path: Path, backend: Receiver, how: str) -> None:
    """A program is ended in the midst of its work. What was not handed over in time are its last traces; the results of
    all before are written. How long that moment is: benchmarks/kept_traces.py."""
    results = tmp_path / "results"
    with a_program(tmp_path / "state", backend.url, "--results", str(results)) as program:
        program.say("flood 200")
        eventually(lambda: handed_over(tmp_path, results, 150))
        end(program, how)
    with a_program(tmp_path / "state", backend.url, "--results", str(results)) as program:
        eventually(lambda: nothing_left(program))
    arrived = {int(question.split()[1].rstrip("?")) for question in written(results)}
    assert len(arrived) >= 150
    assert arrived == set(range(len(arrived)))


def test_a_forked_child_has_a_part_of_its_own(tmp_path: Path, backend: Receiver) -> None:
    """The parent's traces are the parent's; each arrives once, with its scores."""
    with a_program(tmp_path / "state", backend.url) as program:
        program.do("answer 5")
        program.do("fork 5")
        program.do("answer 5")
        program.exit()
    assert questions(backend, "evaluated") == {f"Question {number}?": 1 for number in range(15)}
    with a_program(tmp_path / "state", backend.url) as program:
        eventually(lambda: nothing_left(program))
        program.exit()
    assert doubles(backend) == []


def test_without_a_folder_nothing_of_it_is_imported() -> None:
    code = "import sys, rag_otel; rag_otel.instrument(); print('rag_otel.durable.kept_traces' in sys.modules)"
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
