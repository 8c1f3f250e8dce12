"""Alerts and annotations that were not accepted are sent after a restart of the collector."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rag_otel.durable.record_format import HEADER, pieces
from testkit.collector import a_backend, a_collector
from testkit.http_receiver import Received, http_receiver
from testkit.otlp_requests import a_rag_trace, a_request
from testkit.polling import eventually

pytestmark = pytest.mark.server


TRACES = 3
MADE_UP = "The lighthouse of Kap Arkona was built in 1450 by Danish pirates from Bornholm."


def names(requests: Sequence[Received]) -> list[str]:
    """The names of the annotations."""
    rows: list[dict[str, Any]] = [row for request in requests for row in json.loads(request.body)["data"]]
    return sorted(row["name"] for row in rows)


def kept(state: Path, queue: str) -> int:
    """How many items of a queue are on disk."""
    held = pieces(b"")[0][HEADER.size :] + b"H"
    return sum(log.read_bytes().count(held) for log in state.glob(f"*/{queue}/*.log"))


@pytest.mark.long
def test_kill_9_loses_no_alert_and_no_annotation(tmp_path: Path) -> None:
    """Phoenix and the pager are down when the collector is killed. The next process delivers everything when they are
    up."""
    with http_receiver() as gone:
        port = int(gone.url.rpartition(":")[2])
    environ = {
        "RAG_OTEL_PHOENIX_ENDPOINT": f"http://127.0.0.1:{port}",
        "RAG_OTEL_ALERT_WEBHOOK_URL": f"http://127.0.0.1:{port}/hook",
        "RAG_OTEL_ALERT_RULES": "unfaithful,score<0.9",
        "RAG_OTEL_ALERT_DIGEST": "0",
        "RAG_OTEL_ALERT_PRECISION": "1",
        "RAG_OTEL_ALERT_COOLDOWN": "0",
    }
    state = tmp_path / "state"
    with a_backend() as backend:
        with a_collector(tmp_path, "--backend", backend.address, env=environ) as collector:
            for _ in range(TRACES):
                collector.export(a_request(*a_rag_trace(answer=MADE_UP)))
            eventually(lambda: kept(state, "phoenix_annotations") == TRACES)
            eventually(lambda: kept(state, "alert_webhook") == TRACES)
            collector.kill()
        with http_receiver(port) as receiver, a_collector(tmp_path, "--backend", backend.address, env=environ):

            def hooks() -> list[Received]:
                return [request for request in receiver.requests if request.path == "/hook"]

            def rows() -> list[str]:
                return names([request for request in receiver.requests if "span_annotations" in request.path])

            eventually(lambda: len(hooks()) == TRACES and len(rows()) == TRACES)
            assert rows() == ["faithfulness"] * TRACES
            assert len({json.loads(request.body)["trace_id"] for request in hooks()}) == TRACES
            eventually(lambda: not kept(state, "phoenix_annotations") and not kept(state, "alert_webhook"))
