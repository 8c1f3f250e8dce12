"""The collector as a whole: starts its parts, says whether it is ready, drains, stops.

servers, Kafka -> intake -> live traces -> release -> outbox -> senders -> backends
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from rag_otel.delivery.dispatcher import Dispatcher
from rag_otel.safety.guard import logger
from rag_otel_collectors.otlp.assembly.disk import DiskWatch
from rag_otel_collectors.otlp.assembly.live_traces import LiveTraces
from rag_otel_collectors.otlp.evaluation.pool import EvaluationPool
from rag_otel_collectors.otlp.exporters.sender import Sender
from rag_otel_collectors.otlp.metrics import Metrics
from rag_otel_collectors.otlp.queues import Queues
from rag_otel_collectors.otlp.receivers.intake import Intake
from rag_otel_collectors.otlp.receivers.kafka_consumer import KafkaReceiver
from rag_otel_collectors.otlp.release import TraceRelease
from rag_otel_collectors.otlp.supervision import Supervisor

_SERVER_GRACE_S: Final = 2.0
_POLL_S: Final = 0.05
_READING: Final = "reading from Kafka"


class Server(Protocol):
    """Where requests come in."""

    @property
    def port(self) -> int: ...

    async def start(self) -> None: ...

    async def run(self) -> None: ...

    async def stop(self, grace_s: float) -> None: ...


@dataclass(kw_only=True)
class Collector:
    """Everything between the servers and the backends. Belongs to one event loop."""

    intake: Intake
    live: LiveTraces
    pool: EvaluationPool
    release: TraceRelease
    queues: Queues
    senders: Sequence[Sender]
    results: Dispatcher
    disk: DiskWatch
    tasks: Supervisor
    metrics: Metrics
    servers: Sequence[Server] = ()
    kafka: KafkaReceiver | None = None

    def not_ready(self) -> str | None:
        """Why no traffic should come now; None when it should."""
        if not self.pool.ready:
            return "no evaluation process is up"
        return self.intake.not_ready or self.tasks.trouble or self.disk.trouble

    async def start(self) -> None:
        """Take up what an earlier process left, then listen. Raises ConfigurationError."""
        self._show_gauges()
        await self.pool.start()
        self._resume()
        for server in self.servers:
            await server.start()
        for server in self.servers:
            self.tasks.keep(_receiving(server), server.run)
        if self.kafka is not None:
            await self.kafka.start()
            self.tasks.keep(_READING, self.kafka.run)
        self.tasks.keep("the release of traces", self.release.run)
        self.tasks.keep("the care of the disk", self.disk.run)
        for sender in self.senders:
            self.tasks.keep(f"forwarding to {sender.settings.name}", sender.run)
            self.tasks.keep(f"confirmation by {sender.settings.name}", sender.confirm)
        if self.queues.jobs is not None:
            self.tasks.keep("publishing jobs", self.queues.jobs.run)

    async def drain(self, timeout_s: float) -> bool:
        """Take nothing more in, evaluate and forward what is here, stop; False when something stays on disk.

        A third of the time is for evaluating; traces that are not evaluated by then go out as they are.
        """
        deadline = time.monotonic() + timeout_s
        await self._stop_reading()
        self.intake.draining = True
        self.release.release_all()
        await _until(lambda: self.release.idle, timeout_s / 3)
        await self.pool.close()
        await _until(lambda: self.release.idle, deadline - time.monotonic())
        await asyncio.to_thread(self.results.flush, max(0.0, (deadline - time.monotonic()) / 2))
        await asyncio.to_thread(self.results.shutdown, 0.1)
        # Servers stop last: until then they answer new requests with a retryable refusal.
        done = await _until(self._nothing_left, deadline - time.monotonic())
        trouble = self.tasks.trouble
        if trouble is not None:
            logger.error("rag-otel: stopped while %s", trouble)
        await self.stop()
        return done and trouble is None

    async def stop(self) -> None:
        """Stop at once; what was accepted stays on disk. Safe to call twice."""
        await self._stop_reading()
        await self.tasks.stop(*map(_receiving, self.servers))
        await asyncio.gather(*(server.stop(_SERVER_GRACE_S) for server in self.servers))
        await self.tasks.stop()
        await self.release.cancel()
        for sender in self.senders:
            await sender.close()
        await self.pool.close()
        await self.queues.close()

    async def _stop_reading(self) -> None:
        """First of all, so that another member of the group goes on with the partitions."""
        await self.tasks.stop(_READING)
        if self.kafka is not None:
            await self.kafka.stop()

    def _resume(self) -> None:
        left = self.queues.journal.keys
        for trace_id in left:
            self.intake.resume(trace_id, self.queues.journal.read(trace_id))
        if left:
            logger.warning("rag-otel: took up %d traces that an earlier process had accepted", len(left))

    def _nothing_left(self) -> bool:
        try:
            published = self.queues.jobs is None or self.queues.jobs.idle
            return published and self.release.idle and all(sender.idle for sender in self.senders)
        except OSError as error:
            self.disk.failed("the outbox on disk cannot be read", error)
            return False

    def _show_gauges(self) -> None:
        for name, meaning, read in (
            ("traces_in_memory", "Traces that are assembled or evaluated", lambda: len(self.live)),
            ("held_bytes", "Bytes of held spans", lambda: self.live.held_bytes),
            (
                "unconfirmed_batches",
                "Batches that a backend took and has not stored yet",
                lambda: sum(sender.unconfirmed for sender in self.senders),
            ),
            (
                "backends_in_trouble",
                "Backends whose last answer was a failure",
                lambda: sum(sender.trouble is not None for sender in self.senders),
            ),
            (
                "tasks_in_trouble",
                "Long-lived tasks that have failed and do not run well yet",
                lambda: self.tasks.failed,
            ),
        ):
            self.metrics.gauge(name, meaning, read)


def _receiving(server: Server) -> str:
    return f"receiving at port {server.port}"


async def _until(condition: Callable[[], bool], timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while not condition() and time.monotonic() < deadline:
        await asyncio.sleep(_POLL_S)
    return condition()
