"""A real NATS server with JetStream of the test run's own: loopback only, its data in a folder of its own."""

from __future__ import annotations

import contextlib
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

from rag_otel.cli.demo.phoenix_server import free_port
from testkit.polling import eventually
from testkit.programs import program


class NatsServer:
    """One server. It keeps its port and its data between `kill` and `start`."""

    def __init__(self, folder: Path) -> None:
        self._program = program("nats-server")
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._config = folder / "nats.conf"
        self._config.write_text(
            f'listen: "127.0.0.1:{self.port}"\nmax_payload: 8MB\njetstream {{ store_dir: "{folder / "data"}" }}\n'
            "authorization { user: tester, password: secret }\n",
            "utf-8",
        )

    @property
    def url(self) -> str:
        return f"nats://tester:secret@127.0.0.1:{self.port}"

    @property
    def wrong_url(self) -> str:
        return self.url.replace("secret", "wrong")

    @property
    def runs(self) -> bool:
        return self._process is not None

    def start(self) -> None:
        """Start the server, or start it again, and wait until it accepts connections."""
        with (self._folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen([self._program, "-c", str(self._config)], stdout=log, stderr=log)
        eventually(self._answers, within_s=120)

    def kill(self) -> None:
        """kill -9."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self._folder / "server.log").read_text("utf-8")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 2) as connection:
            return connection.recv(4) == b"INFO"
        return False


@contextlib.contextmanager
def a_nats_server(folder: Path) -> Iterator[NatsServer]:
    """A running server; it is stopped after the block."""
    server = NatsServer(folder)
    try:
        server.start()
        yield server
    finally:
        server.kill()
