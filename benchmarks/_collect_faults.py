"""Faults on purpose: random kills and stops, a backend that answers 503, a full disk, a flipped byte in every file.

Each prints what was acknowledged, what of it is missing and what came twice. A full disk needs root, to mount one of
8 MiB.
"""

from __future__ import annotations

import asyncio
import random
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from _collect_load import Sent, Sink, collector
from _collect_runs import during, ids, report, wait

from rag_otel.durable.record_format import record_at

_KILLS = 20
_AWAY_S = 30.0
_DISK = 8 * 2**20
_SMALL = ("max_memory_bytes=1000000", "max_request_bytes=1000000", "max_disk_bytes=12000000")
"""Files of 1.5 MB: enough of them in a short time."""


def add(total: Sent, sent: Sent) -> None:
    total.accepted += sent.accepted
    total.requests += sent.requests
    total.refused += sent.refused
    total.retry_delays += sent.retry_delays
    total.failed += sent.failed


def kills(number: int = _KILLS, seed: int = 11) -> None:
    """kill -9 of the collector at random moments, its backend up; the last one delivers the rest."""
    moments = random.Random(seed)
    sink, total = Sink(remember=True), Sent()
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(number):
            with suppress(ProcessLookupError), collector(sink.port, "grace=0.5", folder=folder) as running:
                after = moments.uniform(0.2, 3.0)
                add(total, asyncio.run(during(running, after + 0.3, (after, running.process.kill))))
        wanted = ids(total.accepted)
        with collector(sink.port, "grace=0.5", folder=folder):
            wait(lambda: wanted <= sink.seen().keys())
            report(f"Collector killed {number} times at random", total, sink.seen())
    sink.kill()


def stops(number: int = _KILLS, seed: int = 11) -> None:
    """SIGTERM at random moments under load, requests on their way."""
    moments = random.Random(seed)
    sink, total, codes = Sink(remember=True), Sent(), Counter[int]()
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(number):
            with collector(sink.port, "grace=0.5", folder=folder) as running:
                after = moments.uniform(0.2, 3.0)
                add(total, asyncio.run(during(running, after + 0.5, (after, running.process.terminate))))
                codes[running.process.wait(60)] += 1
        wait(lambda: ids(total.accepted) <= sink.seen().keys(), within_s=10)
        report(f"Collector stopped {number} times at random", total, sink.seen(), ("exit codes", f"{dict(codes)}"))
    sink.kill()


class HttpSink:
    """An OTLP/HTTP backend in this process, which answers 503 while it is told to."""

    def __init__(self) -> None:
        self.refusing = False
        self.refusals = 0
        self.requests: list[bytes] = []
        sink = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if sink.refusing:
                    sink.refusals += 1
                else:
                    sink.requests.append(body)
                self.send_response(503 if sink.refusing else 200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def seen(self) -> dict[bytes, int]:
        return dict(Counter(span_id for request in list(self.requests) for span_id in ids([request])))

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def unavailable(away_s: float = _AWAY_S) -> None:
    """A backend over HTTP that answers 503 for a while, under load."""
    sink = HttpSink()

    def refuse(refusing: bool) -> None:
        sink.refusing = refusing

    with collector(None, "grace=0.5", f"backend={sink.url}") as running:
        events = ((2.0, lambda: refuse(True)), (2.0 + away_s, lambda: refuse(False)))
        sent = asyncio.run(during(running, away_s + 4.0, *events))
        wanted, back = ids(sent.accepted), time.monotonic()
        wait(lambda: wanted <= sink.seen().keys())
        more = (("503 answers", f"{sink.refusals}"), ("all there after", f"{time.monotonic() - back:.0f} s more"))
        report(f"Backend answers 503 for {away_s:.0f} s", sent, sink.seen(), *more)
    sink.close()


@contextmanager
def small_disk(size: int = _DISK) -> Iterator[str]:
    """A file system of that size."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)
        try:
            yield folder
        finally:
            subprocess.run(["umount", "-l", folder], check=True)


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))


def disk(seconds: float = 20.0) -> None:
    """The disk is full for a third of the time, twice: once while the backend is away, once while it takes all."""
    away = Sink()
    port = away.port
    away.kill()
    with small_disk() as folder:
        ballast = Path(folder) / "ballast"
        sinks: list[Sink] = []
        with collector(port, "grace=0.5", folder=f"{folder}/state") as running:
            events = (
                (seconds / 6, lambda: _fill(ballast)),
                (seconds * 2 / 6, lambda: sinks.append(Sink(remember=True, port=port))),
                (seconds * 3 / 6, ballast.unlink),
                (seconds * 4 / 6, lambda: _fill(ballast)),
                (seconds * 5 / 6, ballast.unlink),
            )
            sent = asyncio.run(during(running, seconds, *events))
            wanted = ids(sent.accepted)
            wait(lambda: wanted <= sinks[0].seen().keys())
            failures = ("tasks that failed", f"{running.metric('task_failures_total'):.0f}")
            report("Disk full twice under load", sent, sinks[0].seen(), failures)
        sinks[0].kill()


def _spans_of(payload: bytes) -> set[bytes]:
    """Of a record of either queue."""
    return ids([payload[17:] if payload[:1] == b"H" else payload] if payload[:1] != b"D" else [])


def _flip_one(path: Path, chance: random.Random) -> set[bytes]:
    """Flip a byte of a file anywhere; returns the spans of the record that it is in."""
    content = bytearray(path.read_bytes())
    at, place = chance.randrange(len(content)), 0
    while (record := record_at(bytes(content), place)) is not None and record.end <= at:
        place = record.end
    content[at] ^= 0xFF
    path.write_bytes(content)
    return _spans_of(record.payload) if record is not None else set()


def damage(seconds: float = 15.0, seed: int = 11) -> None:
    """A byte is flipped in every file of both queues while the collector is down."""
    chance = random.Random(seed)
    away = Sink()
    port = away.port
    away.kill()
    with tempfile.TemporaryDirectory() as folder:
        with suppress(ProcessLookupError), collector(port, "grace=0.5", *_SMALL, folder=folder) as running:
            sent = asyncio.run(during(running, seconds, (seconds - 0.5, running.process.kill)))
        queues = (Path(folder, "journal"), Path(folder, "outbox", "log"))
        files = [path for queue in queues for path in queue.glob("*.log") if path.stat().st_size]
        lost = set().union(*(_flip_one(path, chance) for path in files))
        sink = Sink(remember=True, port=port)
        with collector(port, "grace=0.5", *_SMALL, folder=folder) as running:
            wanted = ids(sent.accepted)
            wait(lambda: wanted - lost <= sink.seen().keys())
            missing = wanted - sink.seen().keys()
            more = (
                ("files, a byte flipped in each", f"{len(files)}"),
                ("missing beside the damaged records", f"{len(missing - lost)}"),
                ("damaged places found", f"{running.metric('damaged_places'):.0f}"),
            )
            report("A flipped byte in every file", sent, sink.seen(), *more)
    sink.kill()
