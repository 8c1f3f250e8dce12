"""Prometheus and Alertmanager as Debian has them, with the files of docker/ in another time scale."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rag_otel.cli.demo.phoenix_server import free_port
from testkit.polling import eventually
from testkit.programs import program
from tests.stack.conftest import DOCKER, shortened


@contextlib.contextmanager
def a_process(*command: str, log: Path, env: dict[str, str] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program until the block ends; what it says goes to `log`."""
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=env)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _ready(url: str, process: subprocess.Popen[bytes], log: Path) -> bool:
    assert process.poll() is None, log.read_text("utf-8")
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, TimeoutError, ConnectionError):
        return False


@dataclass(frozen=True)
class Prometheus:
    """A running Prometheus."""

    url: str

    def get(self, path: str, **parameters: str | float) -> Any:
        """The `data` of an answer of its API."""
        address = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(address, timeout=10) as answer:
            return json.loads(answer.read())["data"]

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The series that the expression has now."""
        found: list[dict[str, Any]] = self.get("query", query=expression)["result"]
        return found

    def value(self, expression: str) -> float:
        """The value of the only series; 0 where there is none."""
        found = self.query(expression)
        return float(found[0]["value"][1]) if found else 0.0


@contextlib.contextmanager
def a_prometheus(folder: Path, *, jobs: dict[str, str], alertmanager: str, divisor: int) -> Iterator[Prometheus]:
    """docker/prometheus with its durations divided, scraping `jobs` (name -> host:port) and nothing else."""
    source = DOCKER / "prometheus"
    config = yaml.safe_load(shortened((source / "prometheus.yml").read_text("utf-8"), divisor))
    declared = {job["job_name"]: job for job in config["scrape_configs"]}
    assert set(jobs) & set(declared), "a job of docker/prometheus/prometheus.yml"
    config["scrape_configs"] = [
        {**declared.get(name, {}), "job_name": name, "static_configs": [{"targets": [address]}]}
        for name, address in jobs.items()
    ]
    config["alerting"]["alertmanagers"] = [{"static_configs": [{"targets": [alertmanager]}]}]
    (folder / "rules").mkdir(parents=True)
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config), "utf-8")
    for path in (source / "rules").glob("*.yml"):
        (folder / "rules" / path.name).write_text(shortened(path.read_text("utf-8"), divisor), "utf-8")
    port, log = free_port(), folder / "prometheus.log"
    command = (program("prometheus"), f"--config.file={folder / 'prometheus.yml'}")
    options = (f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address=127.0.0.1:{port}")
    with a_process(*command, *options, "--enable-feature=exemplar-storage", log=log) as process:
        url = f"http://127.0.0.1:{port}"
        eventually(lambda: _ready(f"{url}/-/ready", process, log))
        yield Prometheus(url)


@contextlib.contextmanager
def an_alertmanager(folder: Path, *, receiver: str, divisor: int) -> Iterator[str]:
    """docker/alertmanager with its durations divided and its receivers' addresses replaced; its host:port."""
    text = shortened((DOCKER / "alertmanager" / "alertmanager.yml").read_text("utf-8"), divisor)
    text, replaced = re.subn(r"url: http://alert-sink:\d+", f"url: {receiver}", text)
    assert replaced == 2
    folder.mkdir(parents=True)
    (folder / "alertmanager.yml").write_text(text, "utf-8")
    port, log = free_port(), folder / "alertmanager.log"
    options = (
        f"--config.file={folder / 'alertmanager.yml'}",
        f"--storage.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--cluster.listen-address=",  # alone
    )
    with a_process(program("prometheus-alertmanager"), *options, log=log) as process:
        eventually(lambda: _ready(f"http://127.0.0.1:{port}/-/ready", process, log))
        yield f"127.0.0.1:{port}"
