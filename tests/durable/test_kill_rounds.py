"""Twenty kills in a row, each in the midst of work: all traces that were kept arrive with their scores."""

from __future__ import annotations

from pathlib import Path

import pytest

from testkit.http_receiver import http_receiver
from testkit.polling import eventually
from tests.durable.kit import Program, a_program, questions, scored

ROUNDS = 20


def wait_for_kept(program: Program, count: int) -> None:
    def kept() -> bool:
        program.do("counters")
        return program.counters.get("spool.kept", 0) == count

    eventually(kept)


def wait_for_nothing_left(program: Program) -> None:
    def nothing_left() -> bool:
        program.do("left")
        return program.left == 0

    eventually(nothing_left, within_s=120)


@pytest.mark.long
@pytest.mark.parametrize("outage", [False, True])
def test_kills_in_a_row(tmp_path: Path, outage: bool) -> None:
    """Each process takes up what the one before has left, and is killed while it does. In an outage no process delivers
    anything until the last one."""
    with http_receiver() as backend:
        kept = 0
        endpoint = "http://127.0.0.1:9" if outage else backend.url
        for number in range(ROUNDS):
            with a_program(tmp_path, endpoint) as program:
                program.do(f"from {number * 20}")
                program.do("answer 20")
                eventually(lambda: (program.do("left"), program.counters.get("spool.kept", 0) == 20)[1])
                kept += 20
                program.kill()
        with a_program(tmp_path, backend.url) as program:
            wait_for_nothing_left(program)
            program.do("flush")
        assert scored(backend) == {f"Question {number}?" for number in range(kept)}
        assert len(questions(backend)) == kept
