"""Dead letters of a job queue: lists them, and queues them again with all their starts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from rag_otel.cli.terminal import table
from rag_otel.errors import InputError, RetryableError
from rag_otel_collectors.jobs.job import decode
from rag_otel_collectors.jobs.job_queue import JobQueue
from rag_otel_collectors.jobs.queue import DeadJob, QueueSettings


def run(action: str, settings: QueueSettings, keys: Sequence[str] = ()) -> int:
    """`list` prints the dead letters with these keys, `retry` queues them; by default all. Returns 1 if the broker does
    not answer. Raises ConfigurationError."""
    try:
        print(asyncio.run(_done(action, settings, keys)))
    except RetryableError as error:
        print(f"not now: {error}")
        return 1
    return 0


async def _done(action: str, settings: QueueSettings, keys: Sequence[str]) -> str:
    queue = JobQueue(settings)
    await queue.open()
    try:
        if action == "retry":
            return f"queued {await queue.retry_dead_letters(keys)} jobs again"
        found = [each for each in await queue.dead_letters() if not keys or each.key in keys]
    finally:
        await queue.close()
    if not found:
        return f"no dead letters in {settings.name}"
    return table([_row(each) for each in found], header=("key", "trace", "tenant", "starts", "why"))


def _row(dead: DeadJob) -> tuple[str, ...]:
    try:
        trace_id = decode(dead.body).trace.target.trace_id
    except InputError:
        trace_id = "-"
    return dead.key or "-", trace_id, dead.tenant or "-", str(dead.starts), dead.reason
