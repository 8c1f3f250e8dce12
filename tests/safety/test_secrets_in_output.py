"""Planted secrets: none is found in what the programs print, as users run them, with every logger at DEBUG.

A secret stands in every setting that is one, in user and password of every address, and in its query. A server repeats
what it is sent and denies access.
"""

from __future__ import annotations

import base64
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter

from rag_otel.settings import Settings
from rag_otel.settings.rows import rows_of
from rag_otel_collectors.otlp.settings_table import CollectorSettings
from testkit.collector import CollectorProcess
from testkit.http_receiver import Receiver, http_receiver
from testkit.polling import eventually
from testkit.warm_python import warm_python
from tests.collectors.otlp.test_exporters import send
from tests.safety.test_redaction import VALUES

pytestmark = pytest.mark.server

_LOG_EVERYTHING = "import logging, sys\nlogging.basicConfig(level=logging.DEBUG, stream=sys.stdout)\n"
_ADDRESSES = (
    *("phoenix_public_url", "alert_webhook_url", "alert_slack_url", "alert_pagerduty_url"),
    *("alert_chart_url", "alert_runbook_url"),
)


class Planted:
    """Makes secrets, remembers them, and looks for them."""

    def __init__(self, seed: str) -> None:
        self._dice = random.Random(seed)
        self.secrets: list[str] = []

    def secret(self) -> str:
        make = list(VALUES.values())[len(self.secrets) % len(VALUES)]
        self.secrets.append(make(self._dice))
        return self.secrets[-1]

    def address(self, url: str) -> str:
        """With a password and a token in its query."""
        scheme, _, rest = url.partition("://")
        user, token = f"user:{quote(self.secret(), safe='')}@", f"?token={quote(self.secret(), safe='')}"
        return f"{scheme}://{user}{rest}/hook{token}"

    def found_in(self, said: str) -> list[str]:
        """Every line with a secret, as it is, percent-encoded, or in a Basic header."""
        forms = set()
        for secret in self.secrets:
            basic = base64.b64encode(f"user:{secret}".encode()).decode().rstrip("=")
            forms |= {secret, quote(secret), quote(secret, safe=""), basic}
        return [line for line in said.splitlines() if any(form in line for form in forms)]


def environment(planted: Planted, server: str, folder: Path) -> dict[str, str]:
    """Every setting that is a secret or an address, over the environment."""
    given: dict[str, str] = {}
    for table in (Settings, CollectorSettings):
        for each in rows_of(table).values():
            name = each.env[0]
            if each.name == "judge_api_base":  # a key beside user and password is refused by the client
                given[name] = f"{server}/v1?token={planted.secret()}"
            elif each.name in _ADDRESSES:
                given[name] = planted.address(server)
            elif each.name == "job_queue_url":  # with it nothing is judged here
                continue
            elif each.name == "alert_smtp_url":
                given[name] = "smtp://user@127.0.0.1:9"
            elif each.name == "alert_webhook_secret":
                given[name] = "whsec_" + base64.b64encode(planted.secret().encode() * 3).decode()
                planted.secrets.append(given[name].removeprefix("whsec_").rstrip("="))
            elif each.name == "kafka_properties":
                given[name] = f"sasl.password={planted.secret()}"
            elif each.name == "headers":
                given[name] = f"authorization=Bearer {planted.secret()},x-tenant={planted.secret()}"
            elif each.name == "alert_alertmanager_authorization":
                given[name] = f"Bearer {planted.secret()}"
            elif each.name == "alert_apprise_urls":
                given[name] = f"json://user:{quote(planted.secret(), safe='')}@127.0.0.1:9/{planted.secret()}"
            elif each.secret:
                given[name] = planted.secret()
    (folder / "sitecustomize.py").write_text(_LOG_EVERYTHING)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("RAG_OTEL_", "OTEL_"))}
    return {
        **inherited,
        **given,
        "PYTHONPATH": os.pathsep.join([str(folder), *filter(None, sys.path)]),
        "RAG_OTEL_ALERT_EMAIL_TO": "on-call@example.com",
        "RAG_OTEL_ALERT_EMAIL_FROM": "rag@example.com",
        "RAG_OTEL_STATE_FOLDER": str(folder / "state"),
        "OPENAI_API_KEY": planted.secret(),
        "OTEL_EXPORTER_OTLP_HEADERS": f"authorization=Bearer%20{planted.secret()}",
    }


@contextmanager
def denying_server() -> Iterator[Receiver]:
    """Answers 401 and repeats headers and body."""
    with http_receiver() as server:
        server.echo = True
        server.answers = [(401, {})] * 1000
        yield server


def said_by(arguments: list[str], env: Mapping[str, str], *, code: int) -> str:
    ran = subprocess.run(
        [warm_python(), "-m", "rag_otel.cli.main", *arguments],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    assert ran.returncode == code, ran.stdout
    return ran.stdout


def collector_arguments(folder: Path) -> list[str]:
    return ["--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data-dir", str(folder / "data")]


def test_the_collector_says_none_at_its_start(tmp_path: Path) -> None:
    """`--check` prints all settings and ends."""
    planted = Planted("check")
    env = environment(planted, "http://127.0.0.1:9", tmp_path)
    backend = planted.address("http://127.0.0.1:9")
    for more in (["--backend", backend], ["--set", f"phoenix_endpoint={planted.address('http://127.0.0.1:9')}"]):
        said = said_by(["collect", "--check", *collector_arguments(tmp_path), *more], env, code=0)
        assert "alert_slack_url" in said
        assert planted.found_in(said) == []


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("--backend", "ftp://"),
        ("--backend", "http://["),
        ("grpc", "http://"),
        ("phoenix_endpoint", "http://["),
        ("alert_alertmanager_urls", "http://"),
        ("alert_smtp_url", "ftp://"),
        ("job_queue_url", "http://"),
    ],
)
def test_refused_settings_are_not_quoted(name: str, start: str, tmp_path: Path) -> None:
    """A setting that cannot be used is named without its secrets."""
    planted = Planted("refused")
    env = environment(planted, "http://127.0.0.1:9", tmp_path)
    address = planted.address("http://127.0.0.1:9").replace("http://", start)
    given = (
        [name, address] if name.startswith("-") else ["--set", f"{name}={address}", "--backend", "http://host.example"]
    )
    ran = subprocess.run(
        [warm_python(), "-m", "rag_otel.cli.main", "collect", "--check", *collector_arguments(tmp_path), *given],
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert planted.found_in(ran.stdout + ran.stderr) == []


@pytest.mark.long  # two processes that import all they can, and a judge's retries
def test_the_collector_says_none_while_it_works(tmp_path: Path) -> None:
    """A backend and a judge that deny access and repeat what they are sent; then a backend that nobody is at."""
    planted = Planted("collect")
    with denying_server() as server:
        env = environment(planted, server.url, tmp_path) | {
            "RAG_OTEL_JUDGE": "openai/gpt-4o-mini",
            "RAG_OTEL_EVALUATIONS_PER_MINUTE": "60",
        }
        collector = CollectorProcess(
            tmp_path / "data",
            "--backend",
            planted.address(server.url),
            "--set",
            "drain_timeout=1",
            env=env,
            fresh=True,  # a forked one has set its loggers up already
        )
        try:
            collector.start()
            key = env["RAG_OTEL_COLLECTOR_API_KEYS"]
            send(
                HttpExporter(f"{collector.http_address}/v1/traces", headers={"authorization": f"Bearer {key}"}),
                "denied",
            )
            eventually(lambda: collector.metric("send_retries_total") > 0)
            eventually(lambda: collector.metric("evaluated_traces_total") > 0)
            page = collector.get("/metrics")[1] + collector.get("/readyz")[1]
            collector.stop()
            eventually(lambda: any("HTTP 401" in line for line in collector.lines))
            said = "\n".join(collector.lines)
        finally:
            collector.kill()
        assert "DEBUG" in said
    assert planted.found_in(said + page) == []


@pytest.mark.long  # waits until tries to reach a judge and a backend are given up
def test_doctor_says_none(tmp_path: Path) -> None:
    """With a Phoenix that denies access, and with a judge and an OTLP backend that do."""
    planted = Planted("doctor")
    with denying_server() as server:
        env = environment(planted, server.url, tmp_path)
        phoenix = {"RAG_OTEL_PHOENIX_ENDPOINT": planted.address(server.url)}
        said = said_by(["doctor", "--all", "--timeout", "5"], env | phoenix, code=1)
        assert "FAIL" in said
        judge = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": planted.address(server.url),
            "RAG_OTEL_JUDGE": "openai/gpt-4o-mini",
            "RAG_OTEL_EVALUATIONS_PER_MINUTE": "60",
        }
        said += said_by(["doctor", "--all", "--timeout", "5"], env | judge, code=1)
    assert "FAIL" in said
    assert len(planted.secrets) > 30
    assert planted.found_in(said) == []
