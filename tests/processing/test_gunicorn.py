"""A real HTTP application under gunicorn, exporting over real OTLP."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from testkit.http_receiver import http_receiver
from testkit.polling import eventually
from tests.processing.kit import SCORE, STATUS
from tests.processing.otlp import received

pytestmark = [pytest.mark.long, pytest.mark.server]


ROOT = Path(__file__).parents[2]


@contextmanager
def gunicorn(sink: str, *options: str) -> Iterator[str]:
    """Two workers on a free port; ended by SIGTERM, as a deployment ends them, and waited for."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    paths = [ROOT, ROOT / "collectors", ROOT / "evaluators"]
    environment = {
        **os.environ,
        "RAG_TEST_SINK": sink,
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
    }
    command = [sys.executable, "-m", "gunicorn", "--workers=2", f"--bind=127.0.0.1:{port}", "--log-level=warning"]
    process = subprocess.Popen(
        [*command, *options, "tests.processing.forking_app:application"], cwd=ROOT, env=environment
    )
    try:
        eventually(lambda: listens(port) or process.poll() is not None, within_s=120)
        assert process.poll() is None
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def listens(port: int) -> bool:
    """True once the server takes connections."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("options", [("--preload",), (), ("--preload", "--worker-class=gthread", "--threads=4")])
def test_every_request_is_exported_once_with_its_score(options: tuple[str, ...]) -> None:
    """Requests over two workers, then SIGTERM: each span is exported exactly once, scored; with preload the call that
    the master made before forking leaves from the master alone."""
    with http_receiver() as sink:
        with gunicorn(sink.url, *options) as url:
            workers = set()
            for n in range(20):
                with urllib.request.urlopen(f"{url}/ask/{n}", timeout=30) as response:
                    workers.add(response.read())
        spans = received(sink)
    asked = [(name, attributes) for name, attributes in spans if name != "at import"]
    assert sorted(name for name, _ in asked) == sorted(map(str, range(20)))
    assert {attributes[SCORE] for _, attributes in spans} == {1.0}
    assert {attributes[STATUS] for _, attributes in spans} == {"evaluated"}
    assert {str(attributes["pid"]).encode() for _, attributes in asked} == workers
    at_import = len(spans) - len(asked)
    assert at_import == (1 if "--preload" in options else 2)
