"""The interface of a job queue. What a broker does behind it: see `rabbit.py` and `nats.py`.

The contract, which `tests/collectors/jobs` checks with real brokers:

- `publish` returns when the broker has stored the job, and raises RetryableError when it has not (away, or full), or
  PermanentError if it never will (the job is too large for it).
- A job stays in the queue until its delivery is settled: by `ack`, `retry_later` or `dead_letter`. A worker that is
  killed, and a broker that is restarted, lose none. Such a job is delivered again.
- `Delivery.starts` counts the deliveries before this one, the ones that ended with their worker included. So a job that
  kills its worker is recognised, and no other job is blamed for it.
- No tenant's jobs wait for all jobs of another tenant.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from rag_otel.errors import ConfigurationError


@dataclass(frozen=True, kw_only=True)
class QueueSettings:
    """How jobs are queued. Producers and workers of one queue need the same values. Times in seconds."""

    url: str
    """Address of the broker with user and password: amqp://user:password@host:5672/vhost, or nats://user:password@host:4222
    (of a cluster several, separated by commas)."""
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
    lost_after_s: float = 15.0
    """NATS only: a job whose worker has not been heard of for so long is delivered again. RabbitMQ notices when the
    connection breaks."""

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


class Delivery(Protocol):
    """One start of a job. Exactly one of the three methods settles it; an unsettled one is delivered again."""

    @property
    def key(self) -> str:
        """The idempotency key; empty if the message has none."""
        ...

    @property
    def body(self) -> bytes: ...

    @property
    def starts(self) -> int:
        """Starts before this one: those that failed, and those whose worker ended."""
        ...

    async def ack(self) -> None:
        """The results are delivered: the job is done."""
        ...

    async def retry_later(self, reason: str) -> None:
        """Deliver the job again after a delay."""
        ...

    async def dead_letter(self, reason: str) -> None:
        """Give the job up: it moves to the dead letters, with the reason."""
        ...


Handle: TypeAlias = Callable[[Delivery], Awaitable[None]]


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
    """Jobs that wait for a worker or a retry. With NATS also those that run."""
    suspects: int
    """Jobs whose worker ended."""
    dead: int


class JobQueue(Protocol):
    """A queue of evaluation jobs on a broker. Belongs to one event loop."""

    async def open(self) -> None:
        """Connects and creates what the broker lacks. Raises RetryableError, or ConfigurationError where the address,
        the password or a queue of other settings is in the way."""
        ...

    async def publish(self, job: QueuedJob) -> None:
        """Returns when the broker has stored the job. Raises RetryableError or PermanentError."""
        ...

    async def consume(self, handle: Handle) -> None:
        """Starts to deliver jobs to `handle`, several at a time. `handle` settles every delivery."""
        ...

    async def drain(self, timeout_s: float) -> bool:
        """Takes no more jobs and waits for those that run; False if some still do. The broker delivers those again."""
        ...

    async def close(self) -> None:
        """Closes the connection. Safe to call twice."""
        ...

    @property
    def trouble(self) -> str | None:
        """Why no jobs come or go at the moment; None when they do."""
        ...

    async def counts(self) -> QueueCounts:
        """How many jobs are in the queue. Raises RetryableError."""
        ...

    async def dead_letters(self) -> Sequence[DeadJob]:
        """The dead letters, oldest first. They stay where they are."""
        ...

    async def retry_dead_letters(self, keys: Sequence[str] = ()) -> int:
        """Queues dead letters again, with all their starts: those with these keys, by default all. Returns how many."""
        ...
