"""One start of a job, and how it is settled: acknowledged, queued again after a delay, or given up.

A message is published to its next queue before it is acknowledged: it may be there twice, never not at all.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias

from aiormq.exceptions import AMQPError
from faststream.rabbit import RabbitMessage

from rag_otel.delivery.retry import Backoff, call_until_done
from rag_otel.errors import RetryableError
from rag_otel.safety.guard import counters, logger
from rag_otel_collectors.jobs.queue import QueueSettings

STARTS: Final = "x-rag-otel-starts"
"""Starts until the message was published."""
TENANT: Final = "x-rag-otel-tenant"
REASON: Final = "x-rag-otel-reason"
AWAY: Final = (AMQPError, OSError, TimeoutError, RuntimeError)
"""What a broken connection raises. aiormq's own error for a closed channel is a RuntimeError."""
_DELIVERIES: Final = "x-delivery-count"
_REASON_CHARS: Final = 500
_BACKOFF: Final = Backoff(longest_wait_s=10.0)


Publish: TypeAlias = Callable[..., Awaitable[None]]
"""(body, queue, key, headers, delay=None): stores a message in a queue, or in the one that passes it on after `delay`
seconds. Raises RetryableError."""


class Delivery:
    """One start of a job. Exactly one of the methods settles it; an unsettled one is delivered again."""

    def __init__(self, message: RabbitMessage, queue: str, settings: QueueSettings, publish: Publish) -> None:
        """`queue`: the name of the queue that the message came from."""
        self._message = message
        self._queue = queue
        self._settings = settings
        self._publish = publish
        headers = message.headers
        self.returned: Final = max(count(headers.get(_DELIVERIES)), int(bool(message.raw_message.redelivered)))
        """How often the message came back, since it was last published, because a worker ended."""
        self.starts: Final = count(headers.get(STARTS)) + self.returned
        """Starts before this one: those that failed, and those whose worker ended. So a job that kills its worker is
        recognised, and no other job is blamed for it."""

    @property
    def key(self) -> str:
        """The idempotency key; empty if the message has none."""
        return self._message.raw_message.message_id or ""

    @property
    def body(self) -> bytes:
        return self._message.raw_message.body

    async def ack(self) -> None:
        """The results are delivered: the job is done."""
        try:
            await self._message.ack()
        except AWAY:  # the connection broke: the broker delivers the job again
            counters.add("jobs.unsettled")

    async def retry_later(self, reason: str) -> None:
        """Deliver the job again after a delay."""
        starts = self.starts + 1
        await self._move(self._queue, starts, reason, delay=self._settings.delay_after(starts))

    async def suspect(self) -> None:
        """The last start ended with its worker: deliver the job to a worker that starts no other suspect with it."""
        delay = self._settings.delay_after(self.starts)
        await self._move(f"{self._settings.name}.suspects", self.starts, "the worker ended", delay=delay)

    async def dead_letter(self, reason: str) -> None:
        """Give the job up: it moves to the dead letters, with the reason."""
        starts = min(self.starts + 1, self._settings.max_starts)
        await self._move(f"{self._settings.name}.dead", starts, reason)

    async def _move(self, queue: str, starts: int, reason: str, *, delay: float | None = None) -> None:
        tenant = str(self._message.headers.get(TENANT) or "")
        headers = {STARTS: starts, TENANT: tenant, REASON: reason[:_REASON_CHARS]}
        if await self._publish_until_stored(queue, headers, delay):
            await self.ack()

    async def _publish_until_stored(self, queue: str, headers: Mapping[str, Any], delay: float | None) -> bool:
        """False if the delivery is lost: the broker delivers the job again."""

        def failed(error: Exception) -> None:
            if self._message.raw_message.channel.is_closed:
                raise error
            logger.warning("rag-otel: a job cannot be moved to %s: %s; trying again", queue, error)

        try:
            await call_until_done(
                lambda: self._publish(self.body, queue, self.key, headers, delay=delay), _BACKOFF, failed
            )
        except RetryableError:
            counters.add("jobs.unsettled")
            return False
        return True


Handle: TypeAlias = Callable[[Delivery], Awaitable[None]]
"""Settles a delivery."""


def count(value: object) -> int:
    """A header as a count: whoever published the message may have written anything."""
    if isinstance(value, str):
        return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else 0
    return max(0, value) if isinstance(value, int) else 0
