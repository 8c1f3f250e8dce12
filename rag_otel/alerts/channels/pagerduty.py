"""Alerts to PagerDuty, as events of its Events API v2 (https://developer.pagerduty.com/docs/events-api-v2-overview).

One problem is one incident: the fingerprint is the `dedup_key`, a resolve message closes what a firing one opened.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final

from rag_otel.alert import Alert, AlertAudience, AlertState
from rag_otel.alerts.messages.rendering import AlertMessage, Evidence, Sizes, compose_message, parts, timestamp
from rag_otel.delivery.http import post, to_json
from rag_otel.rendering.text_cutting import one_line, shorten
from rag_otel.safety.redaction import redacted

ENDPOINT: Final = "https://events.pagerduty.com/v2/enqueue"
MAX_EVENT_BYTES: Final = 512 * 1024
MAX_SUMMARY: Final = 1024
MAX_DEDUP_KEY: Final = 255
_MAX_FIELD: Final = 255
_SIZES: Final = Sizes(question=4000, response=20_000, claim=1000, quote=1000, claims=20, quotes=3, examples=10)


class PagerDutyChannel:
    """Triggers and resolves incidents. Retried as `http.post` says: 429 and 5xx, as PagerDuty asks for."""

    name = "pagerduty"
    hears = frozenset({AlertAudience.EVERYONE})

    def __init__(self, routing_key: str, *, url: str = ENDPOINT, timeout_s: float = 10.0) -> None:
        """`routing_key` is the integration key of a service; `url` differs in the EU."""
        self._routing_key = routing_key
        self._url = url
        self._timeout_s = timeout_s

    def send(self, alert: Alert) -> None:
        """Raises RetryableError or PermanentError."""
        with redacted(self._routing_key):
            post(self._url, event(alert, self._routing_key), timeout_s=self._timeout_s)


def event(alert: Alert, routing_key: str) -> bytes:
    """The request's body, at most `MAX_EVENT_BYTES` long: texts are shortened first, then examples are left out."""
    head = {"routing_key": routing_key, "dedup_key": dedup_key(alert)}
    if alert.state is AlertState.RESOLVED:
        return to_json({**head, "event_action": "resolve"})
    message, sizes = compose_message(alert), _SIZES
    while len(body := to_json({**head, **_trigger(alert, message, sizes)})) > MAX_EVENT_BYTES:
        if sizes == sizes.smaller():  # nothing is left to give way: facts of one's own are what is so long
            return to_json({**head, **_trigger(alert, message, None)})
        sizes = sizes.smaller()
    return body


def dedup_key(alert: Alert) -> str:
    """The fingerprint; a hash of it where it is longer than PagerDuty accepts."""
    key = alert.fingerprint
    return key if len(key) <= MAX_DEDUP_KEY else sha256(key.encode("utf-8", "replace")).hexdigest()


def _trigger(alert: Alert, message: AlertMessage, sizes: Sizes | None) -> dict[str, Any]:
    payload = {
        "summary": shorten(message.title, MAX_SUMMARY),
        "source": one_line(alert.service or "", _MAX_FIELD) or "rag-otel",
        "severity": str(alert.severity),
        "component": one_line(alert.route or "", _MAX_FIELD) or None,
        "group": one_line(alert.service or "", _MAX_FIELD) or None,
        "class": alert.name,
        "timestamp": timestamp(alert.since_ns or alert.time_ns) if alert.since_ns or alert.time_ns else None,
        "custom_details": None if sizes is None else _details(message, sizes),
    }
    return {
        "event_action": "trigger",
        "client": "rag-otel",
        "client_url": alert.link,
        "links": [{"href": address, "text": name} for name, address in message.links],
        "payload": {name: value for name, value in payload.items() if value is not None},
    }


def _details(message: AlertMessage, sizes: Sizes) -> dict[str, Any]:
    """What has to be known at once stands first, the rest under `details` and `examples`."""
    answers = [_answer(answer, sizes) for answer in message.answers[: max(1, sizes.examples)]]
    first = answers[0] if answers else {}
    shown: dict[str, Any] = {
        **dict(message.facts),
        "worst answers": [f"{each.line} {each.link or ''}".rstrip() for each in message.worst],
        "next step": message.next_step,
        **first,
        "details": dict(message.details),
        "examples": answers[1:],
    }
    return {name: value for name, value in shown.items() if value}


def _answer(answer: Evidence, sizes: Sizes) -> dict[str, str]:
    link = {"link": answer.link} if answer.link else {}
    return {**dict(answer.facts), **link, **dict(parts(answer, sizes))}
