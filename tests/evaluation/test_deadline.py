"""The deadline that calls read."""

from __future__ import annotations

import asyncio

import pytest

from rag_otel.evaluation.current_evaluation import evaluating, seconds_left
from rag_otel.evaluation.evaluate import evaluate
from rag_otel.model import Evaluation


def test_there_is_none_outside() -> None:
    """Nothing is bounded that nobody bounded."""
    assert seconds_left() is None
    with evaluating(timeout_s=5.0):
        assert 4.0 < (seconds_left() or 0) <= 5.0
    assert seconds_left() is None


def test_the_earlier_deadline_holds() -> None:
    """A part of an evaluation has no more time than all of it; and time that has passed is no negative time."""
    with evaluating(timeout_s=1.0), evaluating(timeout_s=60.0):
        assert (seconds_left() or 0) <= 1.0
    with evaluating(timeout_s=-1.0):
        assert seconds_left() == 0.0


async def test_an_evaluator_and_its_tasks_can_read_it() -> None:
    """What an evaluator starts at once inherits it."""

    class Reader:
        name = "reader"
        version = judge_name = "1"

        async def evaluate(self, **_: object) -> Evaluation:
            left = await asyncio.gather(*(asyncio.create_task(self.left()) for _ in range(2)))
            return Evaluation(name=self.name, score=min(left) / 2_000)

        async def left(self) -> float:
            return seconds_left() or 0.0

    result = await evaluate(Reader(), question=None, chunks=[], response="", timeout_s=1_000.0)
    assert result.score == pytest.approx(0.5, abs=0.1)
