"""The servers that all tests of a run share, started once for all workers of pytest, when a test first asks.

They belong to the process that the run was started with: under xdist to the controller, which answers the workers over
a socket, and which stops them when all workers have ended. Each has ports from the system and a folder of its own, and
is awaited until it answers. Another run, and a server that somebody else has started, are never touched. A test that
stops a server, or looks at all that it holds, starts its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

Facts = dict[str, Any]
"""What a test needs to use a server: addresses, folder."""
PATIENCE_S: Final = 900.0
"""For a server to start, on a machine that is busy with other work."""
_SOCKET_ENV: Final = "TESTS_SHARED_SERVERS"


@dataclass(frozen=True, kw_only=True)
class SharedPhoenix:
    """A running Phoenix that belongs to all tests: each uses a project of its own."""

    port: int
    grpc_port: int
    pid: int
    folder: str

    @property
    def base_url(self) -> str:
        """`http://127.0.0.1:<port>`, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def traces_endpoint(self) -> str:
        """Where an OTLP/HTTP span exporter sends to."""
        return f"{self.base_url}/v1/traces"

    @property
    def working_dir(self) -> Path:
        """Where its database and its log are."""
        return Path(self.folder)


@dataclass(frozen=True, kw_only=True)
class SharedBroker:
    """A running RabbitMQ that belongs to all tests: each uses queues of its own."""

    url: str
    wrong_url: str
    """With a password that is not the server's."""
    port: int


@contextlib.contextmanager
def _phoenix(folder: Path) -> Iterator[Facts]:
    from rag_otel.cli.demo.phoenix_server import start_phoenix

    with start_phoenix(folder, timeout_s=PATIENCE_S) as server:
        yield {"port": server.port, "grpc_port": server.grpc_port, "pid": server.pid, "folder": str(folder)}


@contextlib.contextmanager
def _redis(folder: Path) -> Iterator[Facts]:
    from tests.support.redis_server import redis_server

    with redis_server(folder) as url:
        yield {"url": url}


@contextlib.contextmanager
def _rabbit(folder: Path) -> Iterator[Facts]:
    from testkit.rabbitmq import a_rabbit_node

    with a_rabbit_node(folder) as node:
        yield {"url": node.url, "wrong_url": node.wrong_url, "port": node.port}


@contextlib.contextmanager
def _warm_python(folder: Path, *others: str) -> Iterator[Facts]:
    from testkit.warm_python import warm_python_server

    with warm_python_server(folder, *others) as facts:
        yield facts


_STARTS: Final[dict[str, Callable[[Path], AbstractContextManager[Facts]]]] = {
    "phoenix": _phoenix,
    "redis": _redis,
    "rabbit": _rabbit,
    "warm_python": _warm_python,
    "warm_python_with_litellm": lambda folder: _warm_python(folder, "litellm"),
}


class SharedServers:
    """The servers of one run. `get` may be called on any thread."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="rag-otel-tests-"))
        self._running = contextlib.ExitStack()
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._answers: dict[str, Facts] = {}
        """By name: what is known of a server, or why there is none. A start that failed is not tried again."""

    def get(self, name: str) -> Facts:
        """`{"facts": ...}`, `{"skip": reason}` where its program is missing, or `{"error": what happened}`."""
        with self._locks[name]:
            if name not in self._answers:
                self._answers[name] = self._start(name)
            return self._answers[name]

    def _start(self, name: str) -> Facts:
        folder = self._folder / name
        folder.mkdir()
        try:
            return {"facts": self._running.enter_context(_STARTS[name](folder))}
        except pytest.skip.Exception as skipped:
            return {"skip": str(skipped)}
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - for the tests that asked
            return {"error": f"{type(error).__name__}: {error}"}

    def answer_workers(self) -> None:
        """Listen for the workers that this process starts from now on."""
        address = str(self._folder / "socket")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(address)
        listener.listen(128)
        os.environ[_SOCKET_ENV] = address
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            worker, _ = listener.accept()
            threading.Thread(target=self._answer, args=(worker,), daemon=True).start()

    def _answer(self, worker: socket.socket) -> None:
        with contextlib.suppress(OSError), worker, worker.makefile("rwb") as stream:
            stream.write(json.dumps(self.get(stream.readline().decode().strip())).encode() + b"\n")

    def close(self) -> None:
        """Stop them all."""
        self._running.close()
        shutil.rmtree(self._folder, ignore_errors=True)


_own: SharedServers | None = None


def open_shared_servers(*, for_workers: bool) -> None:
    """At the start of a run, in the process that all others come from."""
    global _own
    _own = SharedServers()
    if for_workers:
        _own.answer_workers()


def close_shared_servers() -> None:
    """At its end."""
    global _own
    if _own is not None:
        _own.close()
        _own = None


def servers_are_shared() -> bool:
    """False outside of pytest, as in a benchmark."""
    return _own is not None or _SOCKET_ENV in os.environ


def shared_server(name: str) -> Facts:
    """What one needs to use a server. Skips or fails the test that asks where it cannot be had."""
    answer = _own.get(name) if _own is not None else _asked(name)
    if "skip" in answer:
        pytest.skip(answer["skip"])
    if "error" in answer:
        pytest.fail(f"{name} could not be started: {answer['error']}")
    facts: Facts = answer["facts"]
    return facts


def _asked(name: str) -> Facts:
    with socket.socket(socket.AF_UNIX) as controller:
        controller.settimeout(2 * PATIENCE_S)
        controller.connect(os.environ[_SOCKET_ENV])
        with controller.makefile("rwb") as stream:
            stream.write(name.encode() + b"\n")
            stream.flush()
            answer: Facts = json.loads(stream.readline())
            return answer
