"""A backfill that is interrupted, or whose Phoenix dies: the next run continues, and nothing is written twice."""

from __future__ import annotations

import os
import re
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rag_otel import semconv
from rag_otel.cli.demo.phoenix_server import start_phoenix
from testkit.polling import eventually
from testkit.shared_servers import SharedPhoenix
from testkit.warm_python import kill_9, warm_python
from tests.collectors.backfill.stored import a_trace, send
from tests.collectors.conventions.otlp_json import text_attributes
from tests.collectors.conventions.spans import ANSWER, PARIS, QUESTION
from tests.support.phoenix_server import PhoenixApi

pytestmark = pytest.mark.phoenix

BEFORE = 110
"""More than are read at once: their scores are written while the next ones are read."""
AFTER = 5
RESOLVER = f"""
import pathlib, time

def texts(ids):
    gate = pathlib.Path(__file__).with_name("gate")
    gate.with_name("asked").touch()
    while not gate.exists():
        time.sleep(0.05)
    return {{each: {PARIS!r} for each in ids}}
"""
"""A user's resolver that does not answer before the test says so: the run stands still in its midst."""


@contextmanager
def backfill(server: SharedPhoenix, project: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A run in its own process, as from the command line. Killed at the end if it still runs."""
    command = [
        warm_python(),
        "-m",
        "rag_otel.cli.main",
        "traces",
        "backfill",
        "--project",
        project,
        "--since",
        "2025-01-01",
    ]
    command += ["--phoenix-endpoint", server.base_url, "--chunk-resolver", "resolver:texts"]
    path = os.pathsep.join(filter(None, sys.path))
    env = {**os.environ, "PYTHONPATH": path, "RAG_OTEL_CHUNK_RESOLVER_TIMEOUT": "300"}
    process = subprocess.Popen(
        command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        yield process
    finally:
        kill_9(process)
        process.communicate()


def finished(server: SharedPhoenix, project: str, folder: Path) -> tuple[int, int]:
    """Runs to the end. Returns the counts (evaluated, already had scores)."""
    with backfill(server, project, folder) as process:
        report, _ = process.communicate(timeout=180)
    assert process.returncode == 0, report
    return count(report, "  evaluated"), count(report, "already have scores")


def count(report: str, line: str) -> int:
    found = re.search(rf"{line}\s+([\d,]+)", report)
    assert found, report
    return int(found[1].replace(",", ""))


def a_trace_by_id(number: int) -> dict[str, Any]:
    """A trace whose document has an id and no text."""
    fields = {
        semconv.SPAN_KIND: semconv.KIND_CHAIN,
        semconv.INPUT_VALUE: QUESTION,
        semconv.OUTPUT_VALUE: ANSWER,
        f"{semconv.DOCUMENTS}.0.{semconv.DOCUMENT_ID}": "paris",
    }
    request = a_trace(number)
    request["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"] = text_attributes(fields)
    return request


def scores(api: PhoenixApi, project: str) -> list[str]:
    """The span of each faithfulness score."""
    ids = [span["context"]["span_id"] for span in api.spans(project)]
    rows: Sequence[dict[str, Any]] = api.annotations(project, *ids) if ids else []
    return [row["span_id"] for row in rows if row["name"] == "faithfulness"]


def prepare(server: SharedPhoenix, folder: Path) -> str:
    """A project with traces. One of them blocks the run until the file `gate` exists."""
    project = f"interrupted-{secrets.token_hex(4)}"
    (folder / "resolver.py").write_text(RESOLVER)
    together = a_trace(0)
    for number in range(1, BEFORE):
        together["resourceSpans"] += a_trace(number)["resourceSpans"]
    last = [a_trace(BEFORE + 1 + number) for number in range(AFTER)]
    send(PhoenixApi(server.base_url), project, together, a_trace_by_id(BEFORE), *last)
    return project


def test_ctrl_c_keeps_what_is_finished(phoenix_server: SharedPhoenix, tmp_path: Path) -> None:
    """The next run evaluates the others, and a third run finds nothing to do."""
    project = prepare(phoenix_server, tmp_path)
    api = PhoenixApi(phoenix_server.base_url)
    with backfill(phoenix_server, project, tmp_path) as process:
        eventually((tmp_path / "asked").exists, within_s=120)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=180)
    assert process.returncode == 130, said
    assert "run the same command again to continue" in said
    kept = len(scores(api, project))
    assert 0 < kept <= BEFORE
    assert count(said, "  evaluated") == kept
    (tmp_path / "gate").touch()
    assert finished(phoenix_server, project, tmp_path) == (BEFORE + 1 + AFTER - kept, kept)
    assert finished(phoenix_server, project, tmp_path) == (0, BEFORE + 1 + AFTER)
    found = scores(api, project)
    assert len(found) == len(set(found)) == BEFORE + 1 + AFTER


@pytest.mark.long  # two starts of Phoenix, 50 s of CPU
def test_phoenix_is_killed_in_the_midst_of_a_run(tmp_path: Path) -> None:
    """Phoenix is killed and restarted on its database. The same run continues, and every trace has one score and one
    evaluation span: spans that Phoenix had in its queue are sent again."""
    first = start_phoenix(tmp_path / "phoenix")
    with first:
        project = prepare(first, tmp_path)
        with backfill(first, project, tmp_path) as process:
            eventually((tmp_path / "asked").exists, within_s=120)
            os.kill(first.pid, signal.SIGKILL)
            first.wait()
            (tmp_path / "gate").touch()
            with start_phoenix(tmp_path / "phoenix", port=first.port) as second:
                report, _ = process.communicate(timeout=300)
                assert process.returncode == 0, report
                found = scores(PhoenixApi(second.base_url), project)
                assert len(found) == len(set(found)) == BEFORE + 1 + AFTER
                kinds = [span["span_kind"] for span in PhoenixApi(second.base_url).spans(project)]
                assert kinds.count("EVALUATOR") == BEFORE + 1 + AFTER
                assert finished(second, project, tmp_path) == (0, BEFORE + 1 + AFTER)
