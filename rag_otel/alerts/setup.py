"""Builds the inbox and the monitors that raise alerts through it, from the settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from rag_otel.alerts.inbox import Inbox
from rag_otel.alerts.messages.examples import Examples
from rag_otel.alerts.messages.next_steps import AlertLinks
from rag_otel.alerts.monitors.health import FailureMonitor, SilenceMonitor, traces_seen
from rag_otel.alerts.monitors.monitor import Monitor, Monitors
from rag_otel.alerts.monitors.slo import Objective, SloMonitor
from rag_otel.alerts.precision import AnswerPrecision
from rag_otel.alerts.rules import AlertRules, AnswerQuality, parse_rule
from rag_otel.alerts.schedule import Limits, parse_quiet_hours
from rag_otel.alerts.states import steady_time, wall_time_of
from rag_otel.durable.state_folder import StateFolder
from rag_otel.evaluation.directions import goodness
from rag_otel.model import EvaluatedTrace
from rag_otel.protocols import AlertChannel
from rag_otel.settings import Settings
from rag_otel.writers.phoenix_links import phoenix_page, project_link

REMEMBERED_BELOW: Final = 0.75
"""Answers that monitors may show have a lower score, or a risk that is higher than one minus this."""

if TYPE_CHECKING:
    from rag_otel.budgets.budgets import Budgets


def build_alerts(
    settings: Settings,
    channels: Sequence[AlertChannel],
    *,
    examples: Examples,
    state: StateFolder | None,
    elsewhere: Callable[[], Mapping[str, int]],
    budgets: Budgets | None,
) -> tuple[Inbox, Monitors | None]:
    """The inbox, which keeps its problems in `state` and tells the `channels`; and the configured monitors as one
    writer: burn rate of the objective, missing evaluations, failing evaluators, what is left of `budgets`. `elsewhere`
    is what other processes have counted, whose results these monitors get too.

    Raises ConfigurationError for a rule or a window that cannot be read.
    """
    inbox = Inbox(
        channels,
        rules=AlertRules(
            [parse_rule(text) for text in settings.alerts.rules],
            examples,
            AnswerPrecision(stated=settings.alerts.precision),
        ),
        limits=Limits(
            cooldown_s=settings.alerts.cooldown,
            resolve_after_s=settings.alerts.resolve_after,
            digest_s=settings.alerts.digest,
            remind_s=settings.alerts.remind,
            quiet=parse_quiet_hours(settings.alerts.quiet_hours),
        ),
        links=AlertLinks(
            chart=settings.alerts.chart_url or _project_page(settings), runbook=settings.alerts.runbook_url
        ),
        state=state,
        steady=steady_time,
    )
    monitors = _monitors(settings, examples, elsewhere, budgets)
    if not monitors:
        return inbox, None
    tell = inbox.raise_alert
    return inbox, Monitors(monitors, raise_alert=tell, state=state, clock=steady_time, wall_time_of=wall_time_of)


def _project_page(settings: Settings) -> str | None:
    """Phoenix draws charts too."""
    page = phoenix_page(settings)
    return None if page is None else project_link(page, settings.project_name or "default")


def _monitors(
    settings: Settings, examples: Examples, elsewhere: Callable[[], Mapping[str, int]], budgets: Budgets | None
) -> list[Monitor]:
    monitors: list[Monitor] = []
    if settings.alerts.slo_target is not None:
        objective = Objective(target=settings.alerts.slo_target, threshold=settings.alerts.slo_threshold)
        monitors.append(SloMonitor(objective, examples=examples))
    if settings.alerts.health:
        monitors += [SilenceMonitor(seen=partial(traces_seen, elsewhere)), FailureMonitor()]
    if budgets is not None:
        from rag_otel.alerts.monitors.budget import BudgetMonitor

        monitors.append(BudgetMonitor(budgets))
    return monitors


def may_show(settings: Settings) -> Callable[[EvaluatedTrace], bool]:
    """Whether an alert may show an answer: a rule finds it bad, or a monitor remembers it."""
    rules = [parse_rule(text) for text in settings.alerts.rules]

    def shows(result: EvaluatedTrace) -> bool:
        return any(
            any(rule.judge(evaluation) is AnswerQuality.BAD for rule in rules)
            or (
                evaluation.score is not None
                and goodness(evaluation.name, evaluation.score) <= max(REMEMBERED_BELOW, settings.alerts.slo_threshold)
            )
            or (evaluation.risk is not None and evaluation.risk >= 1.0 - REMEMBERED_BELOW)
            for evaluation in result.evaluations
        )

    return shows
