"""Reads the logs of all processes as one stream, in the order of time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import Final

from rag_otel.durable.process_logs import LogReader, logs_in
from rag_otel.lazy_dataclass import dataclass
from rag_otel.safety.guard import counters, logger
from rag_otel.sharing.records import RecordFormat, SharedRecord

_LIMIT: Final = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedRecord:
    """A record and where it stood."""

    log: str
    position: int
    """After it."""
    record: SharedRecord


@dataclass(slots=True, kw_only=True)
class MergedRecords:
    """What is read at a time."""

    entries: list[PlacedRecord] = field(default_factory=list)
    """In the order of time; those of one log in its own order."""
    upto: dict[str, int] = field(default_factory=dict)
    """Where reading goes on in each log: after the entries, and after what was damaged behind them."""


class MergedLogs:
    """The logs in a folder. Not thread-safe."""

    def __init__(self, folder: Path, format: RecordFormat) -> None:
        self._folder = folder
        self._format = format
        self._left: dict[tuple[str, int], SharedRecord] = {}
        """By log and position: records that were too young at the last look, and need not be decoded again."""
        self._readers: dict[str, LogReader] = {}

    def names(self) -> set[str]:
        """Of the logs that there are."""
        return {each.name for each in self._logs()}

    def read(self, position_of: Callable[[str], int], *, settle_s: float = 0.0) -> MergedRecords:
        """What stands after `position_of(log)` in each log, a bounded part of it; without entries when that is all.

        Records of the last `settle_s` seconds are left: others that are older may still be on their way to a log."""
        now = time.time()
        batch = MergedRecords()
        horizon = math.inf
        left: dict[tuple[str, int], SharedRecord] = {}
        for log in self._logs():
            entries, end, more = self._read(log, position_of(log.name))
            fresh = next((at for at, each in enumerate(entries) if now - settle_s < each.record.at <= now), None)
            if fresh is not None:
                end = entries[fresh - 1].position if fresh else position_of(log.name)
                left |= {(log.name, each.position): each.record for each in entries[fresh:]}
                entries, more = entries[:fresh], False
            batch.entries += entries
            batch.upto[log.name] = end
            if more and entries:
                horizon = min(horizon, entries[-1].record.at)
        self._left = left
        batch.entries.sort(key=lambda entry: entry.record.at)  # stable: of one log none overtakes another
        return batch if math.isinf(horizon) else _before(batch, horizon)

    def _read(self, log: LogReader, position: int) -> tuple[list[PlacedRecord], int, bool]:
        payloads, end, more = log.read(position, limit=_LIMIT)
        entries: list[PlacedRecord] = []
        latest = -math.inf
        for after, payload in payloads:
            try:
                record = self._left.get((log.name, after)) or self._format.decode(payload)
            except (ValueError, TypeError, KeyError) as error:
                if counters.add("sharing.unreadable") == 1:
                    logger.warning("rag-otel: a record of %s cannot be read: %.200s", log.path, error)
                continue
            latest = max(latest, record.at)
            if record.at < latest:  # the clock was set back
                record = SharedRecord(at=latest, result=record.result, alert=record.alert, counts=record.counts)
            entries.append(PlacedRecord(log=log.name, position=after, record=record))
        return entries, end, more

    def forget(self, stored: Callable[[str], int]) -> None:
        """Delete what everybody has read up to `stored(log)`."""
        for log in self._logs():
            log.forget(stored(log.name))

    def close(self) -> None:
        """Close the files. Safe to call twice."""
        for reader in self._readers.values():
            reader.close()
        self._readers.clear()

    def _logs(self) -> list[LogReader]:
        """A reader for each log that there is, the same as at the last look."""
        paths = {path.name: path for path in logs_in(self._folder)}
        for name in self._readers.keys() - paths.keys():
            self._readers.pop(name).close()
        for name in paths.keys() - self._readers.keys():
            self._readers[name] = LogReader(paths[name])
        return [self._readers[name] for name in sorted(paths)]


def _before(batch: MergedRecords, horizon: float) -> MergedRecords:
    """The part that nothing belongs into that was not read yet."""
    kept = [entry for entry in batch.entries if entry.record.at <= horizon]
    cut = {entry.log for entry in batch.entries if entry.record.at > horizon}
    upto = {log: position for log, position in batch.upto.items() if log not in cut}
    for entry in kept:
        if entry.log in cut:
            upto[entry.log] = entry.position
    return MergedRecords(entries=kept, upto=upto)
