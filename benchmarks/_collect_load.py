"""Parts of the collector's benchmarks: a sender, a sink, and the collector on cores of its own."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from rag_otel_collectors.otlp.receivers.grpc_server import SERVICE

PACKAGES = ("", "collectors", "evaluators")
"""Folders of a checkout from which it is imported."""
METHOD = f"/{SERVICE}/Export"
CORES = sorted(os.sched_getaffinity(0))
COLLECTOR_CORES = {CORES[0]}
LOAD_CORES = set(CORES[1:]) or {CORES[0]}


@dataclass
class Sent:
    """What a load got for answers."""

    accepted: list[bytes] = field(default_factory=list)
    """Serialised requests that were acknowledged; empty unless they are to be kept."""
    requests: int = 0
    refused: int = 0
    retry_delays: int = 0
    """Refusals that said when to come back."""
    failed: int = 0


async def load(
    port: int,
    requests: Iterator[bytes],
    *,
    seconds: float,
    in_flight: int = 8,
    per_second: float | None = None,
    keep: bool = False,
    backoff_s: float = 0.5,
) -> Sent:
    """Send for so long, as fast as answers come or `per_second` requests. What is refused is counted, not sent again:
    the next request waits `backoff_s`, where an exporter would wait the two seconds that it is told."""
    sent = Sent()
    end = time.monotonic() + seconds
    gate = asyncio.Semaphore(in_flight)
    options = [("grpc.max_send_message_length", -1)]
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=options) as channel:
        export = channel.unary_unary(METHOD)

        async def one(request: bytes) -> None:
            try:
                await export(request, timeout=30)
                sent.requests += 1
                if keep:
                    sent.accepted.append(request)
            except grpc.aio.AioRpcError as error:
                if error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED):
                    sent.refused += 1
                    trailing = dict(error.trailing_metadata() or ())
                    sent.retry_delays += "google.rpc.retryinfo-bin" in trailing
                    await asyncio.sleep(backoff_s)
                else:
                    sent.failed += 1
            finally:
                gate.release()

        running: set[asyncio.Task[None]] = set()
        started, count = time.monotonic(), 0
        while time.monotonic() < end:
            await gate.acquire()
            if per_second is not None:
                await asyncio.sleep(max(0.0, started + count / per_second - time.monotonic()))
            count += 1
            task = asyncio.create_task(one(next(requests)))
            running.add(task)
            task.add_done_callback(running.discard)
        await asyncio.gather(*running)
    return sent


# --- where it goes --------------------------------------------------------------------------------------------------


def _sink(port: Any, spans: Any, ids: Any, stop: Any) -> None:
    os.sched_setaffinity(0, LOAD_CORES)

    async def serve() -> None:
        async def export(request: bytes, _: Any) -> bytes:
            message = ExportTraceServiceRequest.FromString(request)
            found = [s.spans for r in message.resource_spans for s in r.scope_spans]
            spans.value += sum(map(len, found))
            if ids is not None:
                ids.put([span.span_id for part in found for span in part])
            return b""

        server = grpc.aio.server(options=[("grpc.max_receive_message_length", -1), ("grpc.so_reuseport", 0)])
        handler = grpc.unary_unary_rpc_method_handler(export)
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, {"Export": handler}),))
        port.value = server.add_insecure_port(f"127.0.0.1:{port.value}")
        await server.start()
        while not stop.is_set():
            await asyncio.sleep(0.05)
        await server.stop(0)

    asyncio.run(serve())


class Sink:
    """A backend that counts, in a process of its own; with `remember` it also says which spans it got."""

    def __init__(self, *, remember: bool = False, port: int = 0) -> None:
        context = multiprocessing.get_context("spawn")
        self._port = context.Value("i", port)
        self._spans = context.Value("q", 0)
        self._stop = context.Event()
        self.ids: Any = context.Queue() if remember else None
        self._seen: dict[bytes, int] = {}
        self._process = context.Process(target=_sink, args=(self._port, self._spans, self.ids, self._stop), daemon=True)
        self._process.start()
        while not self._port.value:
            time.sleep(0.02)

    @property
    def port(self) -> int:
        return int(self._port.value)

    @property
    def spans(self) -> int:
        return int(self._spans.value)

    def kill(self) -> None:
        """kill -9."""
        self._process.kill()
        self._process.join()

    def seen(self) -> dict[bytes, int]:
        """How often each span came, so far."""
        while not self.ids.empty():
            for span_id in self.ids.get():
                self._seen[span_id] = self._seen.get(span_id, 0) + 1
        return self._seen


@dataclass
class Running:
    """A collector under test."""

    process: subprocess.Popen[str]
    grpc_port: int = 0
    http_port: int = 0

    def pids(self) -> list[int]:
        """The collector and its evaluation processes."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [self.process.pid, *map(int, children)]

    def cpu_seconds(self) -> list[float]:
        """Of each process."""
        seconds = []
        for pid in self.pids():
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            seconds.append((int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"))
        return seconds

    def rss_mb(self) -> list[float]:
        """Of each process."""
        pages = [int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in self.pids()]
        return [page * os.sysconf("SC_PAGE_SIZE") / 2**20 for page in pages]

    def metrics(self) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.http_port}/metrics", timeout=30) as answer:
            return str(answer.read().decode())

    def metric(self, name: str, label: str = "") -> float:
        lines = [line for line in self.metrics().splitlines() if line.startswith(f"rag_otel_collector_{name}")]
        return sum(float(line.rpartition(" ")[2]) for line in lines if label in line)


@contextmanager
def collector(
    backend_port: int | None,
    *settings: str,
    cores: set[int] | None = None,
    folder: str | None = None,
    checkout: Path | None = None,
) -> Iterator[Running]:
    """`rag-otel collect` on the given cores, forwarding to a sink where one is named. `settings` are NAME=VALUE.
    `checkout`: whose code runs; that of this process by default."""
    paths = [*([] if checkout is None else [str(checkout / name) for name in PACKAGES]), *filter(None, sys.path)]
    with tempfile.TemporaryDirectory() as own:
        command = [
            sys.executable,
            "-m",
            "rag_otel.cli.main",
            "collect",
            "--grpc",
            "127.0.0.1:0",
            "--http",
            "127.0.0.1:0",
        ]
        command += ["--data-dir", folder or own]
        command += ["--backend", f"grpc://127.0.0.1:{backend_port}"] if backend_port is not None else []
        command += [part for setting in settings for part in ("--set", setting)]
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            cwd=checkout,  # `-m` looks there first
            preexec_fn=lambda: os.sched_setaffinity(0, cores or COLLECTOR_CORES),
        )
        running = Running(process)
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("receiving OTLP/gRPC"):
                    running.grpc_port = int(line.rpartition(" ")[2])
                if line.startswith("receiving OTLP/HTTP"):
                    running.http_port = int(line.rpartition(" ")[2])
                    break
            if not running.http_port:
                raise SystemExit("the collector did not start")
            yield running
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(40)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


def median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    return ordered[len(ordered) // 2]
