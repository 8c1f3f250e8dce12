"""The backend is away, the disk is full, bytes are damaged, several processes share the folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from testkit.http_receiver import Receiver, http_receiver
from testkit.polling import eventually
from tests.durable.kit import Program, a_program, doubles, questions, scored, written

pytestmark = pytest.mark.server

SLOW = ("--delay-ms", "600000")


@pytest.fixture
def backend() -> Iterator[Receiver]:
    with http_receiver() as receiver:
        yield receiver


def count(program: Program, name: str) -> int:
    program.do("counters")
    return program.counters.get(name, 0)


def nothing_left(program: Program) -> bool:
    program.do("left")
    return program.left == 0


def test_a_process_dies_while_a_writer_is_away(tmp_path: Path, backend: Receiver) -> None:
    """What it could not write is evaluated and written by the next one; the spans left with their scores before."""
    results = tmp_path / "results"
    away = tmp_path / "results.away"
    away.touch()
    expected = {f"Question {number}?" for number in range(10)}
    with a_program(tmp_path / "state", backend.url, "--results", str(results)) as program:
        program.do("answer 10")
        eventually(lambda: questions(backend, "evaluated").keys() == expected)
        program.kill()
    away.unlink()
    with a_program(tmp_path / "state", backend.url, "--results", str(results)) as program:
        eventually(lambda: nothing_left(program))
    assert written(results) == dict.fromkeys(expected, 1)
    assert doubles(backend) == []


def test_damage_costs_the_damaged_traces_alone(tmp_path: Path, backend: Receiver) -> None:
    """A flipped byte, garbage at the end. It is counted."""
    with a_program(tmp_path / "state", backend.url, "--gate", str(tmp_path / "gate"), *SLOW) as program:
        program.do("answer 10")
        eventually(lambda: count(program, "traces.kept") == 10)
        program.kill()
    log = max((tmp_path / "state").rglob("*.log"), key=lambda each: each.stat().st_size)
    content = bytearray(log.read_bytes())
    at = content.index(b"Question 4?")
    content[at] ^= 0xFF
    log.write_bytes(bytes(content) + b"garbage" * 20)
    with a_program(tmp_path / "state", backend.url) as program:
        eventually(lambda: nothing_left(program))
        program.do("flush")
        assert count(program, "traces.damaged") == 2
        assert count(program, "traces.taken_up") == 9
    assert scored(backend) == {f"Question {number}?" for number in range(10) if number != 4}


def test_a_full_disk_is_not_noticed_by_the_application(tmp_path: Path, backend: Receiver) -> None:
    """Traces go on in memory alone; what cannot be kept is counted."""
    with a_program(tmp_path / "state", backend.url) as program:
        program.do("answer 5")
        eventually(lambda: count(program, "traces.kept") == 5)
        program.do("limit 1")
        program.do("answer 5")
        eventually(lambda: count(program, "traces.refused") == 5)
        program.do("flush")
        eventually(lambda: len(scored(backend)) == 10)
        program.exit()
    assert doubles(backend) == []


def test_a_dead_process_is_adopted_by_exactly_one_other(tmp_path: Path, backend: Receiver) -> None:
    """Three processes share the folder; one is killed."""
    gate = ("--gate", str(tmp_path / "gate"))
    with (
        a_program(tmp_path / "state", backend.url, *gate, *SLOW) as first,
        a_program(tmp_path / "state", backend.url) as second,
        a_program(tmp_path / "state", backend.url) as third,
    ):
        first.do("answer 20")
        eventually(lambda: count(first, "traces.kept") == 20)
        second.do("answer 1")
        third.do("answer 1")
        first.kill()
        eventually(lambda: count(second, "traces.taken_up") + count(third, "traces.taken_up") == 20, within_s=120)
        eventually(lambda: nothing_left(second) and nothing_left(third))
        second.exit()
        third.exit()
    assert questions(backend, "evaluated").total() == 22
    assert doubles(backend) == []


def test_a_bounded_folder_refuses_what_is_beyond(tmp_path: Path, backend: Receiver) -> None:
    """What is in it stays; the new trace is not kept, and goes out all the same."""
    options = ("--gate", str(tmp_path / "gate"), "--max-bytes", str(2**20), *SLOW)
    with a_program(tmp_path / "state", backend.url, *options) as program:
        program.do("answer 200 8192")
        eventually(lambda: count(program, "traces.kept") + count(program, "traces.refused") == 200)
        assert count(program, "traces.refused") > 0
        assert sum(each.stat().st_size for each in (tmp_path / "state").rglob("*.log")) <= 2**20
        program.kill()
    with a_program(tmp_path / "state", backend.url) as program:
        eventually(lambda: nothing_left(program), within_s=120)
        assert count(program, "traces.taken_up") < 200


def test_a_trace_that_ends_its_process_is_given_up(tmp_path: Path, backend: Receiver) -> None:
    """After three processes that it has ended, and it alone: the results of those beside it are written."""
    options = (tmp_path / "state", backend.url, "--results", str(tmp_path / "results"), "--poison", "Question 4?")
    with a_program(tmp_path / "state", backend.url, "--gate", str(tmp_path / "gate"), *SLOW) as program:
        program.do("answer 10")
        eventually(lambda: count(program, "traces.kept") == 10)
        program.kill()
    for _ in range(3):
        with a_program(*options) as program:
            assert program.process.wait(60) == 9
    with a_program(*options) as program:
        eventually(lambda: nothing_left(program))
        program.do("flush")
    expected = {f"Question {number}?" for number in range(10) if number != 4}
    assert written(tmp_path / "results").keys() == expected
    assert questions(backend, "failed") == {"Question 4?": 1}
