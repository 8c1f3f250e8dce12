"""`rag-otel collect`: runs the collector. It receives OTLP, evaluates RAG traces and forwards all spans."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.sdk.trace import ReadableSpan

from rag_otel.cli.interrupts import until_told_to_stop
from rag_otel.cli.serving import (
    backends_line,
    configuration_of,
    print_settings,
    serving_options,
    settings_line,
)
from rag_otel.cli.worker import COLLECTOR_WORKER
from rag_otel.delivery.dispatcher import Dispatcher
from rag_otel.drift.judge_watch import JudgeWatch
from rag_otel.drift.setup import build_judge_watch
from rag_otel.durable.state_folder import DATABASE, hold, make_folder
from rag_otel.errors import ConfigurationError
from rag_otel.evaluation.background_worker import BackgroundWorker
from rag_otel.safety.extras import require_extra
from rag_otel.safety.garbage import collect_garbage_less
from rag_otel.safety.guard import logger
from rag_otel.settings import Settings
from rag_otel.settings.rows import rows_of
from rag_otel.setup.delivering import compose_delivery
from rag_otel.setup.judging import (
    EMBEDDED_PER_MINUTE,
    compose_budgets,
    compose_pipeline,
    producing,
    queue_settings,
)
from rag_otel.setup.writing import compose_writers
from rag_otel.telemetry.telemetry import Telemetry
from rag_otel_collectors.otlp.settings import Configuration
from rag_otel_collectors.otlp.settings_table import CollectorSettings

if TYPE_CHECKING:
    from rag_otel_collectors.otlp.build import MakeResults  # needs the extra `collector`

_NEEDED: Final = ("grpc", "google.rpc", "opentelemetry.proto", "uvicorn", "prometheus_client")
_FLAGS: Final = ("grpc", "http", "backend", "data_dir", "workers")
"""Settings with a flag of their own."""


def configure(parser: argparse.ArgumentParser) -> None:
    serving_options(parser)
    rows = rows_of(CollectorSettings)
    for name in _FLAGS:
        several = isinstance(rows[name].default, tuple)
        default = "" if several else f" (default: {rows[name].default})"
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            action="append" if several else "store",
            help=f"{rows[name].meaning}{'; may be repeated' if several else default}",
        )
    parser.add_argument("--sample-ratio", type=float, help="share of traces to evaluate, 0..1 (default: 1)")


def run(arguments: argparse.Namespace) -> int:
    """Checks and prints the settings, then serves until SIGTERM or Ctrl-C. Returns 1 if spans remain on disk."""
    require_extra("collector", *_NEEDED, needed_by="the collector")
    from rag_otel_collectors.otlp.build import server_tls

    given = {name: getattr(arguments, name) for name in (*_FLAGS, "sample_ratio")}
    configuration = _with_shared_budgets(configuration_of(arguments, given))
    if arguments.check:  # without the lock, so that it works while a collector is running
        print_settings(configuration)
        server_tls(configuration.collector)
        return 0
    print(in_five_lines(configuration), flush=True)
    with _only_one(Path(configuration.collector.data_dir)):
        return asyncio.run(_serve(configuration))


def in_five_lines(configuration: Configuration) -> str:
    """What the collector is about to do; `--check` prints every setting."""
    settings = configuration.evaluation.settings
    own = {name: value for name, value, _ in configuration.rows()["collector"]}
    receivers = [f"{name} {own[key]}" for name, key in (("gRPC", "grpc"), ("HTTP", "http")) if own[key]]
    if configuration.collector.reads_kafka:
        receivers.append(f"Kafka's topic {own['kafka_topic']} at {own['kafka_brokers']}")
    sampling = f"{settings.sample_ratio:.0%} of traces" if settings.sampling_policy is None else "traces by the policy"
    by = "workers of the job queue" if settings.judge.job_queue_url is not None else settings.judge.model
    return "\n".join(
        (
            f"receives OTLP: {', '.join(receivers)}",
            backends_line(configuration, "forwards to"),
            f"evaluates: {', '.join(settings.metrics)} of {sampling}, by {by}",
            f"keeps what it holds in: {own['data_dir']}",
            settings_line(configuration, "collect"),
        )
    )


def _with_shared_budgets(configuration: Configuration) -> Configuration:
    """The evaluation processes share budgets and rates through a file in the data folder, if nothing else is given."""
    resolved = configuration.evaluation
    settings = resolved.settings
    if settings.judge.budget_store is not None or settings.state_folder is not None:
        return configuration
    file = Path(configuration.collector.data_dir).absolute() / "state" / DATABASE
    settings = dataclasses.replace(settings, judge=dataclasses.replace(settings.judge, budget_store=f"sqlite:{file}"))
    return dataclasses.replace(configuration, evaluation=dataclasses.replace(resolved, settings=settings))


async def _serve(configuration: Configuration) -> int:
    from rag_otel_collectors.otlp.build import start

    settings = configuration.collector
    stop = until_told_to_stop()
    results = _results(configuration.evaluation.settings, Path(settings.data_dir))
    collector, servers = await start(
        configuration,
        worker=COLLECTOR_WORKER,
        make_results=results,
        job_queue=_job_queue(configuration.evaluation.settings),
    )
    collect_garbage_less()
    for name, server in servers.items():
        print(f"receiving OTLP/{name} on port {server.port}", flush=True)
    await stop.wait()
    logger.warning("rag-otel: draining, for at most %.0f s", settings.drain_timeout)
    if await collector.drain(settings.drain_timeout):
        return 0
    logger.warning("rag-otel: not all spans could be forwarded; the others remain in %s", settings.data_dir)
    return 1


def _results(evaluation: Settings, folder: Path) -> MakeResults:
    """Returns the function that creates the delivery of annotations, alerts and evaluation spans."""
    settings = dataclasses.replace(producing(evaluation), state_folder=evaluation.state_folder or str(folder / "state"))

    def make(emit: Callable[[ReadableSpan], None], telemetry: Telemetry) -> Dispatcher:
        return compose_delivery(
            settings,
            compose_writers(settings, emit, _no_resource),
            telemetry=telemetry,
            keep_results=True,
            judge_watch=_judge_watch(evaluation),
            budgets=compose_budgets(evaluation, ()),
        )

    return make


def _job_queue(evaluation: Settings) -> Any:
    """The `JobQueue` that takes the evaluation jobs; None where the collector evaluates by itself."""
    if evaluation.judge.job_queue_url is None:
        return None
    require_extra("scale", "faststream", "aio_pika", needed_by="job_queue_url")
    from rag_otel_collectors.jobs.job_queue import JobQueue

    return JobQueue(queue_settings(evaluation))


def _judge_watch(evaluation: Settings) -> JudgeWatch | None:
    """Monitors the embedded judge in this process, because its calls are free. Other judges are monitored in the
    evaluation processes, with their limit of evaluations."""
    if evaluation.judge.job_queue_url is not None or not evaluation.judge.is_embedded:
        return None
    pipeline = compose_pipeline(evaluation, default_cap=EMBEDDED_PER_MINUTE)
    return build_judge_watch(evaluation, pipeline, BackgroundWorker())


def _no_resource() -> Any:
    """Never called, because every late result of the collector has the resource of its span."""
    raise AssertionError("a late result without an origin")


@contextlib.contextmanager
def _only_one(folder: Path) -> Iterator[None]:
    """Holds the lock of the data folder, because two collectors on one folder would deliver each other's spans.

    Raises ConfigurationError if the folder is in use or cannot be used.
    """
    try:
        make_folder(folder)
        lock = hold(folder)
    except OSError as error:
        raise ConfigurationError(f"data_dir {str(folder)!r} cannot be used: {error.strerror}") from None
    if lock is None:
        raise ConfigurationError(f"data_dir {str(folder)!r} is in use by another collector")
    try:
        yield
    finally:
        os.close(lock)
