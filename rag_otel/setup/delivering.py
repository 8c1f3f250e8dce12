"""What becomes of results: they are written, watched, and people are told; and how processes share the watching.

Without a state folder every process watches what it sees. With one, the processes that have it watch as one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from rag_otel.alerts.channels.callback import CallbackChannel
from rag_otel.alerts.channels.configured import configured_channels
from rag_otel.alerts.channels.log import LogChannel
from rag_otel.alerts.inbox import Inbox
from rag_otel.alerts.messages.examples import Examples
from rag_otel.alerts.monitors.monitor import Monitors
from rag_otel.alerts.setup import build_alerts, may_show
from rag_otel.alerts.telling import AlertDelivery
from rag_otel.delivery.dispatcher import Dispatcher
from rag_otel.drift.judge_watch import JudgeWatch
from rag_otel.drift.monitor import DriftMonitor
from rag_otel.drift.setup import drift_settings
from rag_otel.durable.state_folder import CAN_LOCK, StateFolder
from rag_otel.protocols import AlertChannel, Writer
from rag_otel.safety.guard import counters
from rag_otel.settings import Settings
from rag_otel.sharing.consumers import Unsaved
from rag_otel.sharing.group import SharedMonitoring, Voice
from rag_otel.sharing.leadership import SharedFolder
from rag_otel.sharing.records import RecordFormat
from rag_otel.telemetry.instruments import count_elsewhere, is_exported
from rag_otel.telemetry.telemetry import Telemetry
from rag_otel.writers.phoenix_links import links_to_traces

if TYPE_CHECKING:
    from rag_otel.budgets.budgets import Budgets
    from rag_otel.durable.dead_letters import DeadLetters

_Watching: TypeAlias = tuple[Inbox, list[Monitors | DriftMonitor]]
_Watch: TypeAlias = Callable[[StateFolder | None, Callable[[], Mapping[str, int]]], _Watching]
"""(where it keeps its state, what other processes have counted) -> who is told, and what watches."""


def compose_delivery(
    settings: Settings,
    writers: Sequence[Writer] = (),
    *,
    telemetry: Telemetry | None = None,
    keep_results: bool = False,
    judge_watch: JudgeWatch | None = None,
    budgets: Budgets | None = None,
) -> Dispatcher:
    """Delivers results to `writers`, those of the application, `telemetry`, the monitors and the alerts.

    Imports no judge, and starts a thread only where a state folder holds what the last process could not deliver. With
    `keep_results` and a state folder Phoenix's annotations survive the process as alerts do; with a `judge_watch` drift
    alerts tell whether the app or the judge has moved. What is left of the `budgets` is told.

    Raises ConfigurationError.
    """
    channels = _channels(settings)
    examples = Examples(capture_content=settings.capture_content, link=links_to_traces(settings))

    def watch(state: StateFolder | None, elsewhere: Callable[[], Mapping[str, int]]) -> _Watching:
        inbox, monitors = build_alerts(
            settings, channels, examples=examples, state=state, elsewhere=elsewhere, budgets=budgets
        )
        watching: list[Monitors | DriftMonitor] = [] if monitors is None else [monitors]
        if settings.drift.enabled:
            own, tell = drift_settings(settings), inbox.raise_alert
            watching.append(DriftMonitor(own, tell, examples=examples, state=state, judge=judge_watch))
        return inbox, watching

    writers = [*writers, *settings.writers]
    recording = () if telemetry is None else telemetry.writers
    folder = settings.state_folder
    dead = None if folder is None else _dead_letters(folder)
    if folder is None or not CAN_LOCK:
        state = None if folder is None else StateFolder(folder)
        inbox, watching = watch(state, dict[str, int])
        every = [*writers, *recording, *watching]
        alerts = AlertDelivery(inbox, state=state)
        return Dispatcher(every, alerts, state=state, keep_results=keep_results, dead=dead)
    watch(None, dict[str, int])  # what is wrong with the settings is said now
    # The collector, which keeps results, serves a page of its own.
    one_page = telemetry is not None and settings.telemetry.exporter == "prometheus" and not keep_results
    return Dispatcher(
        [*writers, *(() if one_page else recording)],
        _shared(settings, folder, watch, telemetry if one_page else None),
        state=StateFolder(folder) if keep_results else None,
        keep_results=keep_results,
        dead=dead,
    )


def _channels(settings: Settings) -> list[AlertChannel]:
    """The log, those that the settings name, those of the application. Raises ConfigurationError."""
    alerts = settings.alerts
    channels: list[AlertChannel] = [LogChannel(texts=alerts.log_texts), *configured_channels(settings)]
    if alerts.on_alert is not None:
        channels.append(CallbackChannel(alerts.on_alert))
    return [*channels, *alerts.channels]


def _shared(settings: Settings, folder: str, watch: _Watch, page: Telemetry | None) -> SharedMonitoring:
    """The processes of one folder, one of which watches for all. `page`: the metrics that this one serves for all."""

    def lead(state: StateFolder | None, elsewhere: Callable[[], Mapping[str, int]]) -> Voice:
        inbox, watching = watch(state, elsewhere)
        recording = []
        if page is not None:
            count_elsewhere(elsewhere)
            recording = [Unsaved(writer, inbox.read) for writer in page.writers]
        return Voice(
            consumers=[inbox, *watching, *recording],
            delivery=AlertDelivery(inbox, state=state, monitors=watching),
        )

    shared = SharedMonitoring(
        SharedFolder(folder),
        lead,
        RecordFormat(may_show(settings), capture_content=settings.capture_content),
        counted=_counted,
        leads=(lambda: None) if page is None else page.lead,
    )
    if page is not None:
        page.share(shared.start)
    return shared


def _dead_letters(folder: str) -> DeadLetters:
    from rag_otel.durable.dead_letters import FOLDER, DeadLetters  # imports protobuf

    return DeadLetters(Path(folder) / FOLDER)


def _counted() -> dict[str, int]:
    """Counts of this process that its leader reports or watches."""
    return {name: count for name, count in counters.snapshot().items() if is_exported(name)}
