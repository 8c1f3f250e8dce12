"""A real gunicorn that serves an application of the tests."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


@contextmanager
def gunicorn(application: str, environment: Mapping[str, str], *options: str) -> Iterator[str]:
    """Its URL; ended by SIGTERM, as a deployment ends it, and waited for. A request waits until a worker is there.

    The port is bound before the server starts, so no other program can take it meanwhile. `application`:
    `module:name`; `environment` is added to that of this process.
    """
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "collectors", ROOT / "evaluators")))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        bound = listening.fileno()
        command = [sys.executable, "-m", "gunicorn", f"--bind=fd://{bound}", "--log-level=warning"]
        process = subprocess.Popen(
            [*command, *options, application],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": paths, **environment},
            pass_fds=[bound],
        )
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
