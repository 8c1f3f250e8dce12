"""Alerts to Slack, through an incoming webhook, as Block Kit (https://docs.slack.dev/reference/block-kit/blocks).

Slack rejects the whole message when one block is too long, so every text is cut to the length that Slack counts, after
escaping. Every text is escaped, so an answer that contains `<!channel>` notifies nobody.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from rag_otel.alert import Alert, AlertSeverity, AlertState
from rag_otel.alerts.messages.rendering import Sizes, Style, compose_message, details, head
from rag_otel.alerts.messages.wording import summary
from rag_otel.delivery.http import post, to_json
from rag_otel.rendering.text_cutting import shorten
from rag_otel.safety.redaction import redacted, secret_parts

MAX_BLOCKS: Final = 50
MAX_SECTION: Final = 3000
MAX_FIELD: Final = 2000
MAX_HEADER: Final = 150
_MAX_FALLBACK: Final = 3000
_MAX_LINK: Final = 1000
_SIZES: Final = Sizes(question=600, response=2600, claim=500, quote=400, quotes=1)
_SIGNS: Final = {AlertSeverity.WARNING: "⚠️", AlertSeverity.CRITICAL: "🔴"}
_RESOLVED: Final = "✅"
_COLOURS: Final = {"⚠️": "#e8a33d", "🔴": "#c0392b", _RESOLVED: "#2e9e5b"}


class SlackChannel:
    """POSTs a message to a Slack incoming webhook. Retried as `http.post` says; Slack limits rates with status 429."""

    name = "slack"

    def __init__(self, url: str, *, timeout_s: float = 10.0) -> None:
        """`url` is the webhook's whole address, which is a secret."""
        self._url = url
        self._timeout_s = timeout_s

    def send(self, alert: Alert) -> None:
        """Raises RetryableError or PermanentError."""
        body = to_json(payload(alert))
        with redacted(*secret_parts(self._url)):
            post(self._url, body, timeout_s=self._timeout_s)


def fallback(alert: Alert) -> str:
    """The line shown in notifications."""
    return _STYLE.cut(summary(alert), _MAX_FALLBACK)


def payload(alert: Alert) -> dict[str, Any]:
    """The message: its head as blocks, the rest as an attachment, which Slack folds."""
    message = compose_message(alert)
    sign = _RESOLVED if alert.state is AlertState.RESOLVED else _SIGNS[alert.severity]
    title = f"{sign} {message.title}"
    header = {"type": "plain_text", "text": shorten(title, MAX_HEADER, measure=_units), "emoji": False}
    cut = [_STYLE.cut(message.title, MAX_FIELD)] if _units(title) > MAX_HEADER else []  # what is cut off is not lost
    rest = _sections(details(message, _SIZES, _STYLE))
    return {
        "text": fallback(alert),
        "blocks": [{"type": "header", "text": header}, *_sections([*cut, *head(message, _STYLE)])],
        "attachments": [{"color": _COLOURS[sign], "blocks": rest[:MAX_BLOCKS]}],
        "unfurl_links": False,
    }


def escaped(text: str) -> str:
    """Slack's three escapes; they also disable `<!channel>`, `<@user>` and `<http://...|text>`."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _sections(lines: Iterable[str]) -> list[dict[str, Any]]:
    """The lines in as many blocks as they need."""
    texts = [""]
    for line in lines:
        if _units(texts[-1]) + 1 + _units(line) > MAX_SECTION:
            texts.append(line)
        else:
            texts[-1] = f"{texts[-1]}\n{line}"
    return [_section(text.strip()) for text in texts if text.strip()]


def _link(url: str, name: str) -> str:
    """A link; plain text where the address has a character that would end the link."""
    whole = escaped(url)
    if len(whole) > _MAX_LINK or "|" in url or any(sign.isspace() for sign in url):
        return _STYLE.cut(url, _MAX_LINK)
    return f"<{whole}|{name}>"


def _section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text, "verbatim": True}}


def _units(text: str) -> int:
    """Length in UTF-16 units, as JavaScript counts: never less than in characters."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


_STYLE: Final = Style(escape=escaped, bold=lambda text: f"*{text}*", link=_link, length=_units)
