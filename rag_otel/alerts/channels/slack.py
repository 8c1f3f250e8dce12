"""Alerts to Slack, through an incoming webhook, as Block Kit (https://docs.slack.dev/reference/block-kit/blocks).

Slack rejects the whole message when one block is too long, so every text is cut to the length that Slack counts, after
escaping. Every text is escaped, so an answer that contains `<!channel>` notifies nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from rag_otel.alert import Alert, AlertSeverity, AlertState
from rag_otel.alerts.messages.message import summary
from rag_otel.alerts.messages.rendering import (
    HIDDEN,
    LEGEND,
    Answer,
    Message,
    Sizes,
    compose_message,
    in_brackets,
    verdict_words,
)
from rag_otel.delivery.http import post, to_json
from rag_otel.rendering.claim_marking import Fragment
from rag_otel.rendering.text_cutting import cut_around, shorten
from rag_otel.safety.redaction import redacted, secret_parts

MAX_BLOCKS: Final = 50
MAX_SECTION: Final = 3000
MAX_FIELD: Final = 2000
MAX_FIELDS: Final = 10
MAX_HEADER: Final = 150
_MAX_FALLBACK: Final = 3000
_MAX_LINK: Final = 1000
_SIZES: Final = Sizes(question=600, response=2600, claim=500, quote=400)
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
    return _mrkdwn(summary(alert), _MAX_FALLBACK)


def payload(alert: Alert) -> dict[str, Any]:
    """The message: its head as blocks, the rest as an attachment, which Slack folds."""
    message = compose_message(alert)
    sign = _RESOLVED if alert.state is AlertState.RESOLVED else _SIGNS[alert.severity]
    return {
        "text": fallback(alert),
        "blocks": _head(message, sign),
        "attachments": [{"color": _COLOURS[sign], "blocks": _details(message)}],
        "unfurl_links": False,
    }


def _head(message: Message, sign: str) -> list[dict[str, Any]]:
    title = shorten(f"{sign} {message.title}", MAX_HEADER, measure=_units)
    made: list[dict[str, Any]] = [{"type": "header", "text": {"type": "plain_text", "text": title, "emoji": False}}]
    if _units(f"{sign} {message.title}") > MAX_HEADER:  # a header is short; what is cut off there is not lost
        made.append(_section(_mrkdwn(message.title, MAX_FIELD)))
    lines = [f"*{_mrkdwn(name.capitalize(), 100)}:* {_mrkdwn(value, 400)}" for name, value in message.facts]
    if message.worst:
        lines.append("*Worst answers:*" if len(message.worst) > 1 else "*Answer:*")
        lines += [
            f"• {_mrkdwn(each.text, 400)}" + (f" {_link(each.link)}" if each.link else "") for each in message.worst
        ]
    lines += [f"*Next:* {_mrkdwn(message.next_step, 400)}"] if message.next_step else []
    lines += [" · ".join(_link(address, name) for name, address in message.links)] if message.links else []
    return [*made, *(_section(text) for text in _in_sections(lines))]


def _details(message: Message) -> list[dict[str, Any]]:
    """Every fact and every answer with its evidence, each block within Slack's limits."""
    made = _facts(message)
    for number, answer in enumerate(message.answers[: _SIZES.examples], 1):
        if len(message.answers) > 1:
            made += [{"type": "divider"}, _section(_headed(answer, number, len(message.answers)))]
        made += [_section(text) for text in _answer(answer)]
    return made[:MAX_BLOCKS]


def escaped(text: str) -> str:
    """Slack's three escapes; they also disable `<!channel>`, `<@user>` and `<http://...|text>`."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _facts(message: Message) -> list[dict[str, Any]]:
    """Two columns of facts; a section holds ten."""
    fields = [
        {"type": "mrkdwn", "text": f"*{_mrkdwn(name, 100)}*\n{_mrkdwn(value, MAX_FIELD - 200)}", "verbatim": True}
        for name, value in message.details[: 2 * MAX_FIELDS]
    ]
    starts = range(0, len(fields), MAX_FIELDS)
    return [{"type": "section", "fields": fields[start : start + MAX_FIELDS]} for start in starts]


def _answer(answer: Answer) -> Iterator[str]:
    if answer.hidden:
        yield f"_{HIDDEN}_"
    if answer.question:
        yield f"*Question*\n{_quoted(_mrkdwn(answer.question, _SIZES.question))}"
    if answer.fragments:
        legend = f" ({LEGEND})" if any(fragment.marked for fragment in answer.fragments) else ""
        cut = cut_around(answer.fragments, _SIZES.response, measure=lambda kept: _units(_response(kept)))
        yield f"*Answer*{legend}\n{_response(cut)}"
    if answer.claims:
        lines = ["*Unsupported claims*"]
        for claim in answer.claims[: _SIZES.claims]:
            lines.append(f"• *{verdict_words(claim)}*: {_mrkdwn(' '.join(claim.claim.text.split()), _SIZES.claim)}")
            for quote in claim.quotes[:1]:
                where, text = _mrkdwn(quote.chunk_id, 80), _mrkdwn(" ".join(quote.text.split()), _SIZES.quote)
                lines.append(f"    nearest, in chunk {where}: “{text}”")
        omitted = len(answer.claims) - _SIZES.claims
        yield from _in_sections([*lines, *([f"and {omitted} more"] if omitted > 0 else [])])


def _response(fragments: Sequence[Fragment]) -> str:
    return _quoted(in_brackets(fragments, escape=escaped))


def _in_sections(lines: Sequence[str]) -> Iterator[str]:
    """The lines in as many sections as they need."""
    text = ""
    for line in lines:
        if text and _units(text) + 1 + _units(line) > MAX_SECTION:
            yield text
            text = line
        else:
            text = f"{text}\n{line}" if text else line
    if text:
        yield text


def _headed(answer: Answer, number: int, total: int) -> str:
    facts = ", ".join(f"{name} {value}" for name, value in answer.facts)
    heading = f"*Answer {number} of {total}*" + (f": {_mrkdwn(facts, 500)}" if facts else "")
    return f"{heading}\n{_link(answer.link)}" if answer.link else heading


def _mrkdwn(text: str, limit: int) -> str:
    """`text`, escaped, taking at most `limit`; cut before it is escaped."""
    return escaped(shorten(text, limit, measure=lambda kept: _units(escaped(kept))))


def _quoted(text: str) -> str:
    return "\n".join(f">{line}" for line in text.split("\n"))


def _link(url: str, name: str = "Open in Phoenix") -> str:
    """A link; plain text where the address has a character that would end the link."""
    whole = escaped(url)
    if len(whole) > _MAX_LINK or "|" in url or any(sign.isspace() for sign in url):
        return _mrkdwn(url, _MAX_LINK)
    return f"<{whole}|{name}>"


def _section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text, "verbatim": True}}


def _units(text: str) -> int:
    """Length in UTF-16 units, as JavaScript counts: never less than in characters."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
