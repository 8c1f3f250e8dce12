"""Ledgers of every kind: memory, an SQLite file, a real Redis server."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rag_otel.budgets.ledger import Ledger, MemoryLedger
from rag_otel.budgets.redis_ledger import RedisLedger
from rag_otel.budgets.sqlite_ledger import SqliteLedger
from tests.support.polling import eventually

MakeLedger = Callable[[], Ledger]
"""Another connection to the same books. Those in memory are one object."""


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Redis server of this run, on a socket of its own."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed: apt-get install redis-server")
    folder = tmp_path_factory.mktemp("redis")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"redis://127.0.0.1:{port}/0"
    try:
        import redis

        client = redis.Redis.from_url(url)

        def answers() -> bool:
            try:
                return bool(client.ping())
            except redis.ConnectionError:
                return False

        eventually(answers)
        client.close()
        yield url
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture(params=["memory", "sqlite", pytest.param("redis", marks=pytest.mark.server)])
def make_ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeLedger]:
    """Connections to empty books of one kind."""
    made: list[Ledger] = []

    def keep(ledger: Ledger) -> Ledger:
        made.append(ledger)
        return ledger

    if request.param == "memory":
        only = MemoryLedger()
        yield lambda: only
    elif request.param == "sqlite":
        yield lambda: keep(SqliteLedger(tmp_path / "books.sqlite"))
    else:
        import redis

        url = request.getfixturevalue("redis_url")
        with redis.Redis.from_url(url) as client:
            client.flushdb()
        yield lambda: keep(RedisLedger(url))
    for ledger in made:
        ledger.close()
