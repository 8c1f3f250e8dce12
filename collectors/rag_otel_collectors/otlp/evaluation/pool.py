"""Evaluation processes, from the collector's side: judging takes neither its interpreter nor, if it dies, its life.

A process that dies, or does not answer for too long, is replaced; the traces that it had are forwarded without scores
and are not tried again, since one of them may be the cause.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rag_otel.errors import ConfigurationError
from rag_otel.model import EvaluationStatus
from rag_otel.safety.guard import counters, logger
from rag_otel.telemetry import names as instruments
from rag_otel.telemetry.gauges import Sample, gauges
from rag_otel_collectors.otlp import metrics as names
from rag_otel_collectors.otlp.evaluation.frames import frame, read_frame
from rag_otel_collectors.otlp.evaluation.trace_evaluator import Job, Reply
from rag_otel_collectors.otlp.evaluation.worker_process import Ready
from rag_otel_collectors.otlp.limited_log import LimitedLog
from rag_otel_collectors.otlp.metrics import Metrics

WORKER_DIED: Final = "worker_died"
_START_S: Final = 120.0
"""A judge may load a model."""
_RESTART_S: Final = 1.0
_END_S: Final = 2.0


@dataclass(slots=True, kw_only=True, eq=False)
class _Waiting:
    job: Job
    reply: asyncio.Future[Reply]
    given_at: float = 0.0
    """When a process got it, monotonic seconds."""


class _WorkerStats:
    """What one process tells of itself, kept here where metrics are shown, for as long as it runs."""

    def __init__(self) -> None:
        self._breaker_open = False
        gauges.offer(instruments.BREAKER_OPEN.name, self._breaker)

    def take(self, reply: Reply) -> None:
        for name, count in reply.counted.items():
            counters.add(name, count)
        self._breaker_open = reply.breaker_open

    def _breaker(self) -> list[Sample]:
        return [(float(self._breaker_open), {})]


class EvaluationPool:
    """Hands jobs to `workers` processes, at most `concurrency` at a time to each, in order of arrival."""

    def __init__(
        self,
        command: Sequence[str],
        setup: Any,
        *,
        workers: int,
        concurrency: int,
        patience_s: float,
        on_late: Callable[[Reply], None],
        metrics: Metrics,
    ) -> None:
        """`command` (arguments of this Python) starts a process that calls `worker.serve`; `setup` is sent to it.
        One that has not answered a job for `patience_s` is taken for hung. `on_late` gets late results."""
        self._command = command
        self._setup = setup
        self._concurrency = concurrency
        self._patience_s = patience_s
        self._on_late = on_late
        self._metrics = metrics
        self._log = LimitedLog()
        self._jobs: asyncio.Queue[_Waiting] = asyncio.Queue()
        self._unanswered: dict[int, float] = {}
        """Number of a job -> when it came, monotonic seconds; the oldest first."""
        self._count = workers
        self._numbers = 0
        self._working = 0
        self._started: list[asyncio.Future[None]] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._ending: set[asyncio.Task[None]] = set()
        gauges.offer(instruments.QUEUE_ITEMS.name, self._unanswered_now)
        gauges.offer(instruments.QUEUE_AGE.name, self._oldest_age)

    @property
    def ready(self) -> bool:
        """True while at least one process can evaluate."""
        return self._working > 0

    async def start(self) -> None:
        """Start the processes and wait until each can evaluate. Raises ConfigurationError where one cannot."""
        loop = asyncio.get_running_loop()
        for _ in range(self._count):
            started: asyncio.Future[None] = loop.create_future()
            self._started.append(started)
            self._tasks.append(loop.create_task(self._keep_one(started)))
        try:
            await asyncio.gather(*self._started)
        except BaseException:
            await self.close()
            raise

    async def evaluate(self, trace_id: str, slices: Sequence[Any], outlines: Sequence[Any]) -> Reply:
        """What is to be written on the spans of an assembled trace, as soon as a process has said so."""
        self._numbers += 1
        job = Job(number=self._numbers, trace_id=trace_id, slices=tuple(slices), outlines=tuple(outlines))
        waiting = _Waiting(job=job, reply=asyncio.get_running_loop().create_future())
        self._jobs.put_nowait(waiting)
        self._unanswered[job.number] = time.monotonic()
        try:
            return await waiting.reply
        finally:
            del self._unanswered[job.number]

    async def close(self) -> None:
        """End the processes. What they had is answered without scores. Safe to call twice."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*self._ending, return_exceptions=True)
        self._give_up_all()

    def _unanswered_now(self) -> list[Sample]:
        return [(float(len(self._unanswered)), {})]

    def _oldest_age(self) -> list[Sample]:
        oldest = next(iter(self._unanswered.values()), None)
        return [] if oldest is None else [(time.monotonic() - oldest, {})]

    async def _keep_one(self, started: asyncio.Future[None]) -> None:
        while True:
            worked = False
            try:
                worked = await self._run_one(started)
            except Exception as error:  # noqa: BLE001 - no memory, no descriptor for a process: both may come back
                self._log.error("an evaluation process cannot be kept", f"{type(error).__name__}: {error}")
                if not started.done():
                    started.set_exception(ConfigurationError(f"the evaluation process cannot start: {error}"))
            if not worked and not self._working:
                self._give_up_all()  # nobody is there to judge them, and may never be
            self._metrics.add(names.WORKER_RESTARTS)
            self._log.error("evaluation", "a process ended; starting another one")
            await asyncio.sleep(_RESTART_S)

    def _give_up_all(self) -> None:
        while not self._jobs.empty():
            _give_up(self._jobs.get_nowait())

    async def _run_one(self, started: asyncio.Future[None]) -> bool:
        """Start a process and work with it until it ends; False when it never came to work."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=environment,
            start_new_session=True,  # Ctrl-C is for the collector, which drains first
        )
        assert process.stdin is not None
        assert process.stdout is not None
        held: dict[int, _Waiting] = {}
        books = _WorkerStats()
        try:
            process.stdin.write(frame(self._setup))
            async with asyncio.timeout(_START_S):
                ready = await read_frame(process.stdout)
            if not isinstance(ready, Ready) or ready.error is not None:
                problem = ready.error if isinstance(ready, Ready) else "it ended at once; see above"
                if not started.done():
                    started.set_exception(ConfigurationError(f"the evaluation process cannot start: {problem}"))
                return False
            self._working += 1
            try:
                if not started.done():
                    started.set_result(None)
                await self._work(process, held, books)
            finally:
                self._working -= 1
            return True
        except (TimeoutError, ConnectionError) as error:
            if not started.done():
                started.set_exception(ConfigurationError(f"the evaluation process does not answer: {error!r}"))
            return False
        finally:
            for waiting in held.values():
                _give_up(waiting)
            # Not waited for here: this task may be cancelled at any moment, also a second time.
            ending = asyncio.get_running_loop().create_task(_end(process))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)

    async def _work(self, process: asyncio.subprocess.Process, held: dict[int, _Waiting], books: _WorkerStats) -> None:
        """Feed one process and read its answers until it ends or hangs."""
        assert process.stdin is not None
        assert process.stdout is not None
        room = asyncio.Semaphore(self._concurrency)
        parts = [
            asyncio.ensure_future(self._feed(process.stdin, held, room)),
            asyncio.ensure_future(self._listen(process.stdout, held, room, books)),
            asyncio.ensure_future(self._watch(held)),
        ]
        try:
            await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for part in parts:
                part.cancel()
            await asyncio.gather(*parts, return_exceptions=True)

    async def _feed(self, stdin: asyncio.StreamWriter, held: dict[int, _Waiting], room: asyncio.Semaphore) -> None:
        while True:
            await room.acquire()
            waiting = await self._jobs.get()
            waiting.given_at = time.monotonic()
            held[waiting.job.number] = waiting
            stdin.write(frame(waiting.job))
            await stdin.drain()

    async def _listen(
        self, stdout: asyncio.StreamReader, held: dict[int, _Waiting], room: asyncio.Semaphore, books: _WorkerStats
    ) -> None:
        while isinstance(reply := await read_frame(stdout), Reply):
            books.take(reply)
            waiting = held[reply.number]
            if waiting.reply.done():
                self._on_late(reply)
            else:
                waiting.reply.set_result(reply)
            if reply.last:
                del held[reply.number]
                room.release()

    async def _watch(self, held: dict[int, _Waiting]) -> None:
        """Return when a job has waited for its first answer for too long."""
        while True:
            unanswered = (each.given_at for each in held.values() if not each.reply.done())
            if time.monotonic() - min(unanswered, default=time.monotonic()) > self._patience_s:
                logger.warning("rag-otel: an evaluation process has not answered for %.0f s", self._patience_s)
                return
            await asyncio.sleep(min(1.0, self._patience_s / 4))


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill a process and wait until nothing is left of it, its pipes included: asyncio closes them a moment after the
    process has ended, and complains when the loop is gone by then."""
    assert process.stdout is not None
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    with contextlib.suppress(TimeoutError):  # a grandchild may have kept the pipe
        async with asyncio.timeout(_END_S):
            await process.stdout.read()
    await process.wait()
    await asyncio.sleep(0)


def _give_up(waiting: _Waiting) -> None:
    if not waiting.reply.done():
        outcome = (str(EvaluationStatus.FAILED), WORKER_DIED)
        waiting.reply.set_result(Reply(number=waiting.job.number, outcomes=(outcome,)))
