"""A real RabbitMQ node of the test run's own: loopback only, everything in a folder of its own, without plugins."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

from rag_otel.cli.demo.phoenix_server import free_port
from testkit.polling import eventually
from testkit.programs import program

_UNWRAPPED = "/usr/lib/rabbitmq/bin/rabbitmq-server"
"""Debian's wrapper around it insists on the system's own user and folders."""
MAX_MESSAGE_BYTES = 2**20
"""What the node takes. RabbitMQ 4 takes 16 MiB by default, RabbitMQ 3 takes 128."""
_QUIET = "+S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none -kernel inet_dist_use_interface {127,0,0,1}"
"""One scheduler thread, which does not spin."""


class RabbitNode:
    """One node. It keeps its port and its data between `kill` and `start`."""

    def __init__(self, folder: Path) -> None:
        self._server = _UNWRAPPED if program("rabbitmq-server") and os.path.exists(_UNWRAPPED) else "rabbitmq-server"
        self._folder = folder
        self.port, distribution, self._names_port = free_port(), free_port(), free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._names: subprocess.Popen[bytes] | None = None
        (folder / "home").mkdir(parents=True)
        (folder / "plugins").write_text("[].\n", "ascii")
        (folder / "rabbitmq.conf").write_text(f"max_message_size = {MAX_MESSAGE_BYTES}\n", "ascii")
        self._environment = {
            **os.environ,
            "HOME": str(folder / "home"),
            "RUNNING_UNDER_SYSTEMD": "true",  # the process that is started is the node itself
            "RABBITMQ_NODENAME": f"rag-otel-{self.port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(distribution),
            "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(folder / "log"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
            "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": _QUIET,
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "ERL_EPMD_PORT": str(self._names_port),
        }

    @property
    def url(self) -> str:
        return f"amqp://guest:guest@127.0.0.1:{self.port}/"

    @property
    def wrong_url(self) -> str:
        return self.url.replace("guest:guest", "guest:wrong")

    @property
    def runs(self) -> bool:
        return self._process is not None

    def start(self) -> None:
        """Start the node, or start it again, and wait until it accepts connections."""
        self.begin()
        eventually(self._answers, within_s=180)

    def begin(self) -> None:
        """The same, without waiting."""
        if self._names is None:
            self._names = subprocess.Popen([_epmd(), "-port", str(self._names_port)], env=self._environment)
        with (self._folder / "node.log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._server], env=self._environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )

    def kill(self) -> None:
        """kill -9: what is not on disk is gone."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        """End the node and the process that knows its name."""
        self.kill()
        if self._names is not None:
            self._names.terminate()
            self._names.wait()
            self._names = None

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self._folder / "node.log").read_text("utf-8")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 2) as connection:
            connection.sendall(b"AMQP\0\0\x09\x01")
            return bool(connection.recv(1))
        return False


@contextlib.contextmanager
def a_rabbit_node(folder: Path) -> Iterator[RabbitNode]:
    """A running node; it is stopped after the block."""
    node = RabbitNode(folder)
    try:
        node.start()
        yield node
    finally:
        node.stop()


def _epmd() -> str:
    """Erlang's own copy, where there is none on the path."""
    return shutil.which("epmd") or "/usr/lib/erlang/bin/epmd"
