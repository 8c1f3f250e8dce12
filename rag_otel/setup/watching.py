"""What watches results and tells people: the inbox, the monitors, drift, and how processes share them.

Without a state folder every process watches what it sees. With one, the processes that have it watch as one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rag_otel.alerts.inbox import Inbox
from rag_otel.alerts.messages.examples import Examples
from rag_otel.alerts.monitors.monitor import Monitors
from rag_otel.alerts.setup import build_inbox, build_monitors, may_show
from rag_otel.delivery.dispatcher import Dispatcher
from rag_otel.drift.judge_watch import JudgeWatch
from rag_otel.drift.monitor import DriftMonitor
from rag_otel.drift.setup import build_monitor
from rag_otel.durable.state_folder import CAN_LOCK, StateFolder
from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import EvaluatedTrace
from rag_otel.protocols import AlertChannel, Writer
from rag_otel.safety.guard import counters
from rag_otel.settings import Settings
from rag_otel.sharing.consumers import Consumer, Unsaved
from rag_otel.sharing.group import SharedMonitoring, Voice
from rag_otel.sharing.leadership import SharedFolder
from rag_otel.sharing.records import RecordFormat
from rag_otel.telemetry.instruments import count_elsewhere, is_exported
from rag_otel.telemetry.telemetry import Telemetry

if TYPE_CHECKING:
    from rag_otel.budgets.budgets import Budgets
    from rag_otel.durable.dead_letters import DeadLetters


@dataclass(frozen=True, kw_only=True)
class _Watching:
    """The parts, connected."""

    inbox: Inbox
    monitors: Monitors | None
    drift: DriftMonitor | None


class Monitoring:
    """Builds the parts from the settings, as often as a process needs them."""

    def __init__(
        self,
        settings: Settings,
        channels: Sequence[AlertChannel],
        *,
        link: Callable[[EvaluatedTrace], str | None],
        judge: JudgeWatch | None = None,
        budgets: Budgets | None = None,
    ) -> None:
        self._settings = settings
        self._channels = tuple(channels)
        self._examples = Examples(capture_content=settings.capture_content, link=link)
        self._judge = judge
        self._budgets = budgets

    def delivery(
        self, writers: Sequence[Writer], *, telemetry: Telemetry | None = None, keep_results: bool = False
    ) -> Dispatcher:
        """The delivery of results: to `writers`, to `telemetry`, and to what watches. Raises ConfigurationError."""
        recording = () if telemetry is None else telemetry.writers
        folder = self._settings.state_folder
        if folder is None or not CAN_LOCK:
            state = None if folder is None else StateFolder(folder)
            parts = self._built(state)
            watching = [part for part in (parts.monitors, parts.drift) if part is not None]
            return Dispatcher(
                [writers[0], *recording, *watching, *writers[1:]] if writers else [*recording, *watching],
                alerts=parts.inbox,
                state=state,
                keep_results=keep_results,
                dead=None if folder is None else _dead_letters(folder),
            )
        self._built(None)  # what is wrong with the settings is said now
        # The collector, which keeps results, serves a page of its own.
        one_page = telemetry is not None and self._settings.telemetry.exporter == "prometheus" and not keep_results
        shared = self._shared(folder, telemetry if one_page else None)
        return Dispatcher(
            [*writers, *(() if one_page else recording)],
            state=StateFolder(folder) if keep_results else None,
            keep_results=keep_results,
            shared=shared,
            dead=_dead_letters(folder),
        )

    def _built(
        self, state: StateFolder | None, elsewhere: Callable[[], Mapping[str, int]] = dict[str, int]
    ) -> _Watching:
        inbox = build_inbox(self._settings, self._channels, examples=self._examples, state=state)
        return _Watching(
            inbox=inbox,
            monitors=build_monitors(
                self._settings, inbox, examples=self._examples, state=state, elsewhere=elsewhere, budgets=self._budgets
            ),
            drift=build_monitor(
                self._settings,
                inbox.raise_alert,
                examples=self._examples,
                state=state,
                judge=self._judge,
            ),
        )

    def _shared(self, folder: str, page: Telemetry | None) -> SharedMonitoring:
        """`page`: the metrics that the leader serves for all."""

        def make(state: StateFolder | None, elsewhere: Callable[[], Mapping[str, int]]) -> Voice:
            parts = self._built(state, elsewhere)
            watching = [part for part in (parts.monitors, parts.drift) if part is not None]
            dispatcher = Dispatcher(alerts=parts.inbox, state=state, watching=watching)
            consumers: list[Consumer] = [parts.inbox, *watching]
            if page is not None:
                count_elsewhere(elsewhere)
                consumers += [Unsaved(writer, parts.inbox.read) for writer in page.writers]
            return Voice(consumers=consumers, raise_alert=parts.inbox.raise_alert, delivery=dispatcher)

        shared = SharedMonitoring(
            SharedFolder(folder),
            make,
            RecordFormat(may_show(self._settings), capture_content=self._settings.capture_content),
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
