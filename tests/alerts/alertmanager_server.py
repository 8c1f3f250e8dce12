"""A real Alertmanager on a free port of loopback, with a receiver that wants to hear of everything at once."""

from __future__ import annotations

import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rag_otel.cli.demo.phoenix_server import free_port
from testkit.polling import eventually

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
        eventually(lambda: process.poll() is not None or _answers(server))
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
