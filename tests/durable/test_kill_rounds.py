"""Twenty kills in a row, each in the midst of work: the results of all traces that were kept are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from testkit.http_receiver import http_receiver
from testkit.polling import eventually
from tests.durable.kit import Program, a_program, questions, written

ROUNDS = 20


def kept(program: Program, count: int) -> bool:
    program.do("counters")
    return program.counters.get("traces.kept", 0) == count


def nothing_left(program: Program) -> bool:
    program.do("left")
    return program.left == 0


@pytest.mark.long
@pytest.mark.parametrize("outage", [False, True])
def test_kills_in_a_row(tmp_path: Path, outage: bool) -> None:
    """Each process takes up what the one before has left, and is killed while it does. In an outage no process writes
    anything until the last one."""
    results, away = tmp_path / "results", tmp_path / "results.away"
    if outage:
        away.touch()
    with http_receiver() as backend:
        options = (tmp_path / "state", backend.url, "--results", str(results))
        for number in range(ROUNDS):
            with a_program(*options) as program:
                program.do(f"from {number * 20}")
                program.do("answer 20")
                eventually(lambda: kept(program, 20))
                program.kill()
        away.unlink(missing_ok=True)
        with a_program(*options) as program:
            eventually(lambda: nothing_left(program), within_s=120)
            program.do("flush")
        expected = {f"Question {number}?" for number in range(ROUNDS * 20)}
        assert written(results).keys() == expected
        print(f"{ROUNDS} kills: 0 of {len(expected)} lost, {written(results).total() - len(expected)} written twice")
        assert questions(backend).keys() <= expected
