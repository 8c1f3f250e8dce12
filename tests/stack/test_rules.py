"""The Prometheus rules and Alertmanager's routes, checked by their own tools."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from rag_otel.alerts import digest, rules
from rag_otel.alerts.monitors import health, slo
from rag_otel.drift import alerting as drift_alerts
from rag_otel.telemetry.names import INSTRUMENTS, InstrumentKind
from rag_otel_collectors.otlp import metrics as collector_metrics
from testkit.collector import a_backend, a_collector
from testkit.programs import program
from tests.stack.conftest import DOCKER, shortened

RULES = sorted((DOCKER / "prometheus" / "rules").glob("*.yml"))
CASES = sorted((DOCKER / "prometheus" / "tests").glob("*.yml"))
ROOT = DOCKER.parent
RUNBOOK = ROOT / "docs" / "runbook.md"


def alerts() -> list[dict[str, Any]]:
    groups = [group for path in RULES for group in yaml.safe_load(path.read_text("utf-8"))["groups"]]
    return [rule for group in groups for rule in group["rules"] if "alert" in rule]


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def anchors(markdown: str) -> set[str]:
    """The anchors of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", markdown, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_promtool_accepts_the_configuration_and_its_rules() -> None:
    """Prometheus would start with prometheus.yml and everything it names."""
    said = run(program("promtool"), "check", "config", str(DOCKER / "prometheus" / "prometheus.yml"))
    assert said.count("rules found") == len(RULES)


@pytest.mark.parametrize("cases", CASES, ids=lambda path: path.stem)
def test_every_alert_fires_stays_quiet_and_resolves_as_its_cases_say(cases: Path) -> None:
    """`promtool test rules` replays the series of docker/prometheus/tests."""
    assert "SUCCESS" in run(program("promtool"), "test", "rules", str(cases))


def test_every_alert_has_a_case_that_makes_it_fire() -> None:
    """An alert without a case would never have been seen to fire."""
    cases = "".join(path.read_text("utf-8") for path in CASES)
    for alert in alerts():
        name = re.escape(alert["alert"])
        fires = rf'alertname="{name}"[^\n]*\}}\'?\n\s+value: 1|alertname: {name}\n\s+exp_alerts:\n'
        assert re.search(fires, cases), f"no case makes {alert['alert']} fire"


def test_every_alert_says_how_bad_what_and_where_to_read_on() -> None:
    """Severity, a summary and a chapter of the runbook that exists."""
    chapters = anchors(RUNBOOK.read_text("utf-8"))
    for alert in alerts():
        assert alert["labels"]["severity"] in ("warning", "critical")
        assert alert["annotations"]["summary"]
        base, _, anchor = alert["annotations"]["runbook_url"].partition("#")
        assert base == "{{ $externalLabels.runbook }}"
        assert anchor == alert["alert"].lower()
        assert anchor in chapters, f"docs/runbook.md has no chapter {alert['alert']}"


def test_the_runbook_has_a_chapter_for_each_alert_that_rag_otel_sends() -> None:
    """Per-trace, statistical and digests: whatever stands as `name` in a message can be looked up."""
    sent = {
        *(rules.UNFAITHFUL_ANSWER, rules.CONTRADICTED_CLAIM, rules.LOW_SCORE, rules.HIGH_SCORE, rules.HIGH_RISK),
        *(slo.SLO_BURN_RATE, health.EVALUATORS_SILENT, health.EVALUATOR_FAILING, digest.ALERTS_DIGEST),
        *(*drift_alerts.NAMES.values(), drift_alerts.JUDGE_MOVED),
    }
    assert sent <= anchors(RUNBOOK.read_text("utf-8"))


def test_the_rules_ask_for_series_that_exist(tmp_path: Path) -> None:
    """A renamed instrument must not leave a rule that can never fire. A running collector shows its gauges."""
    with a_backend() as backend, a_collector(tmp_path / "data", "--backend", backend.address) as collector:
        shown = httpx.get(f"{collector.http_address}/metrics").text
    known = {f"rag_otel_collector_{name}" for name in collector_metrics.HELP}
    known |= set(re.findall(r"(?m)^# HELP (\S+)", shown))
    for row in INSTRUMENTS:
        endings = ("_bucket", "_sum", "_count") if row.kind is InstrumentKind.HISTOGRAM else ("",)
        known |= {row.prometheus + ending for ending in endings}
    text = "".join(path.read_text("utf-8") for path in RULES)
    asked = set(re.findall(r"(?<!:)\brag_otel_[a-z_]+\b", re.sub(r"(?m)^\s*(#|description:).*$", "", text)))
    recorded = {name for name in asked if name.startswith("rag_otel_unfaithful_answers")}
    assert asked - recorded
    assert asked - recorded <= known


def test_the_jobs_of_the_rules_are_scraped() -> None:
    """A job that was renamed must not leave a rule behind."""
    config = yaml.safe_load((DOCKER / "prometheus" / "prometheus.yml").read_text("utf-8"))
    named = {job for path in RULES for job in re.findall(r'job="([^"]+)"', path.read_text("utf-8"))}
    assert named
    assert named <= {job["job_name"] for job in config["scrape_configs"]}


def test_alertmanager_accepts_its_configuration_and_routes_by_severity() -> None:
    """What pages goes to the people on call, the rest to the team."""
    config = str(DOCKER / "alertmanager" / "alertmanager.yml")
    assert "SUCCESS" in run(program("amtool"), "check-config", config)
    for severity, receiver in (("critical", "on-call"), ("warning", "team")):
        arguments = (
            "config",
            "routes",
            "test",
            f"--config.file={config}",
            f"severity={severity}",
            "alertname=RagDrift",
        )
        assert run(program("amtool"), *arguments).strip() == receiver


def test_shortened_rules_are_rules_still(tmp_path: Path) -> None:
    """The end-to-end test runs the same rules sixty times as fast: every duration is divided, nothing else."""
    for path in RULES:
        fast = tmp_path / path.name
        fast.write_text(shortened(path.read_text("utf-8"), 60), "utf-8")
        run(program("promtool"), "check", "rules", str(fast))
    text = (tmp_path / "faithfulness.yml").read_text("utf-8")
    assert "[15s]" in text
    assert "for: 5s" in text
    assert not re.search(r"\[\d+[mhd]\]|for: \d+[mhd]|interval: \d+[mhd]", text)
    assert "ratio_1h" in text
