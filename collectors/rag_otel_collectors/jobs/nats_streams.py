"""The streams of a job queue on NATS JetStream, and their consumers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from nats.js.api import (
    AckPolicy,
    ConsumerConfig,
    DiscardPolicy,
    RetentionPolicy,
    StorageType,
    StreamConfig,
)
from nats.js.errors import BadRequestError, NoStreamResponseError, ServiceUnavailableError

from rag_otel.errors import ConfigurationError
from rag_otel_collectors.jobs.queue import QueueSettings

CONSUMER: Final = "workers"
"""The durable consumer of every stream of jobs. All workers share it."""
_EXISTS: Final = 10058
_KEEP_STARTS_S: Final = 30 * 86_400.0
"""A count whose removal failed is kept for so long; longer than any job waits."""
_PULLS: Final = 10_000
"""Pulls of all workers that wait at a time."""
_OURS: Final = ("subjects", "retention", "discard", "max_msgs", "description")
"""What another queue may not change. Replicas, placement and limits in bytes are the operator's."""


def streams_of(settings: QueueSettings) -> Mapping[str, StreamConfig]:
    """Name -> configuration of each stream."""
    configured = f"max_starts={settings.max_starts} partitions={settings.partitions}"
    found = {}
    for number in range(settings.partitions):
        found[f"{settings.name}-{number}"] = _work_queue(settings.max_jobs, configured)
    found[f"{settings.name}-suspects"] = _work_queue(-1, configured)
    found[f"{settings.name}-dead"] = StreamConfig(description=configured)
    found[f"{settings.name}-starts"] = StreamConfig(
        description=configured, max_msgs_per_subject=1, max_age=_KEEP_STARTS_S
    )
    for name, config in found.items():
        config.name = name
        config.subjects = [f"{name}.*" if name.endswith("-starts") else name]
        config.storage = StorageType.FILE
    return found


async def declare(stream: Any, settings: QueueSettings) -> None:
    """Creates what the broker lacks. Raises ConfigurationError, and nats' own errors."""
    for name, config in streams_of(settings).items():
        try:
            await stream.add_stream(config)
        except BadRequestError as error:
            if error.err_code != _EXISTS:
                raise ConfigurationError(f"job queue: NATS refuses the stream {name}: {error.description}") from None
            await _compare(stream, name, config)
        except (ServiceUnavailableError, NoStreamResponseError):
            raise ConfigurationError("job_queue_url: JetStream is off: start nats-server with -js") from None
        if config.retention is RetentionPolicy.WORK_QUEUE:
            await stream.add_consumer(name, _consumer(settings))


async def _compare(stream: Any, name: str, wanted: StreamConfig) -> None:
    """The operator may have changed replicas and the like. Raises ConfigurationError for what is ours."""
    found = (await stream.stream_info(name)).config
    for field in _OURS:
        there, here = getattr(found, field), getattr(wanted, field)
        if there != here:
            raise ConfigurationError(
                f"the job queue {name!r} exists with other settings ({field} is {there!r}, not {here!r}): use the same "
                "settings in all producers and workers, or another job_queue_name"
            )


def _work_queue(max_jobs: int, description: str) -> StreamConfig:
    return StreamConfig(
        description=description,
        retention=RetentionPolicy.WORK_QUEUE,
        discard=DiscardPolicy.NEW,
        max_msgs=max_jobs,
    )


def _consumer(settings: QueueSettings) -> ConsumerConfig:
    return ConsumerConfig(
        durable_name=CONSUMER,
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=settings.lost_after_s,
        max_deliver=-1,
        max_ack_pending=-1,  # jobs that wait for a retry count: they would stop all others
        max_waiting=_PULLS,
    )
