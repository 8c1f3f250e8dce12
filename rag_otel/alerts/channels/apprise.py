"""Alerts to everything else: Teams, Discord, Telegram, Opsgenie, SMS, ... by the library apprise, 47 MB.

One channel for each address (https://github.com/caronc/apprise/wiki), so that an alert is retried for a
service that is down and not sent twice to the others. Addresses hold tokens: of them only the scheme is ever shown.
"""

from __future__ import annotations

import logging
from typing import Any, Final

from rag_otel.alert import Alert, AlertSeverity, AlertState
from rag_otel.alerts.messages.rendering import compose_message, text_within
from rag_otel.errors import ConfigurationError, RetryableError
from rag_otel.safety import redaction
from rag_otel.safety.redaction import REDACTING

_MAX_BODY: Final = 10_000
"""Longer messages are not read, even where a service accepts them."""
_SETTING: Final = "alert_apprise_urls"


class AppriseChannel:
    """Notifies one service through apprise, which has its own timeouts (`cto` and `rto` of the address)."""

    def __init__(self, url: str, *, name: str = "apprise") -> None:
        """`url` is the service's address as apprise has it. Raises ConfigurationError, also when apprise is missing."""
        scheme = url.partition("://")[0] if "://" in url else ""
        try:
            import apprise
        except ImportError as error:
            raise ConfigurationError(f"{_SETTING} needs more: pip install apprise ({error})") from None
        logging.getLogger("apprise").addFilter(REDACTING)  # it logs addresses at DEBUG
        redaction.remember([url], {})
        service = apprise.Apprise.instantiate(url, asset=apprise.AppriseAsset(async_mode=False, app_id="rag-otel"))
        if service is None:
            shown = f"{scheme}://..." if scheme.isidentifier() else "an address without a scheme"
            raise ConfigurationError(f"{_SETTING}: apprise cannot use {shown}; see `apprise --details` for its form")
        self.name = name
        self._apprise = apprise.Apprise(service)
        self._limit = min(_MAX_BODY, service.body_maxlen or _MAX_BODY)
        self._types: dict[str, Any] = {
            AlertSeverity.CRITICAL: apprise.NotifyType.FAILURE,
            AlertSeverity.WARNING: apprise.NotifyType.WARNING,
            AlertState.RESOLVED: apprise.NotifyType.SUCCESS,
        }
        self._format = apprise.NotifyFormat.TEXT

    def send(self, alert: Alert) -> None:
        """Raises RetryableError: apprise does not report whether a retry would help."""
        message = compose_message(alert)
        over = alert.state is AlertState.RESOLVED
        if not self._apprise.notify(
            title=message.title,
            body=text_within(message, self._limit - len(message.title)),
            notify_type=self._types[alert.state if over else alert.severity],
            body_format=self._format,
        ):
            raise RetryableError(f"{self.name}: the service took no message; the log of `apprise` says why")
