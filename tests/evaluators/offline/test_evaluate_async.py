"""`aevaluate`, and `evaluate` while an event loop is running."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from rag_otel.errors import ConfigurationError
from rag_otel_evaluators import aevaluate, evaluate
from testkit.judge_server import JudgeServer

FACT = "The tower is 330 metres high."
ROWS: list[dict[str, Any]] = [
    {"question": "How high?", "contexts": [FACT], "answer": "The tower is 330 metres high."},
    {"question": "How high?", "contexts": [FACT], "answer": "The tower is 390 metres high."},
    {"question": "How high?", "contexts": [FACT], "answer": None},
]


async def test_the_same_results_as_evaluate() -> None:
    """Scores, reasons and order."""
    ours, theirs = await aevaluate(ROWS), await asyncio.to_thread(evaluate, ROWS)
    assert ours.scores("faithfulness") == theirs.scores("faithfulness") == [1.0, 0.0, None]
    assert ours.metrics == theirs.metrics


async def test_the_running_loop_is_not_blocked() -> None:
    """A metric waits for what another task of the same loop does; in a blocked loop it would never happen."""
    asked, answered = asyncio.Event(), asyncio.Event()

    async def waits(response: str) -> float:
        asked.set()
        await answered.wait()
        return 1.0

    async def answer() -> None:
        await asked.wait()
        answered.set()

    results, _ = await asyncio.wait_for(asyncio.gather(aevaluate(ROWS[:2], metrics=[waits]), answer()), timeout=30)
    assert results.scores("waits") == [1.0, 1.0]


async def test_a_cancellation_cancels_the_evaluations() -> None:
    """Nothing goes on in the background."""
    started, cancelled = asyncio.Event(), asyncio.Event()

    async def endless(response: str) -> float:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return 1.0

    task = asyncio.ensure_future(aevaluate(ROWS[:1], metrics=[endless]))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cancelled.is_set()


async def test_evaluate_works_in_a_running_loop() -> None:
    """As in a cell of a notebook. Async metrics run on another loop, so they do not deadlock."""

    async def waits(response: str) -> float:
        await asyncio.sleep(0)
        return 1.0

    assert evaluate(ROWS[:1], metrics=["faithfulness", waits]).scores("waits") == [1.0]


async def test_wrong_settings_are_raised() -> None:
    """The same errors as those of `evaluate`."""
    with pytest.raises(ConfigurationError, match="needs a language model"):
        await aevaluate(ROWS, metrics=["context_recall"])


async def test_a_language_model_with_a_cache(tmp_path: Path) -> None:
    """What is opened on the thread that prepares is used on the loop; the second run asks nothing."""
    verdict = {"claim": 0, "evidence": ["c0.s0"], "reason": "r", "verdict": "supported"}
    with JudgeServer(answer=lambda request: {"verdicts": [verdict]}) as server:
        settings = {"model": "openai/test-judge", "api_base": server.url}
        for _ in range(2):
            results = await aevaluate(ROWS[:1], judge=settings, cache=tmp_path / "cache")
            assert results.scores("faithfulness") == [1.0]
        assert len(server.requests) == 1
