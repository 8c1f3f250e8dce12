"""The disk under the queues: how much room there is, and what is done about trouble with it.

A write that fails is refused or tried again by whoever wanted it. What is done here needs no restart: once a second,
what could not be written is written, files are made deletable while room is short, and a disk that refused a write is
asked whether it works again.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Final, Protocol

from rag_otel.durable.damage import Damage
from rag_otel.durable.segments import SegmentLog
from rag_otel.safety.guard import LimitedLog
from rag_otel_collectors.otlp import metrics as names
from rag_otel_collectors.otlp.metrics import Metrics

RESERVE_BYTES: Final = 256 * 2**10
"""Of the disk, left for marks and places: what makes room is never without it."""
_EVERY_S: Final = 1.0
_PROBE: Final = "probe"
_PROBE_BYTES: Final = 4096
_WORTH_ROLLING_BYTES: Final = 64 * 2**10


class Queue(Protocol):
    """The journal, the outbox."""

    @property
    def log(self) -> SegmentLog: ...

    @property
    def disk_bytes(self) -> int: ...

    def tend(self) -> None: ...

    def relieve(self) -> None: ...


def short_of(log: SegmentLog, needed: int) -> bool:
    """True when the disk has no room for `needed` more bytes and the reserve."""
    try:
        status = os.statvfs(log.folder)
    except OSError:  # who writes will find out
        return False
    # Some file systems tell nothing about themselves: all zeros.
    return status.f_blocks > 0 and status.f_bavail * status.f_frsize < needed + RESERVE_BYTES


def _probe(folder: Path) -> None:
    """Raises OSError where the disk does not take a write."""
    path = folder / _PROBE
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            if os.write(file, bytes(_PROBE_BYTES)) < _PROBE_BYTES:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        finally:
            os.close(file)
    finally:
        path.unlink(missing_ok=True)


class DiskWatch:
    """Looks after queues on one disk."""

    def __init__(
        self,
        queues: Mapping[str, Queue],
        metrics: Metrics,
        needed: Callable[[], int],
        *,
        wanted: Callable[[], bool] = lambda: False,
    ) -> None:
        """`needed` says how much will have to be written for what was accepted, `wanted` whether anything has been
        refused for lack of room since the last look."""
        self._queues = queues
        self._metrics = metrics
        self._needed = needed
        self._wanted = wanted
        self._log = LimitedLog()
        self._show_gauges()

    @property
    def trouble(self) -> str | None:
        """Which queue cannot be written, and why; None while all can."""
        for name, queue in self._queues.items():
            if queue.log.trouble is not None:
                return f"the {name} on disk cannot be written: {queue.log.trouble}"
        return None

    def failed(self, what: str, error: Exception) -> None:
        """Count and log an operation that the disk refused."""
        self._metrics.add(names.DISK_ERRORS)
        self._log.error(what, getattr(error, "strerror", None) or error)

    async def run(self) -> None:
        """Look once a second, until cancelled."""
        while True:
            await asyncio.sleep(_EVERY_S)
            self.look()

    def look(self) -> None:
        """Write what is missing, make room, ask again."""
        wanted = self._wanted()
        for name, queue in self._queues.items():
            log = queue.log
            try:
                queue.tend()
                pressed = wanted or log.trouble is not None
                if log.end.offset > (0 if pressed else _WORTH_ROLLING_BYTES) and (
                    pressed or short_of(log, self._needed())
                ):
                    queue.relieve()
                if log.trouble is not None:
                    _probe(log.folder)
                    log.trouble = None
            except OSError as error:
                self.failed(f"the {name} on disk cannot be written", error)

    def _show_gauges(self) -> None:
        damage = [queue.log.damage for queue in self._queues.values()]
        for name, queue in self._queues.items():
            self._metrics.gauge(f"{name}_bytes", f"Disk taken by the {name}", partial(_disk_bytes, queue))
        for name, meaning, read in (
            ("damaged_places", "Places in the queues on disk that cannot be read", attrgetter("places")),
            ("damaged_bytes", "Bytes in these places", attrgetter("bytes")),
            ("unread_files", "Files in the queues' folders that are left alone", attrgetter("unreadable_files")),
        ):
            self._metrics.gauge(name, meaning, partial(_total, read, damage))


def _disk_bytes(queue: Queue) -> float:
    return queue.disk_bytes


def _total(read: Callable[[Damage], int], damage: Iterable[Damage]) -> float:
    return sum(map(read, damage))
