"""A queue of evaluation jobs on RabbitMQ, through FastStream.

The contract, which `tests/collectors/jobs` checks with a real broker:

- `publish` returns when the broker has stored the job (publisher confirms), and raises RetryableError when it has not:
  it is away, or the queue is full. A job that is larger than the broker's largest message is dropped, counted and told.
- A job stays in the queue until its delivery is settled. A worker that is killed, and a broker that is restarted, lose
  none. Such a job is delivered again.
- No tenant's jobs wait for all jobs of another tenant.

A worker that is killed returns all jobs that it had, and only one of them may be the cause. So returned jobs go to the
queue of suspects, after a delay. A worker takes one of those at a time: if it is killed again, that one was the cause,
and no other suspect was started. The starts are counted in a header and, since the last time that the message was
published, by the broker (`x-delivery-count`).
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final

from aio_pika.abc import AbstractIncomingMessage
from aiormq.exceptions import (
    AuthenticationError,
    ChannelAccessRefused,
    ChannelPreconditionFailed,
    ConnectionNotAllowed,
    DeliveryError,
    ProbableAuthenticationError,
)
from faststream import AckPolicy
from faststream.rabbit import Channel, RabbitBroker, RabbitMessage, RabbitQueue

from rag_otel.delivery.retry import Backoff, call_until_done
from rag_otel.errors import ConfigurationError, PermanentError, RetryableError
from rag_otel.safety.guard import counters, guarded, logger
from rag_otel_collectors.jobs.delivery import AWAY, REASON, STARTS, TENANT, Delivery, Handle, count
from rag_otel_collectors.jobs.queue import DeadJob, QueueCounts, QueuedJob, QueueSettings
from rag_otel_collectors.jobs.rabbit_queues import RabbitQueues

_MAX_LISTED: Final = 10_000
"""Dead letters that are listed or queued again at a time."""
_NO_REASON: Final = "the broker gave it up: no worker could take it"
_REFUSED: Final = (AuthenticationError, ProbableAuthenticationError, ConnectionNotAllowed, ChannelAccessRefused)
_RECONNECT_S: Final = 1.0
_REOPENED: Final = Backoff(base_s=0.1, longest_wait_s=0.1)


class JobQueue:
    """A job queue. Belongs to one event loop."""

    def __init__(self, settings: QueueSettings) -> None:
        """Connects with `open`."""
        self._settings = settings
        self._queues = RabbitQueues(settings)
        self._broker: Any = None
        self._subscribers: list[Any] = []
        self._running = 0
        self._idle = asyncio.Event()
        self._idle.set()

    # --- connection -------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Connects and creates what the broker lacks. Raises RetryableError, or ConfigurationError where the address,
        the password or a queue of other settings is in the way."""
        broker = RabbitBroker(
            self._settings.url,
            reconnect_interval=_RECONNECT_S,
            timeout=self._settings.timeout_s,
            default_channel=Channel(on_return_raises=True),
            graceful_timeout=None,
            apply_types=False,
            logger=None,
        )
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                await broker.connect()
                await self._queues.declare(broker)
        except _REFUSED as error:
            await _closed(broker)
            raise ConfigurationError(f"job_queue_url: the broker refuses the user or the vhost: {error}") from None
        except ChannelPreconditionFailed as error:
            await _closed(broker)
            raise ConfigurationError(
                f"the job queue {self._settings.name!r} exists with other settings ({error}): use the same settings in "
                "all producers and workers, or another ?name= in job_queue_url"
            ) from None
        except AWAY as error:
            await _closed(broker)
            raise _no_connection(error) from None
        self._broker = broker

    async def close(self) -> None:
        """Closes the connection. Safe to call twice."""
        broker, self._broker = self._broker, None
        self._subscribers.clear()
        if broker is not None:
            await _closed(broker)

    @property
    def trouble(self) -> str | None:
        """Why no jobs come or go at the moment; None when they do."""
        connection = None if self._broker is None else self._broker._connection
        return None if connection is not None and connection.connected.is_set() else "no connection to the job queue"

    async def counts(self) -> QueueCounts:
        """How many jobs are in the queue. Raises RetryableError."""
        found = [await self._length(queue) for queue in (*self._queues.partitions, *self._queues.waiting.values())]
        suspects, dead = await self._length(self._queues.suspects), await self._length(self._queues.dead)
        return QueueCounts(waiting=sum(found), suspects=suspects, dead=dead)

    async def _length(self, queue: RabbitQueue) -> int:
        if self._broker is None:
            raise _no_connection()
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                channel = await self._broker._connection.channel()
                declared = await channel.declare_queue(queue.name, passive=True)
                await channel.close()
        except AWAY as error:
            raise _no_connection(error) from None
        return declared.declaration_result.message_count or 0

    # --- producing --------------------------------------------------------------------------------------------------

    async def publish(self, *jobs: QueuedJob) -> None:
        """Returns when the broker has stored the jobs. One that it never takes is dropped, counted and told.

        Raises RetryableError: then all are to be published again, with the same keys.
        """
        outcomes = await asyncio.gather(*map(self._publish_job, jobs), return_exceptions=True)
        failed = [(job, failure) for job, failure in zip(jobs, outcomes, strict=True) if failure is not None]
        refused = any(isinstance(failure, PermanentError) for _, failure in failed)
        for job, failure in failed:
            if not refused:
                raise failure
            await self._publish_alone(job)  # a refusal closes the channel, and fails all that were on their way

    async def _publish_alone(self, job: QueuedJob) -> None:
        """Tries for `timeout_s`: the client opens the closed channel again by itself, a moment later."""
        ends = time.monotonic() + self._settings.timeout_s

        def failed(error: Exception) -> None:
            if time.monotonic() > ends:
                raise error

        try:
            await call_until_done(lambda: self._publish_job(job), _REOPENED, failed)
        except PermanentError as error:
            counters.add("jobs.refused")
            logger.error("rag-otel: job %s is dropped: %s", job.key, error)

    async def _publish_job(self, job: QueuedJob) -> None:
        await self._publish(job.body, self._queues.of(job.tenant), job.key, {STARTS: 0, TENANT: job.tenant})

    async def _publish(
        self, body: bytes, queue: str, key: str, headers: Mapping[str, Any], *, delay: float | None = None
    ) -> None:
        """See `Publish`. Raises PermanentError for a message that the broker never takes."""
        if self._broker is None:
            raise _no_connection()
        where: dict[str, Any] = {"queue": queue}
        if delay is not None:
            where = {"routing_key": queue, "exchange": self._queues.retry_exchange(delay)}
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                await self._broker.publish(body, **where, persist=True, message_id=key, headers=dict(headers))
        except ChannelPreconditionFailed as error:
            raise PermanentError(
                f"{len(body)} bytes are more than the broker's max_message_size, which can be raised ({error})"
            ) from None
        except DeliveryError as error:
            raise RetryableError(f"the job queue {queue} takes no more: {type(error).__name__}") from None
        except AWAY as error:
            raise _no_connection(error) from None

    # --- consuming --------------------------------------------------------------------------------------------------

    async def consume(self, handle: Handle) -> None:
        """Starts to deliver jobs to `handle`, several at a time."""
        for queue in self._queues.partitions:
            await self._subscribe(queue, handle, prefetch=self._settings.prefetch)
        await self._subscribe(self._queues.suspects, handle, prefetch=1)

    async def _subscribe(self, queue: RabbitQueue, handle: Handle, *, prefetch: int) -> None:
        async def received(message: RabbitMessage) -> None:
            self._running += 1
            self._idle.clear()
            try:
                with guarded("jobs.received"):
                    await self._start(Delivery(message, queue.name, self._settings, self._publish), handle)
            finally:
                self._running -= 1
                if not self._running:
                    self._idle.set()

        # As a queue that exists: FastStream would reuse the one that was declared, on the channel without a prefetch.
        subscriber = self._broker.subscriber(
            RabbitQueue(queue.name, durable=True, declare=False),
            channel=Channel(prefetch_count=prefetch),
            ack_policy=AckPolicy.MANUAL,
            no_reply=True,
            decoder=_undecoded,
        )
        subscriber(received)
        # FastStream sets this after the first message may have come, and drops messages until then.
        subscriber.running = True
        await subscriber.start()
        self._subscribers.append(subscriber)

    async def _start(self, delivery: Delivery, handle: Handle) -> None:
        if delivery.starts >= self._settings.max_starts:
            await delivery.dead_letter(f"{delivery.starts} starts, and the worker ended during the last one")
        elif delivery.returned:
            await delivery.suspect()
        else:
            await handle(delivery)

    async def drain(self, timeout_s: float) -> bool:
        """Takes no more jobs and waits for those that run; False if some still do. The broker delivers those again."""
        for subscriber in self._subscribers:
            with contextlib.suppress(*AWAY):
                await subscriber.stop()
        try:
            async with asyncio.timeout(timeout_s):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True

    # --- dead letters -----------------------------------------------------------------------------------------------

    async def dead_letters(self) -> Sequence[DeadJob]:
        """The dead letters, oldest first. They stay where they are."""
        async with self._taken_dead() as messages:
            return [_dead_job(message) for message in messages]

    async def retry_dead_letters(self, keys: Sequence[str] = ()) -> int:
        """Queues dead letters again, with all their starts: those with these keys, by default all. Returns how many."""
        queued = 0
        async with self._taken_dead() as messages:
            for message in messages:
                dead = _dead_job(message)
                if not keys or dead.key in keys:
                    await self.publish(QueuedJob(key=dead.key, tenant=dead.tenant, body=dead.body))
                    await message.ack()
                    queued += 1
        return queued

    @contextlib.asynccontextmanager
    async def _taken_dead(self) -> AsyncIterator[list[AbstractIncomingMessage]]:
        """The dead letters, oldest first; those that are not acknowledged inside the block stay."""
        messages: list[AbstractIncomingMessage] = []
        try:
            queue = await self._broker.declare_queue(self._queues.dead)
            while len(messages) < _MAX_LISTED and (message := await queue.get(fail=False)) is not None:
                messages.append(message)
            yield messages
        except AWAY as error:
            raise _no_connection(error) from None
        finally:
            for message in messages:
                if not message.processed:
                    with contextlib.suppress(*AWAY):
                        await message.nack(requeue=True)


def _undecoded(message: Any) -> Any:
    """FastStream would decode the body outside of our guard: a message that it cannot read would never be settled."""
    return message


def _dead_job(message: AbstractIncomingMessage) -> DeadJob:
    headers = {key: str(value) for key, value in message.headers.items()}
    return DeadJob(
        key=message.message_id or "",
        tenant=headers.get(TENANT, ""),
        reason=headers.get(REASON) or _NO_REASON,
        starts=count(headers.get(STARTS)),
        body=message.body,
        headers=headers,
    )


def _no_connection(error: BaseException | None = None) -> RetryableError:
    return RetryableError("no connection to the job queue" + (f": {type(error).__name__}" if error else ""))


async def _closed(broker: RabbitBroker) -> None:
    with contextlib.suppress(*AWAY):
        await broker.stop()
