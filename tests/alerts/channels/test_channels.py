"""Alerts reach a log, a webhook and a callback, through the delivery that production uses."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Sequence

import pytest

from rag_otel.alert import Alert
from rag_otel.alerts.channels.callback import CallbackChannel
from rag_otel.alerts.channels.log import LogChannel
from rag_otel.alerts.channels.webhook import WebhookChannel, sign, verify
from rag_otel.alerts.inbox import Inbox
from rag_otel.alerts.messages.examples import Examples
from rag_otel.alerts.messages.wording import summary
from rag_otel.alerts.rules import AlertRules, parse_rule
from rag_otel.alerts.telling import AlertDelivery
from rag_otel.delivery.export_queue import ExportPolicy
from rag_otel.errors import ConfigurationError, RetryableError
from rag_otel.protocols import AlertChannel
from rag_otel.safety.guard import counters
from testkit.http_receiver import Received, http_receiver
from tests.alerts.alert_builders import resolved
from tests.support.results import CHUNK, QUESTION, SECRET_TEXTS, a_result

SECRET = "whsec_YS1sb25nLXJhbmRvbS1zZWNyZXQtb2YtMzItYnl0ZXM="
ANOTHER = "whsec_YW5vdGhlci1sb25nLXNlY3JldC1vZi0zMi1ieXRlcyE="
PATIENCE_S = 20.0
LINKED = Examples(link=lambda result: "http://phoenix/trace")


def deliver(channels: Sequence[AlertChannel], count: int = 1) -> bool:
    """Submit that many unfaithful answers, of as many routes; True when everything went out."""
    inbox = Inbox(channels, rules=AlertRules(examples=LINKED))
    delivery = AlertDelivery(inbox, policy=ExportPolicy(backoff_s=0.01, max_backoff_s=0.05))
    for n in range(count):
        delivery.submit(a_result(route=f"answer-{n}"))
    # A flush does not wait for what failed before it and fails again: whoever wants it delivered flushes once more.
    return delivery.flush(PATIENCE_S) or delivery.flush(PATIENCE_S)


def an_alert() -> Alert:
    """The alert of the usual unfaithful answer."""
    (judgement,) = AlertRules([parse_rule("unfaithful")], LINKED).judge(a_result())
    assert judgement.alert is not None
    return judgement.alert


def signed_with(secret: str, request: Received, *, now: float | None = None, body: bytes | None = None) -> bool:
    """What a receiver finds out."""
    return verify(secret, request.headers, request.body if body is None else body, now=now)


def test_a_log_record_has_a_line_for_people_and_the_alert_for_machines(caplog: pytest.LogCaptureFixture) -> None:
    """Logger `rag_otel.alerts`, level warning, everything under one attribute."""
    with caplog.at_level(logging.WARNING, logger="rag_otel.alerts"):
        assert deliver([LogChannel(texts=True)])
    (record,) = [r for r in caplog.records if r.name == "rag_otel.alerts"]
    assert record.levelno == logging.WARNING
    message = record.getMessage()
    assert "observatory answer-0" in message
    assert "hallucination risk 0.93" in message
    assert "It is made of cheese." in message
    assert message.endswith("http://phoenix/trace")
    payload = record.rag_otel_alert  # type: ignore[attr-defined]
    assert payload["question"] == QUESTION
    assert payload["unsupported_claims"][1]["nearest_quotes"][0]["chunk_id"] == "moon-1"


def test_a_log_record_holds_no_texts_unless_asked(caplog: pytest.LogCaptureFixture) -> None:
    """By default a record has identifiers, scores and counts; neither its line nor what it carries quotes anything."""
    with caplog.at_level(logging.WARNING, logger="rag_otel.alerts"):
        assert deliver([LogChannel()])
    (record,) = [r for r in caplog.records if r.name == "rag_otel.alerts"]
    said = f"{record.getMessage()} {vars(record)!r}"
    assert "hallucination risk 0.93" in said
    assert "2 unsupported claims, trace " in record.getMessage()
    assert not [text for text in (*SECRET_TEXTS, CHUNK[:25]) if text in said]


def test_the_end_of_a_problem_is_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    """Logged, at level info."""
    with caplog.at_level(logging.INFO, logger="rag_otel.alerts"):
        LogChannel().send(resolved(an_alert()))
    (record,) = caplog.records
    assert (record.levelno, record.getMessage()[:9]) == (logging.INFO, "Resolved:")


def test_the_line_stays_one_line() -> None:
    """A claim with line breaks, or one of a thousand characters, does not break a log."""
    alert = an_alert()
    assert "\n" not in summary(alert)
    assert len(summary(alert)) < 400


def test_a_webhook_is_a_signed_post_of_the_whole_alert() -> None:
    """The receiver verifies the bytes that it got, then reads them."""
    with http_receiver() as receiver:
        assert deliver([WebhookChannel(f"{receiver.url}/hook", secret=SECRET, headers={"X-Team": "rag"})])
        (request,) = receiver.requests
    assert request.path == "/hook"
    assert request.headers["x-team"] == "rag"
    assert request.headers["content-type"] == "application/json"
    assert signed_with(SECRET, request)
    payload = json.loads(request.body)
    assert payload["name"] == "unfaithful_answer"
    assert payload["question"] == QUESTION
    assert payload["risk"] == 0.93
    assert payload["link"] == "http://phoenix/trace"
    assert [claim["verdict"] for claim in payload["unsupported_claims"]] == ["not_enough_info", "contradicted"]


def test_a_forged_changed_or_old_message_does_not_verify() -> None:
    """Another secret, another body, another time, no signature: refused."""
    with http_receiver() as receiver:
        WebhookChannel(receiver.url, secret=SECRET).send(an_alert())
        WebhookChannel(receiver.url).send(an_alert())
        signed, unsigned = receiver.requests
    assert signed_with(SECRET, signed)
    assert not signed_with(ANOTHER, signed)
    assert not signed_with(SECRET, signed, body=signed.body + b" ")
    assert not signed_with(SECRET, signed, now=time.time() + 301)
    assert not signed_with(SECRET, unsigned)
    for name, value in {"webhook-timestamp": "soon", "webhook-id": "other", "webhook-signature": "v1,é"}.items():
        headers = signed.headers | {name: value}
        assert not verify(SECRET, headers, signed.body)


def test_the_signature_is_that_of_standard_webhooks() -> None:
    """The example of the specification's own reference libraries."""
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    signature = sign(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", b'{"test": 2432232314}')
    assert signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_libraries_of_standard_webhooks_verify_what_is_sent() -> None:
    """Theirs, not ours: a receiver in any language has the secret as it is set here."""
    library = pytest.importorskip("standardwebhooks")
    with http_receiver() as receiver:
        WebhookChannel(receiver.url, secret=SECRET).send(an_alert())
    (request,) = receiver.requests
    assert library.Webhook(SECRET).verify(request.body, request.headers)["name"] == "unfaithful_answer"
    with pytest.raises(library.webhooks.WebhookVerificationError):
        library.Webhook(ANOTHER).verify(request.body, request.headers)


def test_a_receiver_may_be_sent_several_signatures() -> None:
    """While a key is being changed, one that fits is enough."""
    headers = {"Webhook-Id": "1", "Webhook-Timestamp": "1000"}
    headers["Webhook-Signature"] = f"v1,bm8= {sign(SECRET, '1', '1000', b'{}')}"
    assert verify(SECRET, headers, b"{}", now=1000)


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_not base64!", "whsec_dG9vIHNob3J0", "a-long-random-secret"])
def test_a_secret_that_is_no_key_is_refused_at_start_up(secret: str) -> None:
    """Not in the middle of the night, at the first alert."""
    with pytest.raises(ConfigurationError, match="alert_webhook_secret"):
        WebhookChannel("http://127.0.0.1", secret=secret)


def test_a_receiver_that_is_busy_gets_the_alert_later_and_can_tell_it_is_the_same() -> None:
    """Retried like a writer, with the same id; other channels do not wait for it."""
    told: list[Alert] = []
    with http_receiver() as receiver:
        receiver.answers += [(503, {}), (429, {"Retry-After": "0"})]
        assert deliver([WebhookChannel(receiver.url, secret=SECRET), CallbackChannel(told.append)])
        ids = {request.headers["webhook-id"] for request in receiver.requests}
        assert len(receiver.requests) == 3
        assert all(signed_with(SECRET, request) for request in receiver.requests)
    assert len(ids) == 1
    assert len(told) == 1


def test_a_callback_gets_the_alert_object_and_its_errors_stay_inside(caplog: pytest.LogCaptureFixture) -> None:
    """What it raises is counted and logged once; the next alert is tried all the same."""
    told: list[Alert] = []

    def callback(alert: Alert) -> None:
        told.append(alert)
        if len(told) < 3:
            raise ValueError("the pager is down")

    lost = counters.get("delivery.alert_callback.lost")
    assert deliver([CallbackChannel(callback)], count=3)
    assert [alert.route for alert in told] == ["answer-0", "answer-1", "answer-2"]
    assert counters.get("delivery.alert_callback.lost") == lost + 2
    assert len([r for r in caplog.records if "the pager is down" in r.getMessage()]) == 1


def test_a_callback_may_ask_to_be_called_again() -> None:
    """The one error that is not final."""
    calls: list[Alert] = []

    def callback(alert: Alert) -> None:
        calls.append(alert)
        if len(calls) == 1:
            raise RetryableError("busy")

    assert deliver([CallbackChannel(callback)])
    assert len(calls) == 2
    assert calls[0] is calls[1]
