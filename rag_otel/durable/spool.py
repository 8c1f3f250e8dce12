"""The spool: every admitted trace is on disk until its spans are exported and its results are written.

    request path -> queue -> one thread -> journal          exporter, writers -> queue -> one thread -> marks

The request path appends to a queue. The thread looks at the queue every `LINGER_S` while there is something in it,
encodes what is there and writes it with one call: what a SIGKILL can lose is what was handed over since, see
docs/application.md. All state of a trace belongs to that thread. It reads no network and runs no code of others.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final

from opentelemetry.sdk.trace import ReadableSpan

from rag_otel.durable import trace_records
from rag_otel.durable.progress import Progress, Sent, TraceProgress
from rag_otel.durable.trace_records import KeptTrace, key_of
from rag_otel.durable.trace_store import TraceStore
from rag_otel.model import SamplingDecision, SpanRef
from rag_otel.observing.call_snapshot import Snapshot
from rag_otel.safety.fork import around_fork
from rag_otel.safety.guard import counters, guarded, logger

LINGER_S: Final = 0.005
"""Between two looks at the queue."""
_IDLE_S: Final = 1.0
"""After so long without anything it waits to be woken."""
_TEND_S: Final = 1.0
_ADOPT_S: Final = 5.0
_MAX_WAITING: Final = 4096
"""Traces in the queue."""
_MAX_WAITING_BYTES: Final = 64 * 2**20
_WARN_S: Final = 600.0
_FORK_WAITS_S: Final = 2.0


class Spool:
    """Keeps admitted traces until all is done. `admitted`, `added`, `exported` and `written` return at once, never
    raise, and may be called from any thread."""

    def __init__(self, store: TraceStore, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._lock = threading.RLock()
        self._start_over()
        around_fork(self._hold_still, self._go_on)

    def _hold_still(self) -> None:
        """A fork is about to happen: the thread writes nothing until `_go_on`."""
        self._lock.acquire(timeout=_FORK_WAITS_S)

    def _go_on(self) -> None:
        with contextlib.suppress(RuntimeError):  # not acquired in time
            self._lock.release()

    def _start_over(self) -> None:
        self._events: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        self._flushes: list[threading.Event] = []
        self._waiting = 0
        self._waiting_bytes = 0
        self._awake = threading.Event()
        self._idle = True
        """Someone must wake the thread."""
        self._busy_at = float("-inf")
        """When there was something in the queue, by the clock."""
        self._thread: threading.Thread | None = None
        self._opened = False
        self._closed = False
        self._progress = Progress(self._clock)
        self._values: list[tuple[bytes, bytes]] = []
        self._value_bytes = 0
        self._done: list[bytes] = []
        self._left: deque[bytes] = deque()
        """Keys of traces of earlier processes that nobody has taken up yet."""
        self._suspects: deque[bytes] = deque()
        """Of these, those that a process had begun to evaluate when it ended."""
        self._alone: bytes | None = None
        """The one of them that is being evaluated."""
        self._tended = self._adopted = self._warned = float("-inf")

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
        exporters: Sequence[int],
    ) -> bool:
        """Keep a trace: its target, all its spans that have ended (`size` characters) and its decision, snapshot and
        root. Its spans go to `exporters`. False, counted, when the queue is full: the trace is not kept."""
        if self._waiting >= _MAX_WAITING or self._waiting_bytes + size > _MAX_WAITING_BYTES or self._closed:
            counters.add("spool.refused")
            return False
        self._waiting += 1  # about: two threads at once may lose one, the thread sets both to 0 again
        self._waiting_bytes += size
        self._events.append((self._on_admitted, (target, spans, about, exporters)))
        if self._idle:
            self._wake()
        return True

    def added(self, target: ReadableSpan, spans: Sequence[ReadableSpan], exporters: Sequence[int]) -> None:
        """Spans go out for a trace, as they are: the target with its scores, the evaluation span."""
        self._put(self._on_added, target, spans, exporters)

    def written(self, target: ReadableSpan) -> None:
        """The results of a trace are written everywhere, or there are none."""
        self._put(self._on_written, target)

    def evaluated(self, target: ReadableSpan) -> None:
        """The evaluation of a trace of an earlier process has come to an end, and this process to no harm."""
        self._put(self._on_evaluated, target)

    def forget(self, target: ReadableSpan) -> None:
        """A trace was not admitted after all."""
        self._put(self._on_forget, target)

    def exported(self, exporter: int, span_ids: Sequence[int], *, taken: bool) -> None:
        """An exporter is through with spans: the backend has taken them, or they could not be sent."""
        self._put(self._on_exported, exporter, span_ids, taken)

    def flush(self, timeout_s: float) -> bool:
        """Write what was handed over so far; False when time ran out."""
        if self._closed:
            return False
        done = threading.Event()
        self._put(self._flushes.append, done)
        if self._thread is None or not self._thread.is_alive():
            self._look()  # no thread can be started while the interpreter ends
        return done.wait(timeout_s)

    def close(self, timeout_s: float) -> None:
        """Write what was handed over, and leave the folder to the next process. Safe to call twice."""
        if self._closed:
            return
        self.flush(timeout_s)
        self._closed = True
        self._awake.set()
        with self._lock, guarded("spool.close"):
            self._store.close()

    def after_fork(self) -> None:
        """Start empty in a forked child: the parent keeps its traces."""
        closed = self._closed
        self._lock = threading.RLock()
        self._start_over()
        self._closed = closed
        self._store.after_fork()

    def _put(self, handle: Callable[..., None], *given: Any) -> None:
        self._events.append((handle, given))
        if self._idle:  # else the thread looks soon by itself: waking it costs more than all the rest
            self._wake()

    def _wake(self) -> None:
        self._awake.set()
        if self._thread is None and not self._closed:
            with self._lock:
                if self._thread is not None:
                    return
                thread = threading.Thread(target=self._run, name="rag-otel-spool", daemon=True)
                try:
                    thread.start()
                except RuntimeError:  # the interpreter ends, or the system has no thread left
                    return
                self._thread = thread

    # --- for whoever takes traces up again ----------------------------------------------------------------------------

    def next_left(self) -> KeptTrace | None:
        """The next trace that an earlier process left; None where there is none now. `put_back` returns it.

        Traces that a process had begun to evaluate when it ended come last and one at a time: one of them may be the
        cause, and the others must not be taken for it.
        """
        with self._lock:
            while self._left:
                kept = self._store.read(self._left.popleft())
                if kept is not None and kept.begun and not kept.written:
                    self._suspects.append(kept.key)
                elif kept is not None:
                    return kept
            while self._suspects and self._alone is None:
                kept = self._store.read(self._suspects.popleft())
                if kept is not None:
                    self._alone = kept.key
                    return kept
        return None

    def put_back(self, key: bytes) -> None:
        """It could not be taken up now."""
        with self._lock:
            if key == self._alone:
                self._alone = None
                self._suspects.appendleft(key)
            else:
                self._left.appendleft(key)

    @property
    def unfinished(self) -> int | None:
        """Traces in the folder that are not done: those of this process, and those that wait to be taken up. None
        while the folder is not open."""
        with self._lock:
            left = len(self._left) + len(self._suspects)
            return len(self._progress) + left if self._opened else None

    def taken_up(self, kept: KeptTrace, exporters: Sequence[int], *, evaluated: bool) -> None:
        """A trace of an earlier process is under way again, to be `evaluated` or not; what it has not exported goes to
        `exporters`."""
        with self._lock:
            trace = self._progress.begin(kept.key, released=kept.released, written=kept.written)
            if evaluated:
                self._values.append((kept.key, trace_records.BEGUN))
            self._progress.expect(kept.key, kept.spans.keys() - kept.exported, exporters)
            self._settle(kept.key, trace)
            self._write()

    def failed(self, exporters: Sequence[int], most: int) -> list[tuple[KeptTrace, set[Sent]]]:
        """At most so many traces with spans that are to be handed to one of these exporters again, and these."""
        again: list[tuple[KeptTrace, set[Sent]]] = []
        with self._lock:
            for key, sent in self._progress.send_again(exporters, most):
                if (kept := self._store.read(key)) is None:
                    self._drop(key)
                else:
                    again.append((kept, sent))
        return again

    def on_the_way(self, keys: Sequence[bytes]) -> int:
        """How many spans of these traces are not exported yet."""
        with self._lock:
            return self._progress.on_the_way(keys)

    @property
    def taken(self) -> int:
        """How many spans of kept traces exporters have taken so far."""
        return self._progress.taken

    # --- the thread ---------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._closed:
            if self._clock() - self._busy_at < _IDLE_S:
                time.sleep(LINGER_S)
            else:
                self._idle = True
                if not self._events:
                    self._awake.wait(_TEND_S)
                self._idle = False
                self._awake.clear()
            with guarded("spool.thread"):
                self._look()

    def _look(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._open()
            self._waiting = self._waiting_bytes = 0
            if self._events:
                self._busy_at = self._clock()
            for _ in range(len(self._events)):
                handle, given = self._events.popleft()
                with guarded("spool.event"):
                    handle(*given)
            self._write()
            now = self._clock()
            if self._flushes or now - self._tended >= _TEND_S:
                self._clear()
            for done in self._flushes:  # not before: the process may end at once
                done.set()
            self._flushes.clear()
            if now - self._tended >= _TEND_S:
                self._tended = now
                self._tend(now)

    def _clear(self) -> None:
        if self._opened:
            try:
                self._store.clear()
            except OSError as error:
                self._warn("cleared", error)

    def _open(self) -> None:
        if self._opened:
            return
        trace_records.prepare()
        try:
            self._left.extend(self._store.open())
        except OSError as error:
            self._warn("opened", error)
            return
        self._opened = True
        if self._left:
            logger.warning("rag-otel: took up %d traces that an earlier process had admitted", len(self._left))

    def _tend(self, now: float) -> None:
        if not self._opened:
            return
        self._progress.find_dropped()
        try:
            self._store.tend()
            if now - self._adopted >= _ADOPT_S:
                self._adopted = now
                found = self._store.adopt()
                self._left.extend(found)
                if found:
                    logger.warning("rag-otel: took over %d traces of processes that are gone", len(found))
        except OSError as error:
            self._warn("written", error)

    def _write(self) -> None:
        """Write what the events left to be written: first values, then marks."""
        values, self._values, self._value_bytes = self._values, [], 0
        done, self._done = self._done, []
        if not self._opened:
            return
        admitted = {key for key, value in values if value.startswith(trace_records.TRACE)}
        gone = set(done)
        # What is done already needs no record, but a record that stands there needs its mark.
        values = [each for each in values if each[0] not in gone]
        try:
            if values:
                self._store.write(values)
        except OSError as error:
            self._warn("written", error)
            for key in admitted - gone:
                counters.add("spool.refused")
                self._drop(key)
            admitted &= gone
        if admitted:  # not before: who reads it may rely on them
            counters.add("spool.kept", len(admitted))
        try:
            if done:
                self._store.done(done)
        except OSError as error:  # `tend` writes them
            self._warn("written", error)

    def _on_admitted(
        self,
        target: ReadableSpan,
        spans: Sequence[ReadableSpan],
        about: tuple[SamplingDecision, Snapshot | None, SpanRef | None],
        exporters: Sequence[int],
    ) -> None:
        key = _key(target)
        decision, snapshot, root = about
        sampled = [span for span in spans if span.context.trace_flags.sampled]
        value = trace_records.trace_value(
            sampled, admitted_at=time.time(), decision=decision, snapshot=snapshot, root=root
        )
        # Its target is written once more when it goes out.
        if not self._opened or not self._store.has_room(self._value_bytes + 2 * len(value)):
            counters.add("spool.refused")
            self._warn("written", "its bound is reached" if self._opened else "it is not open")
            return
        self._values.append((key, value))
        self._value_bytes += len(value)
        self._progress.begin(key)
        target_id = target.context.span_id
        self._progress.expect(key, [s.context.span_id for s in sampled if s.context.span_id != target_id], exporters)

    def _on_added(self, target: ReadableSpan, spans: Sequence[ReadableSpan], exporters: Sequence[int]) -> None:
        key = _key(target)
        trace = self._progress.of(key)
        if trace is None:
            return
        self._values.append((key, trace_records.added_value(spans)))
        trace.released |= any(span.context.span_id == target.context.span_id for span in spans)
        trace.marked = False
        self._progress.expect(key, [span.context.span_id for span in spans], exporters)
        self._settle(key, trace)

    def _on_written(self, target: ReadableSpan) -> None:
        key = _key(target)
        trace = self._progress.of(key)
        if trace is not None and not trace.written:
            trace.written = True
            self._settle(key, trace)
            if self._progress.of(key) is not None:
                self._values.append((key, trace_records.WRITTEN))

    def _on_evaluated(self, target: ReadableSpan) -> None:
        key = _key(target)
        if self._progress.of(key) is not None:
            self._values.append((key, trace_records.EVALUATED))
        if key == self._alone:
            self._alone = None

    def _on_forget(self, target: ReadableSpan) -> None:
        key = _key(target)
        if self._progress.of(key) is not None:
            self._drop(key)

    def _on_exported(self, exporter: int, span_ids: Sequence[int], taken: bool) -> None:
        for span_id in span_ids:
            key = self._progress.exported(exporter, span_id, taken=taken)
            if key is not None and (trace := self._progress.of(key)) is not None:
                self._settle(key, trace)

    def _settle(self, key: bytes, trace: TraceProgress) -> None:
        """Note how far a trace has come."""
        if not trace.exported:
            return
        if trace.written:
            self._drop(key)
        elif not trace.marked:
            trace.marked = True
            self._values.append((key, trace_records.EXPORTED))

    def _drop(self, key: bytes) -> None:
        """The trace is done, or given up."""
        if key == self._alone:
            self._alone = None
        self._progress.end(key)
        self._done.append(key)

    def _warn(self, what: str, why: object) -> None:
        now = self._clock()
        if now - self._warned >= _WARN_S:
            self._warned = now
            logger.warning("rag-otel: the spool folder cannot be %s (%s): traces are in memory alone", what, why)


def _key(target: ReadableSpan) -> bytes:
    return key_of(target.context.trace_id, target.context.span_id)
