"""Builds a collector from its configuration and starts it.

What needs judges and writers is handed in: the command of an evaluation process, and a function that makes the delivery
of results. This package knows neither.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan

from rag_otel.delivery.dispatcher import Dispatcher
from rag_otel.durable.dead_letters import FOLDER as DEAD_LETTERS
from rag_otel.durable.dead_letters import DeadLetters
from rag_otel.errors import ConfigurationError
from rag_otel.sampling.amount import RatioSampler
from rag_otel.sampling.build import build_sampler
from rag_otel.settings import Settings
from rag_otel.telemetry.prometheus_families import Scraped, ScrapeReader
from rag_otel.telemetry.telemetry import Telemetry, telemetry_of
from rag_otel_collectors.conventions import default_conventions
from rag_otel_collectors.otlp import metrics as names
from rag_otel_collectors.otlp.assembly.disk import DiskWatch
from rag_otel_collectors.otlp.assembly.live_traces import LiveTraces
from rag_otel_collectors.otlp.collector import Collector
from rag_otel_collectors.otlp.evaluation.pool import EvaluationPool
from rag_otel_collectors.otlp.exporters.connection import connect
from rag_otel_collectors.otlp.exporters.sender import Sender
from rag_otel_collectors.otlp.metrics import Metrics
from rag_otel_collectors.otlp.queues import Queues
from rag_otel_collectors.otlp.receivers.grpc_server import GrpcServer
from rag_otel_collectors.otlp.receivers.http_server import HttpServer
from rag_otel_collectors.otlp.receivers.intake import Intake
from rag_otel_collectors.otlp.receivers.kafka_consumer import KafkaReceiver
from rag_otel_collectors.otlp.receivers.reception import ApiKeys, Reception, ServerTls
from rag_otel_collectors.otlp.receivers.taken_messages import TakenMessages
from rag_otel_collectors.otlp.release import TraceRelease
from rag_otel_collectors.otlp.settings import Configuration
from rag_otel_collectors.otlp.settings_table import CollectorSettings
from rag_otel_collectors.otlp.supervision import Supervisor

if TYPE_CHECKING:
    from rag_otel_collectors.jobs.job_queue import JobQueue

_CONCURRENCY: Final = 16
"""Traces that one process evaluates at a time: they wait for a judge behind a network, or for a deadline."""
_EXPORT_S: Final = 5.0
"""For the last metrics and events, when the process ends."""
_PATIENCE_S: Final = 60.0
"""Beyond the time that a trace may wait for its scores."""


MakeResults: TypeAlias = Callable[[Callable[[ReadableSpan], None], Telemetry], Dispatcher]
"""(forwards an evaluation span, metrics and events of results) -> the delivery of results."""


async def start(
    configuration: Configuration,
    *,
    worker: Sequence[str],
    make_results: MakeResults,
    job_queue: JobQueue | None = None,
) -> tuple[Collector, dict[str, GrpcServer | HttpServer]]:
    """A running collector, and its servers by name. Raises ConfigurationError before anything listens.

    `worker`: arguments of the Python interpreter for an evaluation process, which gets the settings and the number of
    processes. With a `job_queue` these processes read the traces, and workers elsewhere evaluate them.
    """
    settings, evaluation = configuration.collector, configuration.evaluation.settings
    tls, keys, metrics = server_tls(settings), ApiKeys(settings.api_keys), Metrics()
    connections = [(backend, connect(backend)) for backend in configuration.backends]
    queues = Queues.open(settings, [backend.name for backend in configuration.backends], job_queue, metrics)
    metrics.gauge("disk_limit_bytes", "Disk that the queues may take, at most", lambda: settings.max_disk_bytes)
    live = LiveTraces(
        grace_s=settings.grace,
        idle_s=settings.idle,
        max_traces=settings.max_traces,
        max_bytes=settings.max_memory_bytes,
        max_trace_bytes=settings.max_memory_bytes // 8,
    )
    dead_letters = DeadLetters(Path(settings.data_dir) / DEAD_LETTERS)
    intake = Intake(
        conventions=default_conventions(mapping=evaluation.spans.attribute_mapping),
        sampler=build_sampler(evaluation) if evaluation.enabled else RatioSampler(0.0),
        live=live,
        journal=queues.journal,
        outbox=queues.outbox,
        metrics=metrics,
        max_disk_bytes=settings.max_disk_bytes,
        max_held_bytes=settings.max_memory_bytes,
        held=lambda: release.wake(),
        trusts_scores=settings.trusts_incoming_scores,
        other_disk_bytes=lambda: 0 if queues.jobs is None else queues.jobs.outbox.disk_bytes,
    )
    pool = EvaluationPool(
        worker,
        (evaluation, settings.workers),
        workers=settings.workers,
        concurrency=_CONCURRENCY,
        patience_s=evaluation.spans.hold + _PATIENCE_S,
        on_late=lambda reply: release.deliver(reply),
        on_restart=lambda: metrics.add(names.WORKER_RESTARTS),
    )
    disk = DiskWatch(queues.named, metrics, lambda: live.held_bytes, wanted=intake.wanted_room)
    telemetry = _telemetry(evaluation, metrics)
    results = make_results(lambda span: release.emit(span), telemetry)
    release = TraceRelease(live=live, pool=pool, queues=queues, results=results, disk=disk, metrics=metrics)
    reception = Reception(
        intake=intake, metrics=metrics, keys=keys, tls=tls, max_request_bytes=settings.max_request_bytes
    )
    servers: dict[str, GrpcServer | HttpServer] = {}
    if settings.grpc:
        servers["gRPC"] = GrpcServer(reception, address=settings.grpc)
    if settings.http:
        servers["HTTP"] = HttpServer(reception, address=settings.http, not_ready=lambda: collector.not_ready())
    collector = Collector(
        intake=intake,
        live=live,
        pool=pool,
        release=release,
        queues=queues,
        senders=[
            Sender(backend, each, queues.outbox.readers[backend.name], metrics, dead_letters=dead_letters)
            for backend, each in connections
        ],
        results=results,
        disk=disk,
        tasks=Supervisor(metrics),
        metrics=metrics,
        servers=list(servers.values()),
        kafka=_kafka(settings, reception, dead_letters),
    )
    results.start()
    telemetry.start()
    try:
        await collector.start()
    except BaseException:
        await collector.stop()
        raise
    return collector, servers


def server_tls(settings: CollectorSettings) -> ServerTls | None:
    """The servers' certificate; None: no TLS. Raises ConfigurationError for files that cannot be used."""
    if settings.tls_cert is None or settings.tls_key is None:
        return None
    return ServerTls.read(settings.tls_cert, settings.tls_key, settings.tls_client_ca)


def _kafka(settings: CollectorSettings, reception: Reception, dead_letters: DeadLetters) -> KafkaReceiver | None:
    """The reader of Kafka; None: nothing is read."""
    if not settings.reads_kafka:
        return None
    try:
        known = TakenMessages(Path(settings.data_dir) / "kafka", settings.kafka_topic)
    except OSError as error:
        raise ConfigurationError(f"data_dir {settings.data_dir!r} cannot be used: {error}") from None
    return KafkaReceiver(settings, reception, dead_letters, known)


def _telemetry(evaluation: Settings, metrics: Metrics) -> Telemetry:
    """Metrics and events of what is evaluated; the collector's own `/metrics` shows them too.

    What goes over OTLP is exported once more when the process exits.
    """
    readers = []
    if evaluation.telemetry.exporter != "none":
        readers.append(ScrapeReader())
        metrics.include(Scraped(readers[0]))
    telemetry = telemetry_of(evaluation, resource=Resource.create, readers=readers)
    atexit.register(telemetry.shutdown, _EXPORT_S)
    return telemetry
