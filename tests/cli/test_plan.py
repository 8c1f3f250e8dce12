"""`rag-otel traces plan`, against a real Phoenix."""

from __future__ import annotations

import re
import secrets
from pathlib import Path

import pytest

from rag_otel.cli.main import main
from testkit.shared_servers import SharedPhoenix
from tests.collectors.backfill.stored import START_NS, a_trace, send
from tests.support.phoenix_server import PhoenixApi

pytestmark = pytest.mark.phoenix

POLICY = """
[coin]
rate = 0.0
[[force]]
name = "slow"
latency_above = 5
[[drop]]
name = "probes"
route = "probe"
"""


def test_a_policy_costs_what_it_would_have_cost(
    phoenix_server: SharedPhoenix, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of ten stored traces two are slow and one is a probe: two calls of the judge, or one with a budget of one.
    Phoenix has no annotation afterwards."""
    project, api = f"plan-{secrets.token_hex(4)}", PhoenixApi(phoenix_server.base_url)
    traces = [a_trace(number) for number in range(7)]
    traces += [a_trace(number, endTimeUnixNano=str(START_NS + number * 60 * 10**9 + 9 * 10**9)) for number in (7, 8)]
    send(api, project, *traces, a_trace(9, name="probe"))
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY)
    where = ["traces", "plan", "--project", project, "--phoenix-endpoint", api.base_url, "--since", "2025-12-31"]
    asked = [*where, "--policy", str(policy), "--judge", "openai/gpt-4o-mini", "--price", "1,2"]
    assert main(asked) == 0
    report = capsys.readouterr().out
    assert _figure(report, "RAG traces") == 10
    assert _figure(report, "dropped") == 1
    assert _figure(report, "not_sampled") == 7
    assert _figure(report, "would be evaluated") == 2
    assert 2 * 2_320 < _figure(report, "tokens") < 2 * 2_600
    assert re.search(r"cost\s+\$0\.01", report)
    assert main([*asked, "--budget", "2 evaluations/day"]) == 0
    report = capsys.readouterr().out
    assert _figure(report, "would be evaluated") == 1
    assert "1 refused: the budget of 2 evaluations/day is spent (share of forced traces)" in report
    ids = [span["context"]["span_id"] for span in api.spans(project)]
    assert api.annotations(project, *ids) == []


def test_what_is_missing_is_named(phoenix_server: SharedPhoenix, capsys: pytest.CaptureFixture[str]) -> None:
    """A project that Phoenix does not have, and a judge without a price."""
    where = ["traces", "plan", "--phoenix-endpoint", phoenix_server.base_url]
    assert main([*where, "--project", "nowhere"]) == 2
    assert "has no project 'nowhere'" in capsys.readouterr().err


def _figure(report: str, line: str) -> int:
    found = re.search(rf"^\s*{line}\s+([\d,]+)", report, re.MULTILINE)
    assert found, report
    return int(found[1].replace(",", ""))
