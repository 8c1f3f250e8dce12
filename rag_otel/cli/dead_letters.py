"""`rag-otel dead-letters list|retry`: what was refused for good: spans in the collector, results in both.

`retry` sends every letter to the backend that it was for, or to another address. What is accepted is removed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from opentelemetry.sdk.resources import Resource

from rag_otel.cli.options import json_option
from rag_otel.cli.terminal import CommandResult, table
from rag_otel.durable.dead_letters import FOLDER, DeadLetter, DeadLetters
from rag_otel.errors import ConfigurationError, InputError, PermanentError, RetryableError
from rag_otel.model import EvaluatedTrace
from rag_otel.safety.extras import require_extra
from rag_otel.safety.tracing_suppression import suppressed
from rag_otel.settings import resolve
from rag_otel_collectors.jobs.job import decode
from rag_otel_collectors.jobs.queue import DeadJob, QueueSettings
from rag_otel_collectors.otlp import settings as collector_settings
from rag_otel_collectors.otlp.exporters.connection import BackendSettings, Connection, Rejected, connect

_IDS_SHOWN: Final = 3
_OTLP: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
ACCEPTED: Final = "accepted"
_OUTCOMES: Final = ("letter", "spans", "sent to", "outcome")
_JOBS: Final = ("key", "trace", "tenant", "starts", "why")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("list", "retry"), help="what to do")
    parser.add_argument(
        "names", nargs="*", default=[], metavar="NAME", help="only these letters, by their names in the list"
    )
    parser.add_argument(
        "--folder",
        action="append",
        help="state folder of an application or data folder of a collector (may be repeated; default: those that the "
        "settings name)",
    )
    parser.add_argument("--config", metavar="FILE", help="the collector's settings file: its data folder and backends")
    parser.add_argument("--queue", metavar="URL", help="jobs that the workers gave up: amqp://user:password@host:5672/")
    parser.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[], dest="others", help="a setting of that queue"
    )
    parser.add_argument(
        "--endpoint", metavar="URL", help="retry: send to this address: http(s)://, grpc(s):// or kafka://TOPIC"
    )
    parser.add_argument(
        "--header", metavar="NAME=VALUE", action="append", default=[], help="retry: sent to this address"
    )
    json_option(parser, "a line for each letter, with all trace ids,")


def run(arguments: argparse.Namespace) -> CommandResult:
    """Exit code 1 if `retry` sent a letter that was not accepted."""
    if arguments.queue is not None:
        return _of_queue(arguments)
    folders = [DeadLetters(folder) for folder in _folders(arguments)]
    found = [(folder, letter) for folder in folders for letter in folder.all() if _chosen(letter, arguments.names)]
    none = "no dead letters in " + ", ".join(str(each.folder) for each in folders)
    if arguments.action == "list":
        letters = [letter for _, letter in found]
        return CommandResult(
            text=_listed(letters) or none, data=[_as_json(each) for each in letters], one_per_line=True
        )
    if not found:
        return CommandResult(text=none, data=[], one_per_line=True)
    outcomes = asyncio.run(_retry(found, arguments))
    return CommandResult(
        text=table(outcomes, header=_OUTCOMES),
        data=[dict(zip(_OUTCOMES, each, strict=True)) for each in outcomes],
        one_per_line=True,
        code=0 if all(outcome == ACCEPTED for *_, outcome in outcomes) else 1,
    )


def _of_queue(arguments: argparse.Namespace) -> CommandResult:
    require_extra("scale", "faststream", "aio_pika", needed_by="--queue")
    from rag_otel.setup.judging import queue_settings

    named = {**collector_settings.named_values(arguments.others), "job_queue_url": arguments.queue}
    settings = collector_settings.evaluation_settings(named, file=arguments.config)
    return asyncio.run(_done_in_queue(arguments.action, queue_settings(settings), arguments.names))


def _folders(arguments: argparse.Namespace) -> list[Path]:
    given = [Path(each) for each in arguments.folder or ()]
    if not given:
        state = resolve({}).settings.state_folder
        given = [Path(state)] if state else []
        collector = collector_settings.data_folder(arguments.config)
        if collector.is_dir() or not given:
            given += [collector, collector / "state"]
    return [each if each.name == FOLDER else each / FOLDER for each in given]


def _chosen(letter: DeadLetter, names: Sequence[str]) -> bool:
    return not names or letter.name in names


# --- list -------------------------------------------------------------------------------------------------------------


def _listed(letters: Iterable[DeadLetter]) -> str:
    rows = [
        (
            letter.name,
            _time(letter),
            letter.backend,
            str(letter.spans),
            str(letter.rejected),
            letter.reason,
            ", ".join(letter.trace_ids[:_IDS_SHOWN]) + (", ..." if len(letter.trace_ids) > _IDS_SHOWN else ""),
        )
        for letter in letters
    ]
    return table(rows, header=("letter", "when", "backend", "spans", "rejected", "why", "traces")) if rows else ""


def _as_json(letter: DeadLetter) -> dict[str, object]:
    return {
        "letter": letter.name,
        "time": _time(letter),
        "backend": letter.backend,
        "spans": letter.spans,
        "rejected": letter.rejected,
        "reason": letter.reason,
        "trace_ids": list(letter.trace_ids),
    }


def _time(letter: DeadLetter) -> str:
    return datetime.fromtimestamp(letter.time_s, UTC).isoformat(timespec="seconds")


# --- retry ------------------------------------------------------------------------------------------------------------


def _backends(arguments: argparse.Namespace) -> Callable[[DeadLetter], BackendSettings]:
    """Where a request goes. Raises ConfigurationError where that is nowhere."""
    headers = dict(header.partition("=")[::2] for header in arguments.header)
    if arguments.endpoint:
        named = collector_settings.backend_at(arguments.endpoint, headers, file=arguments.config)
        return lambda letter: named
    try:
        configured = collector_settings.configure({}, file=arguments.config).backends
    except ConfigurationError:
        endpoint = next((os.environ[name] for name in _OTLP if os.environ.get(name)), None)
        if arguments.config or endpoint is None:
            raise ConfigurationError("say where to send to: --endpoint http://host:4318") from None
        configured = (collector_settings.backend_at(endpoint, headers),)
    by_name = {backend.name: backend for backend in configured}
    return lambda letter: by_name.get(letter.backend, configured[0])


async def _retry(
    found: Sequence[tuple[DeadLetters, DeadLetter]], arguments: argparse.Namespace
) -> list[tuple[str, str, str, str]]:
    """Sends the letters, one after the other, and removes what was accepted. Raises ConfigurationError."""
    backend_of = _backends(arguments) if any(letter.result is None for _, letter in found) else None
    connections: dict[str, Connection] = {}
    outcomes = []
    try:
        for folder, letter in found:
            where = arguments.endpoint or letter.backend
            try:
                with suppressed():
                    if letter.result is not None:
                        outcome = _written(letter.result, letter.backend, arguments.endpoint)
                    elif backend_of is not None:
                        backend = backend_of(letter)
                        where = backend.endpoint
                        if backend.name not in connections:
                            connections[backend.name] = _connection(backend)
                        outcome = _accepted(await connections[backend.name].send(letter.request))
            except RetryableError as error:
                outcome = f"not now: {error}"
            except PermanentError as error:
                outcome = f"refused: {error}"
            if outcome == ACCEPTED:
                folder.remove(letter)
            outcomes.append((letter.name, str(letter.spans), where, outcome))
    finally:
        for connection in connections.values():
            await connection.close()
    return outcomes


def _written(result: EvaluatedTrace, writer: str, endpoint: str | None) -> str:
    """Writes a result as the writer of the settings does, or to the Phoenix at `endpoint`."""
    from rag_otel.setup.writing import compose_writers

    given = {} if endpoint is None else {"phoenix_endpoint": endpoint}
    writers = compose_writers(resolve(given).settings, lambda span: None, lambda: Resource({}))
    chosen = next((each for each in writers if each.name == writer), None)
    if chosen is None:
        return f"not now: {writer} is not configured; give its address with --endpoint"
    chosen.write([result])
    return ACCEPTED


def _accepted(rejected: Rejected) -> str:
    return f"rejected {rejected.spans}: {rejected.reason or 'partial success'}" if rejected.spans else ACCEPTED


def _connection(backend: BackendSettings) -> Connection:
    if backend.protocol == "grpc":
        require_extra("collector", "grpc", "google.rpc", needed_by="sending over gRPC")
    return connect(backend)


# --- jobs that the workers gave up ------------------------------------------------------------------------------------


async def _done_in_queue(action: str, settings: QueueSettings, keys: Sequence[str]) -> CommandResult:
    """Lists the jobs with these keys, or queues them again with all their starts; by default all. Raises
    ConfigurationError, and RetryableError where the broker does not answer."""
    from rag_otel_collectors.jobs.job_queue import JobQueue

    queue = JobQueue(settings)
    await queue.open()
    try:
        if action == "retry":
            count = await queue.retry_dead_letters(keys)
            return CommandResult(text=f"queued {count} jobs again", data=[{"queued": count}], one_per_line=True)
        rows = [_job_row(each) for each in await queue.dead_letters() if not keys or each.key in keys]
    finally:
        await queue.close()
    return CommandResult(
        text=table(rows, header=_JOBS) if rows else f"no dead letters in {settings.name}",
        data=[dict(zip(_JOBS, row, strict=True)) for row in rows],
        one_per_line=True,
    )


def _job_row(dead: DeadJob) -> tuple[str, ...]:
    try:
        trace_id = decode(dead.body).trace.target.trace_id
    except InputError:
        trace_id = "-"
    return dead.key or "-", trace_id, dead.tenant or "-", str(dead.starts), dead.reason
