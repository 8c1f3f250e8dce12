"""Traces to be evaluated, on disk until their results are written.

    request path, worker -> queue -> the scheduler -> journal -> the next process, after a kill

The request path appends to a queue. The scheduler looks at the queue every `LINGER_S` while there is something in it,
and encodes and writes what is there: what a SIGKILL can lose is what was handed over since, see docs/application.md.
It also hands out what earlier processes left.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from opentelemetry.sdk.trace import ReadableSpan

from rag_otel.durable import trace_records
from rag_otel.durable.journal import Journal
from rag_otel.durable.left_traces import LeftTraces
from rag_otel.durable.state_folder import StateFolder
from rag_otel.durable.trace_records import KEY_BYTES, key_of
from rag_otel.model import SamplingDecision, SpanRef
from rag_otel.observing.call_snapshot import Snapshot
from rag_otel.safety.fork import around_fork
from rag_otel.safety.guard import LimitedLog, counters, guarded, logger
from rag_otel.safety.scheduler import scheduler

FOLDER: Final = "traces"
"""In the state folder."""
MAX_BYTES: Final = 256 * 2**20
"""On disk, of one process: an hour of an application with some traces a second."""
MAX_AGE_S: Final = 7 * 86_400.0
"""Scores of an older trace are of no use to anybody."""
LINGER_S: Final = 0.01
"""Between two looks at the queue."""
_IDLE_S: Final = 1.0
"""After so long without anything it waits to be woken."""
_TEND_S: Final = 1.0
_ADOPT_S: Final = 5.0
_TAKE_UP_S: Final = 0.05
_MAX_WAITING: Final = 4096
"""Traces in the queue."""
_MAX_WAITING_BYTES: Final = 64 * 2**20
_WARN_S: Final = 600.0
_FORK_WAITS_S: Final = 2.0


class KeptTraces:
    """Keeps admitted traces until their results are written. What the request path and the worker call returns at once
    and never raises."""

    def __init__(
        self,
        folder: StateFolder,
        *,
        max_age_s: float = MAX_AGE_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder = folder
        self._clock = clock
        self._log = LimitedLog(_WARN_S, clock=clock)
        self.left: Final = LeftTraces(max_age_s=max_age_s)
        """What earlier processes left. Who evaluates one of them says `begun`."""
        self._lock = threading.RLock()
        self._journal: Journal | None = None
        self._start_over()
        around_fork(self._hold_still, self._go_on)

    def _hold_still(self) -> None:
        """A fork is about to happen: nothing is written until `_go_on`."""
        self._lock.acquire(timeout=_FORK_WAITS_S)

    def _go_on(self) -> None:
        with contextlib.suppress(RuntimeError):  # not acquired in time
            self._lock.release()

    def _start_over(self) -> None:
        self._events: deque[Callable[[], None]] = deque()
        self._waiting = 0
        self._waiting_bytes = 0
        self._asleep = True
        """Someone must wake the scheduler."""
        self._busy_at = self._looked_at = float("-inf")
        """When there was something in the queue, and when it was looked at, by the clock."""
        self._tended = self._adopted = self._taken_up_at = float("-inf")
        self._closed = False
        self.left.clear()

    # --- from any thread ----------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Open the folder, in the background."""
        self._wake()

    def admitted(
        self,
        target: ReadableSpan,
        spans: Sequence[ReadableSpan],
        size: int,
        about: tuple[SamplingDecision, Snapshot | None, SpanRef | None],
    ) -> bool:
        """Keep a trace: its target, all its spans that have ended (`size` characters) and its decision, snapshot and
        root. False, counted, when the queue is full: the trace is not kept."""
        if self._waiting >= _MAX_WAITING or self._waiting_bytes + size > _MAX_WAITING_BYTES or self._closed:
            counters.add("traces.refused")
            return False
        self._waiting += 1  # about: two threads at once may lose one, each look sets both to 0 again
        self._waiting_bytes += size
        self._put(partial(self._on_admitted, target, spans, about))
        return True

    def found(self, target: ReadableSpan, spans: Sequence[ReadableSpan]) -> None:
        """Spans of a trace that have ended after its target."""
        self._put(lambda: self._on_value(target, trace_records.found_value(spans)))

    def released(self, target: ReadableSpan, *, scored: bool) -> None:
        """The target goes to the exporters, with its scores or without."""
        self._put(partial(self._on_value, target, trace_records.SCORED if scored else trace_records.RELEASED))

    def begun(self, target: ReadableSpan) -> None:
        """The evaluation of a trace of an earlier process begins now. Returns when that is on disk, because it may end
        the process."""
        with self._lock, self._warned("written"):
            self._on_value(target, trace_records.BEGUN)

    def evaluated(self, target: ReadableSpan) -> None:
        """The evaluation of a trace of an earlier process has come to an end, and this process to no harm."""
        self._put(partial(self._on_evaluated, target))

    def written(self, target: ReadableSpan) -> None:
        """The results of a trace are written everywhere, or there are none, or it was not admitted after all."""
        self._put(partial(self._on_written, target))

    def flush(self, timeout_s: float) -> bool:
        """Write what was handed over so far; False when time ran out."""
        if self._closed or not self._lock.acquire(timeout=timeout_s):
            return False
        try:
            with guarded("traces.flush"):
                self._look()
                if self._journal is not None:
                    with self._warned("cleared"):
                        self._journal.clear()
                return True
            return False
        finally:
            self._lock.release()

    def close(self, timeout_s: float) -> None:
        """Write what was handed over, and leave the folder to the next process. Safe to call twice."""
        if self._closed:
            return
        self.flush(timeout_s)
        self._closed = True
        scheduler.remove(self)
        with self._lock, guarded("traces.close"):
            if self._journal is not None:
                self._journal.close()
            self._folder.close()

    def after_fork(self) -> None:
        """Start empty in a forked child: the parent keeps its traces, and takes up what was left."""
        closed = self._closed
        self._lock = threading.RLock()
        if self._journal is not None:
            self._journal.close()  # the parent has descriptors of its own
            self._journal = None
        self._start_over()
        self._closed = closed
        self._folder.after_fork()

    @property
    def unfinished(self) -> int | None:
        """Traces in the folder that are not done: those of this process, and those that wait to be taken up. None
        while the folder is not open."""
        with self._lock:
            return None if self._journal is None else len(self._journal.keys)

    def _put(self, event: Callable[[], None]) -> None:
        self._events.append(event)
        if self._asleep:  # else it is looked at soon: waking the scheduler costs more than all the rest
            self._wake()

    def _wake(self) -> None:
        if not self._closed:
            self._asleep = False
            scheduler.add(self, prompt=True)

    # --- on the scheduler's threads -----------------------------------------------------------------------------------

    def due(self) -> float | None:
        """When to look at the queue, or after what was left, in seconds since the epoch."""
        if self._closed:
            return None
        pause_s = _TAKE_UP_S if self.left else _TEND_S
        if self._events or not self._asleep:
            pause_s = LINGER_S
        return time.time() + max(0.0, self._looked_at + pause_s - self._clock())

    def tick(self) -> None:
        """Write what was handed over; hand out what was left, and tidy up, when it is time to."""
        with self._lock:
            if self._closed:
                return
            self._look()
            now = self._clock()
            if now - self._taken_up_at >= _TAKE_UP_S and self._journal is not None:
                self._taken_up_at = now
                self.left.hand_out(self._journal)
            if now - self._tended >= _TEND_S and self._journal is not None:
                self._tended = now
                with self._warned("written"):
                    self._tend(self._journal)
            self._asleep = now - self._busy_at >= _IDLE_S

    def _look(self) -> None:
        if self._journal is None:
            with self._warned("opened"):
                self._open()
        self._looked_at = self._clock()
        self._waiting = self._waiting_bytes = 0
        if self._events:
            self._busy_at = self._looked_at
        for _ in range(len(self._events)):
            with guarded("traces.event"), self._warned("written"):
                self._events.popleft()()

    def _open(self) -> None:
        trace_records.prepare()
        self._journal = Journal(
            self._folder.path / FOLDER, readable=trace_records.is_value, key_bytes=KEY_BYTES, max_bytes=MAX_BYTES
        )
        if left := self._journal.keys:
            self.left.add(left)
            logger.warning("rag-otel: took up %d traces that an earlier process had admitted", len(left))

    def _tend(self, journal: Journal) -> None:
        journal.tend()
        journal.clear()
        if self._tended - self._adopted >= _ADOPT_S:
            self._adopted = self._tended
            if found := journal.adopt(self._folder):
                self.left.add(found)
                logger.warning("rag-otel: took over %d traces of processes that are gone", len(found))

    def _on_admitted(
        self,
        target: ReadableSpan,
        spans: Sequence[ReadableSpan],
        about: tuple[SamplingDecision, Snapshot | None, SpanRef | None],
    ) -> None:
        decision, snapshot, root = about
        sampled = [span for span in spans if span.context.trace_flags.sampled]
        value = trace_records.trace_value(
            sampled, admitted_at=time.time(), decision=decision, snapshot=snapshot, root=root
        )
        try:
            if self._journal is None:
                raise OSError("it is not open")
            if not self._journal.has_room(len(value)):
                raise OSError("its bound is reached")
            self._journal.append([(_key(target), value)])
        except OSError:
            counters.add("traces.refused")
            raise
        counters.add("traces.kept")  # not before: who reads it may rely on it

    def _on_value(self, target: ReadableSpan, value: bytes) -> None:
        if self._journal is not None and (key := _key(target)) in self._journal:
            self._journal.append([(key, value)])

    def _on_evaluated(self, target: ReadableSpan) -> None:
        self.left.is_over(_key(target))
        self._on_value(target, trace_records.EVALUATED)

    def _on_written(self, target: ReadableSpan) -> None:
        key = _key(target)
        self.left.is_over(key)
        if self._journal is not None and key in self._journal:
            self._journal.done(key)

    @contextlib.contextmanager
    def _warned(self, what: str) -> Iterator[None]:
        """Errors of the disk are logged, now and then; what is missing is written by `tend`, or in memory alone."""
        try:
            yield
        except OSError as error:
            self._log.warning(str(self._folder.root), f"cannot be {what} ({error}): traces are in memory alone")


def _key(target: ReadableSpan) -> bytes:
    return key_of(target.context.trace_id, target.context.span_id)
