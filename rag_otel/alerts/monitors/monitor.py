"""What watches many answers for what shows only in many: all monitors behind one queue, one lock and one timer."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final

from rag_otel.alert import Alert
from rag_otel.delivery.export_queue import ExportPolicy
from rag_otel.durable.named_states import NamedState
from rag_otel.durable.state_folder import StateFolder
from rag_otel.model import EvaluatedTrace
from rag_otel.safety.guard import guarded
from rag_otel.sharing.consumers import Observed, Positions

NAME: Final = "monitors"
"""Of the state."""
VERSION: Final = 1
_CHECK_EVERY_S: Final = 15.0
_SAVE_EVERY_S: Final = 60.0


class Monitor(ABC):
    """Watches results and says what is wrong. Called by one thread at a time; `now` is in seconds that pass evenly."""

    name: ClassVar[str]

    @abstractmethod
    def write(self, batch: Sequence[EvaluatedTrace], now: float) -> None:
        """Take results into account."""

    @abstractmethod
    def look(self, now: float) -> Sequence[Alert]:
        """The alerts of what was counted, firing and resolved."""

    @abstractmethod
    def forget(self) -> None:
        """Start empty in a forked child: the parent keeps watching its own results."""

    def to_state(self) -> Any:
        """What the next process needs, in JSON's types; None: nothing."""
        return None

    def restore(self, state: Any) -> None:
        """Go on with what `to_state` gave. Raises ValueError, KeyError or TypeError for anything else."""
        raise ValueError(f"{self.name} keeps nothing")


class Monitors:
    """Passes every batch to every monitor, and asks each several times a minute. A failure of one is counted and
    logged; the others continue."""

    name = "monitors"
    export_policy = ExportPolicy(linger_s=1.0)

    def __init__(
        self,
        monitors: Sequence[Monitor],
        *,
        raise_alert: Callable[[Alert], None],
        state: StateFolder | None = None,
        clock: Callable[[], float] = time.time,
        wall_time_of: Callable[[float], float] = lambda at: at,
    ) -> None:
        """`wall_time_of` turns the times of `clock` into those of the wall clock."""
        self._monitors = tuple(monitors)
        self._raise = raise_alert
        self._saved = None if state is None else NamedState(state, NAME, VERSION)
        self._clock = clock
        self._wall_time_of = wall_time_of
        self._lock = threading.RLock()
        self._check_at = self._save_at = clock()
        self.read = Positions()
        """Of the logs of processes that share a state folder; saved with what was counted."""
        if self._saved is not None:
            self.read.begin_saving()
            with guarded("monitors.load"):
                self._saved.load(self._restore)

    def take(self, batch: Sequence[Observed]) -> None:
        """Results of several processes."""
        with self._lock:
            if batch:
                self.write(self.read.results_of(batch))

    def write(self, batch: Sequence[EvaluatedTrace]) -> None:
        with self._lock:
            for monitor in self._monitors:
                with guarded(f"monitor.{monitor.name}"):
                    monitor.write(batch, self._clock())

    def due(self) -> float | None:
        return self._wall_time_of(self._check_at)

    def tick(self) -> None:
        """Raise what the monitors see; save from time to time."""
        alerts: list[Alert] = []
        with self._lock:
            now = self._clock()
            self._check_at = now + _CHECK_EVERY_S
            for monitor in self._monitors:
                with guarded(f"monitor.{monitor.name}"):
                    alerts += monitor.look(now)
        for alert in alerts:  # before they are saved as told: a kill in between tells them again, under one fingerprint
            self._raise(alert)
        if alerts or now >= self._save_at:
            self.close()

    def after_fork(self) -> None:
        self._lock = threading.RLock()
        for monitor in self._monitors:
            monitor.forget()

    def close(self) -> None:
        """Save what was counted."""
        with self._lock:
            self._save_at = self._clock() + _SAVE_EVERY_S
            if self._saved is None:
                return
            with guarded("monitors.save"):
                kept = {each.name: state for each in self._monitors if (state := each.to_state()) is not None}
                read = self.read.to_state()
                if self._saved.save({"read": read, "kept": kept}):
                    self.read.was_saved(read)

    def _restore(self, stored: Mapping[str, Any]) -> None:
        for monitor in self._monitors:
            if monitor.name in stored["kept"]:
                monitor.restore(stored["kept"][monitor.name])
        self.read.restore(stored["read"])
