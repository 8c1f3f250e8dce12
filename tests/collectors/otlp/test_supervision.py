"""Supervised tasks, which must run as long as the collector: failures are reported, and the task is restarted."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from rag_otel.delivery.retry import Backoff
from rag_otel_collectors.otlp.metrics import TASK_FAILURES, Metrics
from rag_otel_collectors.otlp.supervision import Supervisor
from testkit.collector import a_backend, a_collector
from testkit.http_receiver import http_receiver
from testkit.otlp_requests import a_rag_trace, a_request, a_span
from testkit.polling import eventually


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)


def a_supervisor(metrics: Metrics) -> Supervisor:
    return Supervisor(metrics, backoff=Backoff(base_s=0.01, longest_wait_s=0.02), well_after_s=0.1)


async def test_a_task_that_raises_is_started_again() -> None:
    """It is counted, and reported as a problem until it has run for a while."""
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
    """A supervised task must not end."""
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


@pytest.mark.server
def test_a_task_that_has_failed_shows_everywhere(tmp_path: Path) -> None:
    """In `/readyz`, in the metrics, in the log and in the exit code. Accepted spans stay on disk for the next
    process."""
    with http_receiver() as receiver:
        # No header of HTTP can have this value: every attempt to send raises what nobody expects of a connection.
        arguments = ("--backend", receiver.url, "--set", "headers=x-team=\N{SNOWMAN}", "--set", "drain_timeout=1")
        with a_collector(tmp_path, *arguments) as collector:
            span = a_span(os.urandom(16), "kept")
            collector.export(a_request(span, scope="http"))
            eventually(lambda: collector.get("/readyz")[1].startswith("forwarding to default has failed:"))
            eventually(lambda: collector.metric("tasks_in_trouble") == 1)
            eventually(lambda: collector.get("/readyz")[0] == 503)
            assert collector.metric("task_failures_total", task="forwarding to default") >= 1
            assert any("forwarding to default has failed" in line for line in collector.lines)
            assert collector.stop() == 1
        assert not receiver.requests
        with a_collector(tmp_path, "--backend", receiver.url):
            eventually(lambda: receiver.exports)
            assert span.span_id in receiver.exports[0].body


@pytest.mark.server
def test_a_process_that_cannot_be_started_is_started_later(tmp_path: Path) -> None:
    """No descriptor is free when the evaluation process dies. The pool starts one later."""
    with a_backend() as backend, a_collector(tmp_path, "--backend", backend.address) as collector:
        pid = collector.pid
        (worker,) = map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
        no_files = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        open_files = len(list(Path(f"/proc/{pid}/fd").iterdir()))
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (open_files, no_files[1]))
        os.kill(worker, signal.SIGKILL)
        eventually(lambda: any("an evaluation process failed" in line for line in collector.lines))
        resource.prlimit(pid, resource.RLIMIT_NOFILE, no_files)
        trace = a_rag_trace()
        eventually(lambda: collector.get("/readyz")[0] == 200)
        collector.export(a_request(*trace))
        eventually(lambda: len(backend.ids()) == 2)
        assert collector.stop() == 0
