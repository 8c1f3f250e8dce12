"""Slack and PagerDuty, against a server that records what it is sent; their limits are those of their references."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given, settings
from slack_sdk.models.blocks import Block

from rag_otel.alert import Alert, AlertSeverity
from rag_otel.alerts.channels.pagerduty import MAX_EVENT_BYTES, PagerDutyChannel, event
from rag_otel.alerts.channels.slack import SlackChannel, fallback, payload
from rag_otel.alerts.channels.webhook import WebhookChannel
from rag_otel.errors import PermanentError, RetryableError
from rag_otel.protocols import AlertChannel
from testkit.http_receiver import http_receiver
from testkit.size import examples
from tests.alerts.alert_builders import (
    LINK,
    MARKED,
    a_hidden_alert,
    a_long_alert,
    a_statistical_alert,
    an_alert,
    any_alert,
    resolved,
)
from tests.support.results import QUESTION, SECRET_TEXTS

KEY = "0123456789abcdef0123456789abcdef"
SLACK_PATH = "/services/T0000/B0000/xyzzyxyzzyxyzzy"


def channels(url: str) -> list[AlertChannel]:
    """The channels that POST to an address that is, or holds, a secret."""
    return [
        SlackChannel(url + SLACK_PATH),
        PagerDutyChannel(KEY, url=f"{url}/v2/enqueue"),
        WebhookChannel(f"{url}{SLACK_PATH}?token={KEY}", secret=f"whsec_{KEY}", headers={"X-Key": KEY}),
    ]


def sent(channel: str, alert: Alert) -> dict[str, Any]:
    """The body of the one request that an alert becomes."""
    with http_receiver() as receiver:
        next(each for each in channels(receiver.url) if each.name == channel).send(alert)
        (request,) = receiver.requests
    body: dict[str, Any] = json.loads(request.body)
    return body


def blocks(alert: Alert) -> list[dict[str, Any]]:
    """The blocks of the message, then those of the attachment that Slack folds."""
    message = payload(alert)
    return [*message["blocks"], *message["attachments"][0]["blocks"]]


def texts_of(made: list[dict[str, Any]]) -> list[tuple[dict[str, Any], int]]:
    """Every text object of Slack's blocks with the most that it may hold."""
    found = []
    for block in made:
        found += [(field, 2000) for field in block.get("fields", ())]
        found += [(block["text"], 150 if block["type"] == "header" else 3000)] if "text" in block else []
    return found


def check_limits_of_slack(made: list[dict[str, Any]]) -> None:
    """As the reference of Block Kit and Slack's own library have them; what breaks one is refused whole."""
    for block in Block.parse_all(made):
        block.validate_json()
    assert 0 < len(made) <= 50
    assert {block["type"] for block in made} <= {"header", "section", "divider"}
    assert all(len(block.get("fields", ())) <= 10 for block in made)
    for text, limit in texts_of(made):
        assert 0 < len(text["text"].encode("utf-16-le")) // 2 <= limit


def test_slack_shows_the_answer_with_its_marks() -> None:
    """Where its webhook points; title, facts, question, answer, claims, quote, link; a line for notifications."""
    with http_receiver() as receiver:
        SlackChannel(receiver.url + SLACK_PATH).send(an_alert())
        (request,) = receiver.requests
    assert request.path == SLACK_PATH
    body = json.loads(request.body)
    shown = "\n".join(text["text"] for text, _ in texts_of([*body["blocks"], *body["attachments"][0]["blocks"]]))
    assert body["text"].startswith("Unfaithful answer in observatory answer; hallucination risk 0.93")
    for part in (
        "⚠️ Unfaithful answer in observatory answer",
        "*How bad:* faithfulness 0.33, hallucination risk 0.93",
        f"*Question*\n{QUESTION}",
        f"*Answer*\n{MARKED}",
        "2. contradicted (probability of support 0.02): Nobody has seen its far side.",
        'nearest, in chunk moon-1: "The moon orbits the earth"',
        f"<{LINK}|Trace>",
    ):
        assert part in shown


@pytest.mark.parametrize(
    ("alert", "sign"),
    [(resolved(an_alert()), "✅ Resolved: "), (an_alert(severity=AlertSeverity.CRITICAL), "🔴 Unfaithful")],
)
def test_slack_tells_how_it_stands_by_a_sign(alert: Alert, sign: str) -> None:
    """Over, or urgent, at the first glance."""
    assert blocks(alert)[0]["text"]["text"].startswith(sign)


def test_an_answer_wakes_nobody_in_slack() -> None:
    """What a model wrote is text: no mention, no link, no broken escape."""
    attack = "<!channel> & <@U1> <http://evil|click>"
    alert = an_alert(question=attack, response=attack, claims=(), headline=attack, service=attack)
    shown = json.dumps([fallback(alert), *(text["text"] for text, _ in texts_of(blocks(alert)) if "sign" not in text)])
    assert "&lt;!channel&gt; &amp; &lt;@U1&gt; &lt;http://evil|click&gt;" in shown
    header, *others = blocks(alert)
    assert header["text"]["type"] == "plain_text"  # where nothing is a mention
    assert "<!channel>" not in json.dumps(others)
    assert "<!channel>" not in fallback(alert)


def test_a_long_answer_fits_slack_and_shows_its_unsupported_claim() -> None:
    """Cut around the claim, before it is escaped."""
    made = blocks(a_long_alert())
    check_limits_of_slack(made)
    (answer,) = [text["text"] for text, _ in texts_of(made) if text["text"].startswith("*Answer*")]
    assert "[[The moon &lt;is&gt; made of cheese &amp; wine.]]" in answer
    assert len(answer) > 2000
    assert not answer.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "").count("&")


@settings(max_examples=examples(40), deadline=None)
@given(any_alert())
def test_slack_takes_any_alert(alert: Alert) -> None:
    """Texts of any signs and lengths keep within every limit."""
    check_limits_of_slack(blocks(alert))
    assert 0 < len(fallback(alert)) < 4000


def test_pagerduty_opens_an_incident_with_the_evidence() -> None:
    """Key, fingerprint, severity, where, the answer, and the link in both places that PagerDuty shows."""
    body = sent("pagerduty", an_alert(severity=AlertSeverity.CRITICAL))
    assert (body["routing_key"], body["event_action"]) == (KEY, "trigger")
    assert body["dedup_key"] == "observatory/faithfulness/answer"
    assert body["client_url"] == LINK
    assert body["links"] == [{"href": LINK, "text": "Trace"}]
    payload = body["payload"]
    assert payload["summary"] == "Unfaithful answer in observatory answer"
    assert (payload["severity"], payload["source"], payload["component"]) == ("critical", "observatory", "answer")
    assert payload["timestamp"] == "2023-11-14T22:13:20Z"
    details = payload["custom_details"]
    assert (details["question"], details["answer"]) == (QUESTION, MARKED)
    assert details["how bad"] == "faithfulness 0.33, hallucination risk 0.93"
    assert details["unsupported claims"].endswith("why: contradicted by the far side's date")


def test_pagerduty_closes_the_incident_that_it_opened() -> None:
    """The same key; nothing else is asked for."""
    alert = an_alert()
    opened, closed = sent("pagerduty", alert), sent("pagerduty", resolved(alert))
    assert closed == {"routing_key": KEY, "event_action": "resolve", "dedup_key": opened["dedup_key"]}


def test_a_key_that_is_too_long_for_pagerduty_stays_the_same_key() -> None:
    """Services and routes may have long names; 255 characters is the most."""
    long = an_alert(fingerprint="service/" * 50)
    opened, closed = (json.loads(event(each, KEY))["dedup_key"] for each in (long, resolved(long)))
    assert opened == closed
    assert len(opened) <= 255
    assert opened != json.loads(event(an_alert(fingerprint="service/" * 51), KEY))["dedup_key"]


def test_an_event_keeps_within_what_pagerduty_takes() -> None:
    """512 kB: ten long answers give way, the unsupported claim stays."""
    long = a_long_alert(1000)
    example = a_statistical_alert(examples=()).examples
    crowd = an_alert(
        question=long.question,
        response=long.response,
        claims=long.claims,
        examples=(
            *example,
            *(
                type(a_statistical_alert().examples[0])(
                    question=long.question, response=(long.response or "") + "🙂" * 20_000, claims=long.claims
                )
                for _ in range(10)
            ),
        ),
    )
    body = event(crowd, KEY)
    assert len(body) <= MAX_EVENT_BYTES
    assert "[[The moon <is> made of cheese & wine.]]" in json.loads(body)["payload"]["custom_details"]["answer"]


@settings(max_examples=examples(40), deadline=None)
@given(any_alert())
def test_pagerduty_takes_any_alert(alert: Alert) -> None:
    """Within its limits of length, whatever the texts."""
    body = event(alert, KEY)
    assert len(body) <= MAX_EVENT_BYTES
    payload = json.loads(body)["payload"]
    assert 0 < len(payload["summary"]) <= 1024
    assert payload["source"]


@pytest.mark.parametrize("channel", ["slack", "pagerduty", "webhook"])
def test_what_is_hidden_reaches_no_channel(channel: str) -> None:
    """Not a word of the conversation."""
    body = json.dumps(sent(channel, a_hidden_alert()), ensure_ascii=False)
    assert "0.93" in body
    assert not [secret for secret in SECRET_TEXTS if secret in body]


@pytest.mark.parametrize("number", range(3))
def test_a_busy_service_is_tried_again_when_it_asks_for(number: int) -> None:
    """429 says when; 5xx is worth another try; both are one class of error."""
    with http_receiver() as receiver:
        receiver.answers += [(429, {"Retry-After": "17"}), (503, {})]
        channel = channels(receiver.url)[number]
        with pytest.raises(RetryableError) as busy:
            channel.send(an_alert())
        with pytest.raises(RetryableError, match="503"):
            channel.send(an_alert())
    assert busy.value.retry_after_s == 17


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize(("status", "headers"), [(400, {}), (404, {}), (307, {"Location": SLACK_PATH})])
def test_a_refusal_is_final_and_tells_no_secret(number: int, status: int, headers: dict[str, str]) -> None:
    """Not even where the service repeats what it was sent, or sends us elsewhere."""
    with http_receiver() as receiver:
        receiver.echo = True
        receiver.answers.append((status, headers))
        channel = channels(receiver.url)[number]
        with pytest.raises(PermanentError) as refused:
            channel.send(an_alert())
    for text in (str(refused.value), repr(refused.value), repr(channel)):
        assert KEY not in text
        assert "xyzzy" not in text
    assert str(status) in str(refused.value)


@pytest.mark.parametrize("number", range(3))
def test_a_service_that_is_down_is_named_without_its_secret(number: int) -> None:
    """The host helps to find the cause; the path is nobody's business. An address with a blank in it is no leak."""
    with http_receiver() as receiver:
        gone = receiver.url
    for url in (gone, f"{gone}/a b"):
        with pytest.raises(RetryableError) as failed:
            channels(url)[number].send(an_alert())
        assert KEY not in str(failed.value)
        assert "xyzzy" not in str(failed.value)
    assert "127.0.0.1" in str(failed.value)


@pytest.mark.parametrize("number", range(3))
def test_a_service_that_does_not_answer_is_not_waited_for_for_ever(number: int) -> None:
    """Another try comes later."""
    with http_receiver() as receiver:
        receiver.release.clear()
        silent = [
            SlackChannel(receiver.url, timeout_s=0.2),
            PagerDutyChannel(KEY, url=receiver.url, timeout_s=0.2),
            WebhookChannel(receiver.url, timeout_s=0.2),
        ][number]
        with pytest.raises(RetryableError, match="timed out"):
            silent.send(an_alert())


def test_user_and_password_of_a_webhooks_address_are_sent_as_a_header() -> None:
    """And are in no error."""
    with http_receiver() as receiver:
        receiver.answers.append((401, {}))
        url = receiver.url.replace("http://", "http://bot:s3cret%40w0rd@")
        with pytest.raises(PermanentError) as refused:
            WebhookChannel(url).send(an_alert())
        (request,) = receiver.requests
    assert base64.b64decode(request.headers["authorization"].removeprefix("Basic ")) == b"bot:s3cret@w0rd"
    assert "s3cret" not in str(refused.value)
