"""A real Alertmanager on a free port of loopback, with a receiver that wants to hear of everything at once."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from rag_otel.cli.demo.phoenix_server import free_port

T = TypeVar("T")
PATIENCE_S = 30.0
_CONFIG = """
route:
  receiver: hook
  group_by: [alertname, service]
  group_wait: 1s
  group_interval: 1s
  repeat_interval: 1h
receivers:
  - name: hook
    webhook_configs:
      - url: {hook}
        send_resolved: true
"""


class Alertmanager:
    """What a test asks of it."""

    def __init__(self, url: str) -> None:
        self.url = url

    def firing(self) -> list[dict[str, Any]]:
        """The alerts that it takes for firing now."""
        with urllib.request.urlopen(f"{self.url}/api/v2/alerts?active=true", timeout=10) as answer:
            alerts: list[dict[str, Any]] = json.load(answer)
        return alerts


def until(look: Callable[[], T]) -> T:
    """What `look` returns once that is true; fails with the last answer after half a minute."""
    deadline = time.monotonic() + PATIENCE_S
    pause = 0.02
    while not (found := look()):
        assert time.monotonic() < deadline, f"still {found!r} after {PATIENCE_S:g} s"
        time.sleep(pause)
    return found


@contextmanager
def alertmanager(binary: str, folder: Path, hook: str) -> Iterator[Alertmanager]:
    """Run it until the block ends, notifying `hook`."""
    config = folder / "alertmanager.yml"
    config.write_text(_CONFIG.format(hook=hook))
    port = free_port()
    command = [binary, f"--config.file={config}", f"--storage.path={folder / 'data'}", "--cluster.listen-address="]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([*command, f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log)
    try:
        server = Alertmanager(f"http://127.0.0.1:{port}")
        until(lambda: process.poll() is not None or _answers(server))
        assert process.poll() is None, (folder / "log").read_text()
        yield server
    finally:
        process.terminate()
        process.wait(30)


def _answers(server: Alertmanager) -> bool:
    try:
        server.firing()
    except (urllib.error.URLError, OSError):
        return False
    return True
