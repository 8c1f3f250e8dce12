"""What `rag-otel doctor` checks of the servers around an application: Phoenix, Kafka, the broker of jobs.

A check returns what was found, and raises `CheckFailed` where that is not good.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rag_otel.errors import ConfigurationError, PermanentError, RagOtelError
from rag_otel.safety.extras import require_extra
from rag_otel.settings import Settings
from rag_otel.setup.judging import queue_settings
from rag_otel_collectors.stored.phoenix_client import PhoenixClient

KAFKA: Final = "RAG_OTEL_COLLECTOR_KAFKA_BROKERS"


class CheckFailed(Exception):  # noqa: N818
    """What is wrong, and what to do."""

    def __init__(self, text: str, remedy: str) -> None:
        super().__init__(text)
        self.text = text
        self.remedy = remedy


@contextmanager
def otherwise(text: str, remedy: str, kind: type[RagOtelError] = RagOtelError) -> Iterator[None]:
    """An error of this kind inside is this failure, with its message behind the text."""
    try:
        yield
    except kind as error:
        raise CheckFailed(f"{text}: {error}", remedy) from None


def phoenix_responds(reader: PhoenixClient, endpoint: str) -> str:
    remedy = "Start it (`phoenix serve`), or correct RAG_OTEL_PHOENIX_ENDPOINT."
    with otherwise(f"Phoenix does not answer at {endpoint}", remedy):
        return f"Phoenix {reader.version()} answers at {endpoint}"


def phoenix_accepts_the_key(reader: PhoenixClient) -> str:
    key = "Set RAG_OTEL_PHOENIX_API_KEY (or PHOENIX_API_KEY) to a valid key."
    with (
        otherwise("Phoenix's API fails", "Look at the log of Phoenix."),
        otherwise("Phoenix denies access", key, PermanentError),
    ):
        return f"Phoenix's API grants access ({len(reader.projects())} projects)"


def kafka_has_the_topic(timeout_s: float) -> str:
    """Where this environment is a collector's that reads Kafka."""
    from rag_otel_collectors.otlp.kafka import partitions_of
    from rag_otel_collectors.otlp.settings import collector_settings

    remedy = f"Correct {KAFKA}, kafka_properties and the password, or create the topic."
    with otherwise("Kafka does not offer the topic", remedy):
        collector = collector_settings()
        if not collector.kafka_topic:
            return "nothing is read from Kafka: kafka_topic is empty"
        count = partitions_of(collector.kafka_topic, collector.kafka_client, timeout_s=timeout_s)
        return f"Kafka has the topic {collector.kafka_topic} ({count} partitions)"


def queue_answers(settings: Settings) -> str:
    """The broker, the queues' settings, and what waits. Creates queues that do not exist, as a producer would."""
    url = "Correct RAG_OTEL_JOB_QUEUE_URL."
    with (
        otherwise("the job queue does not answer", "Start the broker, or correct RAG_OTEL_JOB_QUEUE_URL."),
        otherwise("the job queue cannot be used", url, ConfigurationError),
    ):
        require_extra("scale", "faststream", "aio_pika", needed_by="job_queue_url")
        return asyncio.run(_queue_counts(settings))


async def _queue_counts(settings: Settings) -> str:
    from rag_otel_collectors.jobs.job_queue import JobQueue

    wanted = queue_settings(settings)
    queue = JobQueue(wanted)
    await queue.open()
    try:
        found = await queue.counts()
    finally:
        await queue.close()
    dead = f"{found.dead} dead letters (rag-otel dead-letters list --queue ... shows why)" if found.dead else ""
    return (
        f"the job queue {wanted.name!r} answers and has these settings: {found.waiting} jobs wait, "
        f"{found.suspects} whose worker ended, {dead or 'no dead letters'}"
    )
