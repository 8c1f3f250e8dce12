"""The job queue on RabbitMQ, through FastStream.

    <name>.0 ... <name>.<n-1>   the jobs; a tenant's jobs are all in one of them
    <name>.suspects             jobs whose last start ended with its worker
    <name>.retry.<delay>s       jobs that wait for their next start; they go back to the queue that they came from
    <name>.dead                 dead letters

All are quorum queues, written with publisher confirms. A full queue refuses (`reject-publish`).

A worker that is killed returns all jobs that it had, and only one of them may be the cause. So returned jobs go to
`suspects`, after a delay. A worker takes one of those at a time: if it is killed again, that one was the cause, and no
other job in `suspects` was started. The starts are counted in a header and, since the last time that the message was
published, by the broker (`x-delivery-count`).

Source: https://www.rabbitmq.com/docs/quorum-queues (poison message handling, at-least-once dead-lettering).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final

from aio_pika.abc import AbstractIncomingMessage
from aiormq.exceptions import (
    AMQPError,
    AuthenticationError,
    ChannelAccessRefused,
    ChannelPreconditionFailed,
    ConnectionNotAllowed,
    DeliveryError,
    ProbableAuthenticationError,
)
from faststream import AckPolicy
from faststream.rabbit import Channel, ExchangeType, QueueType, RabbitBroker, RabbitExchange, RabbitMessage, RabbitQueue

from rag_otel.errors import ConfigurationError, RetryableError
from rag_otel.safety.guard import counters
from rag_otel_collectors.jobs.job import partition_of
from rag_otel_collectors.jobs.moving import (
    MAX_LISTED,
    REASON,
    REASON_CHARS,
    STARTS,
    TENANT,
    WORKER_ENDED,
    RunningJobs,
    count,
    dead_job,
    give_up,
    insist,
    said,
)
from rag_otel_collectors.jobs.queue import DeadJob, Handle, QueueCounts, QueuedJob, QueueSettings

_DELIVERIES: Final = "x-delivery-count"
_NO_LIMIT: Final = 1_000_000_000
"""Looking at the dead letters counts as a delivery. RabbitMQ 4 drops a message after 20 by default."""
_RECONNECT_S: Final = 1.0
_AWAY: Final = (AMQPError, OSError, TimeoutError, RuntimeError)
"""What a broken connection raises. aiormq's own error for a closed channel is a RuntimeError."""


class RabbitJobQueue:
    """See `JobQueue`."""

    def __init__(self, settings: QueueSettings) -> None:
        self._settings = settings
        self._broker: Any = None
        self._subscribers: list[Any] = []
        self._running = RunningJobs()

    # --- connection -------------------------------------------------------------------------------------------------

    async def open(self) -> None:
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
                await self._declare(broker)
        except (AuthenticationError, ProbableAuthenticationError, ConnectionNotAllowed, ChannelAccessRefused) as error:
            await _closed(broker)
            raise ConfigurationError(f"job_queue_url: the broker refuses the user or the vhost: {error}") from None
        except ChannelPreconditionFailed as error:
            await _closed(broker)
            raise ConfigurationError(
                f"the job queue {self._settings.name!r} exists with other settings ({error}): use the same settings in "
                "all producers and workers, or another job_queue_name"
            ) from None
        except _AWAY as error:
            await _closed(broker)
            raise RetryableError(said("no connection to the job queue", error)) from None
        self._broker = broker

    async def close(self) -> None:
        broker, self._broker = self._broker, None
        self._subscribers.clear()
        if broker is not None:
            await _closed(broker)

    @property
    def trouble(self) -> str | None:
        connection = None if self._broker is None else self._broker._connection
        return None if connection is not None and connection.connected.is_set() else "no connection to the job queue"

    async def counts(self) -> QueueCounts:
        waiting = [*self._partitions(), *map(self._waiting, set(self._settings.retry_delays))]
        found = [await self._length(queue) for queue in waiting]
        suspects, dead = await self._length(self._suspects()), await self._length(self._dead())
        return QueueCounts(waiting=sum(found), suspects=suspects, dead=dead)

    async def _length(self, queue: RabbitQueue) -> int:
        if self._broker is None:
            raise RetryableError("no connection to the job queue")
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                channel = await self._broker._connection.channel()
                declared = await channel.declare_queue(queue.name, passive=True)
                await channel.close()
        except _AWAY as error:
            raise RetryableError(said("no connection to the job queue", error)) from None
        return declared.declaration_result.message_count or 0

    async def _declare(self, broker: RabbitBroker) -> None:
        settings = self._settings
        for queue in (*self._partitions(), self._suspects(), self._dead()):
            await broker.declare_queue(queue)
        for delay in set(settings.retry_delays):
            exchange = await broker.declare_exchange(_retry_exchange(settings.name, delay))
            await (await broker.declare_queue(self._waiting(delay))).bind(exchange)

    def _waiting(self, delay: float) -> RabbitQueue:
        arguments = {
            "x-message-ttl": round(delay * 1000),
            "x-overflow": "reject-publish",
            "x-dead-letter-exchange": "",  # with the routing key that it came with: its queue's name
            "x-dead-letter-strategy": "at-least-once",
        }
        return _quorum_queue(f"{self._settings.name}.retry.{delay:g}s", arguments)

    def _partitions(self) -> list[RabbitQueue]:
        settings = self._settings
        return [
            self._work_queue(f"{settings.name}.{n}", {"x-max-length": settings.max_jobs})
            for n in range(settings.partitions)
        ]

    def _suspects(self) -> RabbitQueue:
        return self._work_queue(f"{self._settings.name}.suspects", {})

    def _work_queue(self, name: str, more: Mapping[str, int]) -> RabbitQueue:
        """The broker's own limit is for messages that no worker gets to look at: `_received` is stricter."""
        arguments: dict[str, Any] = {
            "x-overflow": "reject-publish",
            "x-delivery-limit": self._settings.max_starts,
            "x-dead-letter-exchange": "",
            "x-dead-letter-routing-key": f"{self._settings.name}.dead",
            "x-dead-letter-strategy": "at-least-once",
            **more,
        }
        return _quorum_queue(name, arguments)

    def _dead(self) -> RabbitQueue:
        return _quorum_queue(f"{self._settings.name}.dead", {"x-delivery-limit": _NO_LIMIT})

    # --- producing --------------------------------------------------------------------------------------------------

    async def publish(self, job: QueuedJob) -> None:
        await self._publish(job.body, self._queue_of(job.tenant), job.key, {STARTS: 0, TENANT: job.tenant})

    def _queue_of(self, tenant: str) -> str:
        return f"{self._settings.name}.{partition_of(tenant, self._settings.partitions)}"

    async def _publish(
        self, body: bytes, queue: str, key: str, headers: Mapping[str, Any], *, delay: float | None = None
    ) -> None:
        """Stores a message in a queue, or in the one that passes it on after `delay`. Raises RetryableError."""
        if self._broker is None:
            raise RetryableError("no connection to the job queue")
        where: dict[str, Any] = {"queue": queue}
        if delay is not None:
            where = {"routing_key": queue, "exchange": _retry_exchange(self._settings.name, delay)}
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                await self._broker.publish(body, **where, persist=True, message_id=key, headers=dict(headers))
        except DeliveryError as error:
            raise RetryableError(said(f"the job queue {queue} takes no more", error)) from None
        except _AWAY as error:
            raise RetryableError(said("no connection to the job queue", error)) from None

    # --- consuming --------------------------------------------------------------------------------------------------

    async def consume(self, handle: Handle) -> None:
        for queue in self._partitions():
            await self._subscribe(queue, handle, prefetch=self._settings.prefetch, alone=False)
        await self._subscribe(self._suspects(), handle, prefetch=1, alone=True)

    async def _subscribe(self, queue: RabbitQueue, handle: Handle, *, prefetch: int, alone: bool) -> None:
        async def received(message: RabbitMessage) -> None:
            await self._running.run(self._received(message, queue.name, handle))

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

    async def _received(self, message: RabbitMessage, queue: str, handle: Handle) -> None:
        headers = message.headers
        returned = max(count(headers.get(_DELIVERIES)), int(bool(message.raw_message.redelivered)))
        delivery = RabbitDelivery(self, message, queue, starts=count(headers.get(STARTS)) + returned)
        if delivery.starts >= self._settings.max_starts:
            await give_up(delivery)
        elif returned:
            await delivery.suspect()
        else:
            await handle(delivery)

    async def drain(self, timeout_s: float) -> bool:
        for subscriber in self._subscribers:
            with contextlib.suppress(*_AWAY):
                await subscriber.stop()
        return await self._running.wait(timeout_s)

    # --- dead letters -----------------------------------------------------------------------------------------------

    async def dead_letters(self) -> Sequence[DeadJob]:
        async with self._taken_dead() as messages:
            return [_dead_job(message) for message in messages]

    async def retry_dead_letters(self, keys: Sequence[str] = ()) -> int:
        queued = 0
        async with self._taken_dead() as messages:
            for message in messages:
                if keys and (message.message_id or "") not in keys:
                    continue
                tenant = str(message.headers.get(TENANT) or "")
                headers = {STARTS: 0, TENANT: tenant}
                await self._publish(message.body, self._queue_of(tenant), message.message_id or "", headers)
                await message.ack()
                queued += 1
        return queued

    @contextlib.asynccontextmanager
    async def _taken_dead(self) -> AsyncIterator[list[AbstractIncomingMessage]]:
        """The dead letters, oldest first; those that are not acknowledged inside the block stay."""
        messages: list[AbstractIncomingMessage] = []
        try:
            queue = await self._broker.declare_queue(self._dead())
            while len(messages) < MAX_LISTED and (message := await queue.get(fail=False)) is not None:
                messages.append(message)
            yield messages
        except _AWAY as error:
            raise RetryableError(said("no connection to the job queue", error)) from None
        finally:
            for message in messages:
                if not message.processed:
                    with contextlib.suppress(*_AWAY):
                        await message.nack(requeue=True)


class RabbitDelivery:
    """See `Delivery`. A message is republished before it is acknowledged: it may be there twice, never not at all."""

    def __init__(self, queue: RabbitJobQueue, message: RabbitMessage, queue_name: str, *, starts: int) -> None:
        self._queue = queue
        self._message = message
        self._queue_name = queue_name
        self.starts = starts

    @property
    def key(self) -> str:
        return self._message.raw_message.message_id or ""

    @property
    def body(self) -> bytes:
        return self._message.raw_message.body

    async def ack(self) -> None:
        try:
            await self._message.ack()
        except _AWAY:  # the connection broke: the broker delivers the job again
            counters.add("jobs.unsettled")

    async def retry_later(self, reason: str) -> None:
        starts = self.starts + 1
        await self._move(self._queue_name, starts, reason, delay=self._queue._settings.delay_after(starts))

    async def suspect(self) -> None:
        """The last start ended with its worker: deliver the job to a worker that starts no other suspect with it."""
        name, delay = f"{self._queue._settings.name}.suspects", self._queue._settings.delay_after(self.starts)
        await self._move(name, self.starts, WORKER_ENDED, delay=delay)

    async def dead_letter(self, reason: str) -> None:
        starts = min(self.starts + 1, self._queue._settings.max_starts)
        await self._move(f"{self._queue._settings.name}.dead", starts, reason)

    async def _move(self, queue_name: str, starts: int, reason: str, *, delay: float | None = None) -> None:
        headers = {
            STARTS: starts,
            TENANT: str(self._message.headers.get(TENANT) or ""),
            REASON: reason[:REASON_CHARS],
        }

        async def publish() -> None:
            await self._queue._publish(self.body, queue_name, self.key, headers, delay=delay)

        if await insist(queue_name, publish, lambda: self._message.raw_message.channel.is_closed):
            await self.ack()


def _quorum_queue(name: str, arguments: Mapping[str, Any]) -> RabbitQueue:
    given: Any = dict(arguments)  # FastStream's types know no x-dead-letter-strategy
    return RabbitQueue(name, queue_type=QueueType.QUORUM, durable=True, arguments=given)


def _undecoded(message: Any) -> Any:
    """FastStream would decode the body outside of our guard: a message that it cannot read would never be settled."""
    return message


def _retry_exchange(name: str, delay: float) -> RabbitExchange:
    return RabbitExchange(f"{name}.retry.{delay:g}s", type=ExchangeType.FANOUT, durable=True)


def _dead_job(message: AbstractIncomingMessage) -> DeadJob:
    return dead_job(message.message_id or "", message.body, {key: str(value) for key, value in message.headers.items()})


async def _closed(broker: RabbitBroker) -> None:
    with contextlib.suppress(*_AWAY):
        await broker.stop()
