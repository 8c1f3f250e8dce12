"""The job queue on NATS JetStream.

    <name>-0 ... <name>-<n-1>   the jobs; a tenant's jobs are all in one of these streams
    <name>-suspects             jobs whose last start ended with its worker
    <name>-dead                 dead letters
    <name>-starts               how often each job was started, see `nats_starts`

The streams of jobs are work queues: a job is removed when it is acknowledged. They are full at `max_jobs`, and refuse
then. A worker pulls one job at a time for each of its free places, and says every few seconds that the job is in
progress. A job of which nothing is heard for `lost_after_s` is delivered again. A retry stays in its stream and is
delivered again after its delay.

As in `rabbit`, a job whose worker ended moves to the suspects, of which a worker starts one at a time.

Source: https://docs.nats.io/nats-concepts/jetstream (work queue retention, discard policy, acknowledgements).
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final
from urllib.parse import quote, unquote

import nats
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import RawStreamMsg
from nats.js.errors import APIError, NotFoundError

from rag_otel.errors import ConfigurationError, PermanentError, RetryableError
from rag_otel_collectors.jobs.job import partition_of
from rag_otel_collectors.jobs.moving import MAX_LISTED, STARTS, TENANT, RunningJobs, dead_job, give_up, said
from rag_otel_collectors.jobs.nats_delivery import KEY, NatsDelivery
from rag_otel_collectors.jobs.nats_starts import StartCounts
from rag_otel_collectors.jobs.nats_streams import CONSUMER, declare, streams_of
from rag_otel_collectors.jobs.queue import DeadJob, Handle, QueueCounts, QueuedJob, QueueSettings

_RECONNECT_S: Final = 1.0
_PULL_S: Final = 5.0
_HEADER_ROOM: Final = 8192
"""Bytes of headers at most: key, tenant, and a reason of 500 characters, percent-encoded."""
"""A pull ends after this time without a job. After a restart of the broker it has to be sent anew."""
_CANCEL_S: Final = 0.1
_AWAY: Final = (NatsError, OSError, TimeoutError)
_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")


class NatsJobQueue:
    """See `JobQueue`."""

    def __init__(self, settings: QueueSettings) -> None:
        """Raises ConfigurationError for a name that no stream can have."""
        if not _NAME.fullmatch(settings.name):
            raise ConfigurationError(
                f"job_queue_name {settings.name!r}: NATS takes letters, digits, `-` and `_` in the names of streams"
            )
        self._settings = settings
        self._client: Client | None = None
        self._stream: JetStreamContext | None = None
        self._pulls: list[asyncio.Task[None]] = []
        self._subscriptions: list[Any] = []
        self._deliveries: set[NatsDelivery] = set()
        self._running = RunningJobs()
        self._draining = False

    # --- connection -------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        errors: list[Exception] = []

        async def failed(error: Exception) -> None:
            errors[:] = [error]

        try:
            async with asyncio.timeout(self._settings.timeout_s):
                client = await nats.connect(
                    self._settings.url.split(","),
                    allow_reconnect=False,  # a first connection that fails is told at once
                    max_reconnect_attempts=-1,
                    reconnect_time_wait=_RECONNECT_S,
                    error_cb=failed,
                )
        except _AWAY as error:
            if any("authorization" in str(each).lower() for each in (error, *errors)):
                raise ConfigurationError(f"job_queue_url: the broker refuses the user: {error}") from None
            raise RetryableError(said("no connection to the job queue", error)) from None
        client.options["allow_reconnect"] = True
        stream = client.jetstream(timeout=self._settings.timeout_s)
        try:
            await declare(stream, self._settings)
        except (*_AWAY, ConfigurationError) as error:
            await _closed(client)
            if isinstance(error, ConfigurationError):
                raise
            raise RetryableError(said("no connection to the job queue", error)) from None
        self._client, self._stream, self._draining = client, stream, False

    async def close(self) -> None:
        self._draining = True
        for delivery in list(self._deliveries):
            await delivery.abandon()
        pending = set(self._pulls)
        while pending:  # a pull that has just got its job may overlook that it is cancelled
            for pull in pending:
                pull.cancel()
            _, pending = await asyncio.wait(pending, timeout=_CANCEL_S)
        self._pulls.clear()
        client, self._client, self._stream = self._client, None, None
        if client is not None:
            await _closed(client)

    @property
    def trouble(self) -> str | None:
        client = self._client
        return None if client is not None and client.is_connected else "no connection to the job queue"

    async def counts(self) -> QueueCounts:
        stream, found = self._connected(), {}
        try:
            for name in streams_of(self._settings):
                found[name] = (await stream.stream_info(name)).state.messages
        except _AWAY as error:
            raise RetryableError(said("no connection to the job queue", error)) from None
        suspects, dead = found.pop(self._name("suspects")), found.pop(self._name("dead"))
        found.pop(self._name("starts"))
        return QueueCounts(waiting=sum(found.values()), suspects=suspects, dead=dead)

    def _name(self, suffix: str) -> str:
        return f"{self._settings.name}-{suffix}"

    def _connected(self) -> JetStreamContext:
        if self._stream is None:
            raise RetryableError("no connection to the job queue")
        return self._stream

    # --- producing --------------------------------------------------------------------------------------------------

    async def publish(self, job: QueuedJob) -> None:
        await self._publish_job(job.body, job.tenant, job.key, message_id=job.key)

    async def _publish_job(self, body: bytes, tenant: str, key: str, *, message_id: str) -> None:
        headers = {STARTS: "0", TENANT: tenant, KEY: key}
        partition = partition_of(tenant, self._settings.partitions)
        await self._publish(body, self._name(str(partition)), headers, message_id=message_id)

    async def _publish(self, body: bytes, name: str, headers: dict[str, str], *, message_id: str) -> None:
        """Stores a message in a stream, once for the same id within two minutes. Raises RetryableError."""
        stream = self._connected()
        written = {key: quote(value, safe=" ,;:/()'") for key, value in headers.items()}
        if message_id:
            written["Nats-Msg-Id"] = quote(message_id)
        # The broker counts the headers too, and closes the connection where both are too large together. A job that
        # was stored must also fit with the reason for which it is moved.
        if self._client is not None and len(body) + _HEADER_ROOM > self._client.max_payload:
            raise PermanentError(
                f"a job of {len(body)} bytes is larger than the broker takes: raise max_payload of nats-server"
            )
        try:
            await stream.publish(name, body, headers=written, stream=name)
        except APIError as error:
            raise RetryableError(f"the job queue {name} takes no more: {error.description}") from None
        except _AWAY as error:
            raise RetryableError(said("no connection to the job queue", error)) from None

    # --- consuming --------------------------------------------------------------------------------------------------

    async def consume(self, handle: Handle) -> None:
        for partition in range(self._settings.partitions):
            for _ in range(self._settings.prefetch):
                await self._subscribe(self._name(str(partition)), handle, alone=False)
        await self._subscribe(self._name("suspects"), handle, alone=True)

    async def _subscribe(self, name: str, handle: Handle, *, alone: bool) -> None:
        subscription = await self._connected().pull_subscribe_bind(CONSUMER, stream=name)
        self._subscriptions.append(subscription)
        self._pulls.append(asyncio.create_task(self._pull(subscription, name, handle, alone)))

    async def _pull(self, subscription: Any, name: str, handle: Handle, alone: bool) -> None:
        """Takes and handles one job after the other."""
        while not self._draining:
            try:
                (message,) = await subscription.fetch(1, timeout=_PULL_S)
            except TimeoutError:  # no job
                continue
            except _AWAY:
                await asyncio.sleep(_RECONNECT_S)
                continue
            await self._running.run(self._received(message, name, handle, alone))

    async def _received(self, message: Msg, name: str, handle: Handle, alone: bool) -> None:
        counts = StartCounts(self._connected(), self._settings.name)
        delivery = NatsDelivery(message, name, self._settings, counts, self._publish)
        self._deliveries.add(delivery)
        try:
            async with delivery.held():
                returned = await delivery.read_starts()
                if delivery.starts >= self._settings.max_starts:
                    await give_up(delivery)
                elif returned and not alone:
                    await delivery.suspect()
                else:
                    await delivery.begin()
                    await handle(delivery)
        except RetryableError:  # the broker is away before the job has begun: it delivers the job again
            pass
        finally:
            self._deliveries.discard(delivery)

    async def drain(self, timeout_s: float) -> bool:
        self._draining = True
        for subscription in self._subscriptions:
            with contextlib.suppress(*_AWAY):
                await subscription.unsubscribe()
        self._subscriptions.clear()
        return await self._running.wait(timeout_s)

    # --- dead letters -----------------------------------------------------------------------------------------------

    async def dead_letters(self) -> Sequence[DeadJob]:
        return [_dead_job(message) async for message in self._dead_messages()]

    async def retry_dead_letters(self, keys: Sequence[str] = ()) -> int:
        queued = 0
        async for message in self._dead_messages():
            dead = _dead_job(message)
            if keys and dead.key not in keys:
                continue
            # Not the job's key alone: within two minutes of the first publication it would be taken for a copy.
            message_id = f"{dead.key or 'dead'}.{message.seq}"
            await self._publish_job(dead.body, dead.tenant, dead.key, message_id=message_id)
            with contextlib.suppress(*_AWAY):
                await self._connected().delete_msg(self._name("dead"), message.seq or 0)
            queued += 1
        return queued

    async def _dead_messages(self) -> AsyncIterator[RawStreamMsg]:
        """The dead letters, oldest first."""
        stream, name, sequence = self._connected(), self._name("dead"), 1
        for _ in range(MAX_LISTED):
            try:
                message = await stream.get_msg(name, seq=sequence, subject=name, next=True)
            except NotFoundError:
                return
            except _AWAY as error:
                raise RetryableError(said("no connection to the job queue", error)) from None
            yield message
            sequence = (message.seq or 0) + 1


def _dead_job(message: RawStreamMsg) -> DeadJob:
    headers = {key: unquote(value) for key, value in (message.headers or {}).items()}
    return dead_job(headers.get(KEY, ""), message.data or b"", headers)


async def _closed(client: Client) -> None:
    with contextlib.suppress(*_AWAY):
        await asyncio.wait_for(client.close(), _RECONNECT_S)
