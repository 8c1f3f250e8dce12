"""The sink of the stack, as compose starts it."""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_otel.alert import Alert
from rag_otel.alerts.channels.webhook import WebhookChannel
from rag_otel.errors import PermanentError
from testkit.polling import eventually
from tests.stack.conftest import DOCKER
from tests.stack.kit import a_process, free_port

pytestmark = pytest.mark.server


SECRET = "whsec_YS1sb25nLXJhbmRvbS1zZWNyZXQtb2YtMzItYnl0ZXM="


@pytest.fixture
def sink(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Its address and what it printed."""
    secret, log, port = tmp_path / "secret", tmp_path / "sink.log", free_port()
    secret.write_text(SECRET + "\n", "utf-8")
    command = (sys.executable, str(DOCKER / "alert_sink" / "alert_sink.py"))
    with a_process(*command, "--port", str(port), "--secret-file", str(secret), log=log) as process:
        url = f"http://127.0.0.1:{port}"

        def answers() -> bool:
            assert process.poll() is None, log.read_text("utf-8")
            try:
                post(f"{url}/alertmanager", b'{"alerts": []}')
            except urllib.error.URLError:
                return False
            return True

        eventually(answers)
        yield url, log


def post(url: str, body: bytes) -> int:
    with urllib.request.urlopen(urllib.request.Request(url, data=body, method="POST"), timeout=10) as answer:
        return int(answer.status)


def test_what_is_signed_is_printed_and_what_is_not_is_refused(sink: tuple[str, Path]) -> None:
    """The sink shows how a receiver checks rag-otel's signature."""
    url, log = sink
    alert = Alert(name="high_risk", fingerprint="f", metric="faithfulness", headline="Made up", time_ns=1)
    WebhookChannel(f"{url}/rag-otel", secret=SECRET).send(alert)
    assert "firing high_risk: Made up" in eventually(lambda: log.read_text("utf-8"))
    with pytest.raises(PermanentError, match="401"):
        WebhookChannel(f"{url}/rag-otel", secret="whsec_YW5vdGhlci1sb25nLXNlY3JldC1vZi0zMi1ieXRlcyE=").send(alert)


def test_alertmanagers_messages_are_printed_one_line_an_alert(sink: tuple[str, Path]) -> None:
    """Status, name, what and where to look."""
    url, log = sink
    one = {"status": "firing", "labels": {"alertname": "RagDrift"}, "annotations": {"summary": "s", "phoenix": "p"}}
    two = {"status": "resolved", "labels": {"alertname": "RagDrift"}, "annotations": {"summary": "s"}}
    assert post(f"{url}/alertmanager", json.dumps({"alerts": [one, two]}).encode()) == 204
    eventually(lambda: log.read_text("utf-8"))
    assert log.read_text("utf-8").splitlines() == ["firing RagDrift: s - p", "resolved RagDrift: s - None"]
