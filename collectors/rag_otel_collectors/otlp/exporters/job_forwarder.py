"""Publishing jobs: from a log on disk to the job queue, until the broker has stored every one.

A broker that is away or full is tried again for as long as it takes. What waits counts against `max_disk_bytes`: when
that is reached, the collector refuses requests, and the exporters hold back.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from rag_otel.delivery.retry import Backoff, call_until_done
from rag_otel.errors import ConfigurationError, RetryableError
from rag_otel.safety.guard import LimitedLog
from rag_otel_collectors.jobs.job import pack, unpack
from rag_otel_collectors.jobs.queue import QueuedJob
from rag_otel_collectors.otlp import metrics as names
from rag_otel_collectors.otlp.exporters.outbox import Outbox
from rag_otel_collectors.otlp.metrics import Metrics

if TYPE_CHECKING:
    from rag_otel_collectors.jobs.job_queue import JobQueue

READER: Final = "job_queue"
_BATCH_BYTES: Final = 2**20
_BACKOFF: Final = Backoff(longest_wait_s=5.0)


class JobForwarder:
    """The jobs on disk and the connection to the broker. Belongs to the event loop's thread."""

    def __init__(self, outbox: Outbox, queue: JobQueue, metrics: Metrics) -> None:
        """`outbox` has one reader, named `READER`."""
        self.outbox: Final = outbox
        self._reader = outbox.readers[READER]
        self._queue = queue
        self._metrics = metrics
        self._log = LimitedLog()
        self._open = False

    @property
    def idle(self) -> bool:
        """True when the broker has stored everything."""
        return self._reader.idle

    def append(self, job: QueuedJob) -> None:
        """Keep a job until the broker has stored it. Raises OSError when the disk does not take it."""
        self.outbox.append(pack(job))

    async def run(self) -> None:
        """Publish until cancelled."""
        while True:
            batch = await self._reader.next(_BATCH_BYTES)
            jobs = [unpack(record) for record in batch.requests]
            publish = partial(self._publish, jobs)
            await call_until_done(publish, _BACKOFF, self._failed, errors=(RetryableError, ConfigurationError))
            self._reader.delivered(batch.end)
            self._metrics.add(names.JOBS, len(batch.requests))

    def _failed(self, error: Exception) -> None:
        self._metrics.add(names.JOB_RETRIES)
        self._log.error("jobs cannot be published", error)

    async def close(self) -> None:
        """What is not published stays on disk. Safe to call twice."""
        await self._queue.close()
        self.outbox.close()

    async def _publish(self, jobs: list[QueuedJob]) -> None:
        """Raises the first failure. Then all are published again, with the same keys."""
        if not self._open:
            await self._queue.open()
            self._open = True
        await self._queue.publish(*jobs)
