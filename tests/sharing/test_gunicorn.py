"""A real server with four workers and one state folder: one alarm, one page of metrics."""

from __future__ import annotations

import json
import os
import re
import signal
import urllib.request
from pathlib import Path

import pytest

from rag_otel.cli.demo.phoenix_server import free_port
from testkit.http_receiver import http_receiver
from testkit.polling import eventually
from tests.support.gunicorn_server import gunicorn

pytestmark = [pytest.mark.long, pytest.mark.server]


def page(url: str) -> str:
    """What stands there; empty where nobody serves it."""
    try:
        with urllib.request.urlopen(url, timeout=10) as response:
            return str(response.read().decode())
    except OSError:
        return ""


def total(metric: str, page: str) -> float:
    """The sum of a metric's series."""
    return sum(map(float, re.findall(rf"^{metric}(?:\{{[^}}]*\}})? (\S+)", page, re.MULTILINE)))


@pytest.mark.parametrize("options", [(), ("--preload",)])
def test_four_workers_tell_one_alarm_and_serve_one_page(tmp_path: Path, options: tuple[str, ...]) -> None:
    """The drop is told once; the page counts the answers of all workers; a worker that is killed is followed by
    another, which serves the page on and tells nothing again."""
    metrics = free_port()
    with http_receiver() as hook:
        environment = {
            "RAG_TEST_HOOK": hook.url,
            "RAG_TEST_STATE": str(tmp_path),
            "RAG_TEST_METRICS": f"127.0.0.1:{metrics}",
            "PYDANTIC_DISABLE_PLUGINS": "1",
        }
        with gunicorn("tests.sharing.wsgi_app:application", environment, "--workers=4", *options) as url:
            eventually(lambda: page(f"{url}/ask/good/0"), within_s=120)
            served = f"http://127.0.0.1:{metrics}/metrics"
            workers = {page(f"{url}/ask/good/{number}") for number in range(150)}
            # A drop that begins among good answers is told as a small one, and once more as it gets worse.
            eventually(lambda: total("rag_otel_evaluation_score_count", page(served)) >= 150, within_s=60)
            workers |= {page(f"{url}/ask/bad/{number}") for number in range(150)}
            eventually(lambda: hook.requests)
            eventually(lambda: total("rag_otel_traces_total", page(served)) > 290)
            text = page(served)
            if "--preload" not in options:  # else the master leads, and its death is that of the server
                os.kill(int((tmp_path / "shared" / "leader").read_text()), signal.SIGKILL)
                eventually(lambda: "rag_otel_drift_alarm" in page(served))
        # One whose leader is killed before it knows that the alarm has arrived comes again, with the same id.
        (alarm,) = {each.headers["webhook-id"]: json.loads(each.body) for each in hook.requests}.values()
    assert len(workers) > 1
    assert alarm["name"] == "drift_score"
    assert total("rag_otel_evaluation_score_count", text) > 290
    assert total("rag_otel_drift_alarm", text) > 0
