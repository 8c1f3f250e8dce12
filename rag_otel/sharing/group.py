"""The processes of one host as one monitor: each appends what it observed to its log; one, the leader, reads all logs.

    a process:   result -> queue -> its log in <state_folder>/shared/observed
    the leader:  all logs, in the order of time -> inbox, drift, monitors -> channels

Who leads is decided by a file lock, which the kernel releases when its holder dies. Another process then goes on with
the states that the leader saved, and with the records that those states do not hold yet: nothing counts twice.

A process that is alone writes its log too, for the one after it, but watches its results from memory. All of it happens
on the scheduler's threads. Where the folder cannot be written, the process watches by itself.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from rag_otel.alert import Alert
from rag_otel.delivery.dispatcher import Watcher
from rag_otel.durable.process_logs import LogWriter
from rag_otel.durable.state_folder import StateFolder
from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import EvaluatedTrace
from rag_otel.safety.guard import counters, guarded, logger
from rag_otel.safety.scheduler import scheduler
from rag_otel.sharing.consumers import Consumer, Observed
from rag_otel.sharing.leadership import SharedFolder
from rag_otel.sharing.merging import MergedLogs, MergedRecords, PlacedRecord
from rag_otel.sharing.records import RecordFormat, SharedRecord, record_now

POLL_S: Final = 0.25
"""How often the leader looks for records, and the others for a leader that has died."""
_PAUSE_S: Final = 0.1
"""Shortest time between two looks: a look sooner would find records that have not settled."""
_SETTLE_S: Final = 0.1
"""Younger records are left for the next look: another process may be about to write one that is older."""
_COUNTS_EVERY_S: Final = 5.0
_FORGET_EVERY_S: Final = 1.0
_MAX_QUEUED: Final = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """What watches and tells."""

    consumers: Sequence[Consumer]
    delivery: Watcher


MakeVoice = Callable[[StateFolder | None, Callable[[], Mapping[str, int]]], Voice]
"""(state folder of the leader, None: in memory alone; what other processes have counted) -> the voice."""


class SharedMonitoring:
    """This process's part in it. `submit` may be called from any thread, and only appends to a queue in memory."""

    def __init__(
        self,
        folder: SharedFolder,
        make: MakeVoice,
        format: RecordFormat,
        *,
        counted: Callable[[], Mapping[str, int]] = dict,
        leads: Callable[[], object] = lambda: None,
    ) -> None:
        """`counted` are this process's counts that the leader needs; `leads` is called when this process begins to
        lead."""
        self._folder = folder
        self._make = make
        self._format = format
        self._counted = counted
        self._leads = leads
        self._start_over()

    def _start_over(self) -> None:
        self._lock = threading.RLock()
        self._queue: deque[SharedRecord] = deque()
        self._started = self._closed = False
        self._stepped_at = 0.0
        self._log: LogWriter | None = None
        self._written = 0
        """Where the last record of this process ends in its log."""
        self._logs: MergedLogs | None = None
        self._voice: Voice | None = None
        self._alone = False
        """The folder cannot be used."""
        self._elsewhere: Counter[str] = Counter()
        self._told: Counter[str] = Counter(self._counted())
        self._count_at = self._forget_at = 0.0

    # --- any thread -------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Take part from now on. Cheap when it does. Where no thread can be started, `flush` and `shutdown` do the
        work."""
        if not self._started and not self._closed:
            self._started = scheduler.add(self)

    def submit(self, result: EvaluatedTrace) -> None:
        """A result of this process."""
        self._put(record_now(result=result))

    def raise_alert(self, alert: Alert) -> None:
        """An alert of a writer of this process. Never raises."""
        self._put(record_now(alert=alert))

    def _put(self, record: SharedRecord) -> None:
        if self._closed or len(self._queue) >= _MAX_QUEUED:
            counters.add("sharing.refused")
            return
        self._queue.append(record)
        self.start()
        if len(self._queue) == 1:
            scheduler.wake()

    def counted_elsewhere(self) -> Mapping[str, int]:
        """What the other processes have counted since this one leads."""
        return self._elsewhere.copy()

    def flush(self, timeout_s: float) -> bool:
        """Write what is queued, and where this process leads, read and tell all that is there."""
        deadline = time.monotonic() + timeout_s
        if not self._lock.acquire(timeout=timeout_s):
            return False
        try:
            self._step(everything=True)
            voice = self._voice
        finally:
            self._lock.release()
        return voice is None or voice.delivery.flush(max(0.0, deadline - time.monotonic()))

    def shutdown(self, timeout_s: float) -> None:
        """The same, then leave: another process leads on. Safe to call twice."""
        deadline = time.monotonic() + timeout_s
        with self._lock:
            if self._closed:
                return
            self._step(everything=True)
            self._closed = True
            voice, self._voice = self._voice, None
        scheduler.remove(self)
        if voice is not None:
            voice.delivery.shutdown(max(0.0, deadline - time.monotonic()))
        self._folder.close()
        self._close_logs()

    def after_fork(self) -> None:
        """The child takes part by itself; what the parent has queued the parent writes."""
        closed = self._closed
        if self._voice is not None:
            self._voice.delivery.after_fork()
        self._folder.after_fork()
        self._close_logs()
        self._start_over()
        self._closed = closed

    def _close_logs(self) -> None:
        if self._log is not None:
            self._log.close()
        if self._logs is not None:
            self._logs.close()

    # --- in the background ------------------------------------------------------------------------------------------

    def due(self) -> float | None:
        """When to look again, in seconds since the epoch. What comes within a pause is written and read together."""
        return None if self._closed else self._stepped_at + (_PAUSE_S if self._queue else POLL_S)

    def tick(self) -> None:
        """Write what has come, and where this process leads, read and watch."""
        self._step()
        self._stepped_at = time.time()

    def _step(self, *, everything: bool = False) -> None:
        with guarded("sharing"), self._lock:
            if self._closed:
                return
            self._write(counts=everything)
            if self._voice is None:
                self._elect()
            if self._voice is not None and self._logs is not None:
                self._read(self._voice, self._logs, settle_s=0.0 if everything or self._is_single else _SETTLE_S)

    def _write(self, *, counts: bool) -> None:
        """Append what is queued to the log; where that cannot be, watch alone from now on."""
        records = [self._queue.popleft() for _ in range(len(self._queue))]
        if self._alone and self._voice is not None:
            self._take(self._voice, records)
            return
        now = time.monotonic()
        if (counts or now >= self._count_at) and (counted := self._count()):
            self._count_at = now + _COUNTS_EVERY_S
            records.append(record_now(counts=counted))
        if not records:
            return
        try:
            if self._log is None:
                self._log = LogWriter(self._folder.logs)
            encoded = [(record, payload) for record in records if (payload := self._encoded(record)) is not None]
            ends = self._log.append([payload for _, payload in encoded])
        except OSError as error:
            self._go_alone(error, records)
            return
        log, before = self._log.name, self._written
        self._written = ends[-1] if ends else before
        if self._voice is not None and self._is_single and self._has_taken(before):
            entries = [
                PlacedRecord(log=log, position=end, record=record)
                for (record, _), end in zip(encoded, ends, strict=True)
            ]
            self._hand_over(self._voice, MergedRecords(entries=entries, upto={log: self._written}))

    @property
    def _is_single(self) -> bool:
        """No other process has a log: there is no order to keep between several."""
        own = set() if self._log is None else {self._log.name}
        return self._logs is not None and self._logs.names() <= own

    def _has_taken(self, position: int) -> bool:
        """All that this process wrote before `position` is watched."""
        log = "" if self._log is None else self._log.name
        return self._voice is not None and all(
            each.read.taken.get(log, 0) >= position for each in self._voice.consumers
        )

    def _count(self) -> dict[str, int]:
        """What was counted since it was written last; the leader knows its own."""
        if self._voice is not None:
            return {}
        total = Counter(self._counted())
        fresh = dict(total - self._told)
        self._told = total
        return fresh

    def _encoded(self, record: SharedRecord) -> bytes | None:
        with guarded("sharing.encode"):
            return self._format.encode(record)
        return None

    def _elect(self) -> None:
        try:
            if not self._folder.lead():
                return
            self._voice = self._made(self._folder)
            self._logs = MergedLogs(self._folder.logs, self._format)
        except OSError as error:
            self._go_alone(error, [])
            return
        for consumer in self._voice.consumers:
            consumer.read.keep_only(self._logs.names())
        self._leads()

    def _made(self, state: StateFolder | None) -> Voice:
        voice = self._make(state, self.counted_elsewhere)
        voice.delivery.start()
        return voice

    def _go_alone(self, error: OSError, records: Sequence[SharedRecord]) -> None:
        """Watch by itself; a leader goes on to watch for the others too."""
        if counters.add("sharing.alone") == 1:
            logger.warning(
                "rag-otel: the state folder %s cannot be written (%s): this process watches its own answers alone, and "
                "keeps nothing across restarts",
                self._folder.root,
                error,
            )
        self._alone = True
        if self._voice is None:
            self._voice = self._made(None)
        self._take(self._voice, records)

    def _take(self, voice: Voice, records: Sequence[SharedRecord]) -> None:
        """Records of this process that are in no log."""
        results = [Observed(result=each.result, upto={}) for each in records if each.result is not None]
        for consumer in voice.consumers:
            consumer.take(results)
        for each in records:
            if each.alert is not None:
                voice.delivery.raise_alert(each.alert)

    def _read(self, voice: Voice, logs: MergedLogs, *, settle_s: float) -> None:
        while True:
            batch = logs.read(
                lambda log: min(each.read.taken.get(log, 0) for each in voice.consumers), settle_s=settle_s
            )
            self._hand_over(voice, batch)
            if not batch.entries:
                break
        now = time.monotonic()
        if now >= self._forget_at:
            self._forget_at = now + _FORGET_EVERY_S
            logs.forget(lambda log: min(each.read.stored(log) for each in voice.consumers))

    def _hand_over(self, voice: Voice, batch: MergedRecords) -> None:
        first = voice.consumers[0]
        fresh = [each for each in batch.entries if each.position > first.read.taken.get(each.log, 0)]
        for consumer in voice.consumers:
            taken = consumer.read.taken
            consumer.take(
                [
                    Observed(result=each.record.result, upto={each.log: each.position})
                    for each in batch.entries
                    if each.record.result is not None and each.position > taken.get(each.log, 0)
                ]
            )
        for each in fresh:
            if each.record.alert is not None:
                voice.delivery.raise_alert(each.record.alert)
            if each.record.counts is not None and (self._log is None or each.log != self._log.name):
                self._elsewhere.update(each.record.counts)
        for consumer in voice.consumers:
            consumer.read.advance(batch.upto)
