"""Alerts by e-mail: text, HTML with the unsupported claims marked, and headers for mail filters.

The `Message-ID` is derived from the alert's id, so a retried mail is the same mail. All mails about one problem, the
resolve message included, are in one thread.
"""

from __future__ import annotations

import email.policy
import email.utils
from collections.abc import Iterator, Sequence
from email.message import EmailMessage
from hashlib import sha256
from html import escape
from typing import Final

from rag_otel.alert import Alert, AlertSeverity, AlertState
from rag_otel.alerts.channels.mail_server import MailServer
from rag_otel.alerts.messages.facts import Facts
from rag_otel.alerts.messages.message import alert_id
from rag_otel.alerts.messages.rendering import (
    DETAILS,
    HIDDEN,
    Answer,
    Message,
    Sizes,
    compose_message,
    plain_text,
    verdict_words,
)
from rag_otel.errors import ConfigurationError
from rag_otel.rendering.claim_marking import mark_up
from rag_otel.rendering.text_cutting import cut_around, one_line, shorten

_SIZES: Final = Sizes(question=2000, response=10_000, claim=1000, quote=1000, claims=20, quotes=2, examples=10)
_MAX_SUBJECT: Final = 200
_STYLE: Final = "background-color:#ffe08a;color:#000"
_POLICY: Final = email.policy.SMTP.clone(max_line_length=200)


class MailChannel:
    """Mails an alert to all recipients. Each mail has its own connection: alerts are rare, idle connections break."""

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


def html(message: Message) -> str:
    """The message as a page without scripts, images or anything fetched; everything from outside is escaped."""
    parts = [f"<h2>{escape(message.title)}</h2>", _table(message.facts)]
    if message.worst:
        items = "".join(
            f"<li>{escape(each.text)}{_anchor(each.link, 'trace') if each.link else ''}</li>" for each in message.worst
        )
        parts.append(f"<p>{'Worst answers' if len(message.worst) > 1 else 'Answer'}</p><ol>{items}</ol>")
    if message.next_step:
        parts.append(f"<p><b>Next:</b> {escape(message.next_step)}</p>")
    parts += [f"<p>{_anchor(address, name)}</p>" for name, address in message.links]
    parts += [f"<hr><h3>{DETAILS}</h3>", _table(message.details)]
    for number, answer in enumerate(message.answers[: _SIZES.examples], 1):
        if len(message.answers) > 1:
            facts = ", ".join(f"{name} {value}" for name, value in answer.facts)
            parts.append(f"<hr><h3>Answer {number} of {len(message.answers)}</h3><p>{escape(facts)}</p>")
            parts += [f"<p>{_anchor(answer.link, 'trace')}</p>"] if answer.link else []
        parts += _answer(answer)
    body = "\n".join(parts)
    return f'<!doctype html>\n<html><head><meta charset="utf-8"></head><body>\n{body}\n</body></html>\n'


def _answer(answer: Answer) -> Iterator[str]:
    if answer.hidden:
        yield f"<p><i>{HIDDEN}</i></p>"
    if answer.question:
        yield f"<h4>Question</h4>{_block(escape(shorten(answer.question, _SIZES.question)))}"
    if answer.fragments:
        cut = cut_around(answer.fragments, _SIZES.response, measure=lambda kept: sum(len(each.text) for each in kept))
        marked = mark_up(cut, opening=lambda _: f'<mark style="{_STYLE}">', closing="</mark>", escape=escape)
        yield f"<h4>Answer (marked: not supported by what was retrieved, or contradicted)</h4>{_block(marked)}"
    if answer.claims:
        yield "<h4>Unsupported claims</h4><ol>"
        for claim in answer.claims[: _SIZES.claims]:
            quotes = "".join(
                f"<br>nearest, in chunk {escape(one_line(quote.chunk_id, 80))}: "
                f"<q>{escape(one_line(quote.text, _SIZES.quote))}</q>"
                for quote in claim.quotes[: _SIZES.quotes]
            )
            why = f"<br>why: {escape(one_line(claim.explanation, _SIZES.claim))}" if claim.explanation else ""
            text = escape(one_line(claim.claim.text, _SIZES.claim))
            yield f"<li><b>{escape(verdict_words(claim))}</b>: {text}{quotes}{why}</li>"
        yield "</ol>"


def _block(text: str) -> str:
    return f'<blockquote style="white-space:pre-wrap">{text}</blockquote>'


def _table(facts: Facts) -> str:
    rows = (f"<tr><td>{escape(name)}&nbsp;</td><td><b>{escape(value)}</b></td></tr>" for name, value in facts)
    return f"<table>{''.join(rows)}</table>"


def _anchor(url: str, name: str) -> str:
    """A link where it leads to a page; else text, which runs nothing."""
    if not url.startswith(("http://", "https://")):
        return f" {escape(url)}"
    return f' <a href="{escape(url)}">{escape(name)}</a>'


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
