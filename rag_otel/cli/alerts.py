"""`rag-otel alerts test`: sends a test alert and its resolved message to every configured channel.

It prints which channels accepted them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from rag_otel.alert import Alert, AlertSeverity, AlertState
from rag_otel.alerts.channels.configured import configured_channels
from rag_otel.alerts.channels.log import LogChannel
from rag_otel.cli.terminal import CommandResult, table
from rag_otel.errors import ConfigurationError, PermanentError, RetryableError
from rag_otel.model import Claim, ClaimVerdict, Quote, SpanRef, Verdict
from rag_otel.protocols import AlertChannel, Renews
from rag_otel.safety.tracing_suppression import suppressed
from rag_otel.settings import Settings
from rag_otel.writers.phoenix_links import phoenix_base_url
from rag_otel_collectors.otlp.settings import evaluation_settings

NAME: Final = "rag_otel_test"
QUESTION: Final = "When was the lighthouse of Kap Arkona built?"
ANSWER: Final = "The lighthouse of Kap Arkona was built in 1827. It was designed by Gustave Eiffel."
_CLAIM: Final = "It was designed by Gustave Eiffel."
_CHUNK: Final = "The lighthouse of Kap Arkona was built in 1827 and is 19.3 metres high."
_REMEDIES: Final = {
    "log": "Check the handlers of logger `rag_otel.alerts`.",
    "webhook": "Check alert_webhook_url and alert_webhook_secret, and the receiver's log.",
    "slack": "Create a new incoming webhook in Slack and set alert_slack_url to its address.",
    "pagerduty": "alert_pagerduty_key is the integration key of an Events API v2 integration; "
    "in the EU set alert_pagerduty_url to https://events.eu.pagerduty.com/v2/enqueue.",
    "alertmanager": "Check alert_alertmanager_urls (including the path prefix) and alert_alertmanager_authorization.",
    "email": "Check alert_smtp_url, its user, alert_smtp_password, and whether the server accepts the sender.",
    "apprise": "Test the address with apprise's command line: apprise -vv -b test ADDRESS.",
}


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """The result of sending one message."""

    channel: str
    state: AlertState
    error: RetryableError | PermanentError | None

    @property
    def outcome(self) -> str:
        """The printed outcome: `sent`, `refused`, or `not now` for an error that production would retry."""
        if self.error is None:
            return "sent"
        return "not now" if isinstance(self.error, RetryableError) else "refused"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--channel", action="append", metavar="NAME", help="only this channel (may be repeated)")
    parser.add_argument("--config", metavar="FILE", help="the collector's settings file: its part [evaluation]")


def run(arguments: argparse.Namespace) -> CommandResult:
    """Sends the test alert. Exit code 1 if a channel failed."""
    settings = evaluation_settings({}, file=arguments.config)
    channels = _chosen([LogChannel(texts=settings.alerts.log_texts), *configured_channels(settings)], arguments.channel)
    attempts = [attempt for channel in channels for attempt in attempts_at(channel, settings)]
    rows = [(each.channel, str(each.state), each.outcome, str(each.error or "")) for each in attempts]
    lines = [table(rows, header=("channel", "message", "outcome", "reason"))]
    failed = sorted({each.channel for each in attempts if each.error is not None})
    lines += [f"\n{name}: {_REMEDIES.get(name.rstrip('_0123456789'), 'Check its settings.')}" for name in failed]
    if len(channels) == 1 and not arguments.channel:
        lines.append(
            "\nOnly the log is configured as a channel. Other channels need settings whose names begin with alert_."
        )
    return CommandResult(text="\n".join(lines), code=1 if failed else 0)


def attempts_at(channel: AlertChannel, settings: Settings) -> list[Attempt]:
    """Sends the test alert and its resolved message, each once. The second is sent even if the first failed."""
    alert = an_alert(settings)
    attempts = []
    for message in (alert, replace(alert, state=AlertState.RESOLVED, time_ns=time.time_ns())):
        error: RetryableError | PermanentError | None = None
        try:
            with suppressed():
                channel.send(message)
        except (RetryableError, PermanentError) as raised:
            error = raised
        except Exception as raised:  # noqa: BLE001 - a channel's failure must not stop the test of the others
            error = PermanentError(f"{type(raised).__name__}: {raised}")
        attempts.append(Attempt(channel=channel.name, state=message.state, error=error))
    if isinstance(channel, Renews):  # the channel must not repeat the alert after the test
        channel.stop_renewing()
    return attempts


def an_alert(settings: Settings) -> Alert:
    """Returns an alert that is labelled as a test, with invented data in every field that a real alert may have."""
    start = ANSWER.index(_CLAIM)
    claim = ClaimVerdict(
        claim=Claim(text=_CLAIM, sentence_index=1, start=start, end=len(ANSWER)),
        verdict=Verdict.NOT_ENOUGH_INFO,
        chunk_ids=("arkona",),
        quotes=(Quote(chunk_id="arkona", start=0, end=len(_CHUNK), text=_CHUNK),),
        support_probability=0.03,
    )
    base_url = settings.alerts.phoenix_public_url or settings.phoenix_endpoint
    now = time.time_ns()
    return Alert(
        name=NAME,
        fingerprint=f"rag-otel/test/{now}",
        metric="faithfulness",
        severity=AlertSeverity.WARNING,
        headline="TEST of rag-otel's alerts: nothing is wrong",
        score=0.5,
        risk=0.97,
        label="unfaithful",
        question=QUESTION,
        response=ANSWER,
        claims=(claim,),
        target=SpanRef(trace_id="0" * 31 + "1", span_id="0" * 15 + "1"),
        service="rag-otel",
        route="alerts test",
        link=None if base_url is None else phoenix_base_url(base_url),
        sampling_reason="test",
        time_ns=now,
    )


def _chosen(channels: Sequence[AlertChannel], names: Sequence[str] | None) -> list[AlertChannel]:
    if not names:
        return list(channels)
    there = [channel.name for channel in channels]
    if unknown := sorted(set(names) - set(there)):
        raise ConfigurationError(f"channel {', '.join(unknown)} is not configured; configured are: {', '.join(there)}")
    return [channel for channel in channels if channel.name in names]
