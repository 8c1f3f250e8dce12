"""Gauges: current values of the objects of the process, read when metrics are collected.

    gauges.offer("rag_otel.held_spans", self._held_spans)      # def _held_spans(self) -> [(3.0, {})]

An object registers a method under the name of an instrument; `rag_otel.telemetry` calls the methods and exports their
values. A gauge is for values that go up and down. Counts go to `guard.counters`. Methods are held by weak references.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from rag_otel.safety.fork import ForkSafeLock
from rag_otel.safety.guard import guarded

Sample: TypeAlias = tuple[float, Mapping[str, str]]
"""A value and its labels."""
GaugeSource: TypeAlias = Callable[[], Iterable[Sample]]


class _GaugeSources:
    """Sources by the name of their instrument, as weak references: a source ends with its object."""

    def __init__(self) -> None:
        self._lock = ForkSafeLock()
        self._sources: dict[str, tuple[weakref.WeakMethod[GaugeSource], ...]] = {}

    def offer(self, name: str, source: GaugeSource) -> None:
        """Reports the values of `source`, a bound method, under the instrument `name`.

        `source` is called from any thread, at each collection. It must return quickly and must not take locks that are
        held for long. The kind of the instrument says how values of several sources with equal labels are combined:
        their sum, or the largest.
        """
        with self._lock:
            alive = tuple(each for each in self._sources.get(name, ()) if each() is not None)
            self._sources[name] = (*alive, weakref.WeakMethod(source))

    def read(self, name: str) -> list[Sample]:
        """Returns the current values of every source of this name. A source that fails is counted and left out."""
        samples: list[Sample] = []
        for reference in self._sources.get(name, ()):
            if (source := reference()) is not None:
                with guarded(f"reading.{name}"):
                    samples.extend(source())
        return samples


gauges: Final = _GaugeSources()
"""Of this process. A forked child keeps a copy of the sources."""
