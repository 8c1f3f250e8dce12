"""Channels as an application gets them: named by settings, fed by traffic."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from opentelemetry.sdk.trace import TracerProvider

import rag_otel
from rag_otel.alerts.channels.alertmanager import AlertmanagerChannel
from rag_otel.alerts.channels.configured import configured_channels
from rag_otel.safety.scheduler import scheduler
from rag_otel.settings import Settings
from rag_otel.settings.groups import AlertSettings
from testkit.http_receiver import http_receiver
from testkit.polling import eventually
from tests.alerts.alert_builders import an_alert
from tests.alerts.mail_receiver import mail_receiver

pytestmark = [
    pytest.mark.usefixtures("uninstrumented"),
    pytest.mark.filterwarnings("ignore:'imghdr' is deprecated"),
]
ALL = Settings(
    alerts=AlertSettings(
        webhook_url="http://hook",
        slack_url="http://slack",
        pagerduty_key="0" * 32,
        alertmanager_urls=("http://am-1:9093", "http://am-2:9093"),
        smtp_url="smtp://localhost",
        email_to=("a@example.com",),
        email_from="b@example.com",
        apprise_urls=("json://one", "json://two"),
    )
)


def test_every_channel_has_a_name_of_its_own() -> None:
    """Its counters, its queue and its state on disk go by it."""
    assert [channel.name for channel in configured_channels(ALL)] == [
        "webhook",
        "slack",
        "pagerduty",
        "alertmanager",
        "alertmanager_2",
        "email",
        "apprise",
        "apprise_2",
    ]


def test_a_secret_alone_makes_no_channel_and_does_no_harm() -> None:
    """Secrets are mounted everywhere; the address decides."""
    secrets = AlertSettings(webhook_secret="s", smtp_password="s", alertmanager_authorization="s")
    assert configured_channels(Settings(alerts=secrets)) == configured_channels(Settings()) == []


def test_an_unfaithful_answer_reaches_everybody_with_the_link_to_its_trace() -> None:
    """From a decorated function to the bodies that Slack, PagerDuty, Alertmanager and a mail server get."""
    with http_receiver() as receiver, mail_receiver() as mails:
        rag_otel.instrument(
            TracerProvider(),
            spans=rag_otel.SpanSettings(annotations=False),
            alerts=rag_otel.AlertSettings(
                phoenix_public_url="http://phoenix.example",
                digest=0,
                precision=1,
                slack_url=f"{receiver.url}/slack",
                pagerduty_url=f"{receiver.url}/pagerduty",
                pagerduty_key="0" * 32,
                alertmanager_urls=(receiver.url,),
                smtp_url=f"smtp://127.0.0.1:{mails.port}",
                email_to=("a@example.com",),
                email_from="b@example.com",
            ),
        )

        @rag_otel.observe
        def answer(question: str) -> dict[str, object]:
            chunk = {"id": "tower-1", "text": "The tower is 330 metres high and was finished in 1889."}
            return {"answer": "The tower is 512 metres high.", "chunks": [chunk]}

        answer("How high is the tower?")
        assert rag_otel.flush(timeout=60)
        bodies = {request.path: json.loads(request.body) for request in eventually(lambda: list(receiver.requests))}
        rag_otel.uninstrument()
    (mail,) = mails.mails
    assert set(bodies) == {"/slack", "/pagerduty", "/api/v2/alerts"}
    link = bodies["/pagerduty"]["links"][0]["href"]
    assert link.startswith("http://phoenix.example/redirects/traces/")
    page = mail.get_body(("html",))
    assert page is not None
    for text in (
        json.dumps(bodies["/slack"]),
        json.dumps(bodies["/pagerduty"]["payload"]),
        json.dumps(bodies["/api/v2/alerts"]),
        page.get_content(),
    ):
        assert "The tower is 512 metres high." in text
    assert link in json.dumps(bodies["/slack"])
    assert bodies["/api/v2/alerts"][0]["generatorURL"] == link
    assert link in page.get_content()


def test_nothing_is_renewed_once_nobody_watches() -> None:
    """`uninstrument()` ends the renewals; Alertmanager forgets what nobody tells it of."""
    with http_receiver() as receiver:
        channel = AlertmanagerChannel(receiver.url, name="watched", renew_s=0.02)
        before = set(scheduler.parts)
        set_up = rag_otel.instrument(
            TracerProvider(),
            alerts=rag_otel.AlertSettings(channels=[channel]),
            spans=rag_otel.SpanSettings(annotations=False),
        )
        channel.send(an_alert())
        eventually(lambda: len(receiver.requests) > 1)
        rag_otel.uninstrument()
        eventually(lambda: set(scheduler.parts) <= before)
        assert set_up.runtime is not None  # kept all along: it was not the garbage collector


def test_what_no_setting_asks_for_is_not_imported() -> None:
    """An application without mail and Slack carries neither."""
    report = (
        "import sys, rag_otel\n"
        "from opentelemetry.sdk.trace import TracerProvider\n"
        "rag_otel.instrument(TracerProvider(), alerts=rag_otel.AlertSettings(cooldown=60.0))\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    imported = set(done.stdout.split())
    assert "rag_otel.alerts.channels" in imported
    heavy = {"slack", "pagerduty", "alertmanager", "mail", "mail_server", "apprise_channel", "webhook"}
    assert not imported & ({"smtplib", "apprise"} | {f"rag_otel.alerts.{name}" for name in heavy})
