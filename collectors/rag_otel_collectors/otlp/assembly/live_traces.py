"""Spans of many traces, arriving now, into one group a trace: released when the trace has ended, within bounds.

A trace is released a moment (`grace_s`) after the end of its root has come, since the last spans of other processes
and batches come about then, or when nothing of it has come for `idle_s`: some instrumentations never export a root.
One that grows and grows, or never comes to rest, is released as it is. Nothing is ever evicted: when the bounds are
reached, newcomers are refused at the door, and what is here stays.
"""

from __future__ import annotations

import heapq
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from rag_otel.telemetry.gauges import Sample, gauges
from rag_otel.telemetry.names import HELD_SPANS
from rag_otel_collectors.otlp.requests.span_records import Outline
from rag_otel_collectors.otlp.requests.wire import SpanSlice

SPAN_OVERHEAD_BYTES: Final = 512
"""What a held span costs beside its bytes, about."""
ROOT: Final = "root_ended"
IDLE: Final = "idle"
TOO_LARGE: Final = "too_large"
TOO_OLD: Final = "too_old"
DRAINED: Final = "drained"


@dataclass(slots=True, eq=False, kw_only=True)
class LiveTrace:
    """The held spans of one trace id, in the order in which they came."""

    trace_id: bytes
    slices: list[SpanSlice] = field(default_factory=list)
    outlines: list[Outline] = field(default_factory=list)
    """Spans of the trace that have passed."""
    size: int = 0
    first_seen: float = 0.0
    last_seen: float = 0.0
    root_seen: float = math.inf
    """When the end of its root came, in the same seconds as the others."""
    released: str = ""
    """Why it was released; empty while more spans are waited for."""


@dataclass(slots=True, kw_only=True)
class _Passed:
    outlines: list[Outline] = field(default_factory=list)
    root_ended: bool = False


class LiveTraces:
    """What is being assembled, what is being evaluated, and what is known of the traces that have left."""

    def __init__(
        self,
        *,
        grace_s: float = 2.0,
        idle_s: float = 30.0,
        max_traces: int = 10_000,
        max_bytes: int = 128 * 2**20,
        max_trace_bytes: int = 16 * 2**20,
        max_age_s: float = 300.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._grace_s = grace_s
        self._idle_s = idle_s
        self._max_traces = max_traces
        self._max_bytes = max_bytes
        self._max_trace_bytes = max_trace_bytes
        self._max_age_s = max_age_s
        self._remembered = 10 * max_traces
        """How many traces that have left are still known."""
        self._clock = clock
        self._live: dict[bytes, LiveTrace] = {}
        """Being assembled."""
        self._looks: list[tuple[float, bytes]] = []
        """A heap of (when to look, trace id): for each that is assembled, not later than it is due."""
        self._busy = 0
        """Released, not finished."""
        self._left: OrderedDict[bytes, float] = OrderedDict()
        """Trace id -> when it was released; the one that was asked for least recently first."""
        self._passed: OrderedDict[bytes, _Passed] = OrderedDict()
        """What has passed of traces none of whose spans is held, the oldest first."""
        self._outlines = 0
        self._spans = 0
        self.held_bytes = 0
        gauges.offer(HELD_SPANS.name, self._held_spans)

    def __len__(self) -> int:
        """Traces in memory, those that are being evaluated included."""
        return len(self._live) + self._busy

    def room_for(self, size: int, spans: int) -> bool:
        """True when held spans of `size` bytes fit. A newcomer counts as one trace."""
        return len(self) < self._max_traces and self.held_bytes + size + spans * SPAN_OVERHEAD_BYTES <= self._max_bytes

    def has_left(self, trace_id: bytes) -> float | None:
        """When the trace was released; None for one that was not, or so long ago that it is forgotten."""
        left = self._left.get(trace_id)
        if left is not None:
            self._left.move_to_end(trace_id)
        return left

    def hold(self, trace_id: bytes, item: SpanSlice, *, root: bool) -> None:
        """Keep a span until its trace is released."""
        now = self._clock()
        trace = self._live.get(trace_id)
        if new := trace is None:
            trace = self._live[trace_id] = LiveTrace(trace_id=trace_id, first_seen=now)
            passed = self._passed.pop(trace_id, None)
            if passed is not None:
                self._outlines -= len(passed.outlines)
                trace.outlines = passed.outlines
                root = root or passed.root_ended
        size = len(item.span) + SPAN_OVERHEAD_BYTES
        if not trace.slices or trace.slices[-1].resource is not item.resource:
            size += len(item.resource) + len(item.scope)
        trace.slices.append(item)
        trace.size += size
        self.held_bytes += size
        self._spans += 1
        self._seen(trace, now, root=root, look=new or trace.size > self._max_trace_bytes)

    def passed(self, trace_id: bytes, outline: Outline, *, root: bool) -> None:
        """Note a span of a trace that may be evaluated, which itself is not held."""
        trace = self._live.get(trace_id)
        if trace is not None:
            if len(trace.outlines) < self._max_outlines:
                trace.outlines.append(outline)
            self._seen(trace, self._clock(), root=root)
            return
        known = self._passed.setdefault(trace_id, _Passed())
        known.root_ended |= root
        known.outlines.append(outline)
        self._outlines += 1
        while self._outlines > self._max_outlines:
            self._outlines -= len(self._passed.popitem(last=False)[1].outlines)

    def due(self) -> list[LiveTrace]:
        """The traces to be evaluated and forwarded now. `finish` each."""
        now, due = self._clock(), []
        while self._looks and self._looks[0][0] <= now:
            _, trace_id = heapq.heappop(self._looks)
            if (trace := self._live.get(trace_id)) is None:
                continue
            moment, cause = self._due(trace)
            if moment <= now:
                due.append(self._release(trace, cause))
            else:
                heapq.heappush(self._looks, (moment, trace_id))
        return due

    def drain(self) -> list[LiveTrace]:
        """Release everything, complete or not."""
        return [self._release(trace, DRAINED) for trace in list(self._live.values())]

    def next_due_in(self) -> float | None:
        """Seconds until `due` may have something; None while nothing is held."""
        return max(0.0, self._looks[0][0] - self._clock()) if self._live else None

    def finish(self, trace: LiveTrace) -> None:
        """A released trace has been forwarded: its bytes are free."""
        self._busy -= 1
        self.held_bytes -= trace.size
        self._spans -= len(trace.slices)

    def _held_spans(self) -> list[Sample]:
        return [(float(self._spans), {})]

    @property
    def _max_outlines(self) -> int:
        return 5 * self._max_traces

    def _seen(self, trace: LiveTrace, now: float, *, root: bool, look: bool = False) -> None:
        """A span of the trace has come. With `look`, or with its root, the trace may be due sooner than it was."""
        trace.last_seen = now
        if root and trace.root_seen == math.inf:
            trace.root_seen, look = now, True
        if look:
            heapq.heappush(self._looks, (self._due(trace)[0], trace.trace_id))

    def _due(self, trace: LiveTrace) -> tuple[float, str]:
        """When the trace is to be released, if nothing more comes, and why."""
        return min(
            (trace.root_seen + self._grace_s, ROOT),
            (trace.last_seen + self._idle_s, IDLE),
            (trace.first_seen + self._max_age_s, TOO_OLD),
            (trace.first_seen if trace.size > self._max_trace_bytes else math.inf, TOO_LARGE),
        )

    def _release(self, trace: LiveTrace, cause: str) -> LiveTrace:
        del self._live[trace.trace_id]
        trace.released = cause
        self._busy += 1
        self._left[trace.trace_id] = self._clock()
        while len(self._left) > self._remembered:
            self._left.popitem(last=False)
        return trace
