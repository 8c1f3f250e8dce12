"""A real Prometheus scrapes `/metrics` and keeps the exemplars."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import rag_otel
from rag_otel.cli.demo.phoenix_server import free_port
from testkit.polling import eventually
from testkit.programs import program
from tests.telemetry.kit import a_provider, answer, ids

pytestmark = pytest.mark.server


@contextmanager
def _prometheus(binary: str, folder: Path, target: str) -> Iterator[str]:
    """Starts a Prometheus (the program `binary`) that scrapes `target` every second. Yields its address."""
    job = {"job_name": "app", "scrape_interval": "1s", "static_configs": [{"targets": [target]}]}
    configuration = folder / "prometheus.yml"
    configuration.write_text(json.dumps({"scrape_configs": [job]}), encoding="utf-8")
    address = f"127.0.0.1:{free_port()}"
    options = ["--enable-feature=exemplar-storage", f"--web.listen-address={address}"]
    command = [
        binary,
        f"--config.file={configuration}",
        f"--storage.tsdb.path={folder / 'data'}",
        *options,
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield f"http://{address}"
    finally:
        process.kill()
        process.wait()


def _asked(address: str, path: str, **parameters: str) -> Any:
    """The result of a query. Empty while Prometheus is not ready."""
    try:
        query = urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(f"{address}/api/v1/{path}?{query}", timeout=10) as response:
            return json.load(response)["data"]
    except (urllib.error.URLError, ConnectionError):
        return None


def test_prometheus_leads_from_a_bucket_to_the_trace(tmp_path: Path) -> None:
    """The share of scores below a threshold can be queried, and the bucket's exemplar has the trace id of an answer."""
    binary, target = program("prometheus"), f"127.0.0.1:{free_port()}"
    provider, exporter = a_provider(**{"service.name": "observatory"})
    rag_otel.instrument(provider, telemetry=rag_otel.TelemetrySettings(exporter="prometheus", address=target))
    answer()
    assert rag_otel.flush(timeout=60)
    (span,) = exporter.get_finished_spans()
    below = 'sum(rag_otel_evaluation_score_bucket{le="0.7",service="observatory"})'
    with _prometheus(binary, tmp_path, target) as address:
        found = eventually(lambda: (_asked(address, "query", query=below) or {}).get("result"))
        assert found[0]["value"][1] == "1"
        start, end = str(time.time() - 3600), str(time.time() + 3600)
        series = eventually(
            lambda: _asked(address, "query_exemplars", query="rag_otel_evaluation_score_bucket", start=start, end=end)
        )
    (exemplar,) = series[0]["exemplars"]
    assert (exemplar["labels"]["trace_id"], exemplar["labels"]["span_id"]) == ids(span)
    assert series[0]["seriesLabels"]["route"] == "answer"
