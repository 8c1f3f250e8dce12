"""Secrets in addresses and keys of alert channels stay out of messages and errors, also where servers repeat them."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from urllib.parse import quote

import pytest

from rag_otel.alerts.channels.alertmanager import AlertmanagerChannel
from rag_otel.alerts.channels.apprise import AppriseChannel
from rag_otel.alerts.channels.mail_server import MailServer
from rag_otel.alerts.channels.pagerduty import PagerDutyChannel
from rag_otel.alerts.channels.slack import SlackChannel
from rag_otel.alerts.channels.webhook import WebhookChannel
from rag_otel.errors import ConfigurationError, PermanentError, RetryableError
from rag_otel.protocols import AlertChannel
from rag_otel.settings import resolve
from testkit.http_receiver import http_receiver
from tests.alerts.alert_builders import an_alert
from tests.safety.test_redaction import VALUES

COUNT = int(os.environ.get("RAG_OTEL_TEST_SECRETS", "60"))
"""Secrets for each of 14 cases; 720 make 10,080."""


def _addresses(base: str, secret: str) -> tuple[str, str]:
    return f"{base}/services/{secret}", f"{base}/hook?token={secret}&page=2"


CHANNELS: dict[str, Callable[[str, str], list[AlertChannel]]] = {
    "webhook": lambda base, secret: [
        *(WebhookChannel(url) for url in _addresses(base, secret)),
        WebhookChannel(f"{base}/hook", headers={"Authorization": f"Bearer {secret}"}),
    ],
    "slack": lambda base, secret: [SlackChannel(url) for url in _addresses(base, secret)],
    "pagerduty": lambda base, secret: [PagerDutyChannel(secret, url=f"{base}/v2/enqueue")],
    "alertmanager": lambda base, secret: [AlertmanagerChannel(base, authorization=f"Bearer {secret}")],
}


@pytest.mark.parametrize("kind", CHANNELS)
@pytest.mark.parametrize("status", [200, 401, 503])
def test_messages_and_errors_of_channels_hold_no_secret(
    kind: str, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    """The server repeats what it was sent. Only PagerDuty's message has its key: that is where the key belongs."""
    dice = random.Random(f"{kind}{status}")
    alert = an_alert()
    with http_receiver() as server:
        server.echo = True
        for number in range(COUNT):
            secret = list(VALUES.values())[number % len(VALUES)](dice)
            secret = quote(secret, safe="") if kind in ("webhook", "slack") else secret
            for channel in CHANNELS[kind](server.url, secret):
                server.answers = [] if status == 200 else [(status, {})]
                said = ""
                try:
                    channel.send(alert)
                except (PermanentError, RetryableError) as error:
                    said = repr(error) + repr(error.__cause__) + repr(error.__context__)
                assert (said == "") is (status == 200)
                assert secret not in said
                assert secret not in repr(channel)
                assert kind == "pagerduty" or secret.encode() not in server.requests[-1].body
        assert not [line for line in caplog.text.splitlines() if secret in line]


def test_refused_addresses_are_not_quoted() -> None:
    """Apprise and mail refuse an address at the start; the message names the setting."""
    dice = random.Random(5)
    for number in range(COUNT):
        secret = list(VALUES.values())[number % len(VALUES)](dice)
        with pytest.raises(ConfigurationError) as refused:
            AppriseChannel(f"nonsense://{quote(secret, safe='')}@host/{quote(secret, safe='')}")
        assert secret not in str(refused.value)
        with pytest.raises(ConfigurationError) as refused:
            MailServer(f"ftp://user:{quote(secret, safe='')}@host", password=secret)
        assert secret not in str(refused.value)
        assert quote(secret, safe="") not in str(refused.value)


def test_rows_of_settings_hold_none() -> None:
    """What doctor and the collector print at their start, for every setting that holds a secret or an address."""
    dice = random.Random(6)
    for number in range(COUNT):
        secret = list(VALUES.values())[number % len(VALUES)](dice)
        in_url = quote(secret, safe="")
        settings = resolve(
            {
                "phoenix_endpoint": f"http://user:{in_url}@host:6006/?token={in_url}",
                "phoenix_api_key": secret,
                "alert_webhook_url": f"https://host.example/hook/{in_url}",
                "alert_slack_url": f"https://hooks.slack.com/services/{in_url}",
                "alert_pagerduty_key": secret,
                "alert_smtp_password": secret,
                "alert_alertmanager_authorization": f"Bearer {secret}",
            },
            {},
        )
        shown = repr(settings.rows())
        assert secret not in shown
        assert in_url not in shown
