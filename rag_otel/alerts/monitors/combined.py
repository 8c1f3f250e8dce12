"""All monitors as one writer, so that they share one queue and one thread."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Protocol

from rag_otel.delivery.export_queue import ExportPolicy
from rag_otel.model import EvaluatedTrace
from rag_otel.safety.guard import guarded
from rag_otel.sharing.group import Consumer, Observed
from rag_otel.sharing.positions import Positions


class Monitor(Protocol):
    """Watches results and raises alerts about what shows only in many of them."""

    @property
    def name(self) -> str: ...

    def write(self, batch: Sequence[EvaluatedTrace]) -> None:
        """Take results into account; on the monitors' thread."""
        ...

    def due(self) -> float | None:
        """Seconds since the epoch at which `tick` must be called next; None: no call is needed."""
        ...

    def tick(self) -> None:
        """Check what was counted and raise alerts; on a thread of the scheduler."""
        ...

    def after_fork(self) -> None:
        """Start empty, with new locks: the parent keeps watching its own results."""
        ...

    def close(self) -> None:
        """Save the state at the end of the process. May be called twice."""
        ...


class Monitors:
    """Passes every batch to every monitor. A failure of one is counted and logged; the others continue."""

    name = "monitors"
    export_policy = ExportPolicy(linger_s=1.0)

    def __init__(self, monitors: Sequence[Monitor], *, wall_time_of: Callable[[float], float] = lambda at: at) -> None:
        """`wall_time_of` turns the times of the monitors' clock into those of the wall clock."""
        self._monitors = tuple(monitors)
        self._read = Positions()
        self._wall_time_of = wall_time_of

    def write(self, batch: Sequence[EvaluatedTrace]) -> None:
        for monitor in self._monitors:
            with guarded(f"monitor.{monitor.name}"):
                monitor.write(batch)

    @property
    def read(self) -> Positions:
        """Of the one that keeps its counts; see `take`."""
        return next((each.read for _, each in self._parts if each is not None), self._read)

    @functools.cached_property
    def _parts(self) -> Sequence[tuple[Monitor, Consumer | None]]:
        """Each monitor, and again where it keeps its counts. Asked once, because asking a protocol is slow. Not in
        `__init__`, because some interpreters read the attributes of what they ask, and the drift monitor then loads
        its state."""
        return [(each, each if isinstance(each, Consumer) else None) for each in self._monitors]

    def take(self, batch: Sequence[Observed]) -> None:
        """Results of several processes: those that keep their counts know where they stood."""
        for each in batch:
            self._read.advance(each.upto)
        results = [each.result for each in batch]
        for monitor, consumer in self._parts:
            with guarded(f"monitor.{monitor.name}"):
                if consumer is not None:
                    consumer.take(batch)
                elif results:
                    monitor.write(results)

    def begin_with(self, read: Positions) -> None:
        """Where nothing was kept: begin where another consumer has read to."""
        self._read.advance(read.taken)

    def due(self) -> float | None:
        due = min((at for monitor in self._monitors if (at := monitor.due()) is not None), default=None)
        return None if due is None else self._wall_time_of(due)

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
