"""Alerts through apprise itself, to a service of the kind `json://`."""

from __future__ import annotations

import json
import logging

import pytest

from rag_otel.alert import Alert, AlertSeverity
from rag_otel.alerts.channels.apprise import AppriseChannel
from rag_otel.errors import ConfigurationError, RetryableError
from testkit.http_receiver import http_receiver
from tests.alerts.alert_builders import MARKED, a_hidden_alert, a_long_alert, an_alert, resolved
from tests.support.results import QUESTION, SECRET_TEXTS

pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated")
SECRET = "xyzzyxyzzy"


def address(url: str) -> str:
    """The receiver as a service of apprise's, with a token in its path."""
    return f"json{url.removeprefix('http')}/{SECRET}?rto=20&cto=20"


@pytest.mark.parametrize(
    ("alert", "kind"),
    [
        (an_alert(), "warning"),
        (an_alert(severity=AlertSeverity.CRITICAL), "failure"),
        (resolved(an_alert(severity=AlertSeverity.CRITICAL)), "success"),
    ],
)
def test_a_service_gets_the_message_as_text(alert: Alert, kind: str) -> None:
    """Title, the answer with its marks, and how it stands by apprise's own kinds."""
    with http_receiver() as receiver:
        AppriseChannel(address(receiver.url)).send(alert)
        (request,) = receiver.requests
    body = json.loads(request.body)
    assert request.path.startswith(f"/{SECRET}")
    assert body["title"].endswith("Unfaithful answer in observatory answer")
    assert body["type"] == kind
    assert QUESTION in body["message"]
    assert MARKED in body["message"]


def test_a_long_answer_is_cut_by_us_and_hidden_text_is_not_there() -> None:
    """Around the claim, before apprise would cut it anywhere."""
    with http_receiver() as receiver:
        channel = AppriseChannel(address(receiver.url))
        channel.send(a_long_alert())
        channel.send(a_hidden_alert())
        long, hidden = (json.loads(request.body)["message"] for request in receiver.requests)
    assert "[[The moon <is> made of cheese & wine.]]" in long
    assert len(long) < 10_000
    assert not [secret for secret in SECRET_TEXTS if secret in hidden]


def test_a_service_that_fails_is_tried_again_and_its_token_is_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    """Whether it refuses or is not there."""
    with caplog.at_level(logging.INFO), http_receiver() as receiver:
        channel = AppriseChannel(address(receiver.url))
        receiver.answers.append((403, {}))
        with pytest.raises(RetryableError, match="apprise: the service took no message") as refused:
            channel.send(an_alert())
    with caplog.at_level(logging.INFO), pytest.raises(RetryableError):
        channel.send(an_alert())
    assert SECRET not in f"{refused.value!r} {channel!r} {caplog.text}"


@pytest.mark.parametrize("url", [f"nosuchservice://{SECRET}", f"{SECRET}", f"slack://{SECRET}", ""])
def test_an_address_that_apprise_does_not_know_is_refused_at_start_up(url: str) -> None:
    """By the name of the setting, without the token."""
    with pytest.raises(ConfigurationError, match="alert_apprise_urls") as refused:
        AppriseChannel(url)
    assert SECRET not in str(refused.value)
