"""The evaluation processes of a collector share budgets and a sampling policy."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from testkit.collector import a_backend, a_collector
from testkit.http_receiver import http_receiver
from testkit.otlp_requests import a_rag_trace, a_request
from testkit.polling import eventually

pytestmark = pytest.mark.server

TRACES, FORCED = 12, 5
POLICY = f"""
[coin]
rate = 0.0
[[force]]
name = "every"
latency_above = 0
[budget]
evaluations_per_hour = {2 * FORCED}
coin_share = 0.5
"""


def test_two_processes_spend_one_budget_and_it_is_told(tmp_path: Path) -> None:
    """Five of twelve forced traces are evaluated, the others say which budget refused them, and one alert comes."""
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY)
    with http_receiver() as hooks, a_backend() as backend:
        environ = {
            "RAG_OTEL_SAMPLING_POLICY": str(policy),
            "RAG_OTEL_ALERT_WEBHOOK_URL": f"{hooks.url}/hook",
            "RAG_OTEL_ALERT_RULES": "score<0",
            "RAG_OTEL_ALERT_DIGEST": "0",
        }
        options = ["--backend", backend.address, "--workers", "2"]
        with a_collector(tmp_path / "data", *options, env=environ) as collector:
            for _ in range(TRACES):
                collector.export(a_request(*a_rag_trace()))

            def decided() -> list[dict[str, object]]:
                spans = [
                    attributes
                    for name in {each.name for each in backend.spans()}
                    for attributes in backend.attributes(name)
                ]
                return [each for each in spans if "rag.evaluation.status" in each]

            found = eventually(lambda: decided() if len(decided()) == TRACES else None)
            statuses = Counter(str(each["rag.evaluation.status"]) for each in found)
            assert statuses == {"evaluated": FORCED, "skipped": TRACES - FORCED}
            refused = {each.get("rag.sampling.refused") for each in found} - {None}
            assert refused == {f"the budget of {2 * FORCED} evaluations/hour is spent (share of forced traces)"}

            def told() -> list[str]:
                alerts = [json.loads(request.body) for request in hooks.requests]
                return [each["name"] for each in alerts if str(each.get("name", "")).startswith("budget_")]

            eventually(lambda: "budget_spent" in told())
            assert told().count("budget_spent") == 1
