"""Gauges: current values of the parts of the process, read when metrics are collected.

    gauges.offer("rag_otel.held_spans", self._held_spans)      # def _held_spans(self) -> [(3.0, {})]

A part names the instrument and offers a method; `rag_otel.telemetry` shows what the methods say. Counts have their
place in `guard.counters`: a gauge is for what goes up and down. An offer keeps nothing alive.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from rag_otel.safety.guard import guarded

Sample: TypeAlias = tuple[float, Mapping[str, str]]
"""A value and its labels."""
Source: TypeAlias = Callable[[], Iterable[Sample]]


class _GaugeSources:
    """Sources by the name of their instrument, held weakly: a source ends with its object."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._sources: dict[str, tuple[weakref.WeakMethod[Source], ...]] = {}

    def offer(self, name: str, source: Source) -> None:
        """Report the values of `source`, a bound method, under the instrument `name`.

        It is called from any thread, whenever somebody looks: quick, no locks that are held for long. Several sources
        of one name are added up, or the largest value of a label set counts, as the instrument has it.
        """
        with self._lock:
            alive = tuple(each for each in self._sources.get(name, ()) if each() is not None)
            self._sources[name] = (*alive, weakref.WeakMethod(source))

    def read(self, name: str) -> list[Sample]:
        """The current values of every source of this name; a source that fails is counted and left out."""
        samples: list[Sample] = []
        for reference in self._sources.get(name, ()):
            if (source := reference()) is not None:
                with guarded(f"reading.{name}"):
                    samples.extend(source())
        return samples

    def after_fork(self) -> None:
        """New lock: the old one may have been held. The sources are the child's own copies."""
        self._lock = threading.RLock()


gauges: Final = _GaugeSources()
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=gauges.after_fork)
