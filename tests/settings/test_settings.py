"""The table of settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_otel.errors import ConfigurationError
from rag_otel.settings import Settings, resolve
from rag_otel.settings.groups import AlertSettings
from rag_otel.settings.rows import rows_of


def test_argument_wins_over_environment_wins_over_default() -> None:
    """Every value says where it came from."""
    resolved = resolve({"sample_ratio": 0.5}, {"RAG_OTEL_SAMPLE_RATIO": "0.1", "RAG_OTEL_HOLD": "2.5"})
    assert (resolved.settings.sample_ratio, resolved.origins["sample_ratio"]) == (0.5, "argument")
    assert (resolved.settings.spans.hold, resolved.origins["hold"]) == (2.5, "environment RAG_OTEL_HOLD")
    assert (resolved.settings.judge.concurrency, resolved.origins["judge_concurrency"]) == (8, "default")


def test_an_argument_of_none_is_not_given() -> None:
    """None leaves the environment in charge."""
    assert resolve({"judge": None}, {"RAG_OTEL_JUDGE": "hhem"}).settings.judge.model == "hhem"


def test_phoenix_own_environment_is_understood() -> None:
    """Phoenix's own variables are second names of ours."""
    settings = resolve({}, {"PHOENIX_COLLECTOR_ENDPOINT": "http://p:6006", "PHOENIX_API_KEY": "k"}).settings
    assert (settings.phoenix_endpoint, settings.phoenix_api_key) == ("http://p:6006", "k")


def test_metrics_are_a_list_separated_by_commas() -> None:
    """Spaces around the names do not matter."""
    assert resolve({}, {"RAG_OTEL_METRICS": "faithfulness, context_recall"}).settings.metrics == (
        "faithfulness",
        "context_recall",
    )


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({"RAG_OTEL_SAMPLE_RATIO": "2"}, "RAG_OTEL_SAMPLE_RATIO"),
        ({"RAG_OTEL_SAMPLE_RATIO": "often"}, "RAG_OTEL_SAMPLE_RATIO"),
        ({"RAG_OTEL_HOLD": "-1"}, "RAG_OTEL_HOLD"),
        ({"RAG_OTEL_HOLD": "inf"}, "RAG_OTEL_HOLD"),
        ({"RAG_OTEL_DRIFT_BASELINE_COUNT": "1"}, "RAG_OTEL_DRIFT_BASELINE_COUNT"),
        ({"RAG_OTEL_EVALUATION_SPANS": "never"}, "RAG_OTEL_EVALUATION_SPANS"),
        ({"RAG_OTEL_ALERT_ALERTMANAGER_URLS": "http://a:9093,b:9093"}, "RAG_OTEL_ALERT_ALERTMANAGER_URLS"),
        ({"RAG_OTEL_PHOENIX_ENDPOINT": "localhost:6006"}, "RAG_OTEL_PHOENIX_ENDPOINT"),
    ],
)
def test_a_bad_value_is_named_with_its_origin(environ: dict[str, str], named: str) -> None:
    """The error names the variable to change."""
    with pytest.raises(ConfigurationError, match=named):
        resolve({}, environ)


@pytest.mark.parametrize("url", ["nats://user:hidden@host:4222", "tls://user:hidden@host:4222", "redis://host"])
def test_a_broker_that_jobs_cannot_use_is_refused_with_the_way_out(url: str) -> None:
    """Jobs on NATS were possible in 0.1: the error says what to write instead, without the password."""
    with pytest.raises(ConfigurationError, match="amqp") as caught:
        resolve({"job_queue_url": url}, {})
    assert ("ended with 0.1" in str(caught.value)) == (not url.startswith("redis"))
    assert "hidden" not in str(caught.value)


def test_an_unknown_argument_lists_what_there_is() -> None:
    """A typing slip is answered with the list of settings."""
    with pytest.raises(ConfigurationError, match=r"unknown setting sample_rate.*sample_ratio"):
        resolve({"sample_rate": 1})


def test_secrets_are_masked_where_settings_are_shown() -> None:
    """No secret's value can be read from the rows."""
    environ = {"RAG_OTEL_PHOENIX_API_KEY": "s3cret", "RAG_OTEL_ALERT_WEBHOOK_SECRET": "s3cret"}
    rows = resolve({}, environ).rows()
    assert "s3cret" not in repr(rows)
    assert ("phoenix_api_key", "********", "environment RAG_OTEL_PHOENIX_API_KEY") in rows


@pytest.mark.parametrize("name", ["RAG_OTEL_ALERT_WEBHOOK_SECRET", "RAG_OTEL_ALERT_WEBHOOK_SECRET_FILE"])
def test_a_secret_may_stand_in_a_file(name: str, tmp_path: Path) -> None:
    """As containers mount them: named by a prefix, or by a variable that ends in _FILE."""
    path = tmp_path / "secret"
    path.write_text("s3cret\n")
    resolved = resolve({}, {name: str(path) if name.endswith("_FILE") else f"file:{path}"})
    assert resolved.settings.alerts.webhook_secret == "s3cret"
    assert resolved.origins["alert_webhook_secret"] == f"environment {name}"


@pytest.mark.parametrize(("content", "wrong"), [(None, "No such file"), (b"\n", "empty"), (b"\xff", "not UTF-8")])
def test_a_secrets_file_that_says_nothing_is_named(content: bytes | None, wrong: str, tmp_path: Path) -> None:
    """The error tells which setting, which file and what is wrong with it."""
    path = tmp_path / "secret"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=f"phoenix_api_key.*{path}.*{wrong}"):
        resolve({}, {"PHOENIX_API_KEY_FILE": str(path)})


def test_what_is_no_secret_is_taken_as_it_stands() -> None:
    """Only secrets are read from files: a name that begins like one is a name."""
    assert resolve({"project_name": "file:notes"}, {}).settings.project_name == "file:notes"


def test_secrets_are_in_no_repr() -> None:
    """Settings end up in logs and tracebacks."""
    settings = Settings(alerts=AlertSettings(webhook_secret="s3cret"), phoenix_api_key="s3cret")
    assert "s3cret" not in repr(settings)


def test_every_setting_has_an_environment_name_and_a_meaning() -> None:
    """The table is complete: no row without RAG_OTEL_<NAME> or without a meaning."""
    for row in rows_of(Settings).values():
        assert f"RAG_OTEL_{row.name.upper()}" in row.env
        assert row.meaning


def test_lists_are_shown_as_they_are_written() -> None:
    """With commas; an empty one, secret or not, as nothing."""
    shown = {name: value for name, value, _ in resolve({"alert_email_to": ("a@b.c", "d@e.f")}, {}).rows()}
    assert shown["alert_email_to"] == "a@b.c, d@e.f"
    assert shown["alert_alertmanager_urls"] == shown["alert_apprise_urls"] == "-"


def test_a_webhooks_address_is_a_secret() -> None:
    """Many services put their token into it."""
    rows = resolve({"alert_webhook_url": "https://hooks.example.com/T0ken"}, {}).rows()
    assert "T0ken" not in repr(rows)
