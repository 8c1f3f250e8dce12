"""Tasks that must live for as long as the collector: their failures show, and end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from rag_otel_collectors.otlp.metrics import TASK_FAILURES, Metrics
from rag_otel_collectors.otlp.supervision import Supervisor


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)


def a_supervisor(metrics: Metrics) -> Supervisor:
    return Supervisor(metrics, first_pause_s=0.01, longest_pause_s=0.02, well_after_s=0.1)


async def test_a_task_that_raises_is_started_again() -> None:
    """Counted, named as trouble while it is down, and not any more when it has run for a while."""
    metrics, healed = Metrics(), asyncio.Event()
    runs: list[int] = []
    supervisor = a_supervisor(metrics)

    async def fails_at_first() -> None:
        runs.append(1)
        if not healed.is_set():
            raise OSError("no space left")
        await asyncio.Event().wait()

    supervisor.keep("forwarding", fails_at_first)
    await until(lambda: len(runs) > 3)
    assert supervisor.trouble == "forwarding has failed: OSError: no space left"
    assert supervisor.failed == 1
    healed.set()
    await until(lambda: supervisor.trouble is None)
    assert metrics.get(TASK_FAILURES, task="forwarding") >= 3
    await supervisor.stop()


async def test_a_task_that_returns_is_started_again() -> None:
    """Nothing that is kept may simply end."""
    metrics = Metrics()
    runs: list[int] = []
    supervisor = a_supervisor(metrics)

    async def ends() -> None:
        runs.append(1)

    supervisor.keep("receiving", ends)
    await until(lambda: len(runs) > 2)
    assert supervisor.trouble == "receiving has failed: it has ended"
    await supervisor.stop()
    before = len(runs)
    await asyncio.sleep(0)
    assert len(runs) == before


async def test_failures_are_logged_now_and_then(caplog: pytest.LogCaptureFixture) -> None:
    """A task that fails hundreds of times a minute does not fill the log."""
    supervisor = a_supervisor(Metrics())
    runs: list[int] = []

    async def fails() -> None:
        runs.append(1)
        raise ValueError("again")

    supervisor.keep("forwarding", fails)
    await until(lambda: len(runs) > 5)
    await supervisor.stop()
    records = [each for each in caplog.records if "forwarding" in each.getMessage()]
    assert len(records) == 1
