"""The held spans on disk: what was accepted and waits for its trace or its scores outlives the process.

Every held span is written down before its sender is told that it was accepted; when the trace has been handed to the
outbox a mark says so. After a crash, what has no mark is taken in again.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from rag_otel_collectors.otlp.assembly.segments import Position, SegmentLog
from rag_otel_collectors.otlp.protobuf.wire import is_request

_HELD: Final = b"H"
_DONE: Final = b"D"
_ID_BYTES: Final = 16


class Journal:
    """A log of (trace id, request with spans of that trace) and of marks. Belongs to the event loop's thread."""

    def __init__(self, folder: Path, *, segment_bytes: int = 16 * 2**20, fsync: bool = False) -> None:
        """Open or create; `left` is what an earlier process did not finish. Raises OSError."""
        self.log: Final = SegmentLog(folder, segment_bytes=segment_bytes, fsync=fsync, readable=_is_entry)
        self._open: defaultdict[int, set[bytes]] = defaultdict(set)
        """Segment -> trace ids that are written in it and not done."""
        self._unmarked: dict[bytes, None] = {}
        """Trace ids that are done and have no mark yet: the disk did not take it."""
        self._last: tuple[Position, set[bytes]] = (self.log.end, set())
        """Where the last `held` wrote, and which traces were new in that file."""
        self.left: OrderedDict[bytes, list[bytes]] = OrderedDict()
        """Trace id -> serialised requests, the trace seen first first."""
        for record, segment in self.log.records():
            kind, trace_id, request = _parts(record)
            if kind == _HELD:
                self.left.setdefault(trace_id, []).append(request)
                self._open[segment].add(trace_id)
            else:
                self.left.pop(trace_id, None)
                self._forget(trace_id)

    @property
    def disk_bytes(self) -> int:
        """How much disk the log takes."""
        return self.log.disk_bytes

    def held(self, requests: Mapping[bytes, bytes]) -> None:
        """Write down the spans of some traces, by trace id (16 bytes). Raises OSError when the disk does not."""
        records = [_HELD + trace_id + request for trace_id, request in requests.items()]
        positions = self.log.append(records)
        segment = positions[0].segment
        self._last = positions[0], requests.keys() - self._open[segment]
        self._open[segment].update(requests)
        for trace_id in requests:  # a mark that was written now would be one for what has just come, too
            self._unmarked.pop(trace_id, None)

    def take_back(self) -> None:
        """Undo the last `held`: its request is refused."""
        position, fresh = self._last
        self.log.take_back(position)
        self._open[position.segment] -= fresh
        if not self._open[position.segment]:
            del self._open[position.segment]

    def done(self, trace_id: bytes) -> None:
        """Mark a trace whose spans are all in the outbox, and delete the files that only hold such traces.

        Raises OSError when the disk does not take the mark. `tend` writes it then; if the process dies before, the
        trace is forwarded once more.
        """
        self._forget(trace_id)
        self._unmarked[trace_id] = None
        self.tend()

    def tend(self) -> None:
        """Write the marks that are missing, delete what is not needed. Raises OSError."""
        # Oldest first only: a mark must not go before what it marks.
        self.log.drop_before(min(self._open, default=self.log.end.segment))
        if self._unmarked:
            self.log.append([_DONE + trace_id for trace_id in self._unmarked])
            self._unmarked.clear()
            self.log.drop_before(min(self._open, default=self.log.end.segment))

    def relieve(self) -> None:
        """Make what is in the file of now deletable as soon as its traces are done. Raises OSError."""
        self.log.roll()
        self.log.drop_before(min(self._open, default=self.log.end.segment))

    def close(self) -> None:
        """Close the files. Safe to call twice."""
        self.log.close()

    def _forget(self, trace_id: bytes) -> None:
        for segment in [each for each, open_ids in self._open.items() if trace_id in open_ids]:
            self._open[segment].discard(trace_id)
            if not self._open[segment]:
                del self._open[segment]


def _parts(record: bytes) -> tuple[bytes, bytes, bytes]:
    """Kind, trace id and request."""
    return record[:1], record[1 : 1 + _ID_BYTES], record[1 + _ID_BYTES :]


def _is_entry(record: bytes) -> bool:
    kind, trace_id, request = _parts(record)
    return len(trace_id) == _ID_BYTES and (kind == _DONE or (kind == _HELD and is_request(request)))
