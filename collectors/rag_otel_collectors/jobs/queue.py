"""What a job queue is told and tells: its settings, a job to publish, a dead letter, counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rag_otel.errors import ConfigurationError


@dataclass(frozen=True, kw_only=True)
class QueueSettings:
    """How jobs are queued. Producers and workers of one queue need the same values. Times in seconds."""

    url: str
    """Address of RabbitMQ with user and password: amqp://user:password@host:5672/vhost."""
    name: str = "rag-otel"
    """Prefix of the queues' names."""
    partitions: int = 4
    """Queues that the tenants share."""
    max_jobs: int = 100_000
    """Jobs that wait in one partition, at most. Then `publish` is refused."""
    max_starts: int = 5
    """Starts of one job until it becomes a dead letter."""
    retry_delays: tuple[float, ...] = (1.0, 10.0, 60.0)
    """Waiting time after the first, second, ... start that failed; the last one is repeated."""
    prefetch: int = 8
    """Jobs of one partition that a worker evaluates at a time."""
    timeout_s: float = 10.0
    """For one answer of the broker."""

    def __post_init__(self) -> None:
        for name in ("partitions", "max_jobs", "prefetch"):
            if getattr(self, name) < 1:
                raise ConfigurationError(f"{name} of the job queue must be at least 1, not {getattr(self, name)}")
        if self.max_starts < 2:
            raise ConfigurationError(f"max_starts of the job queue must be at least 2, not {self.max_starts}")
        if not self.retry_delays or min(self.retry_delays) <= 0:
            raise ConfigurationError(f"retry_delays of the job queue must be above 0, not {self.retry_delays}")

    def delay_after(self, starts: int) -> float:
        """Seconds to wait after `starts` failed starts (1 or more)."""
        return self.retry_delays[min(starts, len(self.retry_delays)) - 1]


@dataclass(frozen=True, kw_only=True)
class QueuedJob:
    """What is published: the body, and what the broker needs to know about it."""

    key: str
    """The idempotency key."""
    tenant: str
    body: bytes


@dataclass(frozen=True, kw_only=True)
class DeadJob:
    """A job that was given up."""

    key: str
    tenant: str
    reason: str
    starts: int
    body: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class QueueCounts:
    """How many jobs are in a queue."""

    waiting: int
    """Jobs that wait for a worker or a retry."""
    suspects: int
    """Jobs whose worker ended."""
    dead: int
