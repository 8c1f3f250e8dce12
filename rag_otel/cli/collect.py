"""`rag-otel collect`: stands between applications and any OTLP backend and evaluates RAG traces on their way."""

from __future__ import annotations

import argparse
import asyncio
import atexit
import contextlib
import dataclasses
import fcntl
import logging
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from opentelemetry.sdk.resources import Resource

from rag_otel.cli.terminal import table
from rag_otel.composition import EMBEDDED, EMBEDDED_PER_MINUTE, Parts, compose_delivery, compose_pipeline
from rag_otel.drift.judge_watch import JudgeWatch
from rag_otel.drift.setup import build_judge_watch
from rag_otel.errors import ConfigurationError
from rag_otel.evaluation.background_worker import BackgroundWorker
from rag_otel.safety.guard import logger
from rag_otel.sampling.ratio import RatioSampler
from rag_otel.settings import Settings
from rag_otel.telemetry.telemetry import Telemetry, telemetry_of

try:
    from rag_otel.telemetry.prometheus_families import Scraped, ScrapeReader
    from rag_otel_collectors.otlp import settings as collector_settings
    from rag_otel_collectors.otlp.assembly.journal import Journal
    from rag_otel_collectors.otlp.assembly.live_traces import LiveTraces
    from rag_otel_collectors.otlp.collector import Collector, Server
    from rag_otel_collectors.otlp.evaluation.pool import EvaluationPool
    from rag_otel_collectors.otlp.exporters.connection import BackendSettings, Connection
    from rag_otel_collectors.otlp.exporters.grpc_backend import GrpcConnection
    from rag_otel_collectors.otlp.exporters.http_backend import HttpConnection
    from rag_otel_collectors.otlp.exporters.outbox import Outbox
    from rag_otel_collectors.otlp.exporters.sender import Sender
    from rag_otel_collectors.otlp.metrics import Metrics
    from rag_otel_collectors.otlp.receivers.api_keys import ApiKeys
    from rag_otel_collectors.otlp.receivers.grpc_server import GrpcServer
    from rag_otel_collectors.otlp.receivers.http_server import HttpServer
    from rag_otel_collectors.otlp.receivers.intake import Intake
    from rag_otel_collectors.otlp.receivers.tls import ServerTls
except ImportError as error:
    raise ConfigurationError(f"the collector needs more: pip install 'rag-otel[collector]' ({error})") from None

from rag_otel_collectors.conventions import default_conventions

WORKER: Final = ("-m", "rag_otel.cli.worker")
_SEGMENT_BYTES: Final = 16 * 2**20
_EXPORT_S: Final = 5.0
"""For the last metrics and events, when the process ends."""
_PATIENCE_S: Final = 60.0
"""Beyond the time that a trace may wait for its scores."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", metavar="FILE", help="settings in TOML: [collector], [evaluation], [[backends]]")
    parser.add_argument("--grpc", metavar="HOST:PORT", help="where OTLP/gRPC is received (default: 127.0.0.1:4317)")
    parser.add_argument("--http", metavar="HOST:PORT", help="where OTLP/HTTP is received (default: 127.0.0.1:4318)")
    parser.add_argument(
        "--backend", metavar="URL", action="append", help="where to forward: http(s):// or grpc(s)://; may be repeated"
    )
    parser.add_argument("--data-dir", metavar="FOLDER", help="queues on disk (default: .rag-otel/collector)")
    parser.add_argument("--workers", type=int, help="processes that evaluate (default: 1)")
    parser.add_argument("--sample-ratio", type=float, help="share of traces to evaluate, 0..1 (default: 1)")
    parser.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[], dest="others", help="any other setting, by its name"
    )
    parser.add_argument("--check", action="store_true", help="print the settings in effect and stop")


def run(arguments: argparse.Namespace) -> int:
    """Check, print what is in effect, then serve until SIGTERM or Ctrl-C; 1 when something had to stay on disk."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    configuration = collector_settings.configure(_given(arguments), file=arguments.config)
    for part, rows in configuration.rows().items():
        print(f"{part}\n{table(rows)}", flush=True)
    if arguments.check:  # beside a collector that runs, too
        _tls(configuration.collector)
        return 0
    with _only_one(Path(configuration.collector.data_dir)):
        return asyncio.run(_serve(configuration))


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    given = {name: getattr(arguments, name) for name in ("grpc", "http", "backend", "data_dir", "workers")}
    given["sample_ratio"] = arguments.sample_ratio
    for other in arguments.others:
        name, equals, value = other.partition("=")
        if not equals:
            raise ConfigurationError(f"--set {other}: must be NAME=VALUE")
        given[name.strip().replace("-", "_")] = value
    return given


async def _serve(configuration: collector_settings.Configuration) -> int:
    settings = configuration.collector
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    collector, servers = await start(configuration)
    for name, server in servers.items():
        print(f"receiving OTLP/{name} on port {server.port}", flush=True)
    await stop.wait()
    logger.warning("rag-otel: draining, for %.0f s at most", settings.drain_timeout)
    if await collector.drain(settings.drain_timeout):
        return 0
    logger.warning("rag-otel: not everything could be forwarded; what was accepted is in %s", settings.data_dir)
    return 1


async def start(
    configuration: collector_settings.Configuration,
) -> tuple[Collector, dict[str, GrpcServer | HttpServer]]:
    """A running collector, and its servers by name. Raises ConfigurationError before anything listens."""
    settings, evaluation = configuration.collector, configuration.evaluation.settings
    tls, keys, metrics = _tls(settings), ApiKeys(settings.api_keys), Metrics()
    connections = [(backend, _connection(backend)) for backend in configuration.backends]
    folder, segment_bytes = Path(settings.data_dir), min(_SEGMENT_BYTES, settings.max_disk_bytes // 8)
    try:
        journal = Journal(folder / "journal", segment_bytes=segment_bytes, fsync=settings.fsync)
        names = [backend.name for backend in configuration.backends]
        outbox = Outbox(folder / "outbox", names, segment_bytes=segment_bytes, fsync=settings.fsync)
    except OSError as error:
        raise ConfigurationError(f"data_dir {settings.data_dir!r} cannot be used: {error}") from None
    metrics.gauge("disk_limit_bytes", "Disk that the queues may take, at most", lambda: settings.max_disk_bytes)
    live = LiveTraces(
        grace_s=settings.grace,
        idle_s=settings.idle,
        max_traces=settings.max_traces,
        max_bytes=settings.max_memory_bytes,
        max_trace_bytes=settings.max_memory_bytes // 8,
    )
    senders = [Sender(backend, each, outbox.readers[backend.name], metrics) for backend, each in connections]
    collector = Collector(live=live, journal=journal, outbox=outbox, metrics=metrics, senders=senders)
    intake = Intake(
        conventions=default_conventions(mapping=evaluation.attribute_mapping),
        sampler=RatioSampler(evaluation.sample_ratio if evaluation.enabled else 0.0, seed=evaluation.sampling_seed),
        live=live,
        journal=journal,
        outbox=outbox,
        metrics=metrics,
        max_disk_bytes=settings.max_disk_bytes,
        max_held_bytes=settings.max_memory_bytes,
        retry_after_s=settings.retry_after,
        held=collector.wake,
    )
    pool = EvaluationPool(
        WORKER,
        (evaluation, settings.workers),
        workers=settings.workers,
        concurrency=settings.worker_concurrency,
        patience_s=evaluation.hold + _PATIENCE_S,
        on_late=collector.late_results,
        metrics=metrics,
    )
    common: dict[str, Any] = {"keys": keys, "tls": tls, "max_request_bytes": settings.max_request_bytes}
    servers: dict[str, GrpcServer | HttpServer] = {}
    if settings.grpc:
        servers["gRPC"] = GrpcServer(intake, metrics, address=settings.grpc, **common)
    if settings.http:
        servers["HTTP"] = HttpServer(intake, metrics, address=settings.http, not_ready=collector.not_ready, **common)
    telemetry = _telemetry(evaluation, metrics)
    results = compose_delivery(
        dataclasses.replace(evaluation, state_folder=evaluation.state_folder or str(folder / "state")),
        Parts(),
        emit=collector.emit,
        resource=_no_resource,
        telemetry=telemetry,
        keep_results=True,
        judge_watch=_judge_watch(evaluation),
    )
    results.start()
    listening: list[Server] = list(servers.values())
    telemetry.start()
    try:
        await collector.start(intake=intake, pool=pool, results=results, servers=listening)
    except BaseException:
        await collector.stop()
        raise
    return collector, servers


def _telemetry(evaluation: Settings, metrics: Metrics) -> Telemetry:
    """Metrics and events of what is evaluated; the collector's own `/metrics` shows them too.

    What goes over OTLP is exported once more when the process exits.
    """
    readers = []
    if evaluation.telemetry_exporter != "none":
        readers.append(ScrapeReader())
        metrics.include(Scraped(readers[0]))
    telemetry = telemetry_of(evaluation, resource=Resource.create, readers=readers)
    atexit.register(telemetry.shutdown, _EXPORT_S)
    return telemetry


def _judge_watch(evaluation: Settings) -> JudgeWatch | None:
    """The judge is watched where asking it costs nothing; others work, and are capped, in processes of their own."""
    if evaluation.judge != EMBEDDED or evaluation.embedder is not None:
        return None
    pipeline = compose_pipeline(evaluation, Parts(), default_cap=EMBEDDED_PER_MINUTE)
    return build_judge_watch(evaluation, pipeline, BackgroundWorker())


def _no_resource() -> Any:
    """Every late result of the collector says itself which resource its span has."""
    raise AssertionError("a late result without an origin")


def _connection(backend: BackendSettings) -> Connection:
    try:
        return GrpcConnection(backend) if backend.protocol == "grpc" else HttpConnection(backend)
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"backend {backend.name}: {error}") from None


def _tls(settings: collector_settings.CollectorSettings) -> ServerTls | None:
    if settings.tls_cert is None or settings.tls_key is None:
        return None
    return ServerTls.read(settings.tls_cert, settings.tls_key, settings.tls_client_ca)


@contextlib.contextmanager
def _only_one(folder: Path) -> Iterator[None]:
    """Two collectors on one folder would deliver each other's spans. Raises ConfigurationError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise ConfigurationError(f"data_dir {str(folder)!r} cannot be used: {error.strerror}") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise ConfigurationError(f"data_dir {str(folder)!r} is in use by another collector") from None
    finally:
        os.close(lock)
