"""Traces on their way out: released when they are due, evaluated, forwarded with what was added, and forgotten.

live traces -> evaluation pool -> outbox, jobs, results
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan

from rag_otel.delivery.dispatcher import Dispatcher
from rag_otel.delivery.retry import Backoff, call_until_done
from rag_otel.processing.sdk_spans import SpanOrigin
from rag_otel.safety.guard import LimitedLog, counters, guarded
from rag_otel_collectors.otlp import metrics as names
from rag_otel_collectors.otlp.assembly.disk import DiskWatch
from rag_otel_collectors.otlp.assembly.live_traces import LiveTrace, LiveTraces
from rag_otel_collectors.otlp.evaluation.messages import JobResults
from rag_otel_collectors.otlp.evaluation.pool import EvaluationPool
from rag_otel_collectors.otlp.evaluation.trace_evaluator import HeldTrace
from rag_otel_collectors.otlp.metrics import Metrics
from rag_otel_collectors.otlp.queues import Queues
from rag_otel_collectors.otlp.requests.wire import join, with_additions, without_repeats

_DISK: Final = Backoff(base_s=1.0, longest_wait_s=1.0)


class TraceRelease:
    """Takes traces from `live` and brings them to the outbox. Made and used on one event loop."""

    def __init__(
        self,
        *,
        live: LiveTraces,
        pool: EvaluationPool,
        queues: Queues,
        results: Dispatcher,
        disk: DiskWatch,
        metrics: Metrics,
    ) -> None:
        """`results` gets what belongs beside the spans: annotations, alerts, evaluation spans."""
        self._live = live
        self._pool = pool
        self._queues = queues
        self._results = results
        self._disk = disk
        self._metrics = metrics
        self._loop = asyncio.get_running_loop()
        self._woken = asyncio.Event()
        self._leaving: set[asyncio.Task[None]] = set()
        self._log = LimitedLog()

    @property
    def idle(self) -> bool:
        """True when no trace is evaluated or forwarded."""
        return not self._leaving

    def wake(self) -> None:
        """Spans were held: look again when the next trace is due."""
        self._woken.set()

    def emit(self, span: ReadableSpan) -> None:
        """Forward a span of our own making (an evaluation span). From any thread."""
        request = encode_spans([span]).SerializeToString()
        self._loop.call_soon_threadsafe(self._spawn, lambda: self._forward(request))

    def deliver(self, reply: JobResults) -> None:
        """Hand the results over; what follows their spans is forwarded as those are."""
        for result in reply.results:
            resource = Resource(dict(reply.resources.get(result.trace.target, {})))
            self._results.submit(dataclasses.replace(result, origin=SpanOrigin(emit=self.emit, resource=resource)))

    async def run(self) -> None:
        """Release what is due, until cancelled."""
        while True:
            with guarded("collector.release"):
                for trace in self._live.due():
                    self._let_go(trace)
            self._woken.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._live.next_due_in()):
                    await self._woken.wait()

    def release_all(self) -> None:
        """Release everything, complete or not."""
        for trace in self._live.drain():
            self._let_go(trace)

    async def cancel(self) -> None:
        """Leave what is on its way to the next process: it is in the journal."""
        leaving = list(self._leaving)
        for task in leaving:
            task.cancel()
        await asyncio.gather(*leaving, return_exceptions=True)

    def _let_go(self, trace: LiveTrace) -> None:
        self._metrics.add(names.RELEASED, cause=trace.released)
        self._spawn(lambda: self._finish(trace))

    async def _finish(self, trace: LiveTrace) -> None:
        """Evaluate a trace, forward it with what was added, and forget it."""
        slices = without_repeats(trace.slices)
        if repeated := len(trace.slices) - len(slices):
            self._metrics.add(names.REPEATED, repeated)
        reply = await self._pool.evaluate(HeldTrace(trace.trace_id.hex(), tuple(slices), tuple(trace.outlines)))
        with guarded("collector.enrich"):  # whatever is wrong with a reply, the spans go on
            slices = with_additions(slices, reply.attributes)
        await self._forward(join(slices))
        if self._queues.jobs is not None:
            for job in reply.jobs:
                await self._write("jobs", partial(self._queues.jobs.append, job))
        try:
            self._queues.journal.done(trace.trace_id)
        except OSError as error:
            self._disk.failed("the journal on disk cannot be written", error)
        self._live.finish(trace)
        for status, reason in reply.outcomes:
            self._metrics.add(names.EVALUATED, status=status, reason=reason)
            counters.add(f"trace.{status}.{reason}")
        self.deliver(reply)

    async def _forward(self, request: bytes) -> None:
        await self._write("outbox", partial(self._queues.outbox.append, request))

    async def _write(self, queue: str, write: Callable[[], None]) -> None:
        """While the disk is full, again and again: what is written was accepted."""

        async def written() -> None:
            write()

        failed = partial(self._disk.failed, f"the {queue} on disk cannot be written")
        await call_until_done(written, _DISK, failed, errors=(OSError,))

    def _spawn(self, make: Callable[[], Awaitable[None]]) -> None:
        task = asyncio.ensure_future(make())
        assert isinstance(task, asyncio.Task)
        self._leaving.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._leaving.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log.error("internal error while forwarding a trace", repr(error), cause=error)
