"""Alerts by e-mail: text, HTML with the unsupported claims marked, and headers for mail filters.

The `Message-ID` is derived from the alert's id, so a retried mail is the same mail. All mails about one problem, the
resolve message included, are in one thread.
"""

from __future__ import annotations

import email.policy
import email.utils
from collections.abc import Sequence
from email.message import EmailMessage
from hashlib import sha256
from html import escape
from typing import Final

from rag_otel.alert import Alert, AlertSeverity, AlertState
from rag_otel.alerts.channels.mail_server import MailServer
from rag_otel.alerts.messages.rendering import (
    AlertMessage,
    Sizes,
    Style,
    compose_message,
    details,
    head,
    plain_text,
)
from rag_otel.alerts.messages.wording import alert_id
from rag_otel.errors import ConfigurationError
from rag_otel.rendering.text_cutting import one_line, shorten

_SIZES: Final = Sizes(question=2000, response=10_000, claim=1000, quote=1000, claims=20, quotes=2, examples=10)
_MAX_SUBJECT: Final = 200
_POLICY: Final = email.policy.SMTP.clone(max_line_length=200)


class MailChannel:
    """Mails an alert to all recipients."""

    name = "email"

    def __init__(self, server: MailServer, *, sender: str, recipients: Sequence[str]) -> None:
        """Raises ConfigurationError for an invalid address."""
        self._server = server
        self._sender = _address("alert_email_from", sender)
        self._recipients = tuple(_address("alert_email_to", recipient) for recipient in recipients)
        if not self._recipients:
            raise ConfigurationError("alert_email_to is empty: name at least one address")

    def send(self, alert: Alert) -> None:
        """Raises RetryableError or PermanentError."""
        self._server.deliver(mail(alert, sender=self._sender, recipients=self._recipients))


def mail(alert: Alert, *, sender: str, recipients: Sequence[str]) -> EmailMessage:
    """The whole mail."""
    message = compose_message(alert)
    domain = email.utils.parseaddr(sender)[1].rpartition("@")[2]
    made = EmailMessage(policy=_POLICY)
    made["From"] = sender
    made["To"] = ", ".join(recipients)
    made["Subject"] = shorten(f"[rag-otel] {_urgency(alert)}{message.title}", _MAX_SUBJECT)
    made["Date"] = email.utils.formatdate(usegmt=True)
    made["Message-ID"] = f"<{_digest(alert_id(alert))}@{domain}>"
    made["References"] = f"<{_digest(alert.fingerprint)}@{domain}>"
    made["List-Id"] = f"rag-otel alerts <alerts.rag-otel.{domain}>"
    made["Auto-Submitted"] = "auto-generated"
    made["X-Rag-Otel-State"] = str(alert.state)
    made["X-Rag-Otel-Severity"] = str(alert.severity)
    made["X-Rag-Otel-Fingerprint"] = one_line(alert.fingerprint, 200)
    made.set_content(plain_text(message, _SIZES))
    made.add_alternative(html(message), subtype="html")
    return made


def html(message: AlertMessage) -> str:
    """The message as a page without scripts, images or anything fetched; everything from outside is escaped."""
    text = "\n".join([*head(message, _HTML), "<hr>", *details(message, _SIZES, _HTML)])
    return (
        f'<!doctype html>\n<html><head><meta charset="utf-8"></head><body>\n<h2>{escape(message.title)}</h2>\n'
        f'<div style="white-space:pre-wrap">{text}</div>\n</body></html>\n'
    )


def _anchor(url: str, name: str) -> str:
    """A link where it leads to a page; else text, which runs nothing."""
    if not url.startswith(("http://", "https://")):
        return escape(url)
    return f'<a href="{escape(url)}">{escape(name)}</a>'


_HTML: Final = Style(
    escape=escape,
    bold=lambda text: f"<b>{text}</b>",
    link=_anchor,
    opening='<mark style="background-color:#ffe08a;color:#000">',
    closing="</mark>",
)


def _urgency(alert: Alert) -> str:
    critical = alert.severity is AlertSeverity.CRITICAL and alert.state is AlertState.FIRING
    return "CRITICAL: " if critical else ""


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def _address(setting: str, text: str) -> str:
    """An address with or without a name, on one line. Raises ConfigurationError."""
    name, address = email.utils.parseaddr(text)
    local, _, domain = address.rpartition("@")
    if not local or not domain or any(sign.isspace() for sign in address) or "\n" in text or "\r" in text:
        raise ConfigurationError(f"{setting}: {text!r} is no address; write name@example.com")
    return email.utils.formataddr((name, address))
