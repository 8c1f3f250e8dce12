"""What a job queue is told and tells: its settings, a job to publish, a dead letter, counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

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

    @classmethod
    def at(cls, address: str) -> QueueSettings:
        """The queue that an address names: amqp://user:password@host/?name=rag-otel&partitions=4&retry_delays=1,10,60.

        What else is behind the question mark is RabbitMQ's own. Raises ConfigurationError.
        """
        url = urlsplit(address)
        given = parse_qsl(url.query, keep_blank_values=True)
        own = {name: value for name, value in given if name in _IN_ADDRESS}
        rest = urlencode([(name, value) for name, value in given if name not in _IN_ADDRESS])
        try:
            fields = {name: _IN_ADDRESS[name](value) for name, value in own.items()}
        except ValueError as error:
            raise ConfigurationError(f"job_queue_url: {', '.join(own)} behind its question mark: {error}") from None
        return cls(url=urlunsplit(url._replace(query=rest)), **fields)

    def delay_after(self, starts: int) -> float:
        """Seconds to wait after `starts` failed starts (1 or more)."""
        return self.retry_delays[min(starts, len(self.retry_delays)) - 1]


_IN_ADDRESS: Final[Mapping[str, Callable[[str], Any]]] = {
    "name": str,
    "partitions": int,
    "max_jobs": int,
    "max_starts": int,
    "prefetch": int,
    "retry_delays": lambda text: tuple(map(float, text.split(","))),
}
"""What an address may say about its queue."""


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
