"""A collector as users run it, a recording backend, and RAG traces to send."""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from concurrent import futures
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from rag_otel import semconv
from rag_otel_collectors.otlp.receivers.grpc_server import SERVICE
from rag_otel_collectors.otlp.requests.span_records import attributes_from
from testkit.polling import eventually
from testkit.warm_python import kill_9, pid_of, warm_python

SCORE = semconv.metric_key("faithfulness", "score")


# --- a backend ---------------------------------------------------------------------------------------------------


@dataclass
class Backend:
    """An OTLP/gRPC backend that records requests. `answers` are the next responses, (status, trailing metadata); after
    them it returns OK."""

    port: int
    requests: list[bytes] = field(default_factory=list)
    headers: list[dict[str, Any]] = field(default_factory=list)
    answers: queue.SimpleQueue[tuple[grpc.StatusCode, Any]] = field(default_factory=queue.SimpleQueue)

    @property
    def address(self) -> str:
        return f"grpc://127.0.0.1:{self.port}"

    def spans(self) -> list[Span]:
        """Every span in the order of arrival."""
        return [
            span
            for request in list(self.requests)
            for resource in ExportTraceServiceRequest.FromString(request).resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def attributes(self, name: str) -> list[dict[str, Any]]:
        """The attributes of every span of this name."""
        return [attributes_from(span.attributes) for span in self.spans() if span.name == name]

    def ids(self) -> list[bytes]:
        return [span.span_id for span in self.spans()]


@contextlib.contextmanager
def a_backend(port: int = 0) -> Iterator[Backend]:
    """An OTLP/gRPC backend on loopback."""
    backend = Backend(port)

    def export(request: bytes, context: Any) -> bytes:
        if not backend.answers.empty():
            code, trailing = backend.answers.get()
            context.set_trailing_metadata(trailing)
            context.abort(code, "as the test says")
        backend.headers.append(dict(context.invocation_metadata()))
        backend.requests.append(request)
        return b""

    server = grpc.server(
        futures.ThreadPoolExecutor(4), options=[("grpc.max_receive_message_length", -1), ("grpc.so_reuseport", 0)]
    )
    handlers = {"Export": grpc.unary_unary_rpc_method_handler(export)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
    backend.port = server.add_insecure_port(f"127.0.0.1:{port}")
    assert backend.port, "the port is taken"
    server.start()
    try:
        yield backend
    finally:
        server.stop(0).wait()


# --- the collector ---------------------------------------------------------------------------------------------------


class CollectorProcess:
    """`rag-otel collect` in its own process, on free ports, with a short waiting time after the root span.

    The process is forked (see `warm_python`); a `fresh` one, and one with a `prefix`, is started from nothing.
    """

    def __init__(
        self,
        data_dir: Path,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        prefix: Sequence[str] = (),
        fresh: bool = False,
    ) -> None:
        """`prefix` is a command that starts another one. `fresh`: for tests of memory, children or `/proc`."""
        self._prefix = prefix
        self._python = sys.executable if fresh or prefix else warm_python()
        self.data_dir = data_dir
        self.lines: list[str] = []
        self._arguments = arguments
        self._env = env or {}
        self.grpc_port = self.http_port = 0
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> CollectorProcess:
        command = [
            *self._prefix,
            self._python,
            "-m",
            "rag_otel.cli.main",
            "collect",
            "--grpc",
            "127.0.0.1:0",
            "--http",
            "127.0.0.1:0",
        ]
        command += ["--data-dir", str(self.data_dir), "--set", "grace=0.2", "--set", "idle=3", *self._arguments]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **self._env}
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        )
        threading.Thread(target=self._read, args=(self.process,), daemon=True).start()
        self.grpc_port = self._port("OTLP/gRPC")
        self.http_port = self._port("OTLP/HTTP")
        return self

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self.lines.append(line.rstrip())

    def _port(self, name: str) -> int:
        def find() -> int | None:
            assert self.process is not None
            found = [line for line in self.lines if line.startswith(f"receiving {name}")]
            assert found or self.process.poll() is None, "\n".join(self.lines)
            return int(found[-1].rpartition(" ")[2]) if found else None

        return eventually(find, within_s=120) or 0

    @property
    def pid(self) -> int:
        assert self.process is not None
        return pid_of(self.process)

    @property
    def grpc_address(self) -> str:
        return f"127.0.0.1:{self.grpc_port}"

    @property
    def http_address(self) -> str:
        return f"http://127.0.0.1:{self.http_port}"

    def kill(self) -> None:
        """kill -9, without a shutdown."""
        assert self.process is not None
        kill_9(self.process)
        self.process.wait()
        self.lines.clear()

    def stop(self, within_s: float = 120.0) -> int:
        """SIGTERM, and the exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(within_s)

    def get(self, path: str) -> tuple[int, str]:
        """Status and body of a GET."""
        try:
            with urllib.request.urlopen(self.http_address + path, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def metric(self, name: str, **labels: str) -> float:
        """A value of `/metrics`: of these labels, or the sum over all."""
        wanted = [f'{key}="{value}"' for key, value in labels.items()]
        lines = [line for line in self.get("/metrics")[1].splitlines() if line.startswith(f"rag_otel_collector_{name}")]
        return sum(float(line.rpartition(" ")[2]) for line in lines if all(label in line for label in wanted))

    def export(self, request: ExportTraceServiceRequest | bytes, **metadata: str) -> bytes:
        """Send over gRPC. Raises grpc.RpcError."""
        payload = request if isinstance(request, bytes) else request.SerializeToString()
        with grpc.insecure_channel(self.grpc_address, options=[("grpc.max_send_message_length", -1)]) as channel:
            answer: bytes = channel.unary_unary(f"/{SERVICE}/Export")(
                payload, timeout=60, metadata=tuple(metadata.items())
            )
            return answer


@contextlib.contextmanager
def a_collector(
    data_dir: Path, *arguments: str, env: Mapping[str, str] | None = None, fresh: bool = False
) -> Iterator[CollectorProcess]:
    """A running collector; killed at the end if it still runs."""
    collector = CollectorProcess(data_dir, *arguments, env=env, fresh=fresh)
    try:
        yield collector.start()
    finally:
        if collector.process is not None and collector.process.poll() is None:
            kill_9(collector.process)
            collector.process.wait()


def run(coroutine: Any) -> Any:
    """Runs a coroutine to its end."""
    return asyncio.run(coroutine)
