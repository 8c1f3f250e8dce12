"""One start of a job on NATS JetStream."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, Final
from urllib.parse import unquote

from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from rag_otel.safety.guard import counters
from rag_otel_collectors.jobs.moving import REASON, REASON_CHARS, STARTS, TENANT, WORKER_ENDED, count, insist
from rag_otel_collectors.jobs.nats_starts import StartCounts
from rag_otel_collectors.jobs.queue import QueueSettings

KEY: Final = "x-rag-otel-key"
_BEATS: Final = 3
"""How often the broker hears of a job within `lost_after_s`."""
_AWAY: Final = (NatsError, OSError, TimeoutError)

Publish = Callable[..., Coroutine[Any, Any, None]]


class NatsDelivery:
    """See `Delivery`. A message is published to another stream before it is acknowledged: it may be there twice, never
    not at all."""

    def __init__(
        self, message: Msg, stream: str, settings: QueueSettings, counts: StartCounts, publish: Publish
    ) -> None:
        self._message = message
        self._stream = stream
        self._settings = settings
        self._counts = counts
        self._publish = publish
        self._headers = {key: unquote(value) for key, value in (message.headers or {}).items()}
        self._id = f"{stream}.{message.metadata.sequence.stream}-{message.metadata.timestamp.timestamp():.6f}".replace(
            ".", "_"
        )
        self._settled = False
        self.starts = 0

    @property
    def key(self) -> str:
        return self._headers.get(KEY, "")

    @property
    def body(self) -> bytes:
        return self._message.data

    async def read_starts(self) -> bool:
        """Reads how often the job was started. True if the last start ended with its worker. Raises RetryableError."""
        known = await self._counts.read(self._id)
        self.starts = count(self._headers.get(STARTS)) if known is None else known.starts
        return known is not None and known.running

    async def begin(self) -> None:
        """Counts this start. Raises RetryableError."""
        await self._counts.write(self._id, self.starts + 1, running=True)

    @contextlib.asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Tells the broker inside the block that the job is in progress."""
        beats = asyncio.create_task(self._beat())
        try:
            yield
        finally:
            beats.cancel()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._settings.lost_after_s / _BEATS)
            with contextlib.suppress(*_AWAY):
                await self._message.in_progress()

    async def ack(self) -> None:
        self._settled = True
        try:
            await self._message.ack_sync(self._settings.timeout_s)
        except _AWAY:  # the broker delivers the job again
            counters.add("jobs.unsettled")
        else:
            await self._counts.forget(self._id)

    async def retry_later(self, reason: str) -> None:
        starts = self.starts + 1

        async def note() -> None:
            await self._counts.write(self._id, starts, running=False)

        if await insist(self._stream, note, self._lost):
            self._settled = True
            with contextlib.suppress(*_AWAY):
                await self._message.nak(self._settings.delay_after(starts))

    async def suspect(self) -> None:
        """The last start ended with its worker: deliver the job to a worker that starts no other suspect with it."""
        await self._move(f"{self._settings.name}-suspects", self.starts, WORKER_ENDED)

    async def dead_letter(self, reason: str) -> None:
        await self._move(f"{self._settings.name}-dead", min(self.starts + 1, self._settings.max_starts), reason)

    async def abandon(self) -> None:
        """The connection is about to be closed: another worker need not wait until this one is taken for lost."""
        if not self._settled:
            with contextlib.suppress(*_AWAY):
                await self._message.nak()

    async def _move(self, stream: str, starts: int, reason: str) -> None:
        headers = {
            KEY: self.key,
            STARTS: str(starts),
            TENANT: self._headers.get(TENANT, ""),
            REASON: reason[:REASON_CHARS],
        }

        async def publish() -> None:
            await self._publish(self.body, stream, headers, message_id=f"{self._id}.{starts}")

        if await insist(stream, publish, self._lost):
            await self.ack()

    def _lost(self) -> bool:
        return self._message._client.is_closed
