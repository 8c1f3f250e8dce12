"""Many idle connections, slow connections, and more connections than file descriptors do not block other clients."""

from __future__ import annotations

import os
import resource
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import grpc
import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter

from rag_otel_collectors.otlp.receivers.grpc_server import SERVICE
from testkit.collector import Backend, CollectorProcess, a_backend, a_collector
from testkit.otlp_requests import a_request, a_span
from testkit.polling import eventually
from tests.collectors.otlp.test_exporters import assert_scored, send

pytestmark = pytest.mark.server

GET = b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n"
HALF_A_POST = (
    b"POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-protobuf\r\ncontent-length: 10\r\n\r\nx"
)

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5)
"""Of an HTTP/2 client, with empty settings."""


def literal(name: bytes, value: bytes) -> bytes:
    """A header field as HPACK writes it without an index (RFC 7541, 6.2.2)."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


_FIELDS = (
    literal(b":method", b"POST")
    + literal(b":scheme", b"http")
    + literal(b":path", f"/{SERVICE}/Export".encode())
    + literal(b":authority", b"x")
    + literal(b"te", b"trailers")
    + literal(b"content-type", b"application/grpc")
)
HEADERS_OF_A_CALL = len(_FIELDS).to_bytes(3, "big") + b"\x01\x04" + (1).to_bytes(4, "big") + _FIELDS
"""The beginning of an export; its body does not follow."""


@contextmanager
def open_connections(
    port: int, number: int, said: bytes = b"", *, from_host: str = "127.0.0.1"
) -> Iterator[list[socket.socket]]:
    """This many connections of one client. Each has sent something and waits."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(limits[1], 10_000), limits[1]))
    connections = []
    try:
        for _ in range(number):
            connection = socket.create_connection(("127.0.0.1", port), timeout=60, source_address=(from_host, 0))
            connections.append(connection)
            connection.sendall(said)
        yield connections
    finally:
        for connection in connections:
            connection.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def said_well(connection: socket.socket) -> bool:
    """Reads one response to `GET`."""
    answer = b""
    while not answer.endswith(b"\r\n\r\nok\n"):
        part = connection.recv(1000)
        if not part:
            return False
        answer += part
    return answer.startswith(b"HTTP/1.1 200")


def answered(connection: socket.socket, wanted: bytes = b"") -> bool:
    """True when something came back that holds `wanted`; False when the connection was closed."""
    received = b""
    with suppress(ConnectionError):
        while part := connection.recv(1000):
            received += part
            if wanted in received:
                return True
    return False


@pytest.fixture
def collector_of_few_files(tmp_path: Path) -> Iterator[tuple[CollectorProcess, Backend]]:
    """A collector that starts with a soft limit of 1,024 descriptors, the default of most systems, and must not raise
    it."""
    with a_backend() as backend:
        collector = CollectorProcess(tmp_path, "--backend", backend.address, prefix=("prlimit", "--nofile=1024:1024"))
        try:
            yield collector.start(), backend
        finally:
            collector.kill()


@pytest.mark.parametrize("said", [b"", GET, HALF_A_POST], ids=["silent", "keep-alive", "half a request"])
def test_many_http_connections_keep_no_exporter_out(
    collector_of_few_files: tuple[CollectorProcess, Backend], said: bytes
) -> None:
    """With 1,100 connections and 1,024 descriptors, exporters over HTTP and over gRPC can still connect."""
    collector, backend = collector_of_few_files
    with open_connections(collector.http_port, 1100, said):
        send(HttpExporter(endpoint=f"{collector.http_address}/v1/traces", timeout=60), "over http")
        send(GrpcExporter(endpoint=collector.grpc_address, insecure=True, timeout=60), "over grpc")
        assert_scored(backend, "over http")
        assert_scored(backend, "over grpc")
        assert collector.get("/healthz")[0] == 200
        assert collector.metric("closed_connections_total", transport="http") > 0


def test_many_grpc_connections_keep_no_exporter_out(
    collector_of_few_files: tuple[CollectorProcess, Backend],
) -> None:
    """HTTP has reserved descriptors. Silent connections are closed, and others are accepted."""
    collector, backend = collector_of_few_files

    def exported() -> bool:
        with suppress(grpc.RpcError):
            collector.export(a_request(a_span(os.urandom(16), "over grpc"), scope="http"))
            return True
        return False

    with open_connections(collector.grpc_port, 1100):
        send(HttpExporter(endpoint=f"{collector.http_address}/v1/traces", timeout=60), "over http")
        assert_scored(backend, "over http")
        eventually(exported)
        eventually(lambda: backend.attributes("over grpc"))


def test_the_soft_limit_is_raised(tmp_path: Path) -> None:
    """The soft limit is raised as far as allowed."""
    with a_backend() as backend:
        collector = CollectorProcess(tmp_path, "--backend", backend.address, prefix=("prlimit", "--nofile=256:4096"))
        try:
            collector.start()
            assert collector.process is not None
            limits = Path(f"/proc/{collector.process.pid}/limits").read_text()
            (line,) = [line for line in limits.splitlines() if line.startswith("Max open files")]
            assert line.split()[3:5] == ["4096", "4096"]
        finally:
            collector.kill()


def test_one_client_does_not_take_the_place_of_another(
    collector_of_few_files: tuple[CollectorProcess, Backend],
) -> None:
    """The client with the most connections loses one first. The connection of another client stays."""
    collector, _ = collector_of_few_files
    with open_connections(collector.http_port, 1, GET, from_host="127.0.0.2") as (other,):
        assert said_well(other)
        with open_connections(collector.http_port, 900, GET, from_host="127.0.0.3"):
            eventually(lambda: collector.metric("closed_connections_total", reason="idle") > 0)
            other.sendall(GET)
            assert said_well(other)


def test_bodies_of_one_grpc_client_leave_places(tmp_path: Path) -> None:
    """One client begins 100 requests and does not end them. Requests of another client are received beside them."""
    with (
        a_backend() as backend,
        a_collector(tmp_path, "--backend", backend.address) as collector,
        open_connections(collector.grpc_port, 100, PREFACE + HEADERS_OF_A_CALL, from_host="127.0.0.3") as begun,
    ):
        assert all(answered(connection) for connection in begun)
        for number in range(10):
            collector.export(a_request(a_span(os.urandom(16), f"beside {number}"), scope="http"))


def test_slow_bodies_make_room(tmp_path: Path) -> None:
    """150 incomplete bodies of 700 kB: requests are rejected temporarily, for at most two seconds, until the bodies
    time out."""
    body = HALF_A_POST.replace(b"10\r\n", b"1000000\r\n") + bytes(700_000)
    with (
        a_backend() as backend,
        a_collector(tmp_path, "--backend", backend.address) as collector,
        open_connections(collector.http_port, 150, body),
    ):
        send(HttpExporter(endpoint=f"{collector.http_address}/v1/traces", timeout=60), "beside slow ones")
        assert_scored(backend, "beside slow ones")
        assert collector.metric("requests_total", outcome="slow") > 0


def test_a_huge_head_is_refused(tmp_path: Path) -> None:
    """It is neither kept in memory nor waited for."""
    with a_backend() as backend, a_collector(tmp_path, "--backend", backend.address) as collector:
        with open_connections(collector.http_port, 1) as (connection,):
            connection.sendall(b"POST /v1/traces HTTP/1.1\r\nhost: x\r\nx-text: " + b"x" * 100_000)
            answer = connection.recv(1000)
            assert answer.startswith(b"HTTP/1.1 400")
        assert collector.get("/healthz")[0] == 200


def test_what_is_on_disk_is_nobody_elses(tmp_path: Path) -> None:
    """Spans contain texts of users, so files have mode 0600 and folders 0700, whatever the umask."""
    old = os.umask(0)
    try:
        with a_backend() as backend, a_collector(tmp_path / "state", "--backend", backend.address) as collector:
            send(HttpExporter(endpoint=f"{collector.http_address}/v1/traces"), "kept")
            assert_scored(backend, "kept")
            assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700
            for part in ("journal", "outbox"):
                for path in [tmp_path / "state" / part, *(tmp_path / "state" / part).rglob("*")]:
                    assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path
    finally:
        os.umask(old)
