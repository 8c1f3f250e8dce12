"""The engines of a job queue, chosen by the scheme of `job_queue_url`, and publishing to any of them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from rag_otel.errors import ConfigurationError, PermanentError
from rag_otel.safety.guard import counters, logger
from rag_otel_collectors.jobs.queue import JobQueue, QueuedJob, QueueSettings


def job_queue(settings: QueueSettings) -> JobQueue:
    """The queue on RabbitMQ (`amqp://`, `amqps://`) or on NATS JetStream (`nats://`, `tls://`).

    Imports the client of that broker. Raises ConfigurationError for another scheme.
    """
    scheme = settings.url.partition("://")[0].lower()
    if scheme in ("amqp", "amqps"):
        from rag_otel_collectors.jobs.rabbit import RabbitJobQueue

        return RabbitJobQueue(settings)
    if scheme in ("nats", "tls"):
        from rag_otel_collectors.jobs.nats import NatsJobQueue

        return NatsJobQueue(settings)
    raise ConfigurationError(
        f"job_queue_url: {scheme or 'nothing'}:// is no job queue; give amqp://user:password@host:5672/ or "
        "nats://user:password@host:4222"
    )


async def publish_all(queue: JobQueue, jobs: Sequence[QueuedJob]) -> None:
    """Returns when the broker has stored the jobs. A job that it never takes is dropped, counted and told.

    Raises RetryableError: then all are to be published again, with the same keys.
    """
    outcomes = await asyncio.gather(*map(queue.publish, jobs), return_exceptions=True)
    for job, outcome in zip(jobs, outcomes, strict=True):
        if isinstance(outcome, PermanentError):
            counters.add("jobs.refused")
            logger.error("rag-otel: job %s is dropped: %s", job.key, outcome)
        elif isinstance(outcome, BaseException):
            raise outcome
