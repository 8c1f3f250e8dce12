"""A bounded queue that is sent in the background. A destination that is down delays no other destination.

The process's scheduler sends from the first item on, until `close`; a forked child starts empty. Admitted items are
never evicted: when the queue is full, new items are refused and counted. A batch that failed with a retryable error is
sent again, in order, with exponential backoff and jitter, for up to `give_up_after_s`.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from rag_otel.delivery.retry import Backoff
from rag_otel.errors import RetryableError
from rag_otel.lazy_dataclass import dataclass
from rag_otel.safety.guard import LimitedLog, counters, guarded, logger
from rag_otel.safety.scheduler import scheduler
from rag_otel.safety.tracing_suppression import suppressed

if TYPE_CHECKING:  # only imported where a state folder is set
    from rag_otel.delivery.undelivered import Undelivered

T = TypeVar("T")
_FLUSH_ATTEMPTS: Final = 3
"""Attempts on a destination that has just begun to fail, before a flush stops waiting for it."""
_LOG_EVERY_S: Final = 600.0
"""One cause of failure is logged at most this often; the counters go on."""


@dataclass(frozen=True, kw_only=True)
class ExportPolicy:
    """The bounds of a queue. Times in seconds."""

    max_items: int = 2048
    max_bytes: int = 16 * 2**20
    batch_items: int = 64
    linger_s: float = 0.5
    """Maximum batching delay: a batch that is not full is sent after this time."""
    backoff_s: float = 0.5
    """Longest wait before the first retry; doubled for each further one. See `Backoff`."""
    max_backoff_s: float = 30.0
    give_up_after_s: float = 3600.0
    """How long one batch is tried. Then it is counted as lost, and the next one is sent."""


DEFAULT_POLICY: Final = ExportPolicy()


@dataclass(frozen=True, slots=True)
class _Entry(Generic[T]):
    """An item in the queue."""

    item: T
    size: int
    came_at: float
    kept: bytes | None
    """Its key in the log."""
    finished: Callable[[], None] | None = None
    """Called when it is sent, or lost for good."""


class ExportQueue(Generic[T]):
    """Hands items, batched and in order, to `send(batch)` on a background thread.

    `send` raises RetryableError to be called again with the same batch; any other exception loses the batch. Counts
    `delivery.<name>.sent`, `.retries`, `.lost` (by `send`), `.refused` (full or closed) and `.abandoned` (at `close`);
    what the log keeps beyond `close` counts as `.kept`.
    """

    def __init__(
        self,
        name: str,
        send: Callable[[Sequence[T]], None],
        *,
        size_of: Callable[[T], int],
        policy: ExportPolicy = DEFAULT_POLICY,
        log: Undelivered[T] | None = None,
        bury: Callable[[Sequence[T], str], object] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """With a `log`, admitted items survive the process; `resume` queues what the last process left. `bury` keeps
        what the destination refuses for good, and why."""
        self.name = name
        self._kept = log
        self._bury = bury
        self._send = send
        self._size_of = size_of
        self._policy = policy
        self._backoff = Backoff(base_s=policy.backoff_s, longest_wait_s=policy.max_backoff_s)
        self._clock = clock
        self._log = LimitedLog(_LOG_EVERY_S, clock=clock)
        self._start_empty()

    def _start_empty(self) -> None:
        self._changed = threading.Condition()
        self._queue: deque[_Entry[T]] = deque()
        self._bytes = 0
        self._batch: list[_Entry[T]] = []
        """Being sent now, or waiting for the next attempt."""
        self._attempts = 0
        self._first_attempt_at = 0.0
        self._not_before = 0.0
        self._sending = False
        self._failing = False
        """The last attempt failed with a retryable error."""
        self._patience = _FLUSH_ATTEMPTS
        """Failures that are left until a flush stops waiting."""
        self._send_now = False
        self._held = 0
        """How many want that nothing is begun to be sent."""
        self._closed = False
        self._scheduled = False
        """A thread sends. Where none can be started, `wait_empty` does."""

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Items are admitted, and kept on disk, but not sent until the block ends."""
        with self._changed:
            self._held += 1
        try:
            yield
        finally:
            with self._changed:
                self._held -= 1
                self._wake()

    def put(self, item: T, finished: Callable[[], None] | None = None, *, size: int | None = None) -> bool:
        """Queue an item; False, counted, when the queue is full or closed. Never blocks on the destination.

        `finished` is called when the item is sent, or cannot be sent at all; not where it is given up in an outage.
        `size` is what `size_of` says of the item, where the caller knows it.
        """
        size = self._size_of(item) if size is None else size
        with self._changed:
            if self._takes(size):
                self._append(item, size, self._kept.keep(item) if self._kept else None, finished)
                return True
        self._count("refused")
        self._log.warning(self.name, "queue full or closed, not delivered", key="refused")
        return False

    def resume(self) -> list[T]:
        """Queue what the log kept of the last process. Returns what was queued; the rest stays on
        disk for the next process."""
        if self._kept is None:
            return []
        found: list[T] = []
        with self._changed:
            for key, item in self._kept.load():
                size = self._size_of(item)
                if not self._takes(size):
                    break
                self._append(item, size, key)
                found.append(item)
        return found

    def _takes(self, size: int) -> bool:
        full = len(self._queue) >= self._policy.max_items or self._bytes + size > self._policy.max_bytes
        return not (full or self._closed)

    def _append(self, item: T, size: int, kept: bytes | None, finished: Callable[[], None] | None = None) -> None:
        self._queue.append(_Entry(item, size, self._clock(), kept, finished))
        self._bytes += size
        if not self._scheduled or len(self._queue) == 1 or len(self._queue) >= self._policy.batch_items:
            self._wake()  # else the scheduler waits for the batch to fill

    def send_now(self) -> None:
        """Send what is queued now: without the batching delay, and without waiting for the end of a backoff."""
        with self._changed:
            if self._queue or self._batch:
                self._send_now = True
                self._patience = 1 if self._failing else _FLUSH_ATTEMPTS
                self._attempts, self._not_before = 0, 0.0
                self._wake()

    def flush(self, timeout_s: float, *, patient: bool = False) -> bool:
        """Send what is queued now, and wait for it: see `send_now` and `wait_empty`."""
        self.send_now()
        return self.wait_empty(timeout_s, patient=patient)

    def wait_empty(self, timeout_s: float, *, patient: bool = False) -> bool:
        """True once nothing is queued or being sent; False when something still is after `timeout_s`. Unless `patient`
        also before that, when the destination is known to be down: it failed before and again now, or three times in a
        row now."""
        self._send_here(self._clock() + timeout_s)
        with self._changed:
            self._changed.wait_for(
                lambda: self._empty or (not patient and self._patience <= 0 and not self._sending), timeout_s
            )
            return self._empty

    @property
    def _empty(self) -> bool:
        return not (self._queue or self._batch)

    def close(self) -> None:
        """Send no more. What was not sent is counted and logged; a send under way finishes by itself."""
        with self._changed:
            undelivered = [*self._queue, *(() if self._sending else self._batch)]
            self._closed = True
            self._queue.clear()
            self._bytes = 0
            if not self._sending:
                self._batch = []
            self._changed.notify_all()
        scheduler.remove(self)
        self._close_log()
        if kept := sum(entry.kept is not None for entry in undelivered):
            self._count("kept", kept)
        if left := len(undelivered) - kept:
            self._count("abandoned", left)
            logger.warning("rag-otel: %s: %d undelivered at shutdown", self.name, left)

    def after_fork(self) -> None:
        """Start empty: the parent delivers what it has."""
        closed = self._closed
        self._start_empty()
        self._closed = closed
        if self._kept is not None:
            self._kept.after_fork()

    def _close_log(self) -> None:
        """Once nothing more can be delivered."""
        if self._kept is not None and self._closed and not self._sending:
            self._kept.close()

    def _wake(self) -> None:
        if not self._closed:
            self._scheduled = scheduler.add(self)
        self._changed.notify_all()

    # --- in the background ------------------------------------------------------------------------------------------

    def due(self) -> float | None:
        """When there is a batch to send, in seconds since the epoch; None: nothing to do."""
        with self._changed:
            due_at = None if self._closed else self._due_at()
            return None if due_at is None else time.time() + max(0.0, due_at - self._clock())

    def tick(self) -> None:
        """Send the batches that are due."""
        while batch := self._next_batch():
            self._attempt(batch)

    def _send_here(self, deadline: float) -> None:
        """Send on the caller's thread where no worker thread could be started. A failing batch is tried once."""
        with suppressed():
            while self._clock() < deadline:
                with self._changed:  # `put` schedules under it
                    if self._scheduled or self._batch or self._closed or not self._queue:
                        if self._scheduled:
                            self._wake()  # a thread was started meanwhile, and what was sent here was not its to send
                        return
                    self._take(self._clock())
                    self._sending = True
                self._attempt(self._batch)

    def _next_batch(self) -> list[_Entry[T]]:
        """The batch that is due; empty where none is."""
        with self._changed:
            now, due_at = self._clock(), None if self._closed else self._due_at()
            if due_at is None or due_at > now:
                return []
            if not self._batch:
                self._take(now)
            self._sending = True
            return self._batch

    def _due_at(self) -> float | None:
        if self._sending:  # by `_send_here`
            return None
        if self._batch:
            return self._not_before
        if not self._queue or self._held:
            return None
        if self._send_now or len(self._queue) >= self._policy.batch_items:
            return 0.0
        return self._queue[0].came_at + self._policy.linger_s

    def _take(self, now: float) -> None:
        while self._queue and len(self._batch) < self._policy.batch_items:
            entry = self._queue.popleft()
            self._bytes -= entry.size
            self._batch.append(entry)
        self._attempts, self._first_attempt_at = 0, now

    def _attempt(self, batch: list[_Entry[T]]) -> None:
        try:
            self._send([entry.item for entry in batch])
        except RetryableError as error:
            self._log.warning(self.name, f"{error}; trying again", key=str(error))
            self._postpone(error)
        except Exception as error:  # noqa: BLE001 - an unexpected error of a writer must not end its queue
            self._lose(f"{type(error).__name__}: {error}")
        else:
            self._count("sent", len(batch))
            self._finish()

    def _postpone(self, error: RetryableError) -> None:
        now = self._clock()
        if self._closed and self._kept is not None:
            self._leave()
            return
        if self._closed or now - self._first_attempt_at > self._policy.give_up_after_s:
            self._lose(f"given up: {error}", finished=False)
            return
        self._count("retries")
        with self._changed:
            self._sending = False
            self._failing = True
            self._patience -= 1
            self._attempts += 1
            self._not_before = now + self._backoff.pause_s(self._attempts, error.retry_after_s)
            self._changed.notify_all()

    def _lose(self, cause: str, *, finished: bool = True) -> None:
        self._count("lost", len(self._batch))
        self._log.warning(self.name, f"lost {len(self._batch)}: {cause}", key=cause)
        if finished and self._bury is not None:
            with guarded("delivery.bury"):
                self._bury([entry.item for entry in self._batch], cause)
        self._finish(finished=finished)

    def _leave(self) -> None:
        """Leave the batch to the next process; what the log does not hold is lost."""
        kept = sum(entry.kept is not None for entry in self._batch)
        self._count("kept", kept)
        if kept < len(self._batch):
            self._count("lost", len(self._batch) - kept)
        with self._changed:
            self._batch, self._sending = [], False
            self._changed.notify_all()
        scheduler.remove(self)
        self._close_log()

    def _finish(self, *, finished: bool = True) -> None:
        for entry in self._batch if finished else ():
            if entry.finished is not None:
                with guarded("delivery.finished"):
                    entry.finished()
        if self._kept is not None and (keys := [entry.kept for entry in self._batch if entry.kept is not None]):
            self._kept.forget(keys)
        with self._changed:
            self._batch = []
            self._sending = False
            self._failing = False
            if not self._queue:
                self._send_now = False
            self._changed.notify_all()
        scheduler.remove(self)
        self._close_log()

    def _count(self, what: str, amount: int = 1) -> None:
        counters.add(f"delivery.{self.name}.{what}", amount)
