"""Starts and stops at critical moments: during a request, with a second collector, with an unusable folder."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from rag_otel_collectors.otlp.receivers.http_server import PROTOBUF
from testkit.collector import a_backend, a_collector
from testkit.otlp_requests import LANGCHAIN, a_rag_trace, a_request, a_span
from testkit.polling import eventually
from testkit.warm_python import warm_python

pytestmark = pytest.mark.server


@pytest.mark.parametrize("rag", [False, True], ids=["plain span", "held trace"])
def test_sigterm_in_the_middle_of_a_request(tmp_path: Path, rag: bool) -> None:
    """Acknowledged spans are delivered once. Others are rejected, so that the client retries. The exit code is 0."""
    with a_backend() as backend, a_collector(tmp_path, "--backend", backend.address) as collector:
        spans = a_rag_trace() if rag else [a_span(os.urandom(16), "plain")]
        body = a_request(*spans, scope=LANGCHAIN if rag else "http").SerializeToString()
        head = f"POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-type: {PROTOBUF}\r\ncontent-length: {len(body)}"
        with socket.create_connection(("127.0.0.1", collector.http_port), timeout=30) as connection:
            connection.sendall(head.encode() + b"\r\n\r\n" + body[:20])
            eventually(lambda: collector.get("/healthz")[0] == 200)
            assert collector.process is not None
            collector.process.send_signal(signal.SIGTERM)
            eventually(lambda: any("draining" in line for line in collector.lines))
            connection.sendall(body[20:])
            answer = connection.recv(1000)
        assert collector.process.wait(120) == 0
        assert answer.startswith((b"HTTP/1.1 200", b"HTTP/1.1 503"))
        delivered = [span.span_id for span in spans] if answer.startswith(b"HTTP/1.1 200") else []
        assert sorted(backend.ids()) == sorted(delivered)


def _collect(folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a collector that is expected not to start."""
    command = [warm_python(), "-m", "rag_otel.cli.main", "collect", "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0"]
    command += ["--backend", "http://127.0.0.1:9", "--data-dir", str(folder)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=False)


def test_two_collectors_on_one_folder(tmp_path: Path) -> None:
    """The second one reports that and ends. The first one continues."""
    with a_backend() as backend, a_collector(tmp_path, "--backend", backend.address) as collector:
        second = _collect(tmp_path)
        assert second.returncode != 0
        assert "in use by another collector" in second.stderr
        span = a_span(os.urandom(16), "after")
        collector.export(a_request(span, scope="http"))
        eventually(lambda: backend.ids() == [span.span_id])


def test_a_folder_that_cannot_be_used(tmp_path: Path) -> None:
    """One line names it before the collector listens."""
    (tmp_path / "file").write_text("x")
    ended = _collect(tmp_path / "file" / "state")
    assert ended.returncode != 0
    assert "cannot be used" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "receiving" not in ended.stdout
