"""The worker: one daemon thread with its own asyncio loop, started by the first job.

It never touches the application's loop, and it sleeps regularly so that application threads get the interpreter lock.
A CPU-bound judge that only awaits `asyncio.sleep(0)` gives the lock up for so short a moment that no waiting thread
wakes in time to take it (CPython hands it over by force only after `sys.getswitchinterval()`, 5 ms); so after
`_LONG_S` of work the worker really sleeps for `_REST_S`: an application thread that waits gets its turn, and a
CPU-bound judge gets a sixth of the interpreter at most. Measured by `benchmarks/latency_under_load.py`. While a flush
waits, nobody rests.

A fork waits for the end of the step that the worker is in, a few milliseconds: in its midst the worker may hold a lock
(of a module that an evaluator imports, of a cache), which nobody would give back in the child.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Iterator, Sequence
from typing import Any, Final, TypeAlias

from opentelemetry import context as context_api

from rag_otel.evaluation.daemon_executor import DaemonExecutor
from rag_otel.protocols import Evaluator, Prepares
from rag_otel.safety.background_import import background_import
from rag_otel.safety.fork import around_fork
from rag_otel.safety.guard import guarded
from rag_otel.safety.tracing_suppression import suppressed, suppressed_context

AsyncJob: TypeAlias = Callable[[], Coroutine[Any, Any, None]]

_LONG_S: Final = 0.0002
_REST_S: Final = 0.001
_LOOK_S: Final = 0.01
"""How often new jobs are looked for while others run."""
_FORK_WAITS_S: Final = 2.0
"""How long a fork waits for a step at most: an evaluator that blocks the worker must not block the application."""


_DELIVERY: Final = ("encodings.idna", "email.utils")
"""What the first HTTP request and the first `Retry-After` would import, on the threads that deliver."""


def prepare(evaluators: Sequence[Evaluator], *, over_http: bool = True) -> None:
    """Begin the imports of everything that evaluates and delivers, so that nothing is imported while traffic flows, or
    in the way of a fork; returns at once. `over_http`: results or alerts go to a server."""
    # Requests that a library makes while it is loaded are not the application's traffic.
    background_import(*(suppressed()(each.prepare) for each in evaluators if isinstance(each, Prepares)))
    if over_http:
        background_import(*_DELIVERY)


class BackgroundWorker:
    """Runs jobs, `concurrency` at a time (judges that call out spend their time waiting), in order of arrival.

    At most `max_waiting` jobs wait. Whatever a job raises stays here, logged and counted. Jobs run under suppression:
    what they call makes no spans.
    """

    def __init__(self, *, concurrency: int = 16, max_waiting: int = 4096) -> None:
        self._concurrency = concurrency
        self._max_waiting = max_waiting
        self._start_over()
        around_fork(self._hold_still, self._go_on)

    def _start_over(self) -> None:
        self._lock = threading.RLock()  # see the counters: a span may end in here
        self._pace = _Pace()
        self._waiting: deque[AsyncJob] = deque()
        self._urgent: deque[AsyncJob] = deque()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._woken: asyncio.Future[None] | None = None
        self._arrived = threading.Event()
        self._aside = 0
        self._thread: threading.Thread | None = None
        self._stopped = False

    def submit(self, job: AsyncJob) -> bool:
        """Queue a job from any thread, in microseconds; False when the queue is full, the worker has stopped or its
        thread cannot be started."""
        if self._stopped or len(self._waiting) >= self._max_waiting:
            return False
        if self._thread is None and not self._start():
            return False
        self._waiting.append(job)
        # An event, not the loop's own wake-up: that writes to a socket, and so hands the interpreter over in the
        # midst of a request.
        if not self._arrived.is_set():
            self._arrived.set()
        return True

    def submit_first(self, job: AsyncJob) -> bool:
        """Queue a job that somebody is waiting for: it goes before all others and does not wait for a free place.

        The caller bounds how many of them there are. False when the worker has stopped or cannot be started.
        """
        if self._stopped or (self._thread is None and not self._start()):
            return False
        self._urgent.append(job)
        self._arrived.set()
        if (loop := self._loop) is not None:  # the caller waits anyway, so its turn may go to the worker
            with contextlib.suppress(RuntimeError):  # the loop has just been closed
                loop.call_soon_threadsafe(self._wake)
        return True

    def _wake(self) -> None:
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)

    @contextlib.contextmanager
    def release_slot(self) -> Iterator[None]:
        """For a job that waits for something of the application's: another one may run in its place meanwhile."""
        self._aside += 1
        try:
            yield
        finally:
            self._aside -= 1

    @contextlib.contextmanager
    def without_throttling(self) -> Iterator[None]:
        """Work without rests inside the block: somebody is waiting for the jobs."""
        with self._lock:
            self._pace.waiting_for_us += 1
        try:
            yield
        finally:
            with self._lock:
                self._pace.waiting_for_us -= 1

    def shutdown(self, timeout_s: float) -> None:
        """Cancel what runs and end the thread, waiting for it up to `timeout_s` seconds. Safe to call twice."""
        self._stopped = True
        self._arrived.set()
        with self._lock:
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout_s)

    def after_fork(self) -> None:
        """Start over in a forked child: the jobs are the parent's, and its thread does not exist here."""
        self._start_over()

    def _hold_still(self) -> None:
        """A fork is about to happen: begin no step until `_go_on`."""
        self._pace.step.acquire(timeout=_FORK_WAITS_S)

    def _go_on(self) -> None:
        with contextlib.suppress(RuntimeError):  # not acquired in time
            self._pace.step.release()

    def _start(self) -> bool:
        with self._lock:
            if self._thread is None:
                thread = threading.Thread(target=self._work, name="rag-otel-worker", daemon=True)
                try:
                    thread.start()
                except RuntimeError:  # the system has no thread left, or the interpreter is ending
                    return False
                self._thread = thread
            return True

    def _work(self) -> None:
        context_api.attach(suppressed_context())
        loop = asyncio.new_event_loop()
        loop.set_task_factory(self._pace.task)
        loop.set_default_executor(DaemonExecutor())
        self._loop = loop
        while not self._stopped:
            self._arrived.wait()
            self._arrived.clear()
            # The request that has just ended is to send its answer first.
            self._pace.rest()
            with guarded("worker.work"):
                loop.run_until_complete(self._run_all())
        loop.close()

    async def _run_all(self) -> None:
        """Run jobs until none is left, those that arrive meanwhile included."""
        running: set[asyncio.Task[None]] = set()
        urgent: set[asyncio.Task[None]] = set()
        while (self._waiting or self._urgent or running or urgent) and not self._stopped:
            self._woken = asyncio.get_running_loop().create_future()
            while self._urgent:
                urgent.add(asyncio.create_task(_contained(self._urgent.popleft())))
            while self._waiting and len(running) - self._aside < self._concurrency:
                running.add(asyncio.create_task(_contained(self._waiting.popleft())))
            everything = (*running, *urgent, self._woken)
            done, _ = await asyncio.wait(everything, timeout=_LOOK_S, return_when=asyncio.FIRST_COMPLETED)
            running.difference_update(done)
            urgent.difference_update(done)
        for task in (*running, *urgent):
            task.cancel()
        await asyncio.gather(*running, *urgent, return_exceptions=True)


async def _contained(job: AsyncJob) -> None:
    with guarded("worker.job"):
        await job()


class _Pace:
    """Makes the tasks of the loop rest after `_LONG_S` of work, taken together, whoever made them."""

    def __init__(self) -> None:
        self.waiting_for_us = 0
        """How many wait for the work to be done: with any, nobody rests."""
        self.step = threading.RLock()
        """Held during each step; reentrant, because an evaluator may fork."""
        self._worked_s = 0.0

    def task(self, loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> asyncio.Task[Any]:
        """The task factory of the loop."""
        return asyncio.Task(_Polite(coroutine, self), loop=loop, **options)

    def worked(self, seconds: float) -> None:
        """Count a step's time; rest when it is enough."""
        self._worked_s += seconds
        if self._worked_s >= _LONG_S:
            self.rest()

    def rest(self) -> None:
        """Let others have the interpreter."""
        self._worked_s = 0.0
        if not self.waiting_for_us:
            time.sleep(_REST_S)


class _Polite(Coroutine[Any, Any, Any]):
    """A coroutine whose steps are timed, and cannot end the thread."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any], pace: _Pace) -> None:
        self._coroutine = coroutine
        self._pace = pace

    def send(self, value: Any) -> Any:
        started = time.perf_counter()
        try:
            with self._pace.step:
                return self._coroutine.send(value)
        except (SystemExit, KeyboardInterrupt) as error:
            # asyncio would let these out of the loop, and an evaluator's sys.exit() end the worker.
            raise RuntimeError(f"{type(error).__name__} inside an evaluation") from error
        finally:
            self._pace.worked(time.perf_counter() - started)

    def throw(self, *error: Any) -> Any:
        with self._pace.step:
            return self._coroutine.throw(*error)

    def close(self) -> None:
        self._coroutine.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._coroutine.__await__()
