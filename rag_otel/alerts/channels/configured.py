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
    return [
        *_webhook(settings),
        *_slack(settings),
        *_pagerduty(settings),
        *_alertmanager(settings),
        *_mail(settings),
        *_apprise(settings),
    ]


def _require_complete(settings: Settings) -> None:
    for name, others in _ALONE.items():
        missing = [other for other in others if not getattr(settings.alerts, other)]
        if getattr(settings.alerts, name) and missing:
            wanted = " and ".join(f"alert_{other} (RAG_OTEL_ALERT_{other.upper()})" for other in missing)
            raise ConfigurationError(f"alert_{name} is set, but nothing is sent without {wanted}: give that too")


def _webhook(settings: Settings) -> list[AlertChannel]:
    if not settings.alerts.webhook_url:
        return []
    from rag_otel.alerts.channels.webhook import WebhookChannel

    return [WebhookChannel(settings.alerts.webhook_url, secret=settings.alerts.webhook_secret)]


def _slack(settings: Settings) -> list[AlertChannel]:
    if not settings.alerts.slack_url:
        return []
    from rag_otel.alerts.channels.slack import SlackChannel

    return [SlackChannel(settings.alerts.slack_url)]


def _pagerduty(settings: Settings) -> list[AlertChannel]:
    if not settings.alerts.pagerduty_key:
        return []
    from rag_otel.alerts.channels.pagerduty import PagerDutyChannel

    key, url = settings.alerts.pagerduty_key, settings.alerts.pagerduty_url
    return [PagerDutyChannel(key, url=url)]


def _alertmanager(settings: Settings) -> list[AlertChannel]:
    """One channel for each member of a cluster: all get the alert, and one that is down does not delay the others."""
    if not settings.alerts.alertmanager_urls:
        return []
    from rag_otel.alerts.channels.alertmanager import AlertmanagerChannel

    if any("@" in urlsplit(url).netloc for url in settings.alerts.alertmanager_urls):
        raise ConfigurationError(
            "alert_alertmanager_urls are shown where settings are: put user and password, as `Basic ...`, into "
            "alert_alertmanager_authorization (RAG_OTEL_ALERT_ALERTMANAGER_AUTHORIZATION)"
        )
    return [
        AlertmanagerChannel(
            url,
            name=_numbered("alertmanager", number),
            authorization=settings.alerts.alertmanager_authorization,
        )
        for number, url in enumerate(settings.alerts.alertmanager_urls, 1)
    ]


def _mail(settings: Settings) -> list[AlertChannel]:
    if not (settings.alerts.smtp_url and settings.alerts.email_from):
        return []
    from rag_otel.alerts.channels.mail import MailChannel
    from rag_otel.alerts.channels.mail_server import MailServer

    server = MailServer.at(settings.alerts.smtp_url, password=settings.alerts.smtp_password)
    return [MailChannel(server, sender=settings.alerts.email_from, recipients=tuple(settings.alerts.email_to))]


def _apprise(settings: Settings) -> list[AlertChannel]:
    if not settings.alerts.apprise_urls:
        return []
    from rag_otel.alerts.channels.apprise import AppriseChannel

    return [
        AppriseChannel(url, name=_numbered("apprise", number))
        for number, url in enumerate(settings.alerts.apprise_urls, 1)
    ]


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name}_{number}"
