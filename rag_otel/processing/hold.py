"""Holding slots: which spans wait for their scores, how many may, and for how long.

A slot is taken by a sampled trace from `admit` until `finish`, evaluated or not, and its span is let go by exactly
one caller: whoever gets True from `claim` (the worker with scores, the scheduler at the deadline, a flush, a shutdown)
and says `gone` when the span is out. Admitted work is never evicted: when all slots are taken, the new trace is
turned away.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor

from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import SamplingDecision, SpanRef
from rag_otel.safety.guard import guarded
from rag_otel.safety.scheduler import scheduler
from rag_otel.telemetry import names
from rag_otel.telemetry.gauges import Sample, gauges

if TYPE_CHECKING:
    from rag_otel.durable.kept_traces import KeptTraces  # only imported where a state folder is set
    from rag_otel.observing.call_snapshot import Snapshot
    from rag_otel.processing.open_spans import SubTree

MAX_HELD: Final = 256
"""Traces that are evaluated at once or wait for it: seconds of work for a judge, not minutes."""
MAX_HELD_BYTES: Final = 32 * 2**20
"""Of their texts: what a process can spare."""


@dataclass(slots=True, kw_only=True, eq=False)
class Slot:
    """One trace that is being evaluated, and its target span while that is held."""

    span: ReadableSpan
    """The target span."""
    target: SpanRef
    tree: SubTree
    snapshot: Snapshot | None
    decision: SamplingDecision
    root: SpanRef | None = None
    """The root span of the trace, where it is known and is not the target."""
    downstream: tuple[SpanProcessor, ...]
    """The processors that the span was on its way to when it ended."""
    deadline: float = 0.0
    """When the span goes out without scores, in `time.monotonic` seconds; 0 for one that is not held."""
    admitted_at: float = 0.0
    """When the slot was taken, in the same seconds."""
    kept_by: KeptTraces | None = None
    """What keeps it on disk; None: nothing does."""
    taken_up: bool = False
    """An earlier process had admitted it: its place under the cap is paid for."""
    scored: bool = False
    """The earlier process has let its span go with the scores: no evaluation span follows."""


class Hold:
    """The slots of one processor. Thread-safe."""

    def __init__(
        self, *, seconds: float, max_items: int, max_bytes: int, on_deadline: Callable[[Slot], object]
    ) -> None:
        """`seconds` a span waits at most (0: never). `on_deadline` is called in the background; it must `claim`."""
        self.seconds = seconds
        self.max_items = max_items
        self.max_bytes = max_bytes
        self._on_deadline = on_deadline
        self._start_over()
        gauges.offer(names.HELD_SPANS.name, self._held_now)
        gauges.offer(names.QUEUE_ITEMS.name, self._unfinished_now)
        gauges.offer(names.QUEUE_AGE.name, self._oldest_age)

    def _start_over(self) -> None:
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        """For those who wait until nothing is held, or nothing is unfinished."""
        self._unfinished: dict[Slot, None] = {}
        self._held: dict[Slot, None] = {}
        """In order of admission, which is the order of deadlines."""
        self._leaving: set[Slot] = set()
        """Claimed, but not out yet."""
        self._bytes = 0
        self._look_at: float | None = None
        """When the scheduler looks for overdue spans, in `time.monotonic` seconds: never after the first deadline."""
        self._closed = False

    def admit(self, slot: Slot, *, held: bool = True) -> bool:
        """Take a slot and start its deadline; with `held=False` its span has gone already.

        False when items or bytes are all taken, or after `close`, or where no thread can be started that would see to
        the deadline.
        """
        held = held and self.seconds > 0
        with self._lock:
            if (
                self._closed
                or len(self._unfinished) >= self.max_items
                or self._bytes + slot.tree.size > self.max_bytes
                or (held and not self._watch())
            ):
                return False
            slot.admitted_at = time.monotonic()
            self._unfinished[slot] = None
            self._bytes += slot.tree.size
            if held:
                slot.deadline = slot.admitted_at + self.seconds
                self._held[slot] = None
            return True

    @property
    def is_full(self) -> bool:
        """True where `admit` would refuse any slot."""
        return len(self._unfinished) >= self.max_items

    def claim(self, slot: Slot) -> bool:
        """True for exactly one caller, who then lets the span go; False ever after (and for a span never held)."""
        with self._lock:
            if slot not in self._held:
                return False
            del self._held[slot]
            self._leaving.add(slot)
            if self._closed and not self._held:
                scheduler.remove(self)
            return True

    def gone(self, slot: Slot) -> None:
        """The claimed span is out."""
        with self._lock:
            self._leaving.discard(slot)
            if not self._held and not self._leaving:
                self._changed.notify_all()

    def finish(self, slot: Slot) -> None:
        """The evaluation is over: the slot is free. Safe to call twice."""
        with self._lock:
            if slot not in self._unfinished:
                return
            del self._unfinished[slot]
            self._bytes -= slot.tree.size
            if not self._unfinished:
                self._changed.notify_all()

    def give_up(self) -> None:
        """Free every slot: nobody will finish those that are taken."""
        with self._lock:
            self._unfinished.clear()
            self._bytes = 0
            self._changed.notify_all()

    def find(self, trace_id: str) -> list[Slot]:
        """The slots of a trace that are not finished: at most one for each of its answers."""
        with self._lock:
            return [slot for slot in self._unfinished if slot.target.trace_id == trace_id]

    def held(self) -> list[Slot]:
        """The slots whose spans are held, oldest first."""
        with self._lock:
            return list(self._held)

    def wait_until_released(self, timeout_s: float) -> bool:
        """Wait until no span is held or on its way out; False when time ran out."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._held and not self._leaving, timeout_s)

    def wait_until_finished(self, timeout_s: float) -> bool:
        """Wait until every admitted trace is evaluated, late ones too; False when time ran out."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._unfinished, timeout_s)

    @property
    def closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        """Admit nothing any more."""
        with self._lock:
            self._closed = True
            if not self._held:
                scheduler.remove(self)

    def after_fork(self) -> None:
        """Start empty in a forked child: the parent keeps its slots and lets those spans go itself."""
        closed = self._closed
        self._start_over()
        self._closed = closed

    def _held_now(self) -> list[Sample]:
        return [(float(len(self._held)), {})]

    def _unfinished_now(self) -> list[Sample]:
        return [(float(len(self._unfinished)), {})]

    def _oldest_age(self) -> list[Sample]:
        with self._lock:
            oldest = next(iter(self._unfinished), None)
        return [] if oldest is None else [(time.monotonic() - oldest.admitted_at, {})]

    def _watch(self) -> bool:
        """See that somebody looks at the deadline. The scheduler is woken from idleness only, not for every span."""
        if self._look_at is None:
            self._look_at = time.monotonic() + self.seconds
            if not scheduler.add(self):
                self._look_at = None
                return False
        return True

    def due(self) -> float | None:
        """When `tick` must look for overdue spans, in seconds since the epoch."""
        at = self._look_at
        return None if at is None else time.time() + at - time.monotonic()

    def tick(self) -> None:
        """Let the spans go that have waited long enough."""
        with self._lock:
            now = time.monotonic()
            overdue = [slot for slot in self._held if slot.deadline <= now]
        for slot in overdue:
            with guarded("hold.deadline"):
                self._on_deadline(slot)
        with self._lock:
            first = next(iter(self._held), None)
            self._look_at = None if first is None else first.deadline
