"""Damaged requests to a collector, over gRPC and HTTP: the part `fuzz` of `collector_resilience.py`."""

from __future__ import annotations

import asyncio
import itertools
import sys
import time
from pathlib import Path

import grpc
from _collect_load import METHOD, Sink, collector, load
from _collect_runs import small

from rag_otel.cli.terminal import table

sys.path.append(str(Path(__file__).parents[1]))  # for testkit/


def fuzz(count: int) -> None:
    """Damaged requests over both protocols, then a good one."""
    from testkit.damaged_requests import mutations

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
