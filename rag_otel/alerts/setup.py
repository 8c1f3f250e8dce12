"""The router and the monitors that raise alerts through it, as the settings want them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rag_otel.alerts.examples import Examples
from rag_otel.alerts.memory import RouterMemory
from rag_otel.alerts.router import AlertRouter
from rag_otel.alerts.rules import parse_rule
from rag_otel.alerts.schedule import parse_quiet_hours
from rag_otel.model import EvaluatedTrace
from rag_otel.protocols import AlertChannel
from rag_otel.settings import Settings
from rag_otel.state_folder import StateFolder


def build_router(
    settings: Settings,
    channels: Sequence[AlertChannel],
    *,
    link: Callable[[EvaluatedTrace], str | None],
    state: StateFolder | None = None,
) -> AlertRouter:
    """Raises ConfigurationError for a rule or a window that cannot be read."""
    return AlertRouter(
        channels,
        rules=[parse_rule(text) for text in settings.alert_rules],
        examples=examples_of(settings, link),
        cooldown_s=settings.alert_cooldown,
        resolve_after_s=settings.alert_resolve_after,
        digest_s=settings.alert_digest,
        per_minute=settings.alerts_per_minute,
        quiet=parse_quiet_hours(settings.alert_quiet_hours),
        memory=None if state is None else RouterMemory(state),
    )


def examples_of(settings: Settings, link: Callable[[EvaluatedTrace], str | None]) -> Examples:
    """What alerts may show of an answer."""
    return Examples(capture_content=settings.capture_content, link=link)
