"""The configured alert channels. Each channel's dependencies are imported only when it is configured."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from rag_otel.errors import ConfigurationError
from rag_otel.protocols import AlertChannel
from rag_otel.settings import Settings

_ALONE: Final = {
    "email_to": ("smtp_url", "email_from"),
    "email_from": ("smtp_url", "email_to"),
    "smtp_url": ("email_to", "email_from"),
}
"""Settings that have no effect without others. Secrets are not listed: they may be mounted before they are used."""


def configured_channels(settings: Settings) -> list[AlertChannel]:
    """Webhook, Slack, PagerDuty, Alertmanager, e-mail and what apprise knows, where configured; names differ.

    Raises ConfigurationError that names the setting and the solution.
    """
    _require_complete(settings)
    alerts, channels = settings.alerts, list[AlertChannel]()
    if alerts.webhook_url:
        from rag_otel.alerts.channels.webhook import WebhookChannel

        channels.append(WebhookChannel(alerts.webhook_url, secret=alerts.webhook_secret))
    if alerts.slack_url:
        from rag_otel.alerts.channels.slack import SlackChannel

        channels.append(SlackChannel(alerts.slack_url))
    if alerts.pagerduty_key:
        from rag_otel.alerts.channels.pagerduty import PagerDutyChannel

        channels.append(PagerDutyChannel(alerts.pagerduty_key, url=alerts.pagerduty_url))
    # One for each member of a cluster: all get the alert, and one that is down does not delay the others.
    for number, url in enumerate(alerts.alertmanager_urls, 1):
        from rag_otel.alerts.channels.alertmanager import AlertmanagerChannel

        name = _numbered("alertmanager", number)
        channels.append(AlertmanagerChannel(url, name=name, authorization=alerts.alertmanager_authorization))
    if alerts.smtp_url and alerts.email_from:
        from rag_otel.alerts.channels.mail import MailChannel
        from rag_otel.alerts.channels.mail_server import MailServer

        server = MailServer(alerts.smtp_url, password=alerts.smtp_password)
        channels.append(MailChannel(server, sender=alerts.email_from, recipients=tuple(alerts.email_to)))
    for number, url in enumerate(alerts.apprise_urls, 1):
        from rag_otel.alerts.channels.apprise import AppriseChannel

        channels.append(AppriseChannel(url, name=_numbered("apprise", number)))
    return channels


def _require_complete(settings: Settings) -> None:
    for name, others in _ALONE.items():
        missing = [other for other in others if not getattr(settings.alerts, other)]
        if getattr(settings.alerts, name) and missing:
            wanted = " and ".join(f"alert_{other} (RAG_OTEL_ALERT_{other.upper()})" for other in missing)
            raise ConfigurationError(f"alert_{name} is set, but nothing is sent without {wanted}: give that too")
    if any("@" in urlsplit(url).netloc for url in settings.alerts.alertmanager_urls):
        raise ConfigurationError(
            "alert_alertmanager_urls are shown where settings are: put user and password, as `Basic ...`, into "
            "alert_alertmanager_authorization (RAG_OTEL_ALERT_ALERTMANAGER_AUTHORIZATION)"
        )


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name}_{number}"
