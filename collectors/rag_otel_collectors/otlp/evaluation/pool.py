"""The pool of evaluation processes, of the collector and of `rag-otel traces backfill --workers`. Evaluation does not
block the program, and a crash does not end it.

A process that dies or does not answer in time is replaced. Its jobs are answered without results. They are not given to
another process, because one of them may be the cause.
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
from rag_otel.safety.guard import LimitedLog, counters, logger
from rag_otel.telemetry import names as instruments
from rag_otel.telemetry.gauges import Sample, gauges
from rag_otel_collectors.otlp.evaluation.messages import Job, JobResults, Ready, frame, read_frame

WORKER_DIED: Final = "worker_died"
_START_S: Final = 120.0
"""Time limit for the start of a process. A judge may have to load a model."""
_RESTART_S: Final = 1.0
_END_S: Final = 2.0


@dataclass(slots=True, kw_only=True, eq=False)
class _Waiting:
    job: Job
    reply: asyncio.Future[JobResults]
    given_at: float = 0.0
    """When the job was sent to a process, monotonic seconds."""


class _WorkerStats:
    """The statistics of one process. They are in this process's metrics while it runs."""

    def __init__(self) -> None:
        self._breaker_open = False
        gauges.offer(instruments.BREAKER_OPEN.name, self._breaker)

    def take(self, reply: JobResults) -> None:
        for name, count in reply.counted.items():
            counters.add(name, count)
        self._breaker_open = reply.breaker_open

    def _breaker(self) -> list[Sample]:
        return [(float(self._breaker_open), {})]


class EvaluationPool:
    """Distributes jobs to `workers` processes in order of arrival, at most `concurrency` at a time to each."""

    def __init__(
        self,
        command: Sequence[str],
        setup: Any,
        *,
        workers: int,
        concurrency: int,
        patience_s: float,
        on_late: Callable[[JobResults], None] = lambda reply: None,
        on_restart: Callable[[], None] = lambda: None,
    ) -> None:
        """`command` (arguments for this Python interpreter) starts a process that calls `worker_process.serve`. `setup`
        is sent to it. A process that has not answered a job after `patience_s` is replaced, and `on_restart` called.
        `on_late` is called with replies after the first one."""
        self._command = command
        self._setup = setup
        self._concurrency = concurrency
        self._patience_s = patience_s
        self._on_late = on_late
        self._on_restart = on_restart
        self._log = LimitedLog()
        self._jobs: asyncio.Queue[_Waiting] = asyncio.Queue()
        self._unanswered: dict[int, float] = {}
        """Number of a job -> when it arrived, monotonic seconds; the oldest first."""
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
        """True if at least one process can evaluate."""
        return self._working > 0

    async def start(self) -> None:
        """Starts the processes and waits until each can evaluate. Raises ConfigurationError if one cannot."""
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

    async def evaluate(self, work: Any) -> JobResults:
        """Evaluates something in a process. Returns the first reply; without results if the process died."""
        self._numbers += 1
        job = Job(number=self._numbers, work=work)
        waiting = _Waiting(job=job, reply=asyncio.get_running_loop().create_future())
        self._jobs.put_nowait(waiting)
        self._unanswered[job.number] = time.monotonic()
        try:
            return await waiting.reply
        finally:
            del self._unanswered[job.number]

    async def close(self) -> None:
        """Ends the processes. Their jobs are answered without scores. Safe to call twice."""
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
            except Exception as error:  # noqa: BLE001 - a lack of memory or descriptors may be temporary
                self._log.error("an evaluation process failed", f"{type(error).__name__}: {error}")
                if not started.done():
                    started.set_exception(ConfigurationError(f"the evaluation process cannot start: {error}"))
            if not worked and not self._working:
                self._give_up_all()  # no process is running, and perhaps none will
            self._on_restart()
            self._log.error("evaluation", "a process ended; starting another one")
            await asyncio.sleep(_RESTART_S)

    def _give_up_all(self) -> None:
        while not self._jobs.empty():
            _give_up(self._jobs.get_nowait())

    async def _run_one(self, started: asyncio.Future[None]) -> bool:
        """Starts a process and gives it jobs until it ends. Returns False if it could not start to work."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=environment,
            start_new_session=True,  # Ctrl-C must reach only this process, which then ends the others
        )
        assert process.stdin is not None
        assert process.stdout is not None
        held: dict[int, _Waiting] = {}
        stats = _WorkerStats()
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
                await self._work(process, held, stats)
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
            # A separate task, because this one may be cancelled at any moment, even twice.
            ending = asyncio.get_running_loop().create_task(_end(process))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)

    async def _work(self, process: asyncio.subprocess.Process, held: dict[int, _Waiting], stats: _WorkerStats) -> None:
        """Sends jobs to one process and reads its replies until it ends or stops answering."""
        assert process.stdin is not None
        assert process.stdout is not None
        room = asyncio.Semaphore(self._concurrency)
        parts = [
            asyncio.ensure_future(self._feed(process.stdin, held, room)),
            asyncio.ensure_future(self._listen(process.stdout, held, room, stats)),
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
        self, stdout: asyncio.StreamReader, held: dict[int, _Waiting], room: asyncio.Semaphore, stats: _WorkerStats
    ) -> None:
        while isinstance(reply := await read_frame(stdout), JobResults):
            stats.take(reply)
            waiting = held[reply.number]
            if waiting.reply.done():
                self._on_late(reply)
            else:
                waiting.reply.set_result(reply)
            if reply.last:
                del held[reply.number]
                room.release()

    async def _watch(self, held: dict[int, _Waiting]) -> None:
        """Returns when a job has waited too long for its first reply."""
        while True:
            unanswered = (each.given_at for each in held.values() if not each.reply.done())
            if time.monotonic() - min(unanswered, default=time.monotonic()) > self._patience_s:
                logger.warning("rag-otel: an evaluation process has not answered for %.0f s", self._patience_s)
                return
            await asyncio.sleep(min(1.0, self._patience_s / 4))


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kills a process and waits until its pipes are closed too. asyncio closes them shortly after the process has
    ended, and reports an error if the event loop is already closed."""
    assert process.stdout is not None
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    with contextlib.suppress(TimeoutError):  # a child of the process may keep the pipe open
        async with asyncio.timeout(_END_S):
            await process.stdout.read()
    await process.wait()
    await asyncio.sleep(0)


def _give_up(waiting: _Waiting) -> None:
    if not waiting.reply.done():
        outcome = (str(EvaluationStatus.FAILED), WORKER_DIED)
        waiting.reply.set_result(JobResults(number=waiting.job.number, outcomes=(outcome,)))
