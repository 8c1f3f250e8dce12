"""The worker thread."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
from opentelemetry import baggage
from opentelemetry import context as context_api
from opentelemetry import trace as trace_api
from opentelemetry.sdk.trace import TracerProvider

from rag_otel.evaluation.background_worker import BackgroundWorker
from rag_otel.safety.guard import RAISE_ENV
from rag_otel.safety.tracing_suppression import is_suppressed
from testkit.polling import eventually


@pytest.fixture
def worker() -> Iterator[BackgroundWorker]:
    """A worker of two jobs at a time."""
    worker = BackgroundWorker(concurrency=2, max_waiting=5)
    yield worker
    worker.shutdown(10)


def job(work: Callable[[], Any]) -> Callable[[], Coroutine[Any, Any, None]]:
    """A job that calls `work` and awaits what it returns."""

    async def run() -> None:
        result = work()
        if asyncio.iscoroutine(result):
            await result

    return run


def test_jobs_run_in_order_on_one_daemon_thread(worker: BackgroundWorker) -> None:
    """Everything runs on one thread that does not keep the process alive, in order of arrival."""
    seen: list[tuple[int, threading.Thread]] = []
    for n in range(5):
        assert worker.submit(job(lambda n=n: seen.append((n, threading.current_thread()))))
    eventually(lambda: len(seen) == 5)
    assert [n for n, _ in seen] == [0, 1, 2, 3, 4]
    assert len({thread for _, thread in seen}) == 1
    assert seen[0][1].daemon
    assert seen[0][1] is not threading.current_thread()


def test_no_thread_before_the_first_job() -> None:
    """A process that never evaluates has no worker."""
    assert BackgroundWorker()._thread is None


def test_concurrency_and_waiting_are_bounded(worker: BackgroundWorker) -> None:
    """Two run, five wait, the next one is refused."""
    running, gate = [], threading.Event()

    async def wait() -> None:
        running.append(1)
        while not gate.is_set():
            await asyncio.sleep(0.001)

    assert worker.submit(wait)
    assert worker.submit(wait)
    eventually(lambda: len(running) == 2)
    assert [worker.submit(wait) for _ in range(6)] == [True] * 5 + [False]
    assert len(running) == 2
    gate.set()
    eventually(lambda: len(running) == 7)


def test_an_error_ends_only_its_job(worker: BackgroundWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exceptions and sys.exit() inside a job do not reach the next one."""
    monkeypatch.setenv(RAISE_ENV, "0")
    done = threading.Event()

    def raises(error: BaseException) -> None:
        raise error

    worker.submit(job(lambda: raises(ValueError("x"))))
    worker.submit(job(lambda: raises(SystemExit(1))))
    worker.submit(job(done.set))
    assert done.wait(60)


def test_jobs_run_under_suppression_and_without_the_submitters_context(worker: BackgroundWorker) -> None:
    """A job sees the switches thrown, no current span and no baggage of the thread that submitted it; not even when
    the loop is already running."""
    provider = TracerProvider(shutdown_on_exit=False)
    seen: list[tuple[bool, bool, object]] = []

    def look() -> None:
        span = trace_api.get_current_span()
        seen.append((is_suppressed(), span.is_recording(), baggage.get_baggage("user")))

    token = context_api.attach(baggage.set_baggage("user", "u1"))
    with provider.get_tracer("app").start_as_current_span("request"):
        for n in range(3):
            worker.submit(job(look))
            eventually(lambda n=n: len(seen) == n + 1)  # type: ignore[misc]
    context_api.detach(token)
    assert seen == [(True, False, None)] * 3


@pytest.mark.parametrize("hurried", [False, True])
def test_a_busy_job_lets_waiting_threads_run(
    worker: BackgroundWorker, hurried: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A CPU-bound job that only awaits `sleep(0)` really rests, so that others get the interpreter; unless somebody
    waits for it."""
    rests: list[float] = []
    done = threading.Event()

    async def busy() -> None:
        for _ in range(50):
            until = time.perf_counter() + 0.0005
            while time.perf_counter() < until:
                pass
            await asyncio.sleep(0)
        done.set()

    sleep = time.sleep
    rest = lambda s: rests.append(s) if threading.current_thread() is worker._thread else sleep(s)  # noqa: E731
    monkeypatch.setattr(time, "sleep", rest)
    if hurried:
        with worker.without_throttling():
            worker.submit(busy)
            assert done.wait(60)
            assert len(rests) == 0  # not later: a rest after the job is none of its own
    else:
        worker.submit(busy)
        assert done.wait(60)
        assert len(rests) >= 50


def test_shutdown_cancels_and_joins() -> None:
    """What waits for ever is cancelled, the thread ends, and nothing is taken any more; twice is once."""
    worker, cancelled, started = BackgroundWorker(), threading.Event(), threading.Event()

    async def for_ever() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    worker.submit(for_ever)
    assert started.wait(60)
    thread = worker._thread
    assert thread is not None
    worker.shutdown(10)
    worker.shutdown(10)
    assert cancelled.is_set()
    assert not thread.is_alive()
    assert not worker.submit(for_ever)


def test_shutdown_without_a_job() -> None:
    """A worker that never ran can be shut down."""
    BackgroundWorker().shutdown(1)


def test_timeouts_and_gather_work_in_jobs(worker: BackgroundWorker) -> None:
    """asyncio's own means work as ever in a job: timeouts, child tasks, exceptions thrown into a coroutine."""
    seen: list[object] = []

    async def run() -> None:
        try:
            async with asyncio.timeout(0.01):
                await asyncio.Event().wait()
        except TimeoutError:
            seen.append("timeout")
        seen.extend(await asyncio.gather(asyncio.sleep(0, 1), asyncio.sleep(0, 2)))
        seen.append(await asyncio.to_thread(lambda: 3))

    worker.submit(run)
    eventually(lambda: len(seen) == 4)
    assert seen == ["timeout", 1, 2, 3]


def test_a_job_that_is_waited_for_goes_first(worker: BackgroundWorker) -> None:
    """Before all that wait, and beside jobs that have taken every place."""
    release = threading.Event()
    order: list[str] = []

    async def occupy() -> None:
        while not release.is_set():
            await asyncio.sleep(0.002)

    for _ in range(2):
        assert worker.submit(occupy)
    assert worker.submit(job(lambda: order.append("last")))
    assert worker.submit_first(job(lambda: order.append("first")))
    eventually(lambda: order == ["first"])
    release.set()
    eventually(lambda: order == ["first", "last"])
    assert worker.submit_first(job(lambda: order.append("when idle")))
    eventually(lambda: order[-1] == "when idle")


def test_a_stopped_worker_takes_no_urgent_job(worker: BackgroundWorker) -> None:
    """Whoever waits must know at once that nobody works."""
    worker.shutdown(10)
    assert not worker.submit_first(job(lambda: None))
