"""A collector as its users run it, a backend that records, and RAG traces to send."""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent import futures
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from rag_otel import semconv
from rag_otel_collectors.otlp.protobuf.span_records import attributes_from
from rag_otel_collectors.otlp.protobuf.wire import attribute_bytes
from rag_otel_collectors.otlp.receivers.grpc_server import SERVICE

T = TypeVar("T")
QUESTION = "When was the lighthouse of Kap Arkona built?"
ANSWER = "The lighthouse of Kap Arkona was built in 1827."
CHUNK = "The lighthouse of Kap Arkona was built in 1827 and is 19.3 metres high."
LANGCHAIN = "openinference.instrumentation.langchain"
SCORE = semconv.metric_key("faithfulness", "score")


def eventually(condition: Callable[[], T], *, within_s: float = 30.0) -> T:
    """The first truthy value of `condition`, polled; fails with its last value when the deadline passes."""
    deadline = time.monotonic() + within_s
    while not (value := condition()):
        assert time.monotonic() < deadline, f"not within {within_s} s; the last value was {value!r}"
        time.sleep(0.02)
    return value


# --- traces ---------------------------------------------------------------------------------------------------


def a_span(
    trace_id: bytes,
    name: str = "span",
    *,
    span_id: bytes | None = None,
    parent: bytes = b"",
    attributes: Mapping[str, Any] | None = None,
) -> Span:
    now = time.time_ns()
    span = Span(
        trace_id=trace_id,
        span_id=span_id or os.urandom(8),
        parent_span_id=parent,
        name=name,
        start_time_unix_nano=now - 1_000_000,
        end_time_unix_nano=now,
    )
    span.MergeFromString(attribute_bytes(attributes or {}))
    return span


def a_rag_trace(trace_id: bytes | None = None, *, answer: str = ANSWER, chunk: str = CHUNK) -> list[Span]:
    """A chain over a retriever, in OpenInference: the child first, as exporters send it."""
    trace_id = trace_id or os.urandom(16)
    root = os.urandom(8)
    documents = {
        semconv.SPAN_KIND: semconv.KIND_RETRIEVER,
        semconv.INPUT_VALUE: QUESTION,
        f"{semconv.DOCUMENTS}.0.{semconv.DOCUMENT_CONTENT}": chunk,
        f"{semconv.DOCUMENTS}.0.{semconv.DOCUMENT_ID}": "kap-arkona",
    }
    texts = {
        semconv.SPAN_KIND: semconv.KIND_CHAIN,
        semconv.INPUT_VALUE: QUESTION,
        semconv.OUTPUT_VALUE: answer,
    }
    return [
        a_span(trace_id, "retrieve", parent=root, attributes=documents),
        a_span(trace_id, "answer", span_id=root, attributes=texts),
    ]


def a_request(*spans: Span, scope: str = LANGCHAIN) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    resource_spans = request.resource_spans.add()
    resource_spans.resource.attributes.add(key=semconv.SERVICE_NAME).value.string_value = "shop"
    scope_spans = resource_spans.scope_spans.add()
    scope_spans.scope.name = scope
    scope_spans.spans.extend(spans)
    return request


# --- a backend ---------------------------------------------------------------------------------------------------


@dataclass
class Backend:
    """What an OTLP/gRPC backend got. `answers` are the next ones, (status, trailing metadata); then OK for ever."""

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
    """`rag-otel collect` in a process of its own, on free ports, with a short grace."""

    def __init__(
        self, data_dir: Path, *arguments: str, env: Mapping[str, str] | None = None, prefix: Sequence[str] = ()
    ) -> None:
        """`prefix` is a command that starts another one."""
        self._prefix = prefix
        self.data_dir = data_dir
        self.lines: list[str] = []
        self._arguments = arguments
        self._env = env or {}
        self.grpc_port = self.http_port = 0
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> CollectorProcess:
        command = [
            *self._prefix,
            sys.executable,
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

        return eventually(find, within_s=60) or 0

    @property
    def grpc_address(self) -> str:
        return f"127.0.0.1:{self.grpc_port}"

    @property
    def http_address(self) -> str:
        return f"http://127.0.0.1:{self.http_port}"

    def kill(self) -> None:
        """kill -9, without a chance to say goodbye."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()
        self.lines.clear()

    def stop(self, within_s: float = 40.0) -> int:
        """SIGTERM, and the exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(within_s)

    def get(self, path: str) -> tuple[int, str]:
        """Status and body of a GET."""
        try:
            with urllib.request.urlopen(self.http_address + path, timeout=10) as answer:
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
                payload, timeout=20, metadata=tuple(metadata.items())
            )
            return answer


@contextlib.contextmanager
def a_collector(data_dir: Path, *arguments: str, env: Mapping[str, str] | None = None) -> Iterator[CollectorProcess]:
    """A running collector; killed at the end if it still runs."""
    collector = CollectorProcess(data_dir, *arguments, env=env)
    try:
        yield collector.start()
    finally:
        if collector.process is not None and collector.process.poll() is None:
            collector.process.kill()
            collector.process.wait()


def run(coroutine: Any) -> Any:
    """Run a coroutine to its end."""
    return asyncio.run(coroutine)
