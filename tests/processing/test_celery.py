"""A real Celery worker with its prefork pool."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from celery import Celery

from testkit.http_receiver import http_receiver
from testkit.polling import eventually
from tests.processing.kit import SCORE
from tests.processing.otlp import received

pytestmark = [pytest.mark.long, pytest.mark.server]


ROOT = Path(__file__).parents[2]


def test_every_task_is_exported_once_with_its_score(tmp_path: Path) -> None:
    """Tasks over two forked processes: each span leaves once, scored; the parent's own from the parent alone."""
    (tmp_path / "control").mkdir()
    with http_receiver() as sink:
        environment = {
            **os.environ,
            "RAG_TEST_SINK": sink.url,
            "RAG_TEST_QUEUE": str(tmp_path),
            "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "collectors", ROOT / "evaluators"))),
        }
        client = Celery(broker="filesystem://")
        client.conf.broker_transport_options = {
            "data_folder_in": str(tmp_path),
            "data_folder_out": str(tmp_path),
            "control_folder": str(tmp_path / "control"),
        }
        for n in range(10):
            client.send_task("ask", [f"task {n}"], ignore_result=True)
        worker = subprocess.Popen(
            [sys.executable, "-m", "celery", "-A", "tests.processing.celery_app:app", "worker", "--pool=prefork",
             "--concurrency=2", "--loglevel=warning", "--without-gossip", "--without-mingle", "--without-heartbeat"],
            cwd=ROOT,
            env=environment,
        )  # fmt: skip
        try:
            eventually(lambda: not list(tmp_path.glob("*.msg")) or worker.poll() is not None, within_s=120)
            assert worker.poll() is None
        finally:
            worker.send_signal(signal.SIGTERM)
            worker.wait(60)
        spans = received(sink)
    assert sorted(name for name, _ in spans) == sorted(["at import", *(f"task {n}" for n in range(10))])
    assert {attributes[SCORE] for _, attributes in spans} == {1.0}
