"""`rag-otel alerts test`, against real receivers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_otel.cli.main import main
from testkit.http_receiver import Receiver, http_receiver
from tests.alerts.mail_receiver import MailReceiver, mail_receiver

pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated")
SECRET = "xyzzyxyzzy"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Stands for every service that speaks HTTP."""
    with http_receiver() as running:
        yield running


@pytest.fixture
def mails() -> Iterator[MailReceiver]:
    """Stands for the mail server."""
    with mail_receiver() as running:
        yield running


def configure_all(monkeypatch: pytest.MonkeyPatch, receiver: Receiver, mails: MailReceiver) -> None:
    """Every channel, by the environment."""
    values = {
        "WEBHOOK_URL": f"{receiver.url}/webhook",
        "WEBHOOK_SECRET": f"whsec_{SECRET * 4}",
        "SLACK_URL": f"{receiver.url}/slack/{SECRET}",
        "PAGERDUTY_URL": f"{receiver.url}/pagerduty",
        "PAGERDUTY_KEY": SECRET,
        "ALERTMANAGER_URLS": f"{receiver.url}/one,{receiver.url}/two",
        "SMTP_URL": f"smtp://127.0.0.1:{mails.port}",
        "EMAIL_TO": "oncall@example.com",
        "EMAIL_FROM": "rag@example.com",
        "APPRISE_URLS": f"json{receiver.url.removeprefix('http')}/apprise/{SECRET}",
    }
    for name, value in values.items():
        monkeypatch.setenv(f"RAG_OTEL_ALERT_{name}", value)


def rows(printed: str) -> list[list[str]]:
    """channel, message, outcome, first word of the reason: of each row of the table."""
    return [row.split()[:4] for row in printed.split("\n\n")[0].splitlines()[2:]]


def test_every_channel_gets_an_alert_that_says_it_is_a_test_and_its_end(
    receiver: Receiver, mails: MailReceiver, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two messages each, a table of what came of them, exit code 0; nothing is told again afterwards."""
    configure_all(monkeypatch, receiver, mails)
    assert main(["alerts", "test"]) == 0
    printed = capsys.readouterr().out
    channels = ["log", "webhook", "slack", "pagerduty", "alertmanager", "alertmanager_2", "email", "apprise"]
    assert rows(printed) == [[name, state, "sent"] for name in channels for state in ("firing", "resolved")]
    assert SECRET not in printed
    paths = [request.path.rstrip("/") for request in receiver.requests]
    for path in ("/webhook", f"/slack/{SECRET}", "/pagerduty", "/one/api/v2/alerts", "/two/api/v2/alerts"):
        assert paths.count(path) == 2
    for request in receiver.requests:
        body = json.loads(request.body)
        assert "TEST of rag-otel" in json.dumps(body) or body.get("event_action") == "resolve"
    assert [("TEST" in mail["Subject"], "Resolved" in mail["Subject"]) for mail in mails.mails] == [
        (True, False),
        (True, True),
    ]


def test_a_channel_that_fails_is_shown_with_its_reason_and_the_way_out(
    receiver: Receiver, mails: MailReceiver, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The others are tried all the same, the end too; exit code 1."""
    configure_all(monkeypatch, receiver, mails)
    receiver.answers += [(200, {}), (200, {}), (404, {}), (503, {})]  # the webhook's two, then Slack's
    assert main(["alerts", "test"]) == 1
    printed = capsys.readouterr().out
    found = {(channel, state): rest for channel, state, *rest in rows(printed)}
    assert found["slack", "firing"] == ["refused", "HTTP"]
    assert found["slack", "resolved"] == ["not", "now"]
    assert found["email", "resolved"] == ["sent"]
    assert "HTTP 404 from 127.0.0.1" in printed
    assert "slack: Create a new incoming webhook in Slack" in printed
    assert "webhook: " not in printed
    assert SECRET not in printed


def test_one_channel_may_be_chosen_and_a_wrong_name_lists_those_there_are(
    receiver: Receiver, mails: MailReceiver, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody else is told; a typing slip is exit code 2."""
    configure_all(monkeypatch, receiver, mails)
    assert main(["alerts", "test", "--channel", "email"]) == 0
    assert len(mails.mails) == 2
    assert not receiver.requests
    assert main(["alerts", "test", "--channel", "mail"]) == 2
    assert "channel mail is not configured; configured are: log, webhook, slack" in capsys.readouterr().err


def test_without_a_channel_the_log_is_tried_and_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    """The log always is one."""
    assert main(["alerts", "test"]) == 0
    printed = capsys.readouterr().out
    assert rows(printed) == [["log", "firing", "sent"], ["log", "resolved", "sent"]]
    assert "Only the log is configured as a channel" in printed


def test_the_collectors_file_of_settings_is_understood(
    receiver: Receiver, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its part [evaluation], secrets by file included; a broken file is exit code 2."""
    (tmp_path / "slack").write_text(f"{receiver.url}/{SECRET}\n")
    config = tmp_path / "collector.toml"
    config.write_text(f'[evaluation]\nalert_slack_url = "file:{tmp_path / "slack"}"\n')
    assert main(["alerts", "test", "--config", str(config), "--channel", "slack"]) == 0
    assert [request.path for request in receiver.requests] == [f"/{SECRET}"] * 2
    config.write_text("[evaluation")
    assert main(["alerts", "test", "--config", str(config)]) == 2
    assert "cannot be read as TOML" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"SMTP_URL": "smtp://mail"}, "alert_email_to"),
        ({"EMAIL_TO": "a@b.c", "EMAIL_FROM": "a@b.c"}, "alert_smtp_url"),
        ({"SLACK_URL": SECRET}, "alert_slack_url"),
        ({"ALERTMANAGER_URLS": "alertmanager:9093"}, "alert_alertmanager_urls"),
        ({"ALERTMANAGER_URLS": f"http://user:{SECRET}@am:9093"}, "alert_alertmanager_authorization"),
        ({"APPRISE_URLS": SECRET}, "alert_apprise_urls"),
        ({"COOLDOWN": "-1"}, "alert_cooldown"),
    ],
)
def test_half_a_channel_is_refused_by_the_setting_that_is_missing(
    given: dict[str, str], wanted: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """At start-up, by name, without the secret."""
    for name, value in given.items():
        monkeypatch.setenv(f"RAG_OTEL_ALERT_{name}", value)
    assert main(["alerts", "test"]) == 2
    said = capsys.readouterr().err
    assert wanted in said
    assert SECRET not in said
