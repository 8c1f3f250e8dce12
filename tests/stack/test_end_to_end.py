"""The stack, natively: app -> collector -> Phoenix, Prometheus and Alertmanager, and a model swap in the traffic.

The configuration is that of docker/, with addresses replaced and every duration a sixtieth: what takes a quarter of an
hour there takes fifteen seconds here.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rag_otel.alerts.channels.webhook import verify
from testkit.collector import CollectorProcess, a_collector
from testkit.http_receiver import Received, Receiver, http_receiver
from testkit.polling import eventually
from testkit.programs import program
from testkit.shared_servers import SharedPhoenix
from tests.stack.conftest import DOCKER
from tests.stack.kit import Prometheus, a_process, a_prometheus, an_alertmanager
from tests.support.phoenix_server import PhoenixApi

pytestmark = pytest.mark.server


DIVISOR = 60
PER_SECOND = 8
BEFORE, AFTER = "gpt-4-0613", "llama-2-7b-chat"
PROJECT = "stack"
BASELINE = 100
"""Evaluations that drift learns from: all of the first model, which answers at least 120 questions."""
SECRET = "whsec_YS1sb25nLXJhbmRvbS1zZWNyZXQtb2YtMzItYnl0ZXM="
ALERT = "RagRiskyAnswersFrequent"
ROWS = [
    json.loads(line)
    for line in (DOCKER.parent / "examples" / "data" / "ragtruth_qa_dev.jsonl").read_text("utf-8").splitlines()
]


@dataclass(frozen=True, kw_only=True)
class Stack:
    """What is running."""

    prometheus: Prometheus
    collector: CollectorProcess
    phoenix: PhoenixApi
    received: Receiver
    model_file: Path

    def swap_to(self, model: str) -> None:
        """From the next question on another model answers."""
        part = self.model_file.with_suffix(".part")
        part.write_text(model, "utf-8")
        part.replace(self.model_file)

    def from_alertmanager(self, status: str) -> list[dict[str, Any]]:
        """The alerts of this status that Alertmanager has delivered."""
        messages = [json.loads(each.body) for each in self._at("/alertmanager")]
        return [alert for message in messages for alert in message["alerts"] if alert["status"] == status]

    def from_rag_otel(self, state: str) -> list[dict[str, Any]]:
        """The alerts of this state that rag-otel has delivered, signatures checked."""
        requests = self._at("/rag-otel")
        assert all(verify(SECRET, each.headers, each.body) for each in requests)
        return [message for each in requests if (message := json.loads(each.body))["state"] == state]

    def _at(self, path: str) -> list[Received]:
        return [each for each in list(self.received.requests) if each.path == path]


@pytest.fixture(scope="session")
def _binaries() -> None:
    """Asked for before Phoenix is started for nothing."""
    for name in ("prometheus", "prometheus-alertmanager"):
        program(name)


@pytest.fixture
def stack(_binaries: None, tmp_path: Path, phoenix_server: SharedPhoenix) -> Iterator[Stack]:
    """Everything of docker/ but Grafana, started in the order of compose.yaml."""
    with ExitStack() as running:
        received = running.enter_context(http_receiver())
        alertmanager = running.enter_context(
            an_alertmanager(tmp_path / "alertmanager", receiver=received.url, divisor=DIVISOR)
        )
        config = (DOCKER / "collector" / "collector.toml").read_text("utf-8")
        for name, address in (
            ("http://phoenix:6006", phoenix_server.base_url),
            ("http://localhost:6006", phoenix_server.base_url),
            ("http://alert-sink:9095", received.url),
        ):
            assert name in config
            config = config.replace(name, address)
        (tmp_path / "collector.toml").write_text(config, "utf-8")
        (tmp_path / "secret").write_text(SECRET, "utf-8")
        collector = running.enter_context(
            a_collector(
                tmp_path / "collector",
                *("--config", str(tmp_path / "collector.toml")),
                env={
                    "RAG_OTEL_ALERT_WEBHOOK_SECRET_FILE": str(tmp_path / "secret"),
                    "RAG_OTEL_ALERT_RULES": "risk>0.5",
                    "RAG_OTEL_ALERT_DIGEST": "0",
                    "RAG_OTEL_ALERT_PRECISION": "1",
                    "RAG_OTEL_ALERT_RESOLVE_AFTER": "10",
                    "RAG_OTEL_DRIFT_BASELINE_COUNT": str(BASELINE),
                },
            )
        )
        prometheus = running.enter_context(
            a_prometheus(
                tmp_path / "prometheus",
                jobs={"rag-otel-collect": f"127.0.0.1:{collector.http_port}"},
                alertmanager=alertmanager,
                divisor=DIVISOR,
            )
        )
        model_file = tmp_path / "model"
        traffic = DOCKER / "example" / "traffic.py"
        running.enter_context(
            a_process(
                *(sys.executable, str(traffic), "--per-second", str(PER_SECOND), "--model-file", str(model_file)),
                log=tmp_path / "traffic.log",
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                    "OTEL_EXPORTER_OTLP_ENDPOINT": collector.http_address,
                    "OTEL_RESOURCE_ATTRIBUTES": f"openinference.project.name={PROJECT}",
                },
            )
        )
        yield Stack(
            prometheus=prometheus,
            collector=collector,
            phoenix=PhoenixApi(phoenix_server.base_url),
            received=received,
            model_file=model_file,
        )


def found(look: Callable[[], list[dict[str, Any]]], **wanted: str) -> Callable[[], dict[str, Any] | None]:
    """The first of what `look` returns whose labels, or fields, are these."""

    def first() -> dict[str, Any] | None:
        matching = (each for each in look() if wanted.items() <= {**each, **each.get("labels", {})}.items())
        return next(matching, None)

    return first


def spans_behind(phoenix: PhoenixApi, link: str) -> list[dict[str, Any]]:
    """What Phoenix's page behind a link with a filter shows, in the project of this test."""
    parameters = urllib.parse.parse_qs(urllib.parse.urlsplit(link).query)
    (condition,) = parameters["spanFilterCondition"]
    return phoenix.span_nodes(PROJECT, "attributes", condition=condition)


@pytest.mark.phoenix
@pytest.mark.slow(reason="an alert fires and resolves on Prometheus' own clock, even with all durations divided")
def test_a_model_swap_ends_as_a_fired_and_then_resolved_alert(stack: Stack) -> None:
    """Nobody is woken before; after the swap both alerts come, with links that lead to the bad answers; both end."""
    answers = "sum(rag_otel_evaluation_risk_count)"
    eventually(lambda: stack.prometheus.value(answers) >= 15 * PER_SECOND, within_s=120)
    # A busy machine may miss a scrape; about the answers there is nothing to say yet.
    assert stack.prometheus.query('ALERTS{alertname=~"RagFaithfulness.*|RagRisky.*|RagDrift"}') == []
    assert stack.from_rag_otel("firing") == []

    stack.swap_to(AFTER)
    fired = eventually(found(lambda: stack.from_alertmanager("firing"), alertname=ALERT), within_s=120)
    assert fired is not None
    assert (fired["labels"]["service"], fired["labels"]["severity"]) == ("quickstart", "warning")
    assert not {"runbook", "phoenix_spans"} & set(fired["labels"])
    assert fired["annotations"]["runbook_url"].endswith(f"/runbook.md#{ALERT.lower()}")
    models = {
        each["metric"]["model"] for each in stack.prometheus.query("sum by (model) (rag_otel_evaluation_risk_count)")
    }
    assert models == {BEFORE, AFTER}
    own = eventually(found(lambda: stack.from_rag_otel("firing"), name="high_risk"), within_s=120)
    assert own is not None
    drifted = eventually(found(lambda: stack.from_rag_otel("firing"), name="drift_risk"), within_s=120)
    assert drifted is not None
    assert eventually(found(lambda: stack.from_alertmanager("firing"), alertname="RagDrift"), within_s=120)

    stack.swap_to(BEFORE)
    resolved = eventually(found(lambda: stack.from_alertmanager("resolved"), alertname=ALERT), within_s=120)
    assert resolved is not None
    assert resolved["fingerprint"] == fired["fingerprint"]
    own_end = eventually(found(lambda: stack.from_rag_otel("resolved"), name="high_risk"), within_s=120)
    assert own_end is not None
    assert own_end["fingerprint"] == own["fingerprint"]

    the_trace_link_leads_to_the_bad_answer(stack, own)
    the_drift_alert_shows_bad_answers(stack, drifted)
    the_filter_finds_the_bad_answers(stack, fired["annotations"]["phoenix"])


def the_trace_link_leads_to_the_bad_answer(stack: Stack, own: Mapping[str, Any]) -> None:
    """The trace is in Phoenix, its answer is one of the second model's, and its annotation says what the alert says."""
    assert own["link"] == f"{stack.phoenix.base_url}/redirects/traces/{own['trace_id']}"
    assert own["response"] in [row["response"] for row in ROWS if row["model"] == AFTER]
    (span,) = [each for each in stack.phoenix.spans(PROJECT) if each["context"]["span_id"] == own["span_id"]]
    assert span["context"]["trace_id"] == own["trace_id"]
    assert span["attributes"]["output.value"] == own["response"]

    def risks() -> list[float]:
        rows = stack.phoenix.annotations(PROJECT, own["span_id"])
        return [each["metadata"]["risk"] for each in rows if each["name"] == "faithfulness"]

    assert eventually(risks) == [pytest.approx(own["risk"])]


def the_drift_alert_shows_bad_answers(stack: Stack, drifted: Mapping[str, Any]) -> None:
    """It names the second model as what moved it, and the answers that it shows are that one's, with their links."""
    assert AFTER in drifted["details"]["most_moved_1"]
    assert drifted["examples"]
    second = [row["response"] for row in ROWS if row["model"] == AFTER]
    for example in drifted["examples"]:
        assert example["response"] in second
        assert example["link"] == f"{stack.phoenix.base_url}/redirects/traces/{example['trace_id']}"


def the_filter_finds_the_bad_answers(stack: Stack, link: str) -> None:
    """Of the answers behind the link, all are at risk, and by far the most are the second model's."""
    shown = [json.loads(node["attributes"]) for node in spans_behind(stack.phoenix, link)]
    assert shown
    assert all(each["rag"]["evaluation"]["faithfulness"]["risk"] > 0.3 for each in shown)
    by_second = [each for each in shown if AFTER in json.dumps(each)]
    assert len(by_second) > len(shown) / 2
