"""What the collector does when things go wrong: a backend killed, itself killed, too much traffic, damaged requests.

    python benchmarks/collector_resilience.py [outage] [crash] [overload] [fuzz] [memory] [phoenix] [--long]

Each part prints what was sent, acknowledged, refused and delivered; nothing that was acknowledged may be missing.
`--seconds` is how long the load of a part lasts (the backend is away for half of it), `--minutes` that of `memory`,
`--requests` how many `fuzz` damages. Without a name the first three run, in about two minutes; with `--long` all of
them at full size (two minutes of load, ten minutes of memory, 100,000 requests), in half an hour.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc
from _collect_load import LOAD_CORES, METHOD, Running, Sent, Sink, Traces, collector, load
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from rag_otel import semconv
from rag_otel.cli.terminal import table

RATE = 40.0
"""Requests a second under load."""
TRACES = 2
"""Traces in each of them."""


_SIZES: dict[str, tuple[Any, Any]] = {"seconds": (24.0, 120.0), "minutes": (2.0, 10.0), "requests": (10_000, 100_000)}
"""Of a quick run, and of `--long`."""
_QUICK = ("outage", "crash", "overload")

sys.path.append(str(Path(__file__).parents[1]))  # for tests/, which some parts borrow from


def ids(requests: list[bytes]) -> set[bytes]:
    messages = map(ExportTraceServiceRequest.FromString, requests)
    return {s.span_id for m in messages for r in m.resource_spans for c in r.scope_spans for s in c.spans}


def small(project: str | None = None) -> Iterator[bytes]:
    """Requests of a few traces, all different."""
    traces = Traces(int.from_bytes(os.urandom(4), "big"))
    while True:
        request = traces.request(TRACES)
        if project is not None:
            extra = ExportTraceServiceRequest.FromString(request)
            extra.resource_spans[0].resource.attributes.add(key=semconv.PROJECT_NAME).value.string_value = project
            request = extra.SerializeToString()
        yield request


def wait(condition: Callable[[], bool], within_s: float = 180.0, every_s: float = 0.2) -> bool:
    deadline = time.monotonic() + within_s
    while not condition() and time.monotonic() < deadline:
        time.sleep(every_s)
    return condition()


def report(name: str, sent: Sent, seen: dict[bytes, int], *more: tuple[str, str]) -> None:
    """Prints what became of what was acknowledged."""
    wanted = ids(sent.accepted)
    missing = len(wanted - seen.keys())
    rows = [
        ("requests acknowledged", f"{sent.requests:,}"),
        ("refused, with a delay", f"{sent.refused:,}, {sent.retry_delays:,}"),
        ("not answered", f"{sent.failed:,}"),
        ("spans acknowledged", f"{len(wanted):,}"),
        ("of them missing", f"{missing:,}"),
        ("delivered more than once", f"{sum(seen.get(each, 0) > 1 for each in wanted):,}"),
        *more,
    ]
    print(f"\n{name}\n{table(rows)}", flush=True)


async def during(running: Running, seconds: float, *events: tuple[float, Callable[[], Any]], **options: Any) -> Sent:
    """A load, and what happens in the middle of it: (after so many seconds, what)."""
    options = {"per_second": RATE, **options}
    requests = options.pop("requests", None) or small()
    task = asyncio.create_task(load(running.grpc_port, requests, seconds=seconds, keep=True, **options))
    started = time.monotonic()
    for after, event in events:
        await asyncio.sleep(max(0.0, started + after - time.monotonic()))
        await asyncio.to_thread(event)
    return await task


def outage(seconds: float) -> None:
    """kill -9 of the backend for half the time."""
    first = Sink(remember=True)
    sinks = [first]

    def down() -> None:
        first.seen()
        first.kill()

    with collector(first.port, "grace=0.5", "sample_ratio=0.5") as running:
        sent = asyncio.run(
            during(
                running,
                seconds,
                (seconds / 4, down),
                (seconds * 3 / 4, lambda: sinks.append(Sink(remember=True, port=first.port))),
            )
        )

        def seen() -> dict[bytes, int]:
            total: dict[bytes, int] = {}
            for sink in sinks:
                for span_id, count in (sink._seen if sink is first else sink.seen()).items():
                    total[span_id] = total.get(span_id, 0) + count
            return total

        wanted = ids(sent.accepted)
        wait(lambda: wanted <= seen().keys())
        report(f"Backend killed for {seconds / 2:.0f} s of {seconds:.0f}", sent, seen())
    sinks[-1].kill()


def crash(seconds: float) -> None:
    """kill -9 of the collector under load, three times; the backend is away the while."""
    away = Sink()
    port = away.port
    away.kill()
    total = Sent()
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(3):
            with suppress(ProcessLookupError), collector(port, "grace=0.5", folder=folder) as running:
                kill = (seconds / 3, running.process.kill)
                sent = asyncio.run(during(running, seconds / 3 + 1, kill))
                total.accepted += sent.accepted
                total.requests += sent.requests
                total.refused += sent.refused
                total.failed += sent.failed
        sink = Sink(remember=True, port=port)
        wanted = ids(total.accepted)
        with collector(port, "grace=0.5", folder=folder):
            wait(lambda: wanted <= sink.seen().keys())
            report("Collector killed three times, then started", total, sink.seen())
    sink.kill()


def overload(seconds: float) -> None:
    """As much as the load can send, where about half of it can be evaluated."""
    bound = 24
    sink = Sink(remember=True)
    with collector(sink.port, "grace=0.5", f"max_memory_bytes={bound * 2**20}") as running:
        peak = 0.0

        def look() -> None:
            nonlocal peak
            peak = max(peak, running.rss_mb()[0])

        before = running.rss_mb()[0]
        looks = [(seconds * n / 50, look) for n in range(50)]
        sent = asyncio.run(during(running, seconds, *looks, per_second=None, in_flight=16, backoff_s=0.1))
        wanted = ids(sent.accepted)
        wait(lambda: wanted <= sink.seen().keys(), within_s=600)
        memory = f"{before:.0f} MB before, {peak:.0f} MB at most; {bound} MB may be held"
        report("Overload, every trace evaluated", sent, sink.seen(), ("memory", memory))
    sink.kill()


def fuzz(count: int) -> None:
    """Damaged requests over both protocols, then a good one."""
    from tests.collect.mutations import mutations

    sink = Sink()
    with collector(sink.port, "grace=0.5", "idle=2") as running:
        answers: dict[str, int] = {}
        memory = [sum(running.rss_mb())]

        async def send_all() -> None:
            options = [("grpc.max_send_message_length", -1)]
            async with grpc.aio.insecure_channel(f"127.0.0.1:{running.grpc_port}", options=options) as channel:
                export = channel.unary_unary(METHOD)
                gate = asyncio.Semaphore(16)

                async def over_grpc(body: bytes) -> None:
                    try:
                        await export(body, timeout=30)
                        answer = "OK"
                    except grpc.aio.AioRpcError as error:
                        answer = error.code().name
                    finally:
                        gate.release()
                    answers[answer] = answers.get(answer, 0) + 1

                http = _Http(running.http_port)
                running_tasks: set[asyncio.Task[None]] = set()
                for number, (body, form, encoding) in enumerate(itertools.islice(mutations(7), count)):
                    if number % 4 == 0:
                        answer = await http.post(body, form, encoding)
                        answers[answer] = answers.get(answer, 0) + 1
                    else:
                        await gate.acquire()
                        task = asyncio.create_task(over_grpc(body))
                        running_tasks.add(task)
                        task.add_done_callback(running_tasks.discard)
                    if number % (count // 4) == count // 8:
                        memory.append(sum(running.rss_mb()))
                await asyncio.gather(*running_tasks)

        started = time.monotonic()
        asyncio.run(send_all())
        took = time.monotonic() - started
        alive = asyncio.run(load(running.grpc_port, small(), seconds=0.5)).requests > 0
        rows = [
            ("requests", f"{count:,} in {took:.0f} s"),
            ("answers", ", ".join(f"{name} {times:,}" for name, times in sorted(answers.items()))),
            ("without an answer", f"{count - sum(answers.values()):,}"),
            ("evaluation processes replaced", f"{running.metric('worker_restarts_total'):.0f}"),
            ("memory on the way", ", ".join(f"{each:.0f}" for each in memory) + " MB"),
            ("accepts a good request afterwards", "yes" if alive else "NO"),
        ]
        print(f"\nDamaged requests\n{table(rows)}", flush=True)
    sink.kill()


class _Http:
    """A connection that is kept open; what the server closes is opened again."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, body: bytes, form: str, encoding: str) -> str:
        """The status of the answer."""
        for _ in range(2):
            if self._streams is None:
                self._streams = await asyncio.open_connection("127.0.0.1", self._port)
            reader, writer = self._streams
            head = f"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: {form}\r\nContent-Encoding: {encoding}\r\n"
            writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            try:
                async with asyncio.timeout(30):
                    answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                    length = next(
                        line.split(":")[1] for line in answer.splitlines() if line.startswith("content-length")
                    )
                    await reader.readexactly(int(length))
                return f"HTTP {answer.split()[1]}"
            except (asyncio.IncompleteReadError, ConnectionError):
                writer.close()
                self._streams = None
        return "closed"


def memory(minutes: float) -> None:
    """Resident memory under a steady load of what can be evaluated, pass-through traffic beside it."""
    sink = Sink()
    with collector(sink.port, "grace=1", "sample_ratio=0.02") as running:
        seen: list[list[float]] = []

        def look() -> None:
            seen.append([*running.rss_mb(), running.metric("held_bytes") / 2**20])

        seconds = minutes * 60
        looks = [(seconds * n / 10, look) for n in range(1, 11)]
        sent = asyncio.run(during(running, seconds + 0.5, *looks, requests=_cycled(), per_second=100))
        rows = [(f"{n * minutes / 10:.1f} min", *(f"{each:.0f}" for each in row)) for n, row in enumerate(seen, 1)]
        print(f"\nMemory under load, MB ({sent.requests:,} requests acknowledged, {sent.refused:,} refused)")
        print(table(rows, header=("after", "collector", "evaluation", "held spans")), flush=True)
    sink.kill()


def _cycled() -> Iterator[bytes]:
    traces = Traces()
    return iter(lambda: traces.request(4), None)


def phoenix(seconds: float, rate: float) -> None:
    """Phoenix killed with -9 under load, started again on the same database, and killed once more as soon as it has
    taken some of what had waited: those spans are acknowledged, and in its memory."""
    from rag_otel.cli.phoenix_server import start_phoenix
    from tests.phoenix_server import PhoenixApi

    with tempfile.TemporaryDirectory() as folder:
        servers = [start_phoenix(Path(folder))]
        project, port = "resilience", servers[0].port

        def kill() -> None:
            os.kill(servers[-1].pid, 9)
            servers[-1].wait()

        def again() -> None:
            servers.append(start_phoenix(Path(folder), port=port))

        with collector(None, f"phoenix_endpoint={servers[0].base_url}", "grace=0.5") as running:

            def kill_while_behind() -> None:
                sent = running.metric("sent_requests_total")
                wait(lambda: running.metric("sent_requests_total") > sent + 2)
                behind.append(running.metric("unconfirmed_batches"))
                kill()
                again()

            behind: list[float] = []
            events = ((seconds / 4, kill), (seconds * 3 / 4, again), (seconds * 3 / 4, kill_while_behind))
            sent = asyncio.run(during(running, seconds, *events, requests=small(project), per_second=rate))
            wanted = ids(sent.accepted)
            stored = _stored(PhoenixApi(servers[-1].base_url), project, wanted)
            report(
                f"Phoenix killed for {seconds / 2:.0f} s of {seconds:.0f}, then again with spans in its memory",
                sent,
                stored,
                ("batches in its memory then", f"{behind[0]:.0f}"),
                ("batches sent again", f"{running.metric('resent_batches_total'):.0f}"),
            )
        servers[-1].stop()


def _stored(api: Any, project: str, wanted: set[bytes], patience_s: float = 90.0) -> dict[bytes, int]:
    """How often each span is in Phoenix; asked until all are there, or for as long as there are more each time.
    Seldom: reading thousands of spans keeps Phoenix from storing others."""
    counts: dict[bytes, int] = {}
    grown = time.monotonic()
    while not wanted <= counts.keys() and time.monotonic() - grown < patience_s:
        time.sleep(patience_s / 9)
        found = [bytes.fromhex(span["context"]["span_id"]) for span in api.spans(project)]
        if len(found) > sum(counts.values()):
            grown = time.monotonic()
        counts = dict(Counter(found))
    return counts


def main() -> None:
    parts: dict[str, Callable[[argparse.Namespace], None]] = {
        "outage": lambda given: outage(given.seconds),
        "crash": lambda given: crash(given.seconds),
        "overload": lambda given: overload(given.seconds / 4),
        "fuzz": lambda given: fuzz(given.requests),
        "memory": lambda given: memory(given.minutes),
        "phoenix": lambda given: phoenix(given.seconds, given.rate),
    }
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help=f"which of {', '.join(parts)}; the first three by default")
    parser.add_argument("--long", action="store_true", help="every part at full size")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--requests", type=int)
    parser.add_argument("--rate", type=float, default=5.0, help="requests a second to Phoenix, of 10 spans each")
    arguments = parser.parse_args()
    for name, (short, long) in _SIZES.items():
        if getattr(arguments, name) is None:
            setattr(arguments, name, long if arguments.long else short)
    os.sched_setaffinity(0, LOAD_CORES)
    for name in arguments.parts or (parts if arguments.long else _QUICK):
        parts[name](arguments)


if __name__ == "__main__":
    main()
