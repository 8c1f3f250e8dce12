"""The launcher of a local Phoenix."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from rag_otel.cli.demo.phoenix_server import (
    LOG_NAME,
    _environment,
    _port_was_taken,
    free_port,
    start_phoenix,
)
from rag_otel.delivery.http import get
from rag_otel.errors import ConfigurationError
from testkit.polling import eventually
from testkit.shared_servers import SharedPhoenix

pytestmark = pytest.mark.server


def test_a_taken_port_is_named_before_anything_is_started(tmp_path: Path) -> None:
    """Nobody should search a log for it."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=str(port)):
            start_phoenix(tmp_path, port=port)
        assert free_port(port) != port
    assert free_port(port) == port
    assert not (tmp_path / LOG_NAME).exists()


def test_a_phoenix_that_does_not_come_up_is_stopped_and_its_log_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The child is gone afterwards, and the message holds what it said."""
    (tmp_path / "phoenix").mkdir()
    (tmp_path / "phoenix" / "__init__.py").write_text("raise SystemExit('no such universe')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(ConfigurationError, match="no such universe"):
        start_phoenix(tmp_path / "work")


STAND_IN = """
import http.server, os
def main():
    class Ready(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
    http.server.HTTPServer((os.environ["PHOENIX_HOST"], int(os.environ["PHOENIX_PORT"])), Ready).serve_forever()
"""
STARTER = """
import sys
from rag_otel.cli.demo.phoenix_server import start_phoenix

server = start_phoenix(sys.argv[1])
print(server.port, flush=True)
server.wait()
"""


def test_phoenix_does_not_outlive_a_killed_starter(tmp_path: Path) -> None:
    """A demo or a test run that is killed leaves no server behind."""
    (tmp_path / "phoenix" / "server").mkdir(parents=True)
    for name in ("__init__.py", "server/__init__.py"):
        (tmp_path / "phoenix" / name).touch()
    (tmp_path / "phoenix" / "server" / "main.py").write_text(STAND_IN)
    starter = subprocess.Popen(
        [sys.executable, "-c", STARTER, str(tmp_path / "work")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])},
        stdout=subprocess.PIPE,
    )
    assert starter.stdout is not None
    port = int(starter.stdout.readline())
    assert free_port(port) != port
    starter.kill()
    starter.wait()
    starter.stdout.close()
    eventually(lambda: free_port(port) == port)


def test_settings_meant_for_another_phoenix_are_not_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database address in the environment must never be written to by a demo or a test."""
    monkeypatch.setenv("PHOENIX_SQL_DATABASE_URL", "postgresql://production")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://production:4318")
    environment = _environment(tmp_path, 1, 2)
    assert "production" not in str({k: v for k, v in environment.items() if k not in ("PATH", "PWD")})
    assert environment["PHOENIX_HOST"] == "127.0.0.1"
    assert environment["PHOENIX_ALLOW_EXTERNAL_RESOURCES"] == "false"


@pytest.mark.phoenix
def test_a_running_phoenix_answers_and_keeps_everything_in_its_folder(phoenix_server: SharedPhoenix) -> None:
    """Database and log are where they were asked to be."""
    os.kill(phoenix_server.pid, 0)
    assert get(f"{phoenix_server.base_url}/arize_phoenix_version").strip()
    files = {path.name for path in phoenix_server.working_dir.iterdir()}
    assert {LOG_NAME, "phoenix.db"} <= files


@pytest.mark.parametrize(
    "logged",
    [
        "[Errno 98] error while attempting to bind on address ('127.0.0.1', 6006): address already in use",
        "RuntimeError: Failed to bind to address [::]:41651; set GRPC_VERBOSITY=debug environment variable",
    ],
)
def test_a_port_that_was_taken_in_between_is_recognised(tmp_path: Path, logged: str) -> None:
    """Of Phoenix's two servers: HTTP and gRPC word it differently. The launcher then tries other ports."""
    (tmp_path / LOG_NAME).write_text(f"INFO: starting\n{logged}\nERROR: Application startup failed. Exiting.\n")
    assert _port_was_taken(tmp_path)
