"""The configured alert channels. Each channel's dependencies are imported only when it is configured."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from rag_otel.errors import ConfigurationError
from rag_otel.protocols import AlertChannel
from rag_otel.settings import Settings

_ALONE: Final = {
    "alert_email_to": ("alert_smtp_url", "alert_email_from"),
    "alert_email_from": ("alert_smtp_url", "alert_email_to"),
    "alert_smtp_url": ("alert_email_to", "alert_email_from"),
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
        missing = [other for other in others if not getattr(settings, other)]
        if getattr(settings, name) and missing:
            wanted = " and ".join(f"{other} (RAG_OTEL_{other.upper()})" for other in missing)
            raise ConfigurationError(f"{name} is set, but nothing is sent without {wanted}: give that too")


def _webhook(settings: Settings) -> list[AlertChannel]:
    if not settings.alert_webhook_url:
        return []
    from rag_otel.alerts.channels.webhook import WebhookChannel

    secret, timeout_s = settings.alert_webhook_secret, settings.alert_timeout
    return [WebhookChannel(settings.alert_webhook_url, secret=secret, timeout_s=timeout_s)]


def _slack(settings: Settings) -> list[AlertChannel]:
    if not settings.alert_slack_url:
        return []
    from rag_otel.alerts.channels.slack import SlackChannel

    return [SlackChannel(settings.alert_slack_url, timeout_s=settings.alert_timeout)]


def _pagerduty(settings: Settings) -> list[AlertChannel]:
    if not settings.alert_pagerduty_key:
        return []
    from rag_otel.alerts.channels.pagerduty import PagerDutyChannel

    key, url = settings.alert_pagerduty_key, settings.alert_pagerduty_url
    return [PagerDutyChannel(key, url=url, timeout_s=settings.alert_timeout)]


def _alertmanager(settings: Settings) -> list[AlertChannel]:
    """One channel for each member of a cluster: all get the alert, and one that is down does not delay the others."""
    if not settings.alert_alertmanager_urls:
        return []
    from rag_otel.alerts.channels.alertmanager import AlertmanagerChannel

    if any("@" in urlsplit(url).netloc for url in settings.alert_alertmanager_urls):
        raise ConfigurationError(
            "alert_alertmanager_urls are shown where settings are: put user and password, as `Basic ...`, into "
            "alert_alertmanager_authorization (RAG_OTEL_ALERT_ALERTMANAGER_AUTHORIZATION)"
        )
    return [
        AlertmanagerChannel(
            url,
            name=_numbered("alertmanager", number),
            authorization=settings.alert_alertmanager_authorization,
            timeout_s=settings.alert_timeout,
        )
        for number, url in enumerate(settings.alert_alertmanager_urls, 1)
    ]


def _mail(settings: Settings) -> list[AlertChannel]:
    if not (settings.alert_smtp_url and settings.alert_email_from):
        return []
    from rag_otel.alerts.channels.mail import MailChannel
    from rag_otel.alerts.channels.mail_server import MailServer

    server = MailServer.at(
        settings.alert_smtp_url, password=settings.alert_smtp_password, timeout_s=settings.alert_timeout
    )
    return [MailChannel(server, sender=settings.alert_email_from, recipients=settings.alert_email_to)]


def _apprise(settings: Settings) -> list[AlertChannel]:
    if not settings.alert_apprise_urls:
        return []
    from rag_otel.alerts.channels.apprise import AppriseChannel

    return [
        AppriseChannel(url, name=_numbered("apprise", number))
        for number, url in enumerate(settings.alert_apprise_urls, 1)
    ]


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name}_{number}"
