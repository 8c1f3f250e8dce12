"""Dead letters of a job queue: lists them, and queues them again with all their starts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from rag_otel.cli.outcome import Outcome
from rag_otel.cli.terminal import table
from rag_otel.errors import InputError
from rag_otel_collectors.jobs.job import decode
from rag_otel_collectors.jobs.job_queue import JobQueue
from rag_otel_collectors.jobs.queue import DeadJob, QueueSettings

_COLUMNS: Final = ("key", "trace", "tenant", "starts", "why")


def run(action: str, settings: QueueSettings, keys: Sequence[str] = ()) -> Outcome:
    """`list` lists the letters with these keys, `retry` queues them; by default all. Raises ConfigurationError, and
    RetryableError where the broker does not answer."""
    return asyncio.run(_done(action, settings, keys))


async def _done(action: str, settings: QueueSettings, keys: Sequence[str]) -> Outcome:
    queue = JobQueue(settings)
    await queue.open()
    try:
        if action == "retry":
            count = await queue.retry_dead_letters(keys)
            return Outcome(text=f"queued {count} jobs again", data=[{"queued": count}], one_per_line=True)
        rows = [_row(each) for each in await queue.dead_letters() if not keys or each.key in keys]
    finally:
        await queue.close()
    return Outcome(
        text=table(rows, header=_COLUMNS) if rows else f"no dead letters in {settings.name}",
        data=[dict(zip(_COLUMNS, row, strict=True)) for row in rows],
        one_per_line=True,
    )


def _row(dead: DeadJob) -> tuple[str, ...]:
    try:
        trace_id = decode(dead.body).trace.target.trace_id
    except InputError:
        trace_id = "-"
    return dead.key or "-", trace_id, dead.tenant or "-", str(dead.starts), dead.reason
