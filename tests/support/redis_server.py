"""A real Redis server on a free port, which keeps nothing."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rag_otel.cli.demo.phoenix_server import free_port
from testkit.polling import eventually
from testkit.programs import program


@contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    """Its URL, without a database's number. Skips the test where the program is missing."""
    import redis

    found = program("redis-server")
    port = free_port()
    command = [found, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    command += ["--databases", "256"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"redis://127.0.0.1:{port}"

    def answers() -> bool:
        try:
            with redis.Redis.from_url(url) as client:
                return bool(client.ping())
        except redis.ConnectionError:
            return False

    try:
        eventually(answers)
        yield url
    finally:
        process.terminate()
        process.wait(10)
