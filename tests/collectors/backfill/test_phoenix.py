"""`rag-otel traces backfill --project`, against a real Phoenix."""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from rag_otel.cli.main import main
from rag_otel.model import EvaluatedTrace, EvaluationStatus, RagTrace, SamplingDecision, SpanRef
from rag_otel.writers.phoenix_annotations import PhoenixAnnotationWriter
from rag_otel_collectors.conventions import default_conventions
from rag_otel_collectors.stored.otlp_files import read_spans
from rag_otel_collectors.stored.phoenix_client import PhoenixClient
from rag_otel_collectors.stored.project import StoredProject
from testkit.shared_servers import SharedPhoenix
from tests.collectors.backfill.stored import a_trace, send, spans_in, with_fresh_ids, written
from tests.collectors.conventions.spans import FIXTURES
from tests.support.phoenix_server import PhoenixApi
from tests.support.results import an_evaluation

pytestmark = pytest.mark.phoenix


class Project:
    """A separate project on the shared server."""

    def __init__(self, server: SharedPhoenix, capsys: pytest.CaptureFixture[str]) -> None:
        self.name = f"backfill-{secrets.token_hex(4)}"
        self.api = PhoenixApi(server.base_url)
        self._capsys = capsys

    def send(self, *requests: dict[str, Any]) -> None:
        send(self.api, self.name, *requests)

    def backfill(self, *options: str) -> tuple[int, str]:
        """Runs the command over everything since 2025. Returns (exit code, output)."""
        where = ["--project", self.name, "--phoenix-endpoint", self.api.base_url]
        code = main(["traces", "backfill", *where, "--since", "2025-01-01", *options])
        return code, self._capsys.readouterr().out

    def faithfulness(self) -> dict[str, dict[str, Any]]:
        """Span id -> its annotation."""
        ids = [span["context"]["span_id"] for span in self.api.spans(self.name)]
        rows = self.api.annotations(self.name, *ids)
        return {row["span_id"]: row for row in rows if row["name"] == "faithfulness"}


@pytest.fixture
def project(phoenix_server: SharedPhoenix, capsys: pytest.CaptureFixture[str]) -> Project:
    return Project(phoenix_server, capsys)


def count(report: str, line: str) -> int:
    found = re.search(rf"{line}\s+([\d,]+)", report)
    assert found, report
    return int(found[1].replace(",", ""))


def test_stored_traces_get_annotations(project: Project) -> None:
    """Score, risk, version and judge on the target span, visible as soon as the command returns."""
    project.send(a_trace(0), a_trace(1))
    code, report = project.backfill()
    assert (code, count(report, "  evaluated")) == (0, 2)
    rows = project.faithfulness()
    assert len(rows) == 2
    for row in rows.values():
        assert row["result"]["score"] is not None
        assert row["metadata"]["judge"] == "embedded"
        assert row["metadata"]["version"]


def test_the_same_run_again_writes_nothing(project: Project) -> None:
    """A trace with a score of this version is skipped, and its annotation is not updated."""
    project.send(a_trace(0), a_trace(1))
    project.backfill()
    first = project.faithfulness()
    code, report = project.backfill()
    assert (code, count(report, "  evaluated"), count(report, "already have scores")) == (0, 0, 2)
    assert project.faithfulness() == first


def test_a_score_of_another_version_is_replaced(project: Project) -> None:
    """An annotation records its version. An old one is replaced."""
    request = a_trace()
    project.send(request)
    span = spans_in(request)[0]
    target = SpanRef(trace_id=span["traceId"], span_id=span["spanId"])
    old = EvaluatedTrace(
        trace=RagTrace(target=target),
        decision=SamplingDecision(sampled=True, reason="always", probability=1.0),
        evaluations=(an_evaluation(score=0.125, version="0", judge="embedded"),),
        status=EvaluationStatus.EVALUATED,
    )
    PhoenixAnnotationWriter(project.api.base_url).write([old])
    project.backfill()
    (row,) = project.faithfulness().values()
    assert row["metadata"]["version"] != "0"
    assert row["result"]["score"] != 0.125


def test_a_budget_stops_and_the_next_run_goes_on(project: Project) -> None:
    """Runs of two evaluations each, until all are done."""
    project.send(*(a_trace(number) for number in range(5)))
    evaluated = []
    for _ in range(4):
        code, report = project.backfill("--budget", "2")
        assert code == 0
        evaluated.append(count(report, "  evaluated"))
    assert evaluated == [2, 2, 1, 0]
    assert len(project.faithfulness()) == 5


def test_a_dry_run_counts_and_writes_nothing(project: Project) -> None:
    """It prints the number of evaluations, and no cost or an estimate with a price."""
    project.send(a_trace(0), a_trace(1, status={"code": 2}))
    code, report = project.backfill("--dry-run")
    assert (code, count(report, "would be evaluated"), count(report, "cannot be evaluated")) == (0, 1, 1)
    assert "1 error" in report
    assert "at no cost" in report
    _, report = project.backfill("--dry-run", "--judge", "openai/gpt-4o-mini", "--price", "1000000,0")
    dollars = re.search(r"about \$([\d,.]+)", report)
    assert dollars, report
    assert float(dollars[1].replace(",", "")) > 900  # a dollar a token: the prompt alone has as many
    assert project.faithfulness() == {}


def test_bounds_of_time(project: Project) -> None:
    """`--since` and `--until` refer to the start of the trace."""
    project.send(*(a_trace(number) for number in range(4)))
    _, report = project.backfill("--since", "2026-01-01T00:01", "--until", "2026-01-01T00:03")
    assert count(report, "traces read") == 2


def test_more_traces_than_are_read_at_once(project: Project) -> None:
    """Several batches, without missing or repeated traces. When the command ends, all evaluation spans are there."""
    one = a_trace(0)
    for number in range(1, 230):
        one["resourceSpans"] += a_trace(number)["resourceSpans"]
    project.send(one)
    _, report = project.backfill()
    assert (count(report, "traces read"), count(report, "  evaluated")) == (230, 230)
    assert len(project.faithfulness()) == 230
    assert [span["span_kind"] for span in project.api.spans(project.name)].count("EVALUATOR") == 230


def test_an_unknown_project_is_named(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """The error lists the existing projects."""
    code = main(
        ["traces", "backfill", "--project", "no-such", "--phoenix-endpoint", project.api.base_url, "--since", "7d"],
    )
    assert code == 2
    assert "no project 'no-such'; it has: " in capsys.readouterr().err


def test_traces_are_read_from_phoenix_as_from_the_file(project: Project, tmp_path: Any) -> None:
    """For every recorded trace, question, chunks and answer are the same from Phoenix as from the file."""
    requests = [with_fresh_ids(json.loads(path.read_text())) for path in sorted(FIXTURES.glob("*.json"))]
    project.send(*requests)
    sent = {span.trace_id for request in requests for span in _records(request, tmp_path)}
    since = datetime(2025, 1, 1, tzinfo=UTC)
    read = StoredProject(client=PhoenixClient(project.api.base_url), name=project.name, since=since)
    stored = {trace.trace_id: _read(trace.spans) for batch in read.traces() for trace in batch}
    assert set(stored) == sent
    for request in requests:
        for trace_id in {span.trace_id for span in _records(request, tmp_path)}:
            original = [span for span in _records(request, tmp_path) if span.trace_id == trace_id]
            assert stored[trace_id] == _read(original)


def _records(request: dict[str, Any], folder: Any) -> list[Any]:
    return list(read_spans(str(written(folder / "request.json", request))))


def _read(spans: Any) -> list[RagTrace]:
    """What the dialects read, without what Phoenix does not keep: nanoseconds, the resource, and which of two equal
    dialects an agent's outermost span has."""
    found = [trace for convention in default_conventions() for trace in convention.read(spans)]
    return sorted(
        (replace(trace, start_ns=0, duration_ns=0, service=None, convention="") for trace in found),
        key=lambda trace: trace.target.span_id,
    )


def test_claims_of_a_stored_trace_are_a_click_away(project: Project) -> None:
    """The evaluation span is below the answer and written once; the trace has its annotations."""
    request = a_trace()
    project.send(request)
    (target,) = spans_in(request)
    for _ in range(2):
        assert project.backfill()[0] == 0
    (carrier,) = [span for span in project.api.spans(project.name) if span["span_kind"] == "EVALUATOR"]
    assert carrier["parent_id"] == target["spanId"]
    assert carrier["attributes"]["output.value"].startswith("faithfulness ")
    assert carrier["attributes"]["rag.evaluation.faithfulness.claim_count"] >= 1
