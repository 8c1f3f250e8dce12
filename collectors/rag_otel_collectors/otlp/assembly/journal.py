"""The held spans on disk: what was accepted and waits for its trace or its scores outlives the process.

Every held span is written down before its sender is told that it was accepted; when the trace has been handed to the
outbox a mark says so. After a crash, what has no mark is taken in again.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from rag_otel_collectors.otlp.assembly.segments import SegmentLog

_HELD: Final = b"H"
_DONE: Final = b"D"
_ID_BYTES: Final = 16


class Journal:
    """A log of (trace id, request with spans of that trace) and of marks. Belongs to the event loop's thread."""

    def __init__(self, folder: Path, *, segment_bytes: int = 16 * 2**20, fsync: bool = False) -> None:
        """Open or create; `left` is what an earlier process did not finish. Raises OSError."""
        self._log = SegmentLog(folder, segment_bytes=segment_bytes, fsync=fsync)
        self._open: defaultdict[int, set[bytes]] = defaultdict(set)
        """Segment -> trace ids that are written in it and not done."""
        self.left: OrderedDict[bytes, list[bytes]] = OrderedDict()
        """Trace id -> serialised requests, the trace seen first first."""
        for record, position in self._log.records():
            kind, trace_id, request = record[:1], record[1 : 1 + _ID_BYTES], record[1 + _ID_BYTES :]
            if kind == _HELD:
                self.left.setdefault(trace_id, []).append(request)
                self._open[position.segment].add(trace_id)
            elif kind == _DONE:
                self.left.pop(trace_id, None)
                self._forget(trace_id)

    @property
    def disk_bytes(self) -> int:
        """How much disk the log takes."""
        return self._log.disk_bytes

    def held(self, requests: Mapping[bytes, bytes]) -> None:
        """Write down the spans of some traces, by trace id (16 bytes). Raises OSError when the disk does not."""
        records = [_HELD + trace_id + request for trace_id, request in requests.items()]
        for trace_id, position in zip(requests, self._log.append(records), strict=True):
            self._open[position.segment].add(trace_id)

    def done(self, trace_id: bytes) -> None:
        """Mark a trace whose spans are all in the outbox, and delete the files that only hold such traces.

        Raises OSError; not marked, the trace would be forwarded once more after a crash.
        """
        self._log.append([_DONE + trace_id])
        self._forget(trace_id)
        # Oldest first only: a mark must not go before what it marks.
        self._log.drop_before(min(self._open, default=self._log.end.segment))

    def close(self) -> None:
        """Close the files. Safe to call twice."""
        self._log.close()

    def _forget(self, trace_id: bytes) -> None:
        for segment in [each for each, open_ids in self._open.items() if trace_id in open_ids]:
            self._open[segment].discard(trace_id)
            if not self._open[segment]:
                del self._open[segment]
