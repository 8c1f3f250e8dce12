"""What publishes evaluation jobs, where workers evaluate in place of this process."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from rag_otel.errors import ConfigurationError
from rag_otel.safety.extras import require_extra
from rag_otel.settings import Settings
from rag_otel.settings.groups import DriftSettings
from rag_otel.setup.parts import Parts
from rag_otel.setup.runtime import JobSink

if TYPE_CHECKING:
    from rag_otel_collectors.jobs.queue import QueueSettings


def producing(settings: Settings) -> Settings:
    """The settings of a process that publishes jobs: results are watched in the workers. Other settings as they are."""
    if settings.judge.job_queue_url is None:
        return settings
    alerts = dataclasses.replace(settings.alerts, health=False)
    return dataclasses.replace(settings, drift=DriftSettings(enabled=False, judge_watch=False), alerts=alerts)


def compose_jobs(settings: Settings, parts: Parts) -> JobSink | None:
    """What publishes evaluation jobs; None where traces are evaluated here. Raises ConfigurationError."""
    if settings.judge.job_queue_url is None:
        return None
    if parts.evaluators:
        raise ConfigurationError(
            "evaluators= cannot be combined with job_queue_url: the workers evaluate, with their own settings"
        )
    require_extra("queue", "faststream", "aio_pika", needed_by="job_queue_url")
    from rag_otel.durable.state_folder import StateFolder
    from rag_otel_collectors.jobs.publisher import JobPublisher

    return JobPublisher(
        queue_settings(settings),
        project=settings.project_name,
        state=None if settings.state_folder is None else StateFolder(str(Path(settings.state_folder) / "jobs")),
    )


def queue_settings(settings: Settings) -> QueueSettings:
    """The job queue that the settings name. Raises ConfigurationError."""
    from rag_otel_collectors.jobs.queue import QueueSettings

    if settings.judge.job_queue_url is None:
        raise ConfigurationError("no job queue: give --queue amqp://user:password@host:5672/ or RAG_OTEL_JOB_QUEUE_URL")
    return QueueSettings.at(settings.judge.job_queue_url)
