"""Starts a local Phoenix as a child process, waits until it answers, stops it.

Phoenix keeps everything in one folder (embedded SQLite), listens on loopback alone and calls nobody: the same
launcher serves the demo and the tests. The caller's own PHOENIX_* variables are not passed on, so that a database
address meant for a real deployment can never be written to from here.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import os
import random
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from rag_otel.errors import ConfigurationError

HOST: Final = "127.0.0.1"
DEFAULT_PORT: Final = 6006
LOG_NAME: Final = "phoenix.log"
_NOT_EPHEMERAL: Final = range(20_000, 32_000)
_POLL_S: Final = 0.1
_STOP_GRACE_S: Final = 10.0
_ATTEMPTS: Final = 3
_PORT_TAKEN: Final = ("address already in use", "failed to bind to address")
"""What uvicorn and gRPC log when a port is taken."""


class PhoenixServer:
    """A running Phoenix. Use as a context manager, or call `stop()`; it never outlives the process that started it."""

    def __init__(self, process: subprocess.Popen[bytes], *, port: int, grpc_port: int, working_dir: Path) -> None:
        self._process = process
        self.port = port
        self.grpc_port = grpc_port
        self.working_dir = working_dir
        """Where its database and `phoenix.log` are."""
        atexit.register(self.stop)

    @property
    def base_url(self) -> str:
        """`http://127.0.0.1:<port>`, without a slash at the end."""
        return f"http://{HOST}:{self.port}"

    @property
    def traces_endpoint(self) -> str:
        """Where an OTLP/HTTP span exporter sends to."""
        return f"{self.base_url}/v1/traces"

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def wait(self) -> int:
        """Block until the server ends by itself; returns its exit code."""
        return self._process.wait()

    def stop(self) -> None:
        """End the server, politely first. Safe to call twice."""
        atexit.unregister(self.stop)
        if not self.running:
            return
        self._process.terminate()
        try:
            self._process.wait(_STOP_GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def start_phoenix(
    working_dir: Path | str, *, port: int | None = None, grpc_port: int | None = None, timeout_s: float = 180.0
) -> PhoenixServer:
    """Start Phoenix in `working_dir` (made where it is missing) and return once its database answers.

    A port that is not given, or 0, is any free one; `free_port(6006)` prefers Phoenix's own. Raises
    ConfigurationError when Phoenix is not installed, when the given port is taken, or when it does not come up within
    `timeout_s`, with the end of its log.
    """
    if not _installed():
        raise ConfigurationError("Phoenix is not installed: pip install 'rag-otel[phoenix]'")
    if port and free_port(port) != port:
        raise ConfigurationError(f"port {port} is taken by another program; choose another one")
    directory = Path(working_dir)
    directory.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + timeout_s
    for attempt in range(1, _ATTEMPTS + 1):
        server = _launch(directory, port or free_port(), grpc_port or free_port())
        try:
            _wait_until_ready(server, deadline)
            return server
        except BaseException:  # Ctrl-C while it starts included: no child stays behind
            server.stop()
            # Somebody may have taken a free port between our asking for it and Phoenix's binding it.
            if attempt == _ATTEMPTS or not _port_was_taken(directory):
                raise
    raise AssertionError("unreachable: the last attempt returns or raises")


def free_port(preferred: int = 0) -> int:
    """`preferred` while nobody listens there, else any free port of the loopback address."""
    others = random.sample(_NOT_EPHEMERAL, 20)  # outgoing connections take none of them before a server does
    for candidate in (*([preferred] if preferred else []), *others, 0):
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((HOST, candidate))
            return int(probe.getsockname()[1])
    raise ConfigurationError(f"no free port on {HOST}")


def _installed() -> bool:
    """Whether the server is there, found without importing it: that alone would take seconds."""
    spec = importlib.util.find_spec("phoenix")
    folders = spec.submodule_search_locations if spec is not None else None
    return any((Path(folder) / "server").is_dir() for folder in folders or ())


def _launch(directory: Path, port: int, grpc_port: int) -> PhoenixServer:
    with (directory / LOG_NAME).open("wb") as log:
        process = subprocess.Popen(
            # -P: the script's own folder must not be searched for modules, its names would hide the library's.
            [sys.executable, "-P", str(Path(__file__).with_name("phoenix_child.py"))],
            cwd=directory,
            env=_environment(directory, port, grpc_port),
            stdin=subprocess.PIPE,  # its end tells the child that we are gone
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    return PhoenixServer(process, port=port, grpc_port=grpc_port, working_dir=directory)


def _environment(directory: Path, port: int, grpc_port: int) -> dict[str, str]:
    """The caller's environment, less whatever would send Phoenix elsewhere, plus what keeps it here."""
    foreign = ("PHOENIX_", "OTEL_", "RAG_OTEL_")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return inherited | {
        "PHOENIX_WORKING_DIR": str(directory.resolve()),
        "PHOENIX_HOST": HOST,
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(grpc_port),
        "PHOENIX_TELEMETRY_ENABLED": "false",
        "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
        "PHOENIX_DISABLE_AGENT_ASSISTANT": "true",
    }


def _wait_until_ready(server: PhoenixServer, deadline: float) -> None:
    """Return once `/readyz` (its database answers) says 200."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback never goes through a proxy
    while server.running:
        with contextlib.suppress(OSError), opener.open(f"{server.base_url}/readyz", timeout=5) as response:
            if response.status == 200:
                return
        if time.monotonic() > deadline:
            raise ConfigurationError(
                f"Phoenix did not answer in time; the end of its log:\n{_log_tail(server.working_dir)}"
            )
        time.sleep(_POLL_S)
    raise ConfigurationError(f"Phoenix did not start; the end of its log:\n{_log_tail(server.working_dir)}")


def _port_was_taken(directory: Path) -> bool:
    tail = _log_tail(directory).lower()
    return any(message in tail for message in _PORT_TAKEN)


def _log_tail(directory: Path, lines: int = 20) -> str:
    text = (directory / LOG_NAME).read_text(errors="replace")
    return "\n".join(text.splitlines()[-lines:])
