"""What the engines of a job queue share: headers of messages, jobs that run, and moving a job to another queue."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from rag_otel.delivery.retry import Backoff
from rag_otel.errors import RetryableError
from rag_otel.safety.guard import counters, guarded, logger
from rag_otel_collectors.jobs.queue import DeadJob, Delivery

STARTS: Final = "x-rag-otel-starts"
"""Starts until the message was published."""
TENANT: Final = "x-rag-otel-tenant"
REASON: Final = "x-rag-otel-reason"
REASON_CHARS: Final = 500
NO_REASON: Final = "the broker gave it up: no worker could take it"
WORKER_ENDED: Final = "the worker ended"
MAX_LISTED: Final = 10_000
"""Dead letters that are listed or queued again at a time."""
_BACKOFF: Final = Backoff(longest_wait_s=10.0)


class RunningJobs:
    """Counts the jobs that run, and waits for them."""

    def __init__(self) -> None:
        self._running = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def run(self, job: Awaitable[None]) -> None:
        """Waits for a job. What it raises is logged."""
        self._running += 1
        self._idle.clear()
        try:
            with guarded("jobs.received"):
                await job
        finally:
            self._running -= 1
            if not self._running:
                self._idle.set()

    async def wait(self, timeout_s: float) -> bool:
        """True if no job runs any more, at the latest after `timeout_s`."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True


async def give_up(delivery: Delivery) -> None:
    """For a job that has had all its starts, and whose worker ended during the last one."""
    await delivery.dead_letter(f"{delivery.starts} starts, and the worker ended during the last one")


async def insist(what: str, publish: Callable[[], Awaitable[None]], lost: Callable[[], bool]) -> bool:
    """Publishes until the broker has stored it. False if the delivery is lost: the broker delivers the job again."""
    failures = 0
    while True:
        try:
            await publish()
        except RetryableError as error:
            if lost():
                counters.add("jobs.unsettled")
                return False
            failures += 1
            logger.warning("rag-otel: a job cannot be moved to %s: %s; trying again", what, error)
            await asyncio.sleep(_BACKOFF.pause_s(failures))
        else:
            return True


def count(value: object) -> int:
    """A header as a count: whoever published the message may have written anything."""
    if isinstance(value, str):
        return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else 0
    return max(0, value) if isinstance(value, int) else 0


def said(what: str, error: BaseException) -> str:
    return f"{what}: {type(error).__name__}"


def dead_job(key: str, body: bytes, headers: dict[str, str]) -> DeadJob:
    """A dead letter, from its message."""
    return DeadJob(
        key=key,
        tenant=headers.get(TENANT, ""),
        reason=headers.get(REASON) or NO_REASON,
        starts=count(headers.get(STARTS)),
        body=body,
        headers=headers,
    )
