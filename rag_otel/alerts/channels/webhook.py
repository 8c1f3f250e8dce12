"""Alerts as signed POSTs, after the Standard Webhooks specification (https://www.standardwebhooks.com).

A receiver verifies before it reads:

    webhook-id         the alert's id, the same at every retry: drop what you have seen
    webhook-timestamp  seconds since the epoch, when this attempt was made: refuse what is minutes old
    webhook-signature  "v1," + base64(HMAC-SHA256(key, id + "." + timestamp + "." + body)); there may be several,
                       separated by spaces, while a key is being changed

The secret is `whsec_` and the key in base64.
The body is signed as the bytes that were sent: verify before parsing, and compare in constant time. `verify` does it
all; receivers in other languages can use any Standard Webhooks library.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Callable, Mapping
from typing import Final

from rag_otel.alert import Alert
from rag_otel.alerts.messages.wording import alert_id, to_dict
from rag_otel.delivery.http import post, split_credentials, to_json
from rag_otel.errors import ConfigurationError
from rag_otel.safety.redaction import redacted, secret_parts

ID_HEADER: Final = "webhook-id"
TIMESTAMP_HEADER: Final = "webhook-timestamp"
SIGNATURE_HEADER: Final = "webhook-signature"
TOLERANCE_S: Final = 300.0
_SCHEME: Final = "v1,"
_BASE64_SECRET: Final = "whsec_"
_MIN_KEY_BYTES: Final = 24
"""As the specification has it."""


class WebhookChannel:
    """POSTs the alert as JSON; signed when there is a secret. Retried as `http.post` says."""

    name = "webhook"

    def __init__(
        self,
        url: str,
        *,
        secret: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = 10.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`headers` are added to every request, and `user:password@` of `url` as one of them.

        Raises ConfigurationError for a secret that is no key.
        """
        if secret is not None:
            _key(secret)
        self._url, credentials = split_credentials(url)
        self._secret = secret
        self._headers = {**credentials, **(headers or {})}
        self._timeout_s = timeout_s
        self._clock = clock

    def send(self, alert: Alert) -> None:
        """Raises RetryableError or PermanentError. Every attempt is signed afresh, with its own time."""
        body = to_json(to_dict(alert))
        headers = {ID_HEADER: alert_id(alert), TIMESTAMP_HEADER: str(int(self._clock()))}
        if self._secret is not None:
            signature = sign(self._secret, headers[ID_HEADER], headers[TIMESTAMP_HEADER], body)
            headers[SIGNATURE_HEADER] = signature
        with redacted(self._secret, *secret_parts(self._url), *self._headers.values()):
            post(self._url, body, headers={**self._headers, **headers}, timeout_s=self._timeout_s)


def sign(secret: str, message_id: str, timestamp: str, body: bytes) -> str:
    """The value of the signature header for one message."""
    digest = hmac.new(_key(secret), f"{message_id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return _SCHEME + base64.b64encode(digest).decode()


def verify(
    secret: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    tolerance_s: float = TOLERANCE_S,
    now: float | None = None,
) -> bool:
    """True when `body` was signed with `secret` within the last `tolerance_s` seconds. For receivers.

    `headers` are those of the request, in any case; `body` is its bytes as received, not parsed and dumped again.
    `now` is seconds since the epoch, the clock's by default.
    """
    lowered = {name.lower(): value for name, value in headers.items()}
    message_id, timestamp = lowered.get(ID_HEADER, ""), lowered.get(TIMESTAMP_HEADER, "")
    if not timestamp.isascii() or not timestamp.isdigit():
        return False
    if abs((time.time() if now is None else now) - int(timestamp)) > tolerance_s:
        return False
    expected = sign(secret, message_id, timestamp, body).encode()
    signatures = lowered.get(SIGNATURE_HEADER, "").split()
    return any(hmac.compare_digest(expected, signature.encode()) for signature in signatures)


def _key(secret: str) -> bytes:
    """The bytes of the key. A secret of another form is refused: the Standard Webhooks libraries would take it for
    base64, and verify nothing that we sign."""
    if not secret.startswith(_BASE64_SECRET):
        raise ConfigurationError(
            f"alert_webhook_secret must be {_BASE64_SECRET} and a key in base64 (Standard Webhooks); make one: "
            f"echo {_BASE64_SECRET}$(openssl rand -base64 32)"
        )
    text = secret.removeprefix(_BASE64_SECRET)
    try:
        key = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error:
        raise ConfigurationError(f"alert_webhook_secret: what follows {_BASE64_SECRET} is not base64") from None
    if len(key) < _MIN_KEY_BYTES:
        raise ConfigurationError(f"alert_webhook_secret is {len(key)} bytes long: at least {_MIN_KEY_BYTES} are needed")
    return key
