"""`rag-otel work`: evaluates jobs of a queue and writes their results.

It reads the collector's settings file: the same evaluators, backends and Phoenix. A job is acknowledged when its
evaluation span and its annotations are delivered.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.sdk.resources import Resource

from rag_otel.cli.interrupts import told_within, until_told_to_stop
from rag_otel.cli.serving import (
    backends_line,
    configuration_of,
    print_settings,
    serving_options,
    settings_line,
)
from rag_otel.delivery.retry import Backoff, call_until_done
from rag_otel.drift.setup import build_judge_watch
from rag_otel.evaluation.background_worker import BackgroundWorker, prepare
from rag_otel.pipeline import Pipeline
from rag_otel.protocols import Evaluator
from rag_otel.safety import privacy
from rag_otel.safety.extras import require_extra
from rag_otel.safety.guard import logger
from rag_otel.safety.redaction import public_address
from rag_otel.settings import Settings
from rag_otel.setup.delivering import compose_delivery
from rag_otel.setup.judging import compose_pipeline, queue_settings
from rag_otel.setup.writing import compose_writers
from rag_otel.telemetry.telemetry import telemetry_of
from rag_otel_collectors.jobs.probes import probes
from rag_otel_collectors.jobs.queue import QueueSettings
from rag_otel_collectors.jobs.results import ResultWriter
from rag_otel_collectors.otlp.exporters.connection import connect
from rag_otel_collectors.otlp.settings import Configuration

if TYPE_CHECKING:
    from rag_otel_collectors.jobs.job_queue import JobQueue  # needs the extra `scale`

_OPEN: Final = Backoff(longest_wait_s=10.0)
_END_S: Final = 5.0
"""For metrics, events and alerts, when the worker ends."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--queue", metavar="URL", help="broker: amqp://user:password@host:5672/ (job_queue_url)")
    parser.add_argument(
        "--backend", metavar="URL", action="append", help="where evaluation spans go: http(s):// or grpc(s)://"
    )
    parser.add_argument("--health", metavar="HOST:PORT", help="answer /healthz and /readyz there (default: nowhere)")
    serving_options(parser)


def run(arguments: argparse.Namespace, evaluators: Sequence[Evaluator] = ()) -> int:
    """Works until SIGTERM or Ctrl-C. Returns 1 if jobs were still running then: the broker delivers them again.

    `evaluators` are added to those that the settings name.
    """
    modules = ("faststream", "aio_pika", "prometheus_client", "uvicorn")
    require_extra("collector,scale", *modules, needed_by="a worker")
    configuration = configuration_of(arguments, {"job_queue_url": arguments.queue, "backend": arguments.backend})
    queue = queue_settings(configuration.evaluation.settings)
    if arguments.check:
        print_settings(configuration)
        return 0
    print(in_five_lines(configuration, queue, arguments.health), flush=True)
    return asyncio.run(_serve(configuration, queue, evaluators, arguments.health))


def in_five_lines(configuration: Configuration, queue: QueueSettings, health: str | None) -> str:
    """What the worker is about to do; `--check` prints every setting."""
    settings = configuration.evaluation.settings
    return "\n".join(
        (
            f"takes jobs from: {queue.name} at {public_address(queue.url)}, {queue.partitions} partitions",
            backends_line(configuration, "sends evaluation spans to"),
            f"evaluates: {', '.join(settings.metrics)}, by {settings.judge.model}",
            f"answers health checks at: {health or 'nowhere (--health)'}",
            settings_line(configuration, "work"),
        )
    )


async def _serve(
    configuration: Configuration, queue_of: QueueSettings, evaluators: Sequence[Evaluator], health: str | None
) -> int:
    from rag_otel_collectors.jobs.job_queue import JobQueue
    from rag_otel_collectors.jobs.worker import JobWorker

    settings = configuration.evaluation.settings
    judge = dataclasses.replace(settings.judge, job_queue_url=None)
    settings = dataclasses.replace(settings, judge=judge, evaluators=tuple(evaluators))
    privacy.configure(capture_content=settings.capture_content)
    stop = until_told_to_stop()
    pipeline = compose_pipeline(settings)
    prepare(pipeline.evaluators)
    results = ResultWriter(
        [connect(backend) for backend in configuration.backends],
        lambda emit: compose_writers(settings, emit, Resource.create),
    )
    telemetry = telemetry_of(settings, resource=Resource.create)
    watching = compose_delivery(
        settings,
        telemetry=telemetry,
        judge_watch=_judge_watch(settings, pipeline),
        budgets=pipeline.budgets,
    )
    watching.start()
    telemetry.start()
    worker = JobWorker(pipeline, results.write, max_starts=queue_of.max_starts, watch=watching.submit)
    queue = JobQueue(queue_of)
    done = True
    async with probes(health, lambda: queue.trouble) as port:
        if port is not None:
            print(f"health on port {port}", flush=True)
        if await _opened(queue, stop):
            await queue.consume(worker.handle)
            print(f"working on {queue_of.name}", flush=True)
            await stop.wait()
            timeout_s = configuration.collector.drain_timeout
            logger.warning("rag-otel: finishing the jobs that run, for at most %.0f s", timeout_s)
            done = await queue.drain(timeout_s)
        await queue.close()
    await results.close()
    await asyncio.to_thread(watching.shutdown, _END_S)
    await asyncio.to_thread(telemetry.shutdown, _END_S)
    return 0 if done else 1


async def _opened(queue: JobQueue, stop: asyncio.Event) -> bool:
    """Connects, again and again while the broker is away. False if the worker is to end. Raises ConfigurationError."""

    async def opened() -> bool:
        if not stop.is_set():
            await queue.open()
        return not stop.is_set()

    def failed(error: Exception) -> None:
        logger.warning("rag-otel: %s; trying again", error)

    return await call_until_done(opened, _OPEN, failed, sleep=partial(told_within, stop))


def _judge_watch(settings: Settings, pipeline: Pipeline) -> Any:
    """Monitors the embedded judge alone, because its calls are free: each worker would call another judge."""
    if not settings.judge.is_embedded:
        return None
    return build_judge_watch(settings, dataclasses.replace(pipeline, cap=None), BackgroundWorker())
