"""The latest ratings of this process: a trace that is evaluated after it was rated is evaluated as a rated one.

Filled by `rag_otel.feedback()`, read by the worker that evaluates. Nothing is added to a call that nobody rates.
"""

from __future__ import annotations

import dataclasses
import os
import threading
from collections import OrderedDict
from typing import Final

from rag_otel.model import RagTrace
from rag_otel.ratings.rating import Rating

_MAX: Final = 4_096
"""Ratings that are remembered; the oldest is forgotten first. One takes about 300 bytes."""


class RecentRatings:
    """Thread-safe."""

    def __init__(self, max_items: int = _MAX) -> None:
        self._max = max_items
        self._start_over()

    def _start_over(self) -> None:
        self._lock = threading.Lock()
        self._found: OrderedDict[tuple[str, str | None], float] = OrderedDict()
        """(trace id, span id of the answer that is meant, or None) -> rating."""

    def add(self, rating: Rating) -> None:
        """Remember what was said; of one answer the last word counts."""
        if rating.value is None:
            return
        with self._lock:
            about = rating.trace_id, rating.span_id
            self._found.pop(about, None)
            self._found[about] = rating.value
            while len(self._found) > self._max:
                self._found.popitem(last=False)

    def rated(self, trace: RagTrace) -> RagTrace:
        """The trace with its rating; as it is where nobody has rated it here."""
        if not self._found:
            return trace
        target = trace.target
        found = self._found.get((target.trace_id, target.span_id), self._found.get((target.trace_id, None)))
        return trace if found is None else dataclasses.replace(trace, rating=found)

    def after_fork(self) -> None:
        """Start empty in a forked child, which has none of these traces."""
        self._start_over()


recent_ratings: Final = RecentRatings()
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=recent_ratings.after_fork)
