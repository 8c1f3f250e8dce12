"""The collector as a whole: starts its parts, moves traces from assembly through evaluation to the outbox, drains.

intake -> live traces -> evaluation pool -> outbox -> backends
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan

from rag_otel.durable.journal import Journal
from rag_otel.model import EvaluatedTrace
from rag_otel.processing.sdk_spans import SpanOrigin
from rag_otel.safety.guard import counters, guarded, logger
from rag_otel_collectors.jobs.queue import QueuedJob
from rag_otel_collectors.otlp import metrics as names
from rag_otel_collectors.otlp.assembly.disk import DiskWatch
from rag_otel_collectors.otlp.assembly.live_traces import LiveTrace, LiveTraces
from rag_otel_collectors.otlp.evaluation.messages import Reply
from rag_otel_collectors.otlp.evaluation.pool import EvaluationPool
from rag_otel_collectors.otlp.evaluation.trace_evaluator import HeldTrace
from rag_otel_collectors.otlp.exporters.job_forwarder import JobForwarder
from rag_otel_collectors.otlp.exporters.outbox import Outbox
from rag_otel_collectors.otlp.exporters.sender import Sender
from rag_otel_collectors.otlp.limited_log import LimitedLog
from rag_otel_collectors.otlp.metrics import Metrics
from rag_otel_collectors.otlp.protobuf.wire import join, with_additions, without_repeats
from rag_otel_collectors.otlp.receivers.intake import Intake
from rag_otel_collectors.otlp.supervision import Supervisor

_DISK_RETRY_S: Final = 1.0
_SERVER_GRACE_S: Final = 2.0
_POLL_S: Final = 0.05


class Server(Protocol):
    """Where requests come in."""

    port: int

    async def start(self) -> None: ...

    async def run(self) -> None: ...

    async def stop(self, grace_s: float) -> None: ...


class Stream(Protocol):
    """Where requests are fetched from."""

    async def start(self) -> None: ...

    async def run(self) -> None: ...

    async def stop(self) -> None: ...


class Results(Protocol):
    """Who gets the results, beside the spans: annotations, alerts, evaluation spans."""

    def submit(self, result: EvaluatedTrace) -> object: ...

    def flush(self, timeout_s: float) -> bool: ...

    def shutdown(self, timeout_s: float) -> object: ...


class Collector:
    """Everything between the servers and the backends. Made and used on one event loop."""

    def __init__(
        self,
        *,
        live: LiveTraces,
        journal: Journal,
        outbox: Outbox,
        metrics: Metrics,
        senders: Sequence[Sender],
        jobs: JobForwarder | None = None,
    ) -> None:
        """`jobs` publishes the traces that workers evaluate; None: traces are evaluated here."""
        self._jobs = jobs
        self._live = live
        self._journal = journal
        self._outbox = outbox
        self._metrics = metrics
        self._senders = senders
        self._loop = asyncio.get_running_loop()
        self._woken = asyncio.Event()
        self._leaving: set[asyncio.Task[None]] = set()
        self._supervisor, self._receiving, self._reading = Supervisor(metrics), Supervisor(metrics), Supervisor(metrics)
        self._log = LimitedLog()
        self._disk = DiskWatch(
            {"journal": journal, "outbox": outbox, **({} if jobs is None else {"jobs": jobs.outbox})},
            metrics,
            lambda: live.held_bytes,
            wanted=lambda: self._intake is not None and self._intake.wanted_room(),
        )
        self._servers: Sequence[Server] = ()
        self._stream: Stream | None = None
        self._pool: EvaluationPool | None = None
        self._results: Results | None = None
        self._intake: Intake | None = None
        self._gauges()

    def wake(self) -> None:
        """Spans were held: look again when the next trace is due."""
        self._woken.set()

    def emit(self, span: ReadableSpan) -> None:
        """Forward a span of our own making (an evaluation span). From any thread."""
        request = encode_spans([span]).SerializeToString()
        self._loop.call_soon_threadsafe(self._spawn, lambda: self._forward(request))

    def late_results(self, reply: Reply) -> None:
        """Deliver what was found after the spans had left, beside the spans."""
        self._deliver(reply)

    def not_ready(self) -> str | None:
        """Why no traffic should come now; None when it should."""
        if self._intake is None or self._pool is None or not self._pool.ready:
            return "no evaluation process is up"
        return self._intake.not_ready or self._task_trouble or self._disk.trouble

    async def start(
        self,
        *,
        intake: Intake,
        pool: EvaluationPool,
        results: Results,
        servers: Sequence[Server],
        stream: Stream | None = None,
    ) -> None:
        """Take up what an earlier process left, then listen. Raises ConfigurationError."""
        self._intake, self._pool, self._results = intake, pool, results
        await pool.start()
        left = self._journal.left
        for trace_id, positions in left.items():
            intake.resume(trace_id, [self._journal.read(position) for position in positions])
        if left:
            logger.warning("rag-otel: took up %d traces that an earlier process had accepted", len(left))
            left.clear()
        for server in servers:
            await server.start()
        self._servers = servers
        for server in servers:
            self._receiving.keep(f"receiving at port {server.port}", server.run)
        if stream is not None:
            self._stream = stream
            await stream.start()
            self._reading.keep("reading from Kafka", stream.run)
        self._supervisor.keep("the release of traces", self._release_due)
        self._supervisor.keep("the care of the disk", self._disk.run)
        for sender in self._senders:
            self._supervisor.keep(f"forwarding to {sender.settings.name}", sender.run)
            self._supervisor.keep(f"confirmation by {sender.settings.name}", sender.confirm)
        if self._jobs is not None:
            self._supervisor.keep("publishing jobs", self._jobs.run)

    async def drain(self, timeout_s: float) -> bool:
        """Take nothing more in, evaluate and forward what is here, stop; False when something stays on disk.

        A third of the time is for evaluating; traces that are not evaluated by then go out as they are.
        """
        deadline = time.monotonic() + timeout_s
        await self._stop_reading()
        if self._intake is not None:
            self._intake.draining = True
        for trace in self._live.drain():
            self._let_go(trace)
        await self._until(lambda: not self._leaving, timeout_s / 3)
        if self._pool is not None:
            await self._pool.close()
        await self._until(lambda: not self._leaving, deadline - time.monotonic())
        if self._results is not None:
            await asyncio.to_thread(self._results.flush, max(0.0, (deadline - time.monotonic()) / 2))
            await asyncio.to_thread(self._results.shutdown, 0.1)
        # Servers stop last: until then they answer new requests with a retryable refusal.
        done = await self._until(self._nothing_left, deadline - time.monotonic())
        trouble = self._task_trouble
        if trouble is not None:
            logger.error("rag-otel: stopped while %s", trouble)
        await self.stop()
        return done and trouble is None

    async def stop(self) -> None:
        """Stop at once; what was accepted stays on disk. Safe to call twice."""
        await self._stop_reading()
        await self._receiving.stop()
        await asyncio.gather(*(server.stop(_SERVER_GRACE_S) for server in self._servers))
        await self._supervisor.stop()
        leaving = list(self._leaving)
        for task in leaving:
            task.cancel()
        await asyncio.gather(*leaving, return_exceptions=True)
        for sender in self._senders:
            await sender.close()
        if self._pool is not None:
            await self._pool.close()
        if self._jobs is not None:
            await self._jobs.close()
        self._journal.close()
        self._outbox.close()

    async def _stop_reading(self) -> None:
        """First of all, so that another member of the group goes on with the partitions."""
        await self._reading.stop()
        if self._stream is not None:
            await self._stream.stop()

    # --- from assembly to the outbox ----------------------------------------------------------------------------------

    async def _release_due(self) -> None:
        while True:
            with guarded("collector.release"):
                for trace in self._live.due():
                    self._let_go(trace)
            self._woken.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._live.next_due_in()):
                    await self._woken.wait()

    def _let_go(self, trace: LiveTrace) -> None:
        self._metrics.add(names.RELEASED, cause=trace.released)
        self._spawn(lambda: self._finish(trace))

    async def _finish(self, trace: LiveTrace) -> None:
        """Evaluate a trace, forward it with what was added, and forget it."""
        assert self._pool is not None
        slices = without_repeats(trace.slices)
        if repeated := len(trace.slices) - len(slices):
            self._metrics.add(names.REPEATED, repeated)
        reply = await self._pool.evaluate(HeldTrace(trace.trace_id.hex(), tuple(slices), tuple(trace.outlines)))
        with guarded("collector.enrich"):  # whatever is wrong with a reply, the spans go on
            slices = with_additions(slices, reply.attributes)
        await self._forward(join(slices))
        for job in reply.jobs:
            await self._keep_job(job)
        try:
            self._journal.done(trace.trace_id)
        except OSError as error:
            self._disk.failed("the journal on disk cannot be written", error)
        self._live.finish(trace)
        for status, reason in reply.outcomes:
            self._metrics.add(names.EVALUATED, status=status, reason=reason)
            counters.add(f"trace.{status}.{reason}")
        self._deliver(reply)

    async def _forward(self, request: bytes) -> None:
        """Into the outbox; while the disk is full, again and again: these spans were accepted."""
        while True:
            try:
                self._outbox.append(request)
                return
            except OSError as error:
                self._disk.failed("the outbox on disk cannot be written", error)
                await asyncio.sleep(_DISK_RETRY_S)

    async def _keep_job(self, job: QueuedJob) -> None:
        """Likewise for a job."""
        while self._jobs is not None:
            try:
                self._jobs.append(job)
                return
            except OSError as error:
                self._disk.failed("the jobs on disk cannot be written", error)
                await asyncio.sleep(_DISK_RETRY_S)

    def _deliver(self, reply: Reply) -> None:
        """Hand the results over; what follows their spans is forwarded as those are."""
        if self._results is None:
            return
        for result in reply.results:
            resource = Resource(dict(reply.resources.get(result.trace.target, {})))
            self._results.submit(dataclasses.replace(result, origin=SpanOrigin(emit=self.emit, resource=resource)))

    def _spawn(self, make: Callable[[], Awaitable[None]]) -> None:
        task = asyncio.ensure_future(make())
        assert isinstance(task, asyncio.Task)
        self._leaving.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._leaving.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log.error("internal error while forwarding a trace", repr(error), cause=error)

    @property
    def _task_trouble(self) -> str | None:
        return self._supervisor.trouble or self._receiving.trouble or self._reading.trouble

    def _nothing_left(self) -> bool:
        try:
            published = self._jobs is None or self._jobs.idle
            return published and not self._leaving and all(sender.idle for sender in self._senders)
        except OSError as error:
            self._disk.failed("the outbox on disk cannot be read", error)
            return False

    async def _until(self, condition: Callable[[], bool], timeout_s: float) -> bool:
        deadline = time.monotonic() + timeout_s
        while not condition() and time.monotonic() < deadline:
            await asyncio.sleep(_POLL_S)
        return condition()

    def _gauges(self) -> None:
        for name, meaning, read in (
            ("traces_in_memory", "Traces that are assembled or evaluated", lambda: len(self._live)),
            ("held_bytes", "Bytes of held spans", lambda: self._live.held_bytes),
            ("outbox_bytes", "Disk taken by what waits to be forwarded", lambda: self._outbox.disk_bytes),
            ("jobs_bytes", "Disk taken by jobs that wait to be published", self._jobs_bytes),
            ("journal_bytes", "Disk taken by held spans", lambda: self._journal.disk_bytes),
            ("unconfirmed_batches", "Batches that a backend took and has not stored yet", self._unconfirmed),
            ("damaged_places", "Places in the queues on disk that cannot be read", self._damaged_places),
            ("damaged_bytes", "Bytes in these places", self._damaged_bytes),
            ("unread_files", "Files in the queues' folders that are left alone", self._unread_files),
            ("tasks_in_trouble", "Long-lived tasks that have failed and do not run well yet", self._failed_tasks),
            ("backends_in_trouble", "Backends whose last answer was a failure", self._in_trouble),
        ):
            self._metrics.gauge(name, meaning, read)

    def _damaged_places(self) -> float:
        return self._journal.log.damage.places + self._outbox.log.damage.places

    def _damaged_bytes(self) -> float:
        return self._journal.log.damage.bytes + self._outbox.log.damage.bytes

    def _jobs_bytes(self) -> float:
        return 0 if self._jobs is None else self._jobs.outbox.disk_bytes

    def _unread_files(self) -> float:
        return self._journal.log.damage.unreadable_files + self._outbox.log.damage.unreadable_files

    def _unconfirmed(self) -> float:
        return sum(sender.unconfirmed for sender in self._senders)

    def _failed_tasks(self) -> float:
        return self._supervisor.failed + self._receiving.failed + self._reading.failed

    def _in_trouble(self) -> float:
        return sum(sender.trouble is not None for sender in self._senders)
