"""Everything that watches the stream of results, as one writer: one queue, one thread, however many monitors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rag_otel.delivery.export_queue import ExportPolicy
from rag_otel.model import EvaluatedTrace
from rag_otel.safety.guard import guarded


class Monitor(Protocol):
    """Watches results and raises alerts about what only many of them show."""

    @property
    def name(self) -> str: ...

    def write(self, batch: Sequence[EvaluatedTrace]) -> None:
        """Take results into account; on the monitors' thread."""
        ...

    def due(self) -> float | None:
        """Seconds since the epoch at which `tick` has something to do next; None: nothing waits."""
        ...

    def tick(self) -> None:
        """Look at what was counted, raise what is to be raised; on the ticker's thread."""
        ...

    def after_fork(self) -> None:
        """Start empty, with fresh locks: the parent watches what it has seen."""
        ...

    def close(self) -> None:
        """Save what must survive; the process ends. May be called twice."""
        ...


class Monitors:
    """Hands every batch to every monitor. One that fails is counted and logged, the others go on."""

    name = "monitors"
    export_policy = ExportPolicy(linger_s=1.0)

    def __init__(self, monitors: Sequence[Monitor]) -> None:
        self._monitors = tuple(monitors)

    def write(self, batch: Sequence[EvaluatedTrace]) -> None:
        for monitor in self._monitors:
            with guarded(f"monitor.{monitor.name}"):
                monitor.write(batch)

    def due(self) -> float | None:
        return min((at for monitor in self._monitors if (at := monitor.due()) is not None), default=None)

    def tick(self) -> None:
        for monitor in self._monitors:
            with guarded(f"monitor.{monitor.name}"):
                monitor.tick()

    def after_fork(self) -> None:
        for monitor in self._monitors:
            monitor.after_fork()

    def close(self) -> None:
        for monitor in self._monitors:
            with guarded(f"monitor.{monitor.name}"):
                monitor.close()
