"""What `rag-otel doctor` checks of a job queue: the broker, the queues' settings, and what waits in them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from rag_otel.cli.doctor_check import Check
from rag_otel.errors import ConfigurationError, RagOtelError
from rag_otel.safety.extras import require_extra
from rag_otel.settings import Settings
from rag_otel.setup.judging import queue_settings


def queue_checks(settings: Settings) -> Iterator[Check]:
    """Creates queues that do not exist, as a producer would. The caller stops at the first failure."""
    try:
        require_extra("scale", "faststream", "aio_pika", needed_by="job_queue_url")
        yield asyncio.run(_check(settings))
    except ConfigurationError as error:
        yield Check(ok=False, text=f"the job queue cannot be used: {error}", remedy="Correct RAG_OTEL_JOB_QUEUE_URL.")
    except RagOtelError as error:
        yield Check(
            ok=False,
            text=f"the job queue does not answer: {error}",
            remedy="Start the broker, or correct RAG_OTEL_JOB_QUEUE_URL.",
        )


async def _check(settings: Settings) -> Check:
    from rag_otel_collectors.jobs.job_queue import JobQueue

    wanted = queue_settings(settings)
    queue = JobQueue(wanted)
    await queue.open()
    try:
        found = await queue.counts()
    finally:
        await queue.close()
    dead = "no dead letters"
    if found.dead:
        dead = f"{found.dead} dead letters (rag-otel dead-letters list --queue ... shows why)"
    return Check(
        ok=True,
        text=f"the job queue {wanted.name!r} answers and has these settings: {found.waiting} jobs wait, "
        f"{found.suspects} whose worker ended, {dead}",
    )


def published(flushed: bool) -> Check:
    """The test trace is a job, once the broker has stored it."""
    return Check(
        ok=flushed,
        text="the trace was published as a job" if flushed else "the trace was not published in time",
        remedy="Raise --timeout, or look at the log.",
    )
