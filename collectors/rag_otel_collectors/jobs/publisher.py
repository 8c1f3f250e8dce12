"""Publishes jobs from an application's process: in the background, without the application noticing a broker's outage.

A trace waits in a bounded queue in memory, with a `state_folder` also on disk, until the broker has stored its job. A
broker that is away or full is tried again for as long as it takes.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import math
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from rag_otel.delivery.export_queue import ExportPolicy, ExportQueue
from rag_otel.delivery.undelivered import Undelivered
from rag_otel.durable.state_folder import StateFolder
from rag_otel.errors import ConfigurationError, RetryableError
from rag_otel.model import RagTrace, SamplingDecision, SamplingReason, UnevaluableReason
from rag_otel.safety.guard import guarded
from rag_otel_collectors.jobs.job import EvaluationJob, may_leave_the_process, queued
from rag_otel_collectors.jobs.queue import QueuedJob, QueueSettings

if TYPE_CHECKING:
    from rag_otel_collectors.jobs.job_queue import JobQueue

_OVERHEAD_BYTES: Final = 2048
_BUFFER_BYTES: Final = 32 * 2**20
_CLOSE_S: Final = 2.0
_THREAD: Final = "rag-otel-job-queue"
_CLIENTS: Final = frozenset({"aio_pika", "aiormq"})
_PATIENCE_S: Final = 60.0
"""For one batch. The queue's own time limits are shorter."""


class JobPublisher:
    """Publishes traces as evaluation jobs, in the background."""

    def __init__(
        self,
        settings: QueueSettings,
        *,
        project: str | None = None,
        state: StateFolder | None = None,
    ) -> None:
        """Connects with the first job."""
        self._settings = settings
        self._project = project
        self._state = state
        self._broker = _BrokerThread(settings)
        self._waiting = ExportQueue[EvaluationJob](
            "jobs",
            self._publish,
            size_of=_size,
            policy=ExportPolicy(
                max_items=2**31, max_bytes=_BUFFER_BYTES, linger_s=0.1, max_backoff_s=5.0, give_up_after_s=math.inf
            ),
            log=None if state is None else Undelivered(state, "jobs", EvaluationJob),
        )
        self._waiting.resume()

    def prepare(self) -> None:
        """Import what publishing needs. Called at start-up on a background thread."""
        _new_queue(self._settings)

    def submit(
        self,
        trace: RagTrace,
        decision: SamplingDecision,
        resource: Mapping[str, Any],
        published: Callable[[], None] | None = None,
    ) -> str | None:
        """Take a trace; returns at once and never raises. Returns why it cannot become a job, None where it does.
        `published` is called when the broker has stored the job."""
        with guarded("jobs.submit"):
            if not may_leave_the_process(trace):
                return UnevaluableReason.REDACTED
            job = EvaluationJob(trace=trace, decision=decision, resource=dict(resource), project=self._project)
            if self._waiting.put(job, published):
                return None
        return SamplingReason.QUEUE_FULL

    def flush(self, timeout_s: float, *, patient: bool = False) -> bool:
        """Wait until the broker has everything submitted; False when time ran out or, unless `patient`, the broker is
        away."""
        return self._waiting.flush(timeout_s, patient=patient)

    def shutdown(self, timeout_s: float) -> None:
        """Publish what can be published in time, then stop. Safe to call twice."""
        self.flush(timeout_s)
        self._waiting.close()
        self._broker.stop()
        if self._state is not None:
            self._state.close()

    def after_fork(self) -> None:
        """Start empty in a forked child: the parent publishes its own."""
        if self._state is not None:
            self._state.after_fork()
        self._broker = _BrokerThread(self._settings)
        self._waiting.after_fork()

    def _publish(self, batch: Sequence[EvaluationJob]) -> None:
        """On the queue's thread. Raises RetryableError: then the whole batch is published again, with the same keys."""
        self._broker.publish([queued(job) for job in batch])


class _BrokerThread:
    """The connection to the broker, on an event loop of its own: heartbeats are answered between two batches too."""

    def __init__(self, settings: QueueSettings) -> None:
        self._settings = settings
        self._loop: asyncio.AbstractEventLoop | None = None
        self._queue: JobQueue | None = None

    def publish(self, jobs: Sequence[QueuedJob]) -> None:
        """Blocks until the broker has stored the jobs. Raises RetryableError."""
        self._run(self._publish(jobs), _PATIENCE_S)

    def stop(self) -> None:
        """Closes the connection. Safe to call twice."""
        loop = self._loop
        if loop is not None:
            with guarded("jobs.close"):
                self._run(self._close(), _CLOSE_S)
            loop.call_soon_threadsafe(loop.stop)
            self._loop = None

    async def _publish(self, jobs: Sequence[QueuedJob]) -> None:
        if self._queue is None:
            queue = _new_queue(self._settings)
            _quieten_clients()
            try:
                await queue.open()
            except ConfigurationError as error:  # what waits is kept until the operator has mended it
                raise RetryableError(str(error)) from None
            self._queue = queue
        await self._queue.publish(*jobs)

    async def _close(self) -> None:
        queue, self._queue = self._queue, None
        if queue is not None:
            await queue.close()

    def _run(self, work: Coroutine[Any, Any, None], timeout_s: float) -> None:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._loop.run_forever, name=_THREAD, daemon=True).start()
        running = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            running.result(timeout_s)
        except (TimeoutError, concurrent.futures.CancelledError):
            running.cancel()
            raise RetryableError("the job queue does not answer") from None


def _new_queue(settings: QueueSettings) -> JobQueue:
    from rag_otel_collectors.jobs.job_queue import JobQueue  # the broker's client is heavy: see `prepare`

    return JobQueue(settings)


def _quieten_clients() -> None:
    """The broker's client logs every attempt to connect again, once a second. The application's log has our own lines,
    which are limited. What the application does with the same client is logged as before."""
    for name in [*logging.root.manager.loggerDict]:
        if name.partition(".")[0] in _CLIENTS:
            logging.getLogger(name).addFilter(_of_other_threads)


def _of_other_threads(record: logging.LogRecord) -> bool:
    return record.threadName != _THREAD


def _size(job: EvaluationJob) -> int:
    """About how much memory a job keeps alive, taking a character for a byte."""
    return _OVERHEAD_BYTES + job.trace.characters
